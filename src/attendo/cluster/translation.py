"""Translating a file of any length on a cluster, with the output that one machine has.

The text is cut into parts, and what becomes of a part is a file that is there whole or not at all, beside the output:

| `OUTPUT.parts/` | holds |
|---|---|
| `manifest.json` | what is translated, by what and how; another translation is refused |
| `NUMBER.txt` | a part's lines of the output |
| `NUMBER.json` | its counts; written behind the lines, so that it says that they are there |
| `unpacked-*.txt` | what was compressed, for only plain files can be cut |

So a start after an interruption does what is missing, on whatever cluster. When all are there they become the output.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import attendo
from attendo.checkpoint.checksums import CARD, CHECKSUMS
from attendo.cluster.connection import connected
from attendo.cluster.nodes import Node, SharedFile, alive_nodes, check_nodes, watched
from attendo.cluster.part_translation import Decoding, Device, OpenTranslation, Output
from attendo.cluster.pool import Share, by_actors
from attendo.decoding.config import SearchConfig
from attendo.decoding.translation import Counts
from attendo.errors import AttendoError
from attendo.text.parts import ScannedFile
from attendo.workflow.part_files import PartRecord, PartsFolder, added
from attendo.workflow.text_parts import TextFiles, changed_error, cut, scan_texts

_FORMAT_VERSION = 1
# Of a long text a part takes a worker minutes, which is what a lost machine costs at most; of a short one there are
# parts enough for every worker of a large cluster.
_PART_LINES = 10_000
_MIN_PARTS = 1_000
_MAX_THREADS = 4


class Reporter(Protocol):
    """Who is told how it goes."""

    def message(self, text: str) -> None:
        """A line to read."""

    def started(self, done: int, total: int) -> None:
        """How many lines are there already, of how many."""

    def translated(self, done: int) -> None:
        """How many lines are there by now."""


@dataclass(frozen=True, kw_only=True)
class Finished:
    """What has been done in all starts, and in this one."""

    counts: Counts
    """Of all lines."""
    lines_now: int
    """Lines translated since this start."""
    kernels: Counter[str]
    """Lines by what they were calculated on and in."""


def translate_on_cluster(
    decoding: Decoding,
    files: TextFiles,
    destination: Path,
    output: Output,
    *,
    address: str,
    threads: int | None,
    reporter: Reporter,
) -> Finished:
    """Translates a file; goes on where an earlier start of the same was interrupted.

    Args:
        decoding: what translates.
        files: the text, and what is wanted of its lines.
        destination: the output, which appears when it is whole. All machines see its folder, the files and the models.
        output: what is written of each translation.
        address: of the cluster, as `connection.connected` takes it.
        threads: of each engine; None for 4 on processors, or as many as the smallest machine has.
        reporter: told how it goes.

    Raises:
        AttendoError: the cluster cannot be reached, or a machine of it cannot do the work.
        DataError: a file is missing, broken or changes; or the parts that are there are of another translation.
        ModelError: a model is missing or torn.
        RecipeError: a search setting that cannot be meant.
    """
    search = decoding.load("cpu").search
    folder = PartsFolder.beside(destination)
    folder.path.mkdir(parents=True, exist_ok=True)
    texts = scan_texts(files, folder.path)
    num_lines = texts["source"].num_lines
    parts = cut(texts, part_lines(num_lines, search.window_lines))
    with connected(address):
        nodes = alive_nodes()
        device: Device = "cuda" if any(node.gpus for node in nodes) else "cpu"
        folder.claim(_manifest(decoding, search, texts, output, device))
        records = folder.done(len(parts))
        lines_before = lines = sum(record.counts.lines for record in records.values())
        reporter.started(lines, num_lines)
        if missing := [part for part in parts if part.number not in records]:
            check_nodes(nodes, _shared_files(decoding, texts, folder))
            share = share_of(nodes, device, threads)
            reporter.message(_described(nodes, share))
            work = OpenTranslation(
                decoding=decoding.elsewhere(), device=device, threads=share.cpus, output=output, folder=folder
            )
            results = by_actors(work, missing, share, num_actors=num_workers(nodes, share))
            for number, record in watched(results, reporter.message):
                records[number] = record
                lines += record.counts.lines
                reporter.translated(lines)
    _check_unchanged(texts)
    folder.join(records, destination)
    return _finished(records, lines_before)


def part_lines(num_lines: int, window_lines: int) -> int:
    """Lines of a part: whole windows, so that each has the lines that it has on one machine.

    Args:
        num_lines: of the text.
        window_lines: lines that are sorted by length and translated together.
    """
    return window_lines * max(1, min(_PART_LINES, num_lines // _MIN_PARTS) // window_lines)


def share_of(nodes: Sequence[Node], device: Device, threads: int | None) -> Share:
    """What one engine takes of a machine.

    Args:
        nodes: the machines.
        device: where it works.
        threads: as many as are asked for; None for 1 beside a GPU, else for 4 or as many as the smallest machine has.

    Raises:
        AttendoError: no machine has so many processors.
    """
    if device == "cuda":
        return Share(cpus=threads or 1, gpus=1)
    most = max((node.cpus for node in nodes), default=0)
    if (threads or 1) > most:
        raise AttendoError(
            f"an engine of {threads or 1} threads has no place: the largest machine of the cluster has {most} "
            "processors for Ray; take fewer --threads, or start Ray there with more --num-cpus"
        )
    return Share(cpus=threads or min(_MAX_THREADS, *(node.cpus for node in nodes if node.cpus)))


def num_workers(nodes: Sequence[Node], share: Share) -> int:
    """How many workers of a share have a place on some machines."""
    return sum(
        min(node.cpus // share.cpus, node.gpus // share.gpus) if share.gpus else node.cpus // share.cpus
        for node in nodes
    )


def _manifest(
    decoding: Decoding, search: SearchConfig, texts: Mapping[str, ScannedFile], output: Output, device: Device
) -> dict[str, Any]:
    """All that decides the output."""
    manifest = {
        "format_version": _FORMAT_VERSION,
        "attendo": attendo.__version__,
        "files": {name: {"lines": file.num_lines, "sha256": file.sha256} for name, file in texts.items()},
        "models": [_checksums(folder) for folder in decoding.folders],
        "search": asdict(search),
        "dtype": decoding.dtype,
        "device": device,
        "output": {**output.settings, "alignment": output.alignment},
    }
    compared: dict[str, Any] = json.loads(json.dumps(manifest))  # tuples are lists in JSON
    return compared


def _checksums(model: Path) -> dict[str, Any]:
    """What a model folder says of its files, but for its card, which may be written anew."""
    checksums = json.loads((model / CHECKSUMS).read_text(encoding="utf-8"))
    return {name: value for name, value in checksums.items() if name != CARD}


def _shared_files(decoding: Decoding, texts: Mapping[str, ScannedFile], folder: PartsFolder) -> list[SharedFile]:
    """What every machine has to see; models that ship are part of attendo."""
    here, elsewhere = decoding.folders, decoding.elsewhere()
    names = (elsewhere.model, *elsewhere.ensemble)
    models = [Path(name) / CHECKSUMS for name, model in zip(names, here, strict=True) if name == str(model.absolute())]
    return [SharedFile.of(path) for path in (folder.manifest, *(file.path for file in texts.values()), *models)]


def _described(nodes: Sequence[Node], share: Share) -> str:
    workers = num_workers(nodes, share)
    on = "a GPU" if share.gpus else f"{share.cpus} threads"
    return f"{workers} engines of {on} each, on {len(nodes)} machines"


def _check_unchanged(texts: Mapping[str, ScannedFile]) -> None:
    """Makes sure that all parts were cut from the same files."""
    for file in texts.values():
        status = file.path.stat()
        if (status.st_size, status.st_mtime_ns) != (file.size, file.mtime_ns):
            raise changed_error(file.path)


def _finished(records: Mapping[int, PartRecord], lines_before: int) -> Finished:
    counts = added([record.counts for record in records.values()])
    kernels: Counter[str] = Counter()
    for record in records.values():
        kernels[record.kernel] += record.counts.lines
    return Finished(counts=counts, lines_now=counts.lines - lines_before, kernels=kernels)

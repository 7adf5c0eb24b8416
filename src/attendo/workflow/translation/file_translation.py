"""Translates a file of any length, so that an interruption costs only the current part.

The text is cut into parts, and the translation of each is a file next to the output that is complete or absent:

| `OUTPUT.parts/` | holds |
|---|---|
| `manifest.json` | the text, the models and the settings |
| `NUMBER.txt` | a part's lines of the output |
| `NUMBER.json` | its counts and checksum; written after the lines, so that it marks them as complete |
| `unpacked-*.txt` | unpacked compressed files, since only plain files can be cut |
| `.lock` | the process that writes the output |

So a start after an interruption does the missing parts. When all parts exist, they become the output.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from attendo.checkpoint.checksums import CARD, CHECKSUMS
from attendo.decoding.backends.native_model import Dtype
from attendo.decoding.config import SearchConfig
from attendo.decoding.lines.translation import Counts
from attendo.text.parts import ScannedFile
from attendo.version import VERSION
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.translate import Decoding, Device
from attendo.workflow.machine.devices import device_type
from attendo.workflow.machine.place import choose_place
from attendo.workflow.translation.part_files import PartRecord, PartsFolder, added
from attendo.workflow.translation.part_translation import Output, translate_part
from attendo.workflow.translation.text_parts import changed_error, cut

_FORMAT_VERSION = 2
# A part of a long text takes minutes, which is the most that an interruption costs; a short text has parts enough for
# every worker of a large cluster.
_PART_LINES = 10_000
_MIN_PARTS = 1_000
_WINDOW_BYTES = 256 << 10
"""Size from which a single window takes minutes too, as with lines that are documents."""


class Reporter(Protocol):
    """Receives the progress of a translation."""

    def message(self, text: str) -> None:
        """A line to read."""

    def started(self, done: int, total: int) -> None:
        """Starts showing progress, given the number of lines already translated and of all lines."""

    def translated(self, done: int) -> None:
        """Reports the number of lines translated so far."""


@dataclass(frozen=True, kw_only=True)
class FileProgress:
    """The results of all starts, and of this one."""

    counts: Counts
    """Counts over all lines."""
    lines_now: int
    """Lines translated since this start."""
    kernels: Counter[str]
    """Number of lines by the kernels and number type used."""


def translate_file(
    decoding: Decoding,
    texts: Mapping[str, ScannedFile],
    folder: PartsFolder,
    destination: Path,
    output: Output,
    *,
    device: Device,
    threads: int | None,
    reporter: Reporter,
) -> FileProgress:
    """Translates a file on this machine; continues an interrupted earlier start.

    Args:
        decoding: the models and settings.
        texts: the text and the files of constraints, from `text_parts.scan_texts`.
        folder: the folder of the parts, locked by this process. Parts of another translation are removed and reported.
        destination: the output, which appears when it is complete.
        output: the format of the output.
        device: the device.
        threads: number of processor threads; None for torch's default.
        reporter: receives the progress.

    Raises:
        DataError: a file changes, or a line's constraints cannot be fulfilled.
        ModelError: a model is missing or damaged.
        RecipeError: a search setting is invalid.
    """
    engine = decoding.load(device, threads=threads)
    num_lines = texts["source"].num_lines
    parts = cut(dict(texts), part_lines(texts["source"], engine.search.window_lines))
    manifest = manifest_of(decoding, engine.search, texts, output, device_type(choose_place(device)))
    manifest |= memory_conditions(engine)
    if others := folder.differences(manifest):
        reporter.message(f"{folder.path}: holds another translation, with another {', '.join(others)}; starting anew")
        folder.remove_parts()
    folder.claim(manifest)
    records = folder.done(len(parts))
    lines_before = lines = sum(record.counts.lines for record in records.values())
    reporter.started(lines, num_lines)
    for part in parts:
        if part.number not in records:
            _, records[part.number] = translate_part(
                engine,
                part,
                output=output,
                folder=folder,
                progress=partial(_report, reporter, lines),
            )
            lines += part.num_lines
    check_unchanged(texts)
    folder.join(records, destination)
    return finished(records, lines_before)


def _report(reporter: Reporter, lines_before: int, lines: int) -> None:
    """Reports the translated lines of a part, after those of other parts."""
    reporter.translated(lines_before + lines)


def part_lines(text: ScannedFile, window_lines: int) -> int:
    """Number of lines of a part: whole windows, with the same lines as in a stream, or fewer very long lines.

    Args:
        text: the text.
        window_lines: lines that are sorted by length and translated together.
    """
    num_lines = text.num_lines
    if text.size * window_lines > _WINDOW_BYTES * num_lines:
        return max(1, _WINDOW_BYTES * num_lines // text.size)
    return window_lines * max(1, min(_PART_LINES, num_lines // _MIN_PARTS) // window_lines)


def manifest_of(
    decoding: Decoding, search: SearchConfig, texts: Mapping[str, ScannedFile], output: Output, device: str
) -> dict[str, Any]:
    """Everything that determines the output, as JSON values."""
    decisive = {
        "format_version": _FORMAT_VERSION,
        "attendo": VERSION,
        "files": {name: {"lines": file.num_lines, "sha256": file.sha256} for name, file in texts.items()},
        **model_conditions(decoding.folders, search, decoding.dtype, device),
        "output": {**output.settings, "alignment": output.alignment},
        "glossary": None if (terms := decoding.aids.glossary) is None else terms.digest,
    }
    compared: dict[str, Any] = json.loads(json.dumps(decisive))  # tuples are lists in JSON
    return compared


def model_conditions(models: Sequence[Path], search: SearchConfig, dtype: Dtype | None, device: str) -> dict[str, Any]:
    """Everything that determines a line's translation besides the line itself.

    Args:
        models: the folders of the models.
        search: the search settings.
        dtype: the number type of the matrix products; None for that in which the models are stored.
        device: the device.
    """
    return {
        "models": [_checksums(folder) for folder in models],
        "search": asdict(search),
        "dtype": dtype,
        "device": device,
    }


def memory_conditions(engine: Engine) -> dict[str, Any]:
    """The properties of an engine's translation memory that determine translations, as JSON; empty without one."""
    memory = engine.memory
    return {} if memory is None else {"memory": [*memory.digests], "memory_threshold": memory.threshold}


def _checksums(model: Path) -> dict[str, Any]:
    """The checksums of a model folder's files, except its card, which may be rewritten."""
    checksums = json.loads((model / CHECKSUMS).read_text(encoding="utf-8"))
    return {name: value for name, value in checksums.items() if name != CARD}


def check_unchanged(texts: Mapping[str, ScannedFile]) -> None:
    """Makes sure that all parts were cut from the same files."""
    for file in texts.values():
        status = file.path.stat()
        if (status.st_size, status.st_mtime_ns) != (file.size, file.mtime_ns):
            raise changed_error(file.path)


def finished(records: Mapping[int, PartRecord], lines_before: int) -> FileProgress:
    """Adds up the records of parts.

    Args:
        records: the records of all parts.
        lines_before: lines that earlier starts have translated.
    """
    counts = added([record.counts for record in records.values()])
    kernels: Counter[str] = Counter()
    for record in records.values():
        kernels[record.kernel] += record.counts.lines
    return FileProgress(counts=counts, lines_now=counts.lines - lines_before, kernels=kernels)

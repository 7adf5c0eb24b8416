"""Translates a file of any length on a cluster, with the same output as on one machine.

Translated parts of the text are files beside the output, as in `workflow.translation.file_translation`, so that after
an interruption any cluster can translate the missing parts.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from attendo.checkpoint.checksums import CHECKSUMS
from attendo.cluster.connection import connected
from attendo.cluster.nodes import Node, SharedFile, alive_nodes, check_nodes, watched
from attendo.cluster.part_translation import Device, OpenTranslation
from attendo.cluster.pool import Share, by_actors
from attendo.errors import AttendoError
from attendo.text.parts import ScannedFile
from attendo.workflow.engines.translate import Decoding
from attendo.workflow.translation.file_translation import (
    FileProgress,
    Reporter,
    check_unchanged,
    finished,
    manifest_of,
    part_lines,
)
from attendo.workflow.translation.part_files import PartsFolder
from attendo.workflow.translation.part_translation import Output
from attendo.workflow.translation.text_parts import TextFiles, cut, scan_texts

_MAX_THREADS = 4


def translate_on_cluster(
    decoding: Decoding,
    files: TextFiles,
    destination: Path,
    output: Output,
    *,
    address: str,
    threads: int | None,
    reporter: Reporter,
) -> FileProgress:
    """Translates a file, or resumes an interrupted translation of it.

    Args:
        decoding: the models and search settings.
        files: the text, and the files with constraints on its lines.
        destination: the output, which appears when it is complete. All machines must see its folder, the files and the
            models.
        output: the form in which translations are written.
        address: address of the cluster, as `connection.connected` takes it.
        threads: number of threads of each engine; None for 1 beside a GPU, else for 4 or as many as the smallest
            machine has.
        reporter: receives the progress.

    Raises:
        AttendoError: the cluster cannot be reached, or one of its machines cannot do the work.
        DataError: a file is missing, damaged or changes meanwhile, or existing parts belong to another translation.
        ModelError: a model is missing or torn.
        RecipeError: a search setting is invalid.
    """
    search = decoding.load("cpu").search
    with PartsFolder.beside(destination).opened() as folder:
        texts = scan_texts(files, folder.path)
        parts = cut(texts, part_lines(texts["source"], search.window_lines))
        with connected(address):
            nodes = alive_nodes()
            device: Device = "cuda" if any(node.gpus for node in nodes) else "cpu"
            folder.claim(manifest_of(decoding, search, texts, output, device))
            records = folder.done(len(parts))
            lines_before = lines = sum(record.counts.lines for record in records.values())
            reporter.started(lines, texts["source"].num_lines)
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
        check_unchanged(texts)
        folder.join(records, destination)
        return finished(records, lines_before)


def share_of(nodes: Sequence[Node], device: Device, threads: int | None) -> Share:
    """Returns the share of a machine's resources that one engine takes.

    Args:
        nodes: the machines.
        device: the kind of device that engines compute on.
        threads: the requested number of threads; None for 1 beside a GPU, else for 4 or as many as the smallest machine
            has.

    Raises:
        AttendoError: no machine has that many processors.
    """
    if device == "cuda":
        return Share(cpus=threads or 1, gpus=1)
    most = max((node.cpus for node in nodes), default=0)
    if (threads or 1) > most:
        raise AttendoError(
            f"an engine of {threads or 1} threads does not fit: the largest machine of the cluster has {most} "
            "processors for Ray; take fewer --threads, or start Ray there with more --num-cpus"
        )
    return Share(cpus=threads or min(_MAX_THREADS, *(node.cpus for node in nodes if node.cpus)))


def num_workers(nodes: Sequence[Node], share: Share) -> int:
    """Returns the number of workers with such a share that fit on the machines."""
    return sum(
        min(node.cpus // share.cpus, node.gpus // share.gpus) if share.gpus else node.cpus // share.cpus
        for node in nodes
    )


def _shared_files(decoding: Decoding, texts: Mapping[str, ScannedFile], folder: PartsFolder) -> list[SharedFile]:
    """Returns the files that every machine has to see; shipped models are part of attendo and left out."""
    folders, elsewhere = decoding.folders, decoding.elsewhere()
    models = [
        Path(name) / CHECKSUMS
        for name, model in zip(elsewhere.names, folders, strict=True)
        if name == str(model.absolute())
    ]
    return [SharedFile.of(path) for path in (folder.manifest, *(file.path for file in texts.values()), *models)]


def _described(nodes: Sequence[Node], share: Share) -> str:
    workers = num_workers(nodes, share)
    device = "a GPU" if share.gpus else f"{share.cpus} threads"
    return f"{workers} engines of {device} each, on {len(nodes)} machines"

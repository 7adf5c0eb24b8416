"""Getting a dataset: missing files are downloaded and unpacked, existing ones verified, and all are recorded."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from attendo import __version__
from attendo.errors import DataError
from attendo.files import locked, recover, sha256, write_json, write_text
from attendo.output_folders import check_begun
from attendo.workflow.datasets.catalogue import Dataset
from attendo.workflow.datasets.download import Checksum, Progress, fetch, mirrored
from attendo.workflow.datasets.extraction import WrittenFile, extract
from attendo.workflow.datasets.origins import Archive, TextLocation

ARCHIVES = "archives"
"""Folder of the downloads, within that of the dataset; may be removed once all is unpacked."""
CHECKSUMS = "SHA256SUMS"
"""File with the checksum of every archive at its first download, in the format of `sha256sum --check`."""
MANIFEST = "dataset.json"
ATTRIBUTION = "ATTRIBUTION.md"
LOCK = ".lock"
"""Held while a process fetches into the folder; it stays."""


@dataclass(frozen=True, kw_only=True)
class UnpackedText:
    """A text unpacked into the dataset's folder."""

    name: str
    source: WrittenFile
    target: WrittenFile
    url: str
    """Published address of its archive."""
    archive_sha256: str


@dataclass(frozen=True, kw_only=True)
class PlannedText:
    """The steps for a text."""

    located: TextLocation
    url: str
    """Address of its archive."""
    checksum: Checksum | None
    """Expected checksum of the archive; None if it is not published and the archive was never downloaded."""
    unpacked: bool
    """Whether its files exist already; only `get` checks that they are unchanged."""
    archive_there: bool


def plan(texts: tuple[TextLocation, ...], folder: Path, mirror: str | None = None) -> tuple[PlannedText, ...]:
    """Plans the work of `get`, without downloading or writing anything.

    Raises:
        DataError: the folder holds another dataset, or a file of it is torn; the mirror's address is invalid.
    """
    present = _read_manifest(folder)
    recorded = _read_checksums(folder / ARCHIVES / CHECKSUMS)
    return tuple(
        PlannedText(
            located=text,
            url=mirrored(text.archive.url, mirror),
            checksum=_expected(text.archive, recorded),
            unpacked=text.name in present
            and all((folder / file.name).is_file() for file in _files(present[text.name])),
            archive_there=(folder / ARCHIVES / text.archive.file_name).is_file(),
        )
        for text in texts
    )


def get(
    dataset: Dataset,
    texts: tuple[TextLocation, ...],
    folder: Path,
    *,
    mirror: str | None = None,
    force: bool = False,
    progress: Callable[[Progress], None],
) -> tuple[UnpackedText, ...]:
    """Completes a dataset in a folder.

    A text is recorded in the manifest as soon as its two files are there, so that a second call only does the remaining
    work. Existing files are read and compared with the manifest; a changed one is made again.

    Args:
        dataset: the dataset to get.
        texts: the locations of its texts, from `origins.locate`.
        folder: the folder for its files.
        mirror: address of a server that has the archives under their hosts' names and paths.
        force: write into the folder even if it contains other files.
        progress: called often.

    Returns:
        The texts, in the dataset's order.

    Raises:
        DataError: an archive cannot be fetched, does not match its checksum, or cannot be unpacked; the folder holds
            another dataset, or another process is fetching into it.
        ModelError: the folder contains something else.
    """
    check_folder(dataset, folder, force=force)  # before anything is written there
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(folder / LOCK))
        except BlockingIOError as error:
            raise DataError(f"{folder}: is {error.strerror}, which is fetching into it; wait for it to end") from error
        for place in (folder, folder / ARCHIVES):
            recover(place)
        return _get(dataset, texts, folder, mirror, progress)


def check_folder(dataset: Dataset, folder: Path, *, force: bool = False) -> None:
    """Rejects a folder that contains another dataset or, unless forced, anything but a dataset.

    Raises:
        DataError: it contains another dataset, or cannot be made or written to.
        ModelError: it contains something else.
    """
    _read_manifest(folder, dataset.name)
    check_begun(folder, "data get", (MANIFEST, ARCHIVES), force=force)


def _get(
    dataset: Dataset,
    texts: tuple[TextLocation, ...],
    folder: Path,
    mirror: str | None,
    progress: Callable[[Progress], None],
) -> tuple[UnpackedText, ...]:
    present = _read_manifest(folder, dataset.name)
    done: dict[str, UnpackedText] = {}
    for text in texts:
        if text.name in present and _is_whole(present[text.name], folder, progress):
            done[text.name] = present[text.name]
    for text in texts:
        if text.name not in done:
            archive, digits = _archive(text.archive, folder / ARCHIVES, mirror, progress)
            languages = (dataset.source_language, dataset.target_language)
            source, target = extract(text, archive, folder, languages, progress)
            done[text.name] = UnpackedText(
                name=text.name, source=source, target=target, url=text.archive.url, archive_sha256=digits
            )
            _write_manifest(folder, dataset.name, done)
    write_text(folder / ATTRIBUTION, attribution(dataset, tuple(done[text.name] for text in texts)))
    return tuple(done[text.name] for text in texts)


def attribution(dataset: Dataset, texts: tuple[UnpackedText, ...]) -> str:
    """The owners, licences and citations of the texts, as Markdown."""
    urls = {text.name: text.url for text in texts}
    lines = [
        f"# {dataset.title}",
        "",
        f"Fetched by attendo {__version__}. None of these texts is part of attendo, whose licence does not cover them:",
        "what each may be used for is for its owner to say.",
    ]
    for text in dataset.texts:
        lines += [
            "",
            f"## {text.name}: {text.title}",
            "",
            f"- From: {urls[text.name]}",
            f"- Whose: {text.owner}",
            f"- Terms: {text.terms}",
            f"- Cite: {text.citation}",
        ]
    return "\n".join(lines) + "\n"


def _archive(
    archive: Archive, folder: Path, mirror: str | None, progress: Callable[[Progress], None]
) -> tuple[Path, str]:
    """Returns an archive's path and SHA-256, and downloads it if it is missing or damaged."""
    path = folder / archive.file_name
    recorded = _read_checksums(folder / CHECKSUMS)
    expected = _expected(archive, recorded)
    if not path.is_file() or (expected is not None and expected.digits_of(path) != expected.digits):
        fetch(mirrored(archive.url, mirror), path, expected, progress)
    digits = expected.digits if expected is not None and expected.algorithm == "sha256" else sha256(path)
    if path.name not in recorded:
        recorded[path.name] = digits
        write_text(folder / CHECKSUMS, "".join(f"{recorded[name]}  {name}\n" for name in sorted(recorded)))
    return path, digits


def _expected(archive: Archive, recorded: dict[str, str]) -> Checksum | None:
    """Returns the expected checksum of an archive: the published one, or that of the first download."""
    if archive.checksum is None and archive.file_name in recorded:
        origin = f"which it had at its first download; if the new one is right, take its line out of {CHECKSUMS}"
        return Checksum(algorithm="sha256", digits=recorded[archive.file_name], origin=origin)
    return archive.checksum


def _read_checksums(path: Path) -> dict[str, str]:
    """Reads the checksums of first downloads by file name."""
    if not path.exists():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    return {name: digits for digits, _, name in (line.partition("  ") for line in lines)}


def _files(text: UnpackedText) -> tuple[WrittenFile, WrittenFile]:
    return text.source, text.target


def _is_whole(text: UnpackedText, folder: Path, progress: Callable[[Progress], None]) -> bool:
    total, done = sum(file.bytes for file in _files(text)), 0
    for file in _files(text):
        progress(Progress(stage=f"verifying {text.name}", done_bytes=done, total_bytes=total))
        if not file.is_at(folder):
            return False
        done += file.bytes
    return True


def _write_manifest(folder: Path, name: str, texts: dict[str, UnpackedText]) -> None:
    manifest = {"format_version": 1, "name": name, "attendo": __version__, "texts": [asdict(t) for t in texts.values()]}
    write_json(folder / MANIFEST, manifest)


def _read_manifest(folder: Path, name: str | None = None) -> dict[str, UnpackedText]:
    """Reads the record of the texts unpacked into the folder before, by name."""
    path = folder / MANIFEST
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        texts = {text["name"]: _unpacked_text(text) for text in found["texts"]}
        recorded_name = found["name"]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: cannot be read ({error!r}); remove it, and what is there is unpacked anew") from error
    if name is not None and recorded_name != name:
        raise DataError(f"{folder}: holds {recorded_name}; give {name} a folder of its own with -o")
    return texts


def _unpacked_text(fields: dict[str, Any]) -> UnpackedText:
    sides = {side: WrittenFile(**fields[side]) for side in ("source", "target")}
    return UnpackedText(**(fields | sides))

"""Finds the files of a dataset, by mtdata's index and sacreBLEU's table of test sets."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal
from urllib.parse import urlsplit

from sacrebleu.dataset import DATASETS as SACREBLEU_SETS

from attendo.errors import DataError
from attendo.workflow.datasets.catalogue import PUBLISHED, ArchiveMembers, Dataset, MtdataEntry, SacrebleuSet
from attendo.workflow.datasets.download import Checksum
from attendo.workflow.extras import need_packages

_INDEX_TIMEOUT_S = 900.0


@dataclass(frozen=True, kw_only=True)
class Archive:
    """A file to download."""

    url: str
    checksum: Checksum | None
    """Published checksum, or None."""
    bytes: int | None
    """Published size, or None."""

    @property
    def file_name(self) -> str:
        """The file's name on disk."""
        return PurePosixPath(urlsplit(self.url).path).name


@dataclass(frozen=True, kw_only=True)
class TextLocation:
    """The location of the two sides of a text."""

    name: str
    """The name of the text, used for its files."""
    archive: Archive
    members: tuple[str, str]
    """The file of source lines in the archive, and the file of target lines."""
    format: Literal["lines", "sgm"]


def locate(dataset: Dataset) -> tuple[TextLocation, ...]:
    """Determines the locations of a dataset's texts; nothing is downloaded yet.

    mtdata builds an index of all its corpora on its first use, which takes about a minute, and keeps it in its own
    folder (`~/.mtdata`, or the one named by the variable MTDATA).

    Raises:
        AttendoError: mtdata is not installed.
        DataError: mtdata or sacreBLEU no longer have an entry of the dataset.
    """
    ids = [text.origin.id for text in dataset.texts if isinstance(text.origin, MtdataEntry)]
    entries = mtdata_entries(ids)
    languages = (dataset.source_language, dataset.target_language)
    located = []
    for text in dataset.texts:
        match text.origin:
            case MtdataEntry(id=id):
                found = _located(text.name, entries[id].url, _in_order(entries[id], languages))
            case SacrebleuSet(name=name):
                found = _test_set(text.name, name, languages)
            case ArchiveMembers(url=url, members=members):
                found = _located(text.name, url, members)
        located.append(found)
    return tuple(located)


def mtdata_entries(ids: Sequence[str]) -> dict[str, ArchiveMembers]:
    """Looks up some corpora in mtdata's index.

    It runs in a separate process: loaded, the index takes 700 MB, and importing it sets up logging for the whole
    process. Its downloader is not used, since it neither resumes downloads nor verifies checksums, and accepts servers
    without a valid certificate.

    Args:
        ids: ids as printed by `mtdata list --id`.

    Returns:
        By id, the address of the archive, and the members in mtdata's order.

    Raises:
        AttendoError: mtdata is not installed.
        DataError: it fails, or its index lacks one of them.
    """
    if not ids:
        return {}
    need_packages(["mtdata"], "data")
    parts = [id.split("-") for id in ids]  # group, name, version, language, language
    (languages,) = {f"{part[3]}-{part[4]}" for part in parts}
    chosen = ["-l", languages, "-g", *sorted({part[0] for part in parts}), "-n", *sorted({part[1] for part in parts})]
    # The index includes any file mtdata*.py in the current folder; an empty folder has none.
    with tempfile.TemporaryDirectory(prefix="attendo-") as empty:
        finished = subprocess.run(
            [sys.executable, "-m", "mtdata", "-no-pb", "list", *chosen],
            check=False,
            capture_output=True,
            cwd=empty,
            encoding="utf-8",
            env=os.environ | {"MTDATA_RECIPES": empty},
            timeout=_INDEX_TIMEOUT_S,
        )
    if finished.returncode:
        lines = finished.stderr.strip().splitlines()
        raise DataError(f"mtdata cannot list its corpora: {lines[-1] if lines else finished.returncode}")
    entries = {}
    for line in finished.stdout.splitlines():
        columns = line.split("\t")
        if len(columns) == 3:
            source, _, target = columns[2].partition(",")
            entries[columns[0]] = ArchiveMembers(url=columns[1], members=(source, target))
    if missing := [id for id in ids if id not in entries]:
        raise DataError(
            f"{', '.join(missing)}: mtdata's index has no such entry; attendo is written for mtdata 0.5, which "
            'pip install "attendo[data]" brings'
        )
    return entries


def _in_order(entry: ArchiveMembers, languages: tuple[str, str]) -> tuple[str, str]:
    """The members of an entry as source and target, distinguished by the language at the end of their names."""
    sides = [[member for member in entry.members if member.endswith(f".{language}")] for language in languages]
    if [len(side) for side in sides] != [1, 1]:
        raise DataError(
            f"{entry.url}: {' and '.join(entry.members)} are not one file in each of {' and '.join(languages)}"
        )
    return sides[0][0], sides[1][0]


def _located(name: str, url: str, members: tuple[str, str]) -> TextLocation:
    published = PUBLISHED.get(PurePosixPath(urlsplit(url).path).name)
    checksum = None
    if published and published.sha256:
        checksum = Checksum(algorithm="sha256", digits=published.sha256, origin="as published")
    archive = Archive(url=url, checksum=checksum, bytes=published.bytes if published else None)
    return TextLocation(name=name, archive=archive, members=members, format="lines")


def _test_set(name: str, sacrebleu_name: str, languages: tuple[str, str]) -> TextLocation:
    known = SACREBLEU_SETS.get(sacrebleu_name)
    pair = "-".join(languages)
    if known is None or not known.data or not known.md5 or pair not in known.langpairs:
        raise DataError(f"sacreBLEU has no test set {sacrebleu_name} for {pair}; install one of its versions 2.5 to 3")
    (url,), (digits,) = known.data, known.md5
    source, reference = known.langpairs[pair]
    checksum = Checksum(algorithm="md5", digits=digits, origin="as sacreBLEU has it")
    archive = Archive(url=url, checksum=checksum, bytes=None)
    return TextLocation(name=name, archive=archive, members=(source, reference), format="sgm")

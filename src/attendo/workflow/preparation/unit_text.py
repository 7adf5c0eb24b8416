"""Corpora of translation files: read once into lines, which preparing then reads as it reads any others."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from attendo.formats.pairs.table import read_units, unit_reader
from attendo.text.corpora import CorpusConfig
from attendo.text.files.formats import RawPair
from attendo.text.files.unit_lines import unit_line
from attendo.text.pair_reading import ReadCorpus
from attendo.text.parts import ScannedFile, scan_file

EXCLUDED = ("untranslated", "state", "language")
"""Reasons for which a unit without faults is excluded from a test or validation set."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractTask:
    """A file of units, or two of subtitles, to be read."""

    corpus: CorpusConfig
    """A corpus of one file set, with `has_units`."""
    folder: Path
    """The folder that its paths are relative to."""
    languages: tuple[str, str]
    """The codes of source and target; empty where unknown."""
    output: Path
    """The file of lines to write."""

    def __str__(self) -> str:
        """A name of the work, for messages."""
        return " and ".join(self.corpus.files)


def extract_units(task: ExtractTask) -> ScannedFile:
    """Writes the pairs of a file of units as lines, and returns their positions; a unit of work of a preparation.

    Raises:
        DataError: the file cannot be read.
    """
    with task.output.open("wb") as file:
        for pair in read_units(task.corpus, task.folder, task.languages):
            file.write(unit_line(pair))
    return scan_file(task.output)


def translated_units_reader(languages: tuple[str, str], left_out: Counter[str]) -> ReadCorpus:
    """Returns a reader of a test or validation set: of files of units, only translated units in the two languages.

    Args:
        languages: the codes of source and target; empty if unknown.
        left_out: counts the units that are not read, by reason.
    """
    read_all = unit_reader(*languages)

    def read(corpus: CorpusConfig, folder: Path) -> Iterator[RawPair]:
        for pair in read_all(corpus, folder):
            if pair.fault in EXCLUDED:
                left_out[pair.fault] += 1
            else:
                yield pair

    return read

"""Lines with their translations, and reading them from the files that users name."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from attendo.errors import DataError
from attendo.formats.pairs.table import has_both_sides
from attendo.text.pair_rules import CleaningConfig
from attendo.workflow.lines import read_pairs
from attendo.workflow.pair_files import pairs_of


@dataclass(frozen=True, kw_only=True)
class ParallelLines:
    """Lines with their translations."""

    sources: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of a line and its translation."""
        return list(zip(self.sources, self.targets, strict=True))

    def rows(self, numbers: Sequence[int]) -> "ParallelLines":
        """Returns the pairs with the given numbers, from 0."""
        return ParallelLines(
            sources=tuple(self.sources[number] for number in numbers),
            targets=tuple(self.targets[number] for number in numbers),
        )

    def without(self, sources: frozenset[str]) -> "ParallelLines":
        """Returns the pairs whose source is not among the given ones."""
        return self.rows([number for number, source in enumerate(self.sources) if source not in sources])

    def spread(self, number: int) -> "ParallelLines":
        """Returns at most `number` pairs, evenly spread."""
        return self.rows(evenly_spread(len(self.sources), min(number, len(self.sources))))

    def with_more(self, other: "ParallelLines") -> "ParallelLines":
        """Returns the pairs followed by other pairs."""
        return ParallelLines(sources=self.sources + other.sources, targets=self.targets + other.targets)


def evenly_spread(length: int, number: int) -> list[int]:
    """Returns `number` indices of a sequence of `length` items, evenly spread."""
    return [place * length // number for place in range(number)]


def read_parallel(files: tuple[str, ...], languages: tuple[str, str], key: str) -> ParallelLines:
    """Reads pairs, each source once.

    Args:
        files: one file with both sides, or a source and a target file of lines.
        languages: codes of source and target.
        key: the setting that names the files, for errors.

    Raises:
        DataError: a file cannot be read, or a single file holds only one side.
    """
    if len(files) == 2:
        sources, targets = read_pairs(Path(files[0]), Path(files[1]))
        distinct = dict(zip(sources, targets, strict=True))
    elif has_both_sides(Path(files[0])):
        pairs = pairs_of(Path(files[0]), languages, Counter(), cleaning=CleaningConfig())
        distinct = {pair.source: pair.target for pair in pairs}
    else:
        raise DataError(
            f"learning.{key}: {files[0]} holds one side alone; name a source and a target of lines, or one file with "
            "both, such as TMX or TSV"
        )
    return ParallelLines(sources=tuple(distinct), targets=tuple(distinct.values()))


def names_of(files: tuple[str, ...]) -> str:
    """Returns the names of files without their folders, joined as in a card."""
    return " and ".join(Path(name).name for name in files)

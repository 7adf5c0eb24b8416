"""Reads corrections, pairs of a source and the translation that a person approved, from the files people work in."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from attendo.errors import DataError
from attendo.text.cleaning import SentencePair
from attendo.text.pair_rules import CleaningConfig, numbers_agree
from attendo.workflow.pair_files import ALSO_FUZZY, CORRECTION_RULES, pairs_of

_LEAST_CHECKED = 20
"""Minimum number of pairs in a file for its pairs to decide whether the file is refused as a whole."""
_NUMBER = re.compile(r"\d{2,}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Correction:
    """A source with the translation that a person approved."""

    source: str
    target: str


@dataclass(frozen=True, kw_only=True)
class CorrectionFile:
    """The numbers of used and dropped pairs of a file."""

    name: str
    """The file's name, without its folder."""
    used: int
    dropped: Mapping[str, int]
    """Number of pairs that are not learned from, by reason; see docs/learning.md."""


@dataclass(frozen=True, kw_only=True)
class Corrections:
    """All corrections of a round."""

    pairs: tuple[Correction, ...]
    """The pairs in the order of the files, each source once."""
    files: tuple[CorrectionFile, ...]

    @property
    def digest(self) -> str:
        """A digest of the pairs; two rounds with equal digests learn from the same pairs."""
        content = json.dumps([(pair.source, pair.target) for pair in self.pairs])
        return hashlib.sha256(content.encode("utf-8")).hexdigest()

    def files_json(self) -> list[dict[str, Any]]:
        """Returns the files' counts for `json.dumps`, without any text of the pairs."""
        return [asdict(file) for file in self.files]


def read_corrections(
    files: Sequence[Path], before: Sequence[Path] = (), *, languages: tuple[str, str] = ("", "")
) -> Corrections:
    """Reads corrected files and keeps the pairs that can be learned from.

    If a source has several corrections, the last one counts, in the order of the files.

    Args:
        files: TMX, XLIFF, PO, CSV, TSV or JSON lines, as people corrected them.
        before: the same files as the machine wrote them. Their pairs are dropped, as nobody changed them.
        languages: the codes of source and target; empty if unknown.

    Raises:
        DataError: a file cannot be read, lacks a side, is mostly in another language, or has mostly different numbers
            on its two sides, which suggests that one side was shifted.
    """
    unchanged = {(pair.source, pair.target) for path in before for pair in _all_pairs(path, languages)}
    kept: dict[str, tuple[str, int]] = {}
    dropped: list[Counter[str]] = []
    for number, path in enumerate(files):
        counts: Counter[str] = Counter()
        dropped.append(counts)
        pairs = list(pairs_of(path, languages, counts, cleaning=CORRECTION_RULES))
        _check_languages(path, len(pairs), counts, languages)
        _check_numbers(path, pairs)
        for pair in pairs:
            if pair.source == pair.target:
                counts["identical"] += 1
            elif (pair.source, pair.target) in unchanged:
                counts["unchanged"] += 1
            else:
                _keep(kept, pair, number, dropped)
    used = Counter(number for _, number in kept.values())
    return Corrections(
        pairs=tuple(Correction(source=source, target=target) for source, (target, _) in kept.items()),
        files=tuple(
            CorrectionFile(name=path.name, used=used[number], dropped=dict(dropped[number]))
            for number, path in enumerate(files)
        ),
    )


def _keep(kept: dict[str, tuple[str, int]], pair: SentencePair, number: int, dropped: list[Counter[str]]) -> None:
    """Keeps a pair and drops an earlier one of the same source."""
    earlier = kept.pop(pair.source, None)
    if earlier is not None:
        target, its_file = earlier
        dropped[its_file]["duplicate" if target == pair.target else "replaced"] += 1
    kept[pair.source] = (pair.target, number)


def _all_pairs(path: Path, languages: tuple[str, str]) -> Iterator[SentencePair]:
    """Yields the pairs of a file as the machine wrote it, including those that are marked for review."""
    return pairs_of(path, languages, Counter(), cleaning=CleaningConfig(), states=ALSO_FUZZY)


def _check_languages(path: Path, num_kept: int, dropped: Counter[str], languages: tuple[str, str]) -> None:
    """Refuses a file that is mostly in another language.

    Raises:
        DataError: the file is mostly in another language.
    """
    others = dropped["language"]
    if others + num_kept >= _LEAST_CHECKED and others > num_kept:
        raise DataError(
            f"{path}: {others:,} of {others + num_kept:,} pairs are in other languages than {languages[0]} to "
            f"{languages[1]}, which the model translates; leave the file out, or name the model it was made with"
        )


def _check_numbers(path: Path, pairs: Sequence[SentencePair]) -> None:
    """Refuses a file whose two sides do not belong together, as judged by their numbers.

    Raises:
        DataError: most pairs that have numbers have different ones on both sides.
    """
    with_numbers = [pair for pair in pairs if _NUMBER.search(pair.source)]
    others = sum(not numbers_agree(pair.source, pair.target) for pair in with_numbers)
    if len(with_numbers) >= _LEAST_CHECKED and 2 * others > len(with_numbers):
        raise DataError(
            f"{path}: of {len(with_numbers):,} pairs with numbers {others:,} have others in the translation than in "
            "the source; were the sides shifted or shuffled? Correct the file, or leave it out"
        )

"""What is translated with a head cut: a development set of the user's, or our own sentences."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from attendo.errors import DataError
from attendo.paper.heads.cuts import DevSet
from attendo.paper.heads.markup import Pair
from attendo.workflow.lines import line_pairs_from

ItemT = TypeVar("ItemT")

NAMES = ("valid", "val", "dev", "newstest2013")
"""Of a development set's files, with the language behind a point; the first that is there is taken."""


def dev_set(folder: Path, source_language: str, target_language: str, most: int) -> DevSet:
    """Reads a development set, or some of it: lines at even distances, so that any order of its lines is all the same.

    Args:
        folder: of the files.
        source_language: `en` or `de`.
        target_language: the other.
        most: sentences.

    Raises:
        DataError: there is none, a file is broken, or its two sides differ in length.
        OSError: a file cannot be read.
    """
    for name in NAMES:
        source, target = (folder / f"{name}.{language}" for language in (source_language, target_language))
        if source.is_file() and target.is_file():
            pairs = [pair for pair in line_pairs_from(source, target) if pair[0].strip() and pair[1].strip()]
            if not pairs:
                raise DataError(f"{source}: has no line with a translation")
            taken = _spread(pairs, most)
            return DevSet(
                name=f"{name}.{source_language} of {folder.name} ({len(taken):,} of {len(pairs):,} lines)",
                sources=tuple(pair[0] for pair in taken),
                references=tuple(pair[1] for pair in taken),
            )
    wanted = ", ".join(f"{name}.{source_language} and {name}.{target_language}" for name in NAMES)
    raise DataError(f"{folder}: no development set; --data takes a folder with one of {wanted}")


def own_sentences(pairs: Iterable[Pair], source_language: str, most: int) -> DevSet:
    """Held-out sentences of our own.

    Args:
        pairs: of both halves.
        source_language: `en` or `de`.
        most: sentences.
    """
    held_out = [pair.sides(source_language) for pair in pairs if pair.held_out]
    taken = _spread(held_out, most)
    return DevSet(
        name=f"our own sentences ({len(taken):,} of {len(held_out):,} that are held out)",
        sources=tuple(source.text for source, _ in taken),
        references=tuple(target.text for _, target in taken),
    )


def _spread(items: Sequence[ItemT], most: int) -> list[ItemT]:
    """So many of them at most, at even distances."""
    count = min(most, len(items))
    return [items[number * len(items) // count] for number in range(count)]

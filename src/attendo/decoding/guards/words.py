"""Maps words of the model's input and output to words of the line and its translation."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

Segment = tuple[str, str]
"""A stretch of text as the model has it, and as the user's text has it."""
WordNumbers = tuple[tuple[int, ...], ...]
"""For each word of the model, the numbers of the corresponding words of the text, from 0 and ascending."""

_WORD = re.compile("[^ ]+")  # as alignments count words
_PROGRAM_SIGN = re.compile(r"[\d=;{}()\[\]<>_|@\\]")
_LONG, _SEVERAL = 25, 5
_PLAIN_WORD = re.compile(r"[^\w\s]{0,2}(?=[^\W\d_]['’-]?[^\W\d_])[^\W\d_]+(?:['’-][^\W\d_]+)*[^\w\s]{0,3}")


def words(text: str) -> tuple[str, ...]:
    """Splits a text at its spaces."""
    return tuple(_WORD.findall(text))


def has_few_words(text: str) -> bool:
    """Whether a text consists of names and numbers rather than of words, as lines of logs, tables and programs do.

    Such a text is ASCII and has digits or program signs; fewer than half of its space-separated tokens are words, that
    is, two or more letters alone, perhaps within punctuation. Short texts never count as such.
    """
    if not text.isascii() or not _PROGRAM_SIGN.search(text):
        return False
    found = text.split()
    number = sum(_PLAIN_WORD.fullmatch(word) is not None for word in found)
    return (len(found) >= _SEVERAL and 2 * number < len(found)) or (number <= 1 and len(text) >= _LONG)


def word_numbers(segments: Sequence[Segment]) -> WordNumbers:
    """Maps the words of two texts that consist of the same stretches.

    If a stretch has equally many words on both sides, they correspond one to one; in any other, all are all of the
    other's.

    Args:
        segments: the segments in order; joined they are the texts.
    """
    theirs, ours = (_numbered(texts) for texts in zip(*segments, strict=True)) if segments else (iter(()), iter(()))
    found: dict[int, set[int]] = {}
    for its_theirs, its_ours in zip(theirs, ours, strict=True):
        same = len(its_theirs) == len(its_ours)
        for number, ours_number in zip(its_theirs, its_ours, strict=True) if same else product(its_theirs, its_ours):
            found.setdefault(number, set()).add(ours_number)
        for number in its_theirs:
            found.setdefault(number, set())
    return tuple(tuple(sorted(found[number])) for number in sorted(found))


def _numbered(texts: Iterable[str]) -> Iterator[list[int]]:
    """Yields, for each stretch, the numbers of the words that it overlaps."""
    number, open_word = -1, False
    for text in texts:
        its_numbers = []
        for match in _WORD.finditer(text):
            if match.start() or not open_word:
                number += 1
            its_numbers.append(number)
        yield its_numbers
        if text:
            open_word = not text.endswith(" ")

"""Normalises white space as in clean sentences: one space between words, none at the ends.

A tab, or a soft hyphen copied from a web page, is spelled in bytes by most vocabularies, not as a piece; a line with
tabs for spaces becomes untranslatable. No-break spaces stay, since French has them before punctuation; for a model
trained without them they become ordinary spaces.
"""

import re
from collections.abc import Iterable, Sequence

UNBREAKABLE = "\u00a0\u202f"
"""Spaces that no line breaks at."""
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"
_ODD = re.compile(f"  |[^\\S {UNBREAKABLE}]|[{_INVISIBLE}]|^\\s|\\s$")
_RUN = re.compile(f"[^\\S{UNBREAKABLE}]+")
_WITHOUT = str.maketrans("", "", _INVISIBLE)


def without_unknown_spaces(pieces: Iterable[str]) -> dict[int, str]:
    """Returns the table for `str.translate` that maps spaces absent from a vocabulary to ordinary ones.

    Args:
        pieces: the vocabulary's.
    """
    known = set("".join(pieces))
    return {ord(space): " " for space in UNBREAKABLE if space not in known}


def squeezed(text: str) -> str:
    """Collapses each run of white space to one space, strips the ends, and removes invisible characters.

    A text that would become empty is returned unchanged.
    """
    if not _ODD.search(text):
        return text
    return _RUN.sub(" ", text.translate(_WITHOUT).strip()) or text


def squeezed_around(text: str, kept: Sequence[tuple[int, int]]) -> str:
    """Squeezes a text except in some stretches and in the white space next to them.

    Args:
        text: the text.
        kept: start and end position of each stretch, in order.
    """
    found, position = [], 0
    for start, end in kept:
        found += [_between(text[position:start], first=not position), text[start:end]]
        position = end
    return "".join((*found, _between(text[position:], first=not position, last=True)))


def _between(text: str, *, first: bool, last: bool = False) -> str:
    """Squeezes white space between two kept stretches, but not at its ends, unless these are the text's."""
    before, words, behind = parted(text)
    return ("" if first else before) + squeezed(words) + ("" if last else behind)


def parted(text: str) -> tuple[str, str, str]:
    """The white space before a text, the text between, and the white space after it; joined they are the given text."""
    words = text.strip()
    start = text.index(words)
    return text[:start], words, text[start + len(words) :]

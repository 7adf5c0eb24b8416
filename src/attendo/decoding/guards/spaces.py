"""White space as clean sentences have it: one space between words, none at the ends.

A tab, or a soft hyphen copied from a web page, is no piece of a usual vocabulary but bytes; of a line with tabs for its
spaces a model makes nothing at all. Spaces that no line breaks at stay, since French has them before its marks; a model
that has learned from text without them reads them as others.
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
    """Returns the table by which `str.translate` makes ordinary spaces of those that a vocabulary has no piece with.

    Args:
        pieces: the vocabulary's.
    """
    known = set("".join(pieces))
    return {ord(space): " " for space in UNBREAKABLE if space not in known}


def squeezed(text: str) -> str:
    """A text with one space for each run of white space within it and none at its ends, and nothing invisible.

    Where nothing would be left, all stays as it is.
    """
    if not _ODD.search(text):
        return text
    return _RUN.sub(" ", text.translate(_WITHOUT).strip()) or text


def squeezed_around(text: str, kept: Sequence[tuple[int, int]]) -> str:
    """A text squeezed except in some stretches and in the white space next to them.

    Args:
        text: the text.
        kept: the first character of each stretch and the one behind it, in their order.
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
    """The white space before a text, the text between, and the white space behind; together they are what was given."""
    words = text.strip()
    start = text.index(words)
    return text[:start], words, text[start + len(words) :]

"""Quotation marks of a translation in the pairs that its language writes.

A model that has read many people's texts opens with one kind of marks and closes with another, as in »Datei”.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

_PAIRS = {"de": ("„“", "»«", "«»", '""'), "en": ("“”", '""')}
"""The pairs that a language writes, the usual one first; in German »« in books and «» in Switzerland."""
_MARK = re.compile('["“”„«»]')
_BEFORE_OPENING, _BEHIND_CLOSING = frozenset("([{-–—/'‚‘>"), frozenset(".,;:!?…)]}-–—/'‘’<")

_Mark = tuple[int, bool]
"""The place of a mark, and whether it opens."""


def with_matching_quotes(source: str, text: str, language: str) -> str:
    """Returns a translation whose quotation marks are pairs of its language.

    Pairs that are right stay as they are, and so does a text in which it is not certain which mark opens and which
    closes. One mark too many, which closes nothing, is left out.

    Args:
        source: what was translated; without quotation marks nothing is changed.
        text: its translation.
        language: the language of the translation, as an ISO 639-1 code.
    """
    own, expected = _PAIRS.get(language, ()), len(_MARK.findall(source))
    there = _neighbouring(_MARK.findall(text))
    if not own or not expected or all(pair in own for pair in there):
        return text
    marks = [_read(text, found.start()) for found in _MARK.finditer(text)]
    certain = [mark for mark in marks if mark is not None]
    if len(certain) < len(marks):
        return text
    if len(certain) == expected + 1:
        certain, text = _without_stray(certain, text)
    if any(before[1] == behind[1] for before, behind in pairwise(certain)):
        return text
    characters = list(text)
    right = sorted(own, key=lambda pair: pair not in there)  # those that the text has come first
    for marks_of_pair in _paired(certain):
        _set_right(characters, marks_of_pair, right, is_used=right[0] in there)
    return "".join(characters)


def _neighbouring(marks: Sequence[str]) -> list[str]:
    """Marks two by two; where they are odd in number, the last by itself."""
    return ["".join(marks[place : place + 2]) for place in range(0, len(marks), 2)]


def _read(text: str, place: int) -> _Mark | None:
    """Tells by its neighbours whether a mark opens or closes; None where both are possible, or neither."""
    before, behind = text[place - 1 : place], text[place + 1 : place + 2]
    opens = (not before or before.isspace() or before in _BEFORE_OPENING) and bool(behind) and not behind.isspace()
    closes = (not behind or behind.isspace() or behind in _BEHIND_CLOSING) and bool(before) and not before.isspace()
    return None if opens == closes else (place, opens)


def _without_stray(marks: list[_Mark], text: str) -> tuple[list[_Mark], str]:
    """Leaves out the first mark that closes nothing, if there is one."""
    is_open = False
    for number, (place, opens) in enumerate(marks):
        if not opens and not is_open:
            later = [(other - 1, its) for other, its in marks[number + 1 :]]
            return [*marks[:number], *later], text[:place] + text[place + 1 :]
        is_open = opens
    return marks, text


def _paired(marks: Sequence[_Mark]) -> list[tuple[_Mark, ...]]:
    """Marks that open with those that close; one at the beginning or end may be without the other."""
    first = 0 if not marks or marks[0][1] else 1
    return [tuple(marks[:first]), *(tuple(marks[place : place + 2]) for place in range(first, len(marks), 2))]


def _set_right(characters: list[str], marks: Sequence[_Mark], pairs: Sequence[str], *, is_used: bool) -> None:
    """Makes a pair, or the mark without its other, one of some pairs: of the first, if the text uses it elsewhere."""
    there = "".join(characters[place] for place, _ in marks)
    if there in pairs:
        return
    # Otherwise what opens says which pair was meant, if it can open, and then what closes.
    meant = [] if is_used else [each for each in pairs if each[0] == there[:1]]
    meant += [] if is_used else [each for each in pairs if each[1] == there[-1:]]
    for place, opens in marks:
        side = 0 if opens else 1
        if len(marks) == 2 or characters[place] not in {each[side] for each in pairs}:
            characters[place] = [*meant, *pairs][0][side]

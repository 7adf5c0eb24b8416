"""Converts a translation's quotation marks to the pairs of its language.

A model trained on texts of many authors may open with one kind of mark and close with another, as in »Datei”.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

_PAIRS = {"de": ("„“", "»«", "«»", '""'), "en": ("“”", '""')}
"""The quotation mark pairs of a language, the usual one first; in German »« in books and «» in Switzerland."""
_MARK = re.compile('["“”„«»]')
_QUOTED_WORD = re.compile(r'["“„«»]([^\s"“”„«»]+)["“”«»]')
_BEFORE_OPENING, _BEHIND_CLOSING = frozenset("([{-–—/'‚‘>"), frozenset(".,;:!?…)]}-–—/'‘’<")
_STOPS = ".!?"

_Mark = tuple[int, bool]
"""The place of a mark, and whether it opens."""


def with_matching_quotes(source: str, text: str, language: str) -> str:
    """Returns a translation whose quotation marks are pairs of its language.

    Correct pairs stay unchanged, as do texts in which it is uncertain which marks open and which close. A surplus mark
    that closes nothing is dropped; a missing one is added if the word beside its partner is in quotation marks in the
    source.

    Args:
        source: the translated text; without quotation marks in it nothing is changed.
        text: its translation.
        language: the language of the translation, as an ISO 639-1 code.
    """
    own, expected = _PAIRS.get(language, ()), len(_MARK.findall(source))
    present = _MARK.findall(text)
    if not own or not expected or all(pair in own for pair in _neighbouring(present)):
        return text
    if len(present) == expected + 1:
        return _matching(_without_stray(text), own)
    if len(present) == expected - 1:
        return _matching(_with_missing(text, _QUOTED_WORD.findall(source), own), own)
    return _matching(text, own)


def _matching(text: str, own: Sequence[str]) -> str:
    """Makes all marks pairs of some; a text in which they do not open and close in turns is left alone."""
    marks = _read(text)
    if any(before[1] == behind[1] for before, behind in pairwise(marks)):
        return text
    present = _neighbouring(_MARK.findall(text))
    right = sorted(own, key=lambda pair: pair not in present)  # pairs that the text already uses come first
    characters = list(text)
    for pair in _paired(marks):
        _set_right(characters, pair, right, is_used=right[0] in present)
    return "".join(characters)


def _neighbouring(marks: Sequence[str]) -> list[str]:
    """Marks two by two; if their number is odd, the last one alone."""
    return ["".join(marks[place : place + 2]) for place in range(0, len(marks), 2)]


def _read(text: str) -> list[_Mark]:
    """Tells by their neighbours which marks open and which close; none if any is uncertain."""
    marks = []
    for place in (found.start() for found in _MARK.finditer(text)):
        before, behind = text[place - 1 : place], text[place + 1 : place + 2]
        opens = (not before or before.isspace() or before in _BEFORE_OPENING) and bool(behind) and not behind.isspace()
        closes = (not behind or behind.isspace() or behind in _BEHIND_CLOSING) and bool(before) and not before.isspace()
        if opens == closes:
            return []
        marks.append((place, opens))
    return marks


def _paired(marks: Sequence[_Mark]) -> list[Sequence[_Mark]]:
    """Divides marks into pairs and marks without a partner."""
    found: list[Sequence[_Mark]] = []
    for mark in marks:
        if not mark[1] and found and len(found[-1]) == 1 and found[-1][0][1]:
            found[-1] = (*found[-1], mark)
        else:
            found.append((mark,))
    return found


def _without_stray(text: str) -> str:
    """Drops the first mark that closes nothing, and the end of the sentence if it is repeated after the mark."""
    for place, opens in (pair[0] for pair in _paired(_read(text)) if len(pair) == 1):
        if not opens:
            end = place + 1
            if text[end : end + 1] == text[place - 1] and text[end] in _STOPS:
                end += 1
            return text[:place] + text[end:]
    return text


def _with_missing(text: str, quoted: Sequence[str], own: Sequence[str]) -> str:
    """Adds the missing partner of the first unpaired mark beside one of some words."""
    for place, opens in (pair[0] for pair in _paired(_read(text)) if len(pair) == 1):
        for word in quoted:
            if opens and re.match(rf"{re.escape(word)}(?!\w)", text[place + 1 :]):
                at, side = place + 1 + len(word), 1
            elif not opens and re.search(rf"(?<!\w){re.escape(word)}$", text[:place]):
                at, side = place - len(word), 0
            else:
                continue
            pair = next((each for each in own if each[1 - side] == text[place]), own[0])
            before, behind = text[:at], text[at:]
            if side and behind[:1] in ("’", "‘"):  # a single mark in the other's place
                behind = behind[1:]
            elif not side and before[-1:] in ("‚", "‘"):
                before = before[:-1]
            return before + pair[side] + behind
    return text


def _set_right(characters: list[str], marks: Sequence[_Mark], pairs: Sequence[str], *, is_used: bool) -> None:
    """Converts a pair, or an unpaired mark, to one of some pairs: to the first, if the text uses it elsewhere."""
    present = "".join(characters[place] for place, _ in marks)
    if present in pairs:
        return
    # Otherwise the opening mark, if it can open, determines the intended pair, and then the closing mark.
    meant = [] if is_used else [each for each in pairs if each[0] == present[:1]]
    meant += [] if is_used else [each for each in pairs if each[1] == present[-1:]]
    for place, opens in marks:
        side = 0 if opens else 1
        if len(marks) == 2 or characters[place] not in {each[side] for each in pairs}:
            characters[place] = [*meant, *pairs][0][side]

"""Splitting of a content into sentences and the text between them: white space, bullets, cells of tables.

Sentences are found as the engine's guard finds them (`decoding.guards.sentences`): on newstest2013 its boundaries are
right more often than those of installed libraries with built-in rules (docs/serving-apis.md has the figures). Every
character is in a sentence or between two, so white space stays unchanged.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise

from attendo.decoding.guards.sentences import sentence_starts
from attendo.markup.content import STAND_IN
from attendo.markup.text_format import LineEnds, Split

MAX_CHARACTERS = 800
"""Maximum length of a sentence; longer ones are divided at a comma, or at a space."""
MAX_PROTECTED = 8
"""Maximum number of protected texts per sentence: vocabularies have no more placeholders."""

_MIN_WRAPPED = 20
"""Minimum length of a line that may continue in the next one if there are several."""

_LINE_END = re.compile("\r\n|[\n\r\v\f\x85\u2028\u2029]")
_BULLET = re.compile(r"(?:[-*+•·●◦‣▪–—>|]{1,3}|#{1,6}|\(?\d{1,3}\)|\(?[a-z]\))(?=\s)\s+")
_NUMBERED = re.compile(r"(\d{1,3})\.\s+")
_CELL_END = re.compile(r"(?<!\s)[^\S\r\n]*\t[^\S\r\n]*(?!\s)|(?<!\s) {3,}(?!\s)")
"""Pattern of the white space between two columns; that around a line end is an indentation."""
_KEY = re.compile(r"\s*[A-Za-z]\s*")
_FULL_STOP = re.compile('[。！？｡]+[」』）”"]*')
_FINAL = ".!?:;…。！？"
_PAUSE = re.compile(r"[,;:–—)\]](?=\s)")
_SPACE = re.compile(r"\s+")
_STAND_INS = re.compile(STAND_IN)


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int


def sentence_spans(text: str, split: Split, line_ends: LineEnds) -> list[tuple[int, int]]:
    """Finds the sentences.

    Args:
        text: characters, with `STAND_IN` for protected text.
        split: the unit that is read at a time.
        line_ends: the meaning of line ends.

    Returns:
        The start and end of each sentence, in order, without white space at their ends.
    """
    lines = [_Line(0, len(text))] if split == "off" else _joined(text, _lines(text), line_ends)
    found = []
    for line in lines:
        for start, end in _cells(text, line) if split != "off" else [(line.start, line.end)]:
            for span in _sentences(text, start, end) if split == "sentences" else [(start, end)]:
                found += _chopped(text, *_stripped(text, *span))
    return found


def shorter_spans(text: str, max_characters: int) -> list[tuple[int, int]]:
    """Divides a text into stretches of limited length; result as for `sentence_spans`."""
    return _chopped(text, *_stripped(text, 0, len(text)), max_characters=max_characters)


def _lines(text: str) -> list[_Line]:
    ends = [match.span() for match in _LINE_END.finditer(text)]
    starts = [0, *(end for _, end in ends)]
    behind = [*(start for start, _ in ends), len(text)]
    return [_Line(start, end) for start, end in zip(starts, behind, strict=True)]


def _joined(text: str, lines: list[_Line], line_ends: LineEnds) -> list[_Line]:
    """Joins lines that are one sentence."""
    if line_ends == "sentences" or len(lines) == 1:
        return [_Line(_after_bullet(text, place, lines), line.end) for place, line in enumerate(lines)]
    joined: list[_Line] = []
    for place, line in enumerate(lines):
        start = _after_bullet(text, place, lines)
        # Only the last line of the text joined so far, which may be long.
        before = _Line(max(joined[-1].start, lines[place - 1].start), joined[-1].end) if joined else None
        if before is not None and start == line.start and _goes_on(text, before, line, line_ends):
            joined[-1] = _Line(joined[-1].start, line.end)
        else:
            joined.append(_Line(start, line.end))
    return joined


def _goes_on(text: str, before: _Line, line: _Line, line_ends: LineEnds) -> bool:
    """Whether a line continues the sentence of the line before."""
    first, next_ = text[before.start : before.end].strip(), text[line.start : line.end].strip()
    if not first or not next_:
        return False
    if line_ends == "spaces":
        return True
    if len(first) < _MIN_WRAPPED and text.count("\n") > 1:
        return False  # an item of a list
    return next_[0].islower() and first[-1] not in _FINAL and (first[-1].isalnum() or first[-1] in ",-–—)\"'”’")


def _after_bullet(text: str, place: int, lines: list[_Line]) -> int:
    """Finds the start of a line's words: after a bullet, or after a number if another line has its neighbour."""
    line = lines[place]
    start = line.start + len(text[line.start : line.end]) - len(text[line.start : line.end].lstrip())
    if match := _BULLET.match(text, start, line.end):
        return match.end()
    match = _NUMBERED.match(text, start, line.end)
    if match and len(lines) > 1:
        neighbours = {str(int(match[1]) - 1), str(int(match[1]) + 1)}
        near = lines[max(0, place - 3) : place + 4]
        if any(
            (other := _NUMBERED.match(text[each.start : each.end].lstrip())) and other[1] in neighbours for each in near
        ):
            return match.end()
    return line.start


def _cells(text: str, line: _Line) -> Iterator[tuple[int, int]]:
    """Divides a line at tabs, and at spaces that form columns; leaves out letters alone in one, which name a key."""
    position = line.start
    for match in _CELL_END.finditer(text, line.start, line.end):
        if match.start() > position and not _KEY.fullmatch(text, position, match.start()):
            yield position, match.start()
        position = match.end()
    if position < line.end and (position == line.start or not _KEY.fullmatch(text, position, line.end)):
        yield position, line.end


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yields the sentences of a cell."""
    words = text[start:end]
    masked = words
    if STAND_IN in words:
        # Protected text at the beginning of a sentence counts as a capital letter; elsewhere it is an ordinary word.
        masked = re.sub(rf"(?<=[.!?]\s){STAND_IN}", "X", words).replace(STAND_IN, "_")
    starts = set(sentence_starts(masked)) | {match.end() for match in _FULL_STOP.finditer(masked)}
    for first, behind in pairwise(sorted(starts | {0, len(words)})):
        yield start + first, start + behind


def _stripped(text: str, start: int, end: int) -> tuple[int, int]:
    words = text[start:end]
    left = len(words) - len(words.lstrip())
    return (start, start) if left == len(words) else (start + left, start + len(words.rstrip()))


def _chopped(text: str, start: int, end: int, *, max_characters: int = MAX_CHARACTERS) -> list[tuple[int, int]]:
    """Divides a sentence that is too long or has too much protected text."""
    found = []
    while start < end:
        behind = min(end, start + max_characters)
        stand_ins = [match.start() for match in islice(_STAND_INS.finditer(text, start, behind), MAX_PROTECTED + 1)]
        if len(stand_ins) > MAX_PROTECTED:
            behind = stand_ins[-1]
        if behind < end:
            behind = _best_cut(text, start, behind)
        found.append(_stripped(text, start, behind))
        start = behind
    return [span for span in found if span[0] < span[1]]


def _best_cut(text: str, start: int, latest: int) -> int:
    """Returns the last pause in the second half, or else the last space, or else the latest possible position."""
    half = start + (latest - start) // 2
    for pattern in (_PAUSE, _SPACE):
        places = [match.end() for match in pattern.finditer(text, half, latest) if match.end() < latest]
        if places:
            return places[-1]
    return max(latest, start + 1)

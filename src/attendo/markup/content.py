"""A stretch of a source that can be translated: its characters, and the markup between them."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

STAND_IN = "\ufdd0"
"""The character that stands for protected text in a content; a noncharacter of Unicode."""

MarkKind = Literal["open", "close", "single", "space"]
"""A tag that opens, one that closes, one by itself (or something else of no width), white space that is no single
space, in place of which the content has one."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that stands between characters, or is a white space other than one space."""

    at: int
    """The character before which it stands; of white space, the space that it is."""
    raw: str
    """The text in the source."""
    kind: MarkKind
    """The kind of mark."""
    element: int
    """A number shared by the two tags of one element, and by nothing else."""


@dataclass(frozen=True, slots=True)
class Thing:
    """Protected text, which the translation has unchanged or in a known form."""

    source: str
    """The text in the source, markup and entities included."""
    target: str
    """The text in the translation."""
    name: str
    """Its name in problems."""


@dataclass(frozen=True, slots=True)
class Content:
    """Characters, protected text and marks, each with its position in the source."""

    text: str
    """The characters with entities decoded; `STAND_IN` for protected text."""
    origins: Sequence[int]
    """Position of each character in the whole source, and the end of the content."""
    things: tuple[Thing, ...] = ()
    """The protected texts in order."""
    marks: tuple[Mark, ...] = ()
    """The marks in order."""

    def source_end(self, end: int) -> int:
        """Gives the end, in the whole source, of the characters before a position; tags at that position come later."""
        return self.origins[end] - sum(len(mark.raw) for mark in self._tags_at(end))

    def has_mark_within(self, start: int, end: int) -> bool:
        """Whether a mark stands between the first and the last of some characters."""
        found = bisect_right(self.marks, start, key=_place)
        return found < len(self.marks) and self.marks[found].at < end

    def piece(self, start: int, end: int, num_things_before: int) -> "Piece":
        """Gives a stretch of characters with the marks in it.

        Of those at its ends it has the tags whose partners are within it, and what is between these and the stretch:
        what they are around may have another place in the translation. All others stay outside.

        Args:
            start: its first character.
            end: the one behind its last.
            num_things_before: things before it.
        """
        inside = self.text.count(STAND_IN, start, end)
        near = self.marks[bisect_left(self.marks, start, key=_place) : bisect_left(self.marks, end, key=_place)]
        within = [mark for mark in near if mark.at > start or mark.kind == "space"]
        partners = {mark.element for mark in within if mark.kind in ("open", "close")}
        first, last = self._tags_at(start), self._tags_at(end)
        first_with = next((place for place, mark in enumerate(first) if mark.element in partners), len(first))
        last_with = max((place for place, mark in enumerate(last) if mark.element in partners), default=-1)
        first, last = first[first_with:], last[: last_with + 1]
        marks = tuple(Mark(mark.at - start, mark.raw, mark.kind, mark.element) for mark in (*first, *within, *last))
        things = self.things[num_things_before : num_things_before + inside]
        return Piece(
            Content(self.text[start:end], self.origins[start : end + 1], things, marks),
            self.origins[start] - sum(len(mark.raw) for mark in first),
            self.source_end(end) + sum(len(mark.raw) for mark in last),
        )

    def _tags_at(self, at: int) -> list[Mark]:
        near = self.marks[bisect_left(self.marks, at, key=_place) : bisect_right(self.marks, at, key=_place)]
        return [mark for mark in near if mark.kind != "space"]

    def with_things(self, spans: Sequence[tuple[int, int, Thing]]) -> "Content":
        """Gives a content with stretches protected; they are in order, do not overlap and contain no mark."""
        if not spans:
            return self
        stretches, origins, things, marks = [], array("q"), list[Thing](), list[Mark]()
        position = removed = passed = moved = 0
        for start, end, thing in [*spans, (len(self.text), len(self.text), None)]:
            before = self.text.count(STAND_IN, position, start)
            things += self.things[passed : passed + before]
            passed += before + self.text.count(STAND_IN, start, end)
            stretches.append(self.text[position:start])
            origins.extend(self.origins[position:start])
            while moved < len(self.marks) and self.marks[moved].at <= start:
                mark = self.marks[moved]
                marks.append(Mark(mark.at - removed, mark.raw, mark.kind, mark.element))
                moved += 1
            if thing is not None:
                stretches.append(STAND_IN)
                origins.append(self.origins[start])
                things.append(thing)
                removed += end - start - 1
            position = end
        origins.append(self.origins[-1])
        return Content("".join(stretches), origins, tuple(things), tuple(marks))


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a content."""

    content: Content
    """Its characters, protected text and marks."""
    start: int
    """Start in the whole source."""
    end: int
    """End in the whole source."""


def _place(mark: Mark) -> int:
    return mark.at

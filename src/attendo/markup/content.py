"""A translatable stretch of a source: its characters, and the markup between them."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

STAND_IN = "\ufdd0"
"""The character that stands for protected text in a content; a noncharacter of Unicode."""

MarkKind = Literal["open", "close", "single", "space"]
"""An opening tag, a closing tag, an empty tag (or anything else without width), or white space other than a single
space, which is a single space in the content."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Markup between two characters, or white space other than a single space."""

    at: int
    """Index of the character after it; for white space, of the space in the content."""
    raw: str
    """The text in the source."""
    kind: MarkKind
    """The kind of mark."""
    element: int
    """A number shared by the two tags of one element, and by nothing else."""


@dataclass(frozen=True, slots=True)
class ProtectedText:
    """Protected text, which the translation must contain unchanged or in a known form."""

    source: str
    """The text in the source, markup and entities included."""
    target: str
    """The text in the translation."""
    name: str
    """The name to use in problems."""


@dataclass(frozen=True, slots=True)
class Content:
    """Characters, protected text and marks, each with its position in the source."""

    text: str
    """The characters with entities decoded; `STAND_IN` for protected text."""
    origins: Sequence[int]
    """Position of each character in the whole source, and the end of the content."""
    protected: tuple[ProtectedText, ...] = ()
    """The protected texts in order."""
    marks: tuple[Mark, ...] = ()
    """The marks in order."""

    def source_end(self, end: int) -> int:
        """Returns the end in the whole source of the characters before a position; tags at that position come later."""
        return self.origins[end] - sum(len(mark.raw) for mark in self._tags_at(end))

    def has_mark_within(self, start: int, end: int) -> bool:
        """Whether a mark is within a stretch of characters."""
        found = bisect_right(self.marks, start, key=_place)
        return found < len(self.marks) and self.marks[found].at < end

    def piece(self, start: int, end: int, num_protected_before: int) -> "Piece":
        """Returns a stretch of characters with the marks in it.

        Of the marks at its ends the piece has the tags whose partners are within it, and the marks between these and
        the stretch, because the text that they enclose may move in the translation. All others stay outside.

        Args:
            start: its first character.
            end: the character after its last.
            num_protected_before: number of protected texts before it.
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
        protected = self.protected[num_protected_before : num_protected_before + inside]
        return Piece(
            Content(self.text[start:end], self.origins[start : end + 1], protected, marks),
            self.origins[start] - sum(len(mark.raw) for mark in first),
            self.source_end(end) + sum(len(mark.raw) for mark in last),
        )

    def _tags_at(self, at: int) -> list[Mark]:
        if not self.marks:
            return []
        near = self.marks[bisect_left(self.marks, at, key=_place) : bisect_right(self.marks, at, key=_place)]
        return [mark for mark in near if mark.kind != "space"]

    def with_protected(self, spans: Sequence[tuple[int, int, ProtectedText]]) -> "Content":
        """Returns the content with further stretches protected, in order and without overlaps or marks in them."""
        if not spans:
            return self
        stretches, origins, protected, marks = [], array("q"), list[ProtectedText](), list[Mark]()
        position = removed = passed = moved = 0
        for start, end, text in [*spans, (len(self.text), len(self.text), None)]:
            before = self.text.count(STAND_IN, position, start)
            protected += self.protected[passed : passed + before]
            passed += before + self.text.count(STAND_IN, start, end)
            stretches.append(self.text[position:start])
            origins.extend(self.origins[position:start])
            while moved < len(self.marks) and self.marks[moved].at <= start:
                mark = self.marks[moved]
                marks.append(Mark(mark.at - removed, mark.raw, mark.kind, mark.element))
                moved += 1
            if text is not None:
                stretches.append(STAND_IN)
                origins.append(self.origins[start])
                protected.append(text)
                removed += end - start - 1
            position = end
        origins.append(self.origins[-1])
        return Content("".join(stretches), origins, tuple(protected), tuple(marks))


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a content."""

    content: Content
    """The characters, protected text and marks."""
    start: int
    """Start in the whole source."""
    end: int
    """End in the whole source."""


def _place(mark: Mark) -> int:
    return mark.at

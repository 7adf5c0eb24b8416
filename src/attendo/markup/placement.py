"""Placement of a sentence's tags in its translation: around the corresponding words, well nested.

A tag pair gets the stretch of the translation that has most of its own words and fewest others', within the stretch of
the pair that it is in and next to those of its neighbours. Every tag occurs exactly once, whatever the alignment.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from attendo.markup.content import Mark
from attendo.markup.word_links import TokenLinks

_NEUTRAL = -0.02
"""Weight of a word of unknown origin: smaller than any error, so that it is included but not at an end."""
_FEW_SPACES = 12
"""Maximum number of unusual spaces that are placed by words; a table drawn with spaces has more."""


@dataclass(frozen=True, slots=True)
class PlacedMark:
    """A mark in a translation."""

    at: int
    """Index of the character after it; for white space, of the space that it replaces."""
    mark: Mark
    """The mark."""


@dataclass(eq=False)
class _Node:
    """An element, or a tag by itself."""

    start: int
    end: int
    opening: Mark | None = None
    closing: Mark | None = None
    single: Mark | None = None
    children: list["_Node"] = field(default_factory=list)
    first: int = 0
    """The node's first token in the target."""
    behind: int = 0
    """The token after its last."""

    @property
    def is_element(self) -> bool:
        return self.single is None


def placed_marks(
    read: str, written: str, links: TokenLinks, marks: Sequence[Mark]
) -> tuple[list[PlacedMark], list[str]]:
    """Puts marks into a translation.

    Args:
        read: the line that was translated.
        written: its translation.
        links: the links between tokens of both.
        marks: the marks of the line, by character, in order.

    Returns:
        The marks in writing order, and problems with them, for display.
    """
    root = _tree([mark for mark in marks if mark.kind != "space"], len(read))
    layout = _Layout(read, written, links)
    layout.divide(root.children, 0, len(links.target))
    placed: list[PlacedMark] = []
    layout.emit(root.children, 0, len(written), placed)
    spaces = _placed_spaces(written, layout, [mark for mark in marks if mark.kind == "space"])
    return sorted([*placed, *spaces], key=lambda each: each.at), layout.problems


def _tree(marks: Sequence[Mark], length: int) -> _Node:
    """Makes a tree of elements; one that is opened or closed elsewhere extends to the beginning or end."""
    root = _Node(0, length)
    stack = [root]
    for mark in marks:
        if mark.kind == "single":
            stack[-1].children.append(_Node(mark.at, mark.at, single=mark))
        elif mark.kind == "open":
            node = _Node(mark.at, length, opening=mark)
            stack[-1].children.append(node)
            stack.append(node)
        elif len(stack) > 1 and stack[-1].opening is not None and stack[-1].opening.element == mark.element:
            node = stack.pop()
            node.end, node.closing = mark.at, mark
        else:  # it was opened before this sentence: all that is there so far is in it
            root.children = [_Node(0, mark.at, closing=mark, children=root.children)]
    return root


class _Layout:
    """The positions of tokens, and the stretch of them that each element gets."""

    def __init__(self, read: str, written: str, links: TokenLinks) -> None:
        self.read, self.written, self.links = read, written, links
        self.problems: list[str] = []

    def divide(self, nodes: Sequence[_Node], lo: int, hi: int) -> None:
        """Assigns each of some siblings its stretch of target tokens within `lo` to `hi`."""
        stretches: list[tuple[int, int]] = []
        gains = {id(node): self._gains(node) for node in nodes if node.is_element}
        elements = [node for node in nodes if node.is_element]
        for node in sorted(elements, key=lambda node: -float(np.maximum(gains[id(node)][lo:hi], 0).sum())):
            node.first, node.behind = self._stretch(node, gains[id(node)], _free(node, stretches, lo, hi))
            stretches.append((node.first, node.behind))
            self.divide(node.children, node.first, node.behind)
        for node in nodes:
            if not node.is_element:
                beside = _beside(node, elements)
                found = self.boundary(node.start, _boundaries(stretches, lo, hi)) if beside is None else beside
                node.first = node.behind = found
        for node in elements:
            if node.first == node.behind and self._covered(node).any():
                name = (node.opening or node.closing or Mark(0, "a tag", "single", 0)).raw
                self.problems.append(f"no words of the translation are left for {name}")

    def emit(self, nodes: Sequence[_Node], least: int, most: int, placed: list[PlacedMark]) -> None:
        """Appends marks in the order of writing, none before `least` or after `most`."""
        order = sorted(range(len(nodes)), key=lambda place: (nodes[place].first, nodes[place].behind, place))
        for place in order:
            node = nodes[place]
            if node.single is not None:
                at = min(max(self._single_at(node), least), most)
                placed.append(PlacedMark(at, node.single))
                least = at
                continue
            start, end = self._edges(node)
            start = min(max(start, least), most)
            end = min(max(end, start), most)
            if node.opening is not None:
                placed.append(PlacedMark(start, node.opening))
            self.emit(node.children, start, end, placed)
            if node.closing is not None:
                placed.append(PlacedMark(end, node.closing))
            least = end

    def token_end(self, number: int) -> int:
        """Returns the end of the token before a boundary."""
        return self.links.target[number - 1].end if number > 0 else 0

    def token_start(self, number: int) -> int:
        """Returns the start of the token after a boundary."""
        return self.links.target[number].start if number < len(self.links.target) else len(self.written)

    def _covered(self, node: _Node) -> NDArray[np.bool_]:
        """Returns the source tokens that an element contains at least by half; if there are none, those it overlaps."""
        tokens = self.links.source
        parts = [min(each.end, node.end) - max(each.start, node.start) for each in tokens]
        half = np.array(
            [2 * part >= each.end - each.start for part, each in zip(parts, tokens, strict=True)], dtype=bool
        )
        return half if half.any() else np.array([part > 0 for part in parts], dtype=bool)

    def _gains(self, node: _Node) -> NDArray[np.float64]:
        """Returns each target token's gain for an element: above 0 if more of its weight is there than elsewhere."""
        covered = self._covered(node)
        if not len(covered) or not len(self.links.target):
            return np.zeros(len(self.links.target))
        share = self.links.weights[:, covered].sum(axis=1)
        known = self.links.weights.sum(axis=1) > 0
        return np.where(known, share - 0.5, _NEUTRAL)

    def _stretch(self, node: _Node, gains: NDArray[np.float64], gaps: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Returns the best stretch of tokens in the gaps."""
        covered = self._covered(node)
        num_target = len(self.links.target)
        whole = node.opening is None, node.closing is None
        candidates = [(*_best_run(gains, lo, hi, whole=whole), lo, hi) for lo, hi in gaps]
        gain, first, behind, lo, hi = max(candidates, key=lambda each: each[0])
        if gain > 0 and behind > first:
            return first, behind
        if not covered.any() or lo == hi:
            at = self.boundary(node.start, range(lo, hi + 1))
            return (at, at) if node.opening and node.closing else (first, behind)
        if node.opening is None:
            return lo, max(behind, lo)
        if node.closing is None:
            return min(first, hi), hi
        # No token has most of its weight there: use the one with the largest share, or at the corresponding position.
        shares = self.links.weights[:, covered].sum(axis=1)
        places = [place for lo, hi in gaps for place in range(lo, hi)]
        if not places:
            return lo, lo
        if any(part and not each.is_mark for part, each in zip(covered, self.links.source, strict=True)):
            # Words never become punctuation; emphasis around a bracket alone is invalid in Markdown.
            places = [place for place in places if not self.links.target[place].is_mark] or places
        expected = float(np.flatnonzero(covered).mean()) / max(1, len(self.links.source)) * num_target
        best = max(places, key=lambda place: (round(float(shares[place]), 2), -abs(place + 0.5 - expected)))
        return best, best + 1

    def boundary(self, at: int, boundaries: Sequence[int]) -> int:
        """Returns the boundary between target tokens that corresponds best to that before a source character."""
        weights, num_source, num_target = self.links.weights, len(self.links.source), len(self.links.target)
        left = bisect_right(self.links.source, at, key=lambda token: token.end)
        if not num_target or not left:
            return boundaries[0]
        if left == num_source:
            return boundaries[-1]
        before = weights[:, :left].sum(axis=1) - weights[:, left:].sum(axis=1)
        crossing = np.concatenate([[0.0], np.cumsum(before)])
        nearby = np.zeros(num_target + 1)
        nearby[1:] += weights[:, left - 1]
        nearby[:-1] += weights[:, left]
        # The two words have changed places: it is still between them.
        nearby[1:-1] += 1.5 * np.minimum(weights[:-1, left], weights[1:, left - 1])
        likeness = np.round(2 * nearby + crossing / num_target, 3)[list(boundaries)]
        distance = np.abs(np.asarray(boundaries) - left / num_source * num_target)
        best = np.lexsort((distance, -likeness))[0]
        return boundaries[int(best)]

    def _edges(self, node: _Node) -> tuple[int, int]:
        """Returns the positions of an element's tags, with white space on the same side as in the source."""
        if node.first == node.behind:
            at = self._single_at(node)
            return at, at
        start, end = self.token_start(node.first), self.token_end(node.behind)
        if node.opening is None:
            start = 0
        elif (inside := self._inside_word(node.start, node.first)) is not None:
            start = inside
        elif self.read[node.start : node.start + 1].isspace() and node.first > 0:
            start = self.token_end(node.first)
        if node.closing is None:
            end = len(self.written)
        elif (inside := self._inside_word(node.end, node.behind)) is not None:
            end = inside
        elif self.read[node.end - 1 : node.end].isspace() and node.behind < len(self.links.target):
            end = self.token_start(node.behind)
        return start, end

    def _inside_word(self, at: int, boundary: int) -> int | None:
        """The position of a tag in the middle of a source word, if the translation has that word too; at a boundary."""
        for number in (boundary - 1, boundary):
            if 0 <= number < len(self.links.target) and (row := self.links.weights[number]).max(initial=0) == 1:
                token, source = self.links.target[number], self.links.source[int(row.argmax())]
                if source.start < at < source.end and source.text == token.text:
                    return token.start + at - source.start
        return None

    def _single_at(self, node: _Node) -> int:
        if (inside := self._inside_word(node.start, node.first)) is not None:
            return inside
        before = self.read[node.start - 1 : node.start] if node.start else ""
        if node.first == 0 and not before:
            return 0
        if node.first == len(self.links.target) and node.start >= len(self.read.rstrip()):
            return len(self.written)
        return self.token_start(node.first) if before.isspace() else self.token_end(node.first)


def _placed_spaces(written: str, layout: _Layout, marks: Sequence[Mark]) -> list[PlacedMark]:
    """White space in place of spaces: line ends where as much text is before them, others where their words are."""
    free = [place for place, character in enumerate(written) if character == " "]
    boundaries = range(len(layout.links.target) + 1)
    placed: list[PlacedMark] = []
    first = 0
    for number, mark in enumerate(marks):
        # The remaining marks need places too.
        last = max(first + 1, len(free) - (len(marks) - number - 1))
        if first >= len(free):
            break
        expected = mark.at / max(1, len(layout.read)) * len(written)
        if len(marks) <= _FEW_SPACES and "\n" not in mark.raw and "\r" not in mark.raw:
            expected = layout.token_end(layout.boundary(mark.at, boundaries))
        place = min(range(first, last), key=lambda each: abs(free[each] - expected))
        placed.append(PlacedMark(free[place], mark))
        first = place + 1
    return placed


def _best_run(gains: NDArray[np.float64], lo: int, hi: int, *, whole: tuple[bool, bool]) -> tuple[float, int, int]:
    """Finds the run of tokens with the largest sum; returns the sum, the first token and the one after the last.

    Args:
        gains: the gain of each token.
        lo: the first token that may be used.
        hi: the token after the last that may be used.
        whole: whether the run must begin with the first token, and end with the last.
    """
    if lo == hi:
        return 0.0, lo, lo
    sums = np.concatenate([[0.0], np.cumsum(gains[lo:hi])])
    from_first, to_last = whole
    if from_first and to_last:
        return float(sums[-1]), lo, hi
    if from_first:
        best = int(sums.argmax())
        return float(sums[best]), lo, lo + best
    if to_last:
        best = int(sums.argmin())
        return float(sums[-1] - sums[best]), lo + best, hi
    lowest = np.minimum.accumulate(sums)
    behind = int((sums - lowest).argmax())
    first = int(sums[: behind + 1].argmin())
    return float(sums[behind] - sums[first]), lo + first, lo + behind


def _beside(node: _Node, elements: Sequence[_Node]) -> int | None:
    """Returns the boundary of a tag directly after or before an element; None for any other tag."""
    for each in elements:
        if each.closing is not None and each.end == node.start:
            return each.behind
    return next((each.first for each in elements if each.opening is not None and each.start == node.start), None)


def _free(node: _Node, taken: Sequence[tuple[int, int]], lo: int, hi: int) -> list[tuple[int, int]]:
    """Returns the rest of a stretch for an element; an empty stretch if there is no room.

    An element that is opened or closed elsewhere must be at the stretch's beginning or end.
    """
    gaps, position = [], lo
    for first, behind in sorted(taken):
        if first > position:
            gaps.append((position, first))
        position = max(position, behind)
    if position < hi:
        gaps.append((position, hi))
    if node.opening is None:
        return [gap for gap in gaps if gap[0] == lo] or [(lo, lo)]
    if node.closing is None:
        return [gap for gap in gaps if gap[1] == hi] or [(hi, hi)]
    return gaps or [(hi, hi)]


def _boundaries(taken: Sequence[tuple[int, int]], lo: int, hi: int) -> list[int]:
    """Returns the boundaries of a stretch that are not within an element."""
    return [place for place in range(lo, hi + 1) if not any(first < place < behind for first, behind in taken)]

"""A document's constituents, found by their first and last tokens; uses trees but not spaCy.

Several brackets of a treebank around the same words are one constituent with several labels here, the upper one first,
as in benepar. A single word is a constituent too, without labels if no bracket is around it alone. Tokens of white
space are part of no tree: constituents begin and end with words.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from attendo.errors import DataError
from attendo.parsing.tree import Tree
from attendo.parsing.writing import from_json

Range = tuple[int, int]
"""The first token, and the position after the last."""
Spans = list[list[Any]]
"""For each constituent with labels: its first token, the position after its last, the labels, and the index of its
parent, -1 for none; sorted by beginning, the longer one first."""

_START, _END, _LABELS, _PARENT = range(4)


@dataclass(frozen=True, kw_only=True)
class Constituents:
    """All constituents of a document."""

    spans: Spans
    tags: list[str]
    """The tag of each token; empty for white space, and for sentences without a parse."""

    def add(self, tree: Tree, tokens: Sequence[int]) -> None:
        """Adds the tree of the next sentence.

        Args:
            tree: the tree of the sentence.
            tokens: the number of each of its words in the document.
        """
        open_places: list[int] = []
        for label, first, behind in tree.spans:
            start, end = tokens[first], tokens[behind - 1] + 1
            while open_places and self.spans[open_places[-1]][_END] <= start:
                open_places.pop()
            last = self.spans[open_places[-1]] if open_places else None
            if last is not None and (last[_START], last[_END]) == (start, end):
                last[_LABELS].append(label)
                continue
            parent = open_places[-1] if open_places else -1
            open_places.append(len(self.spans))
            self.spans.append([start, end, [label], parent])
        for token, tag in zip(tokens, tree.tags, strict=True):
            self.tags[token] = tag

    def found(self, start: int, end: int) -> Range:
        """Returns a constituent without the white space around it.

        Raises:
            DataError: there is no constituent with these ends, or no parse.
        """
        if not any(self.tags[start:end]):
            raise DataError("has no parse")
        while start < end and not self.tags[start]:
            start += 1
        while start < end and not self.tags[end - 1]:
            end -= 1
        if self._place(start, end) is None and end - start != 1:
            raise DataError("is no constituent")
        return start, end

    def labels(self, constituent: Range) -> tuple[str, ...]:
        """Returns its labels, the upper one first; empty for a single word."""
        place = self._place(*constituent)
        return () if place is None else tuple(self.spans[place][_LABELS])

    def parent(self, constituent: Range) -> Range | None:
        """Returns the smallest larger constituent, None for a sentence."""
        start, end = constituent
        place = self._place(start, end)
        if place is not None:
            place = self.spans[place][_PARENT]
        else:
            place = self._first_from(start + 1) - 1  # the last one that begins here or earlier
            while place >= 0 and self.spans[place][_END] < end:
                place = self.spans[place][_PARENT]
        return None if place < 0 else self._range(place)

    def children(self, constituent: Range) -> Iterator[Range]:
        """Yields the children, including single words, from left to right; a word has none."""
        token, end = constituent
        if end - token == 1:
            return
        place = self._place(token, end)
        assert place is not None, "a constituent of several words has labels"
        place += 1
        while token < end:
            if place < len(self.spans) and self.spans[place][_START] == token:
                child = self._range(place)
                yield child
                token = child[1]
                place = self._first_from(token)
                continue
            if self.tags[token]:
                yield token, token + 1
            token += 1

    def within(self, constituent: Range) -> Iterator[Range]:
        """Yields a constituent and all below it, each before its parts, from left to right."""
        pending = [constituent]
        while pending:
            one = pending.pop()
            yield one
            pending.extend(reversed(list(self.children(one))))

    def tree(self, constituent: Range, words: Sequence[str], first: int = 0) -> Tree:
        """Returns a constituent as a tree.

        Args:
            constituent: a constituent from `found`.
            words: one for each token, at least those of the constituent.
            first: the token of the first word.
        """
        start, end = constituent
        tokens = [token for token in range(start, end) if self.tags[token]]
        number = {token: place for place, token in enumerate(tokens)}
        place = bisect_left(self.spans, (start, -end), key=_order)
        brackets = []
        while place < len(self.spans) and self.spans[place][_START] < end:
            begin, behind, labels, _ = self.spans[place]
            brackets += [{"label": label, "start": number[begin], "end": number[behind - 1] + 1} for label in labels]
            place += 1
        return from_json(
            {
                "words": [words[token - first] for token in tokens],
                "tags": [self.tags[token] for token in tokens],
                "constituents": brackets,
            }
        )

    def _first_from(self, token: int) -> int:
        """The index of the first span that begins with a token or after it."""
        return bisect_left(self.spans, (token, -len(self.tags)), key=_order)

    def _place(self, start: int, end: int) -> int | None:
        """The index of a constituent with labels among the spans."""
        place = bisect_left(self.spans, (start, -end), key=_order)
        fits = place < len(self.spans) and self._range(place) == (start, end)
        return place if fits else None

    def _range(self, place: int) -> Range:
        span = self.spans[place]
        return span[_START], span[_END]


def _order(span: Sequence[Any]) -> tuple[int, int]:
    return span[_START], -span[_END]

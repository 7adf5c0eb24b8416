"""States of a partial tree and the symbols that can still complete it: a class for each order.

What makes this more than counting brackets is the limit of unary chains: constituents over the very same words. Where a
chain has to end, a further word must come, and there may be too few left.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from attendo.decoding.constraints.constraint import Allowed
from attendo.decoding.constraints.grammar_symbols import NO_IDS, NO_LABELS, Ids, SymbolSets
from attendo.parsing.config import Order

NEVER = 1 << 40
"""More symbols than any tree has."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    """Facts about all trees over one sentence."""

    sets: SymbolSets
    words: tuple[Ids, ...]
    """The symbols that each word may have, the last word's first, so that the number of words left is the place
    behind the next one's."""
    max_unary: int
    """Most constituents over the very same words."""
    max_open: int
    """Most constituents that are open at the same time."""
    num_reductions: tuple[int, ...]
    """Bottom-up: the least number of constituents that combine all parts into one, by the number of surplus parts."""


class State(ABC):
    """A part of a tree's symbols, read."""

    __slots__ = ()

    @abstractmethod
    def allowed(self, num_left: int) -> Allowed:
        """Returns the symbols after which the tree can be completed.

        Args:
            num_left: symbols that may still be written, `</s>` not among them. So many are enough for this state.
        """

    @abstractmethod
    def after(self, token: int) -> "State":
        """The state behind an allowed symbol."""


def start(sentence: Sentence, order: Order) -> State:
    """Returns the state before the first symbol."""
    num_words = len(sentence.words)
    if order == "top-down":
        return _TopDown(sentence, num_words, None, NO_LABELS)
    if order == "in-order":
        return _InOrder(sentence, num_words, None, None, None)
    return _BottomUp(sentence, num_words, 0, NO_LABELS)


def fewest_symbols(sentence: Sentence, order: Order) -> int:
    """Symbols of the smallest tree; NEVER or more where there is none."""
    num_words = len(sentence.words)
    if order == "bottom-up":
        return num_words + sentence.num_reductions[num_words - 1]
    if num_words == 1:
        return 1
    return num_words + 2 if sentence.sets.labels else NEVER


class _Open:
    """A constituent that is open, and those around it."""

    __slots__ = ("above", "depth", "is_first", "label", "need")

    def __init__(self, label: str, above: "_Open | None", is_first: bool, max_unary: int) -> None:
        self.label = label
        self.above = above
        self.is_first = is_first  # nothing comes before it in the one above
        self.depth: int = 1 if above is None else above.depth + 1
        # Words that those above need so that all can be closed, if this one is closed with several parts.
        self.need: int = _need_above(frozenset((label,)), above, is_first, max_unary)


def _need_above(chain: frozenset[str], above: _Open | None, is_first: bool, max_unary: int) -> int:
    """Fewest words that open constituents need to be closed, once what they wait for is complete.

    Where a chain may not grow, a word breaks it. To break it as late as it can be is never worse, since a part of what
    may be a chain may be one too.

    Args:
        chain: labels of what is complete, and of what has the same words below.
        above: the constituent that it is part of, whose `need` is that of a chain which begins there.
        is_first: whether it is the first part of that.
        max_unary: most labels of a chain.
    """
    while above is not None:
        if not is_first:
            return above.need
        if above.label in chain or len(chain) == max_unary:
            return 1 + above.need
        chain = chain | {above.label}
        is_first, above = above.is_first, above.above
    return 0


class _TopDown(State):
    """Constituents are opened before anything is known of their words, so that several at once may need one."""

    __slots__ = ("_chain", "_innermost", "_num_words", "_sentence")

    def __init__(
        self, sentence: Sentence, num_words: int, innermost: _Open | None, chain: frozenset[str] | None
    ) -> None:
        self._sentence = sentence
        self._num_words = num_words  # left
        self._innermost = innermost
        # Of the innermost constituent: empty, it has no part yet; labels of its only part, a constituent, and of what
        # has the same words below; None, its only part is a word, or it has several.
        self._chain = chain

    def allowed(self, num_left: int) -> Allowed:
        sets, num_words, innermost = self._sentence.sets, self._num_words, self._innermost
        if innermost is None:
            if self._chain != NO_LABELS:
                return sets.any_of(sets.eos)
            word = self._sentence.words[0] if num_words == 1 else NO_IDS
            return sets.any_of(word, sets.opening(NO_LABELS) if num_words + 2 <= num_left else NO_IDS)
        words = opening = closing = NO_IDS
        if num_words > innermost.need:
            words = self._sentence.words[num_words - 1]
            if innermost.depth < self._sentence.max_open and num_words + innermost.depth + 2 <= num_left:
                opening = self._opening(innermost)
        if self._may_close(innermost):
            closing = sets.closing[innermost.label]
        return sets.any_of(words, opening, closing)

    def after(self, token: int) -> "_TopDown":
        sentence, innermost, chain = self._sentence, self._innermost, self._chain
        symbol = sentence.sets.by_id[token]
        if symbol.kind == "word":
            return _TopDown(sentence, self._num_words - 1, innermost, None)
        if symbol.kind == "open":
            opened = _Open(symbol.label, innermost, chain == NO_LABELS, sentence.max_unary)
            return _TopDown(sentence, self._num_words, opened, NO_LABELS)
        assert innermost is not None
        closed = frozenset((innermost.label,)) if chain is None else chain | {innermost.label}
        return _TopDown(sentence, self._num_words, innermost.above, closed if innermost.is_first else None)

    def _may_close(self, innermost: _Open) -> bool:
        if innermost.depth == 1 and self._num_words:
            return False
        chain = self._chain
        if chain is None:
            return True
        return 0 < len(chain) < self._sentence.max_unary and innermost.label not in chain

    def _opening(self, innermost: _Open) -> Ids:
        """Returns the brackets that may be opened, each of which needs a word, if there are too few words for some."""
        sets, spare = self._sentence.sets, self._num_words - 1
        if self._chain != NO_LABELS or spare > innermost.need:
            return sets.opening(NO_LABELS)  # the need is innermost's, or one more at worst
        max_unary = self._sentence.max_unary
        # A label that none of those above has makes the longest chain, whose need is the least.
        if _need_above(frozenset(("(",)), innermost, True, max_unary) > spare:
            return NO_IDS
        near: set[str] = set()
        above: _Open | None = innermost
        while above is not None and above.label not in near and len(near) < max_unary:
            near.add(above.label)
            above = above.above
        banned = (label for label in near if _need_above(frozenset((label,)), innermost, True, max_unary) > spare)
        return sets.opening(frozenset(banned))


class _Level(NamedTuple):
    """A constituent that is open, of the in-order trees."""

    label: str
    above: "_Level | None"
    depth: int


class _InOrder(State):
    """A constituent is opened behind its first part, so that only the innermost one can have that alone."""

    __slots__ = ("_chain", "_innermost", "_last", "_num_words", "_sentence")

    def __init__(
        self,
        sentence: Sentence,
        num_words: int,
        innermost: _Level | None,
        chain: frozenset[str] | None,
        last: frozenset[str] | None,
    ) -> None:
        self._sentence = sentence
        self._num_words = num_words  # left
        self._innermost = innermost
        # Of the innermost constituent: labels of its only part and of what has the same words below, none of a word;
        # None: it has several parts.
        self._chain = chain
        # The same of the part before, if a bracket may take it; None: there is none, or it is taken.
        self._last = last

    def allowed(self, num_left: int) -> Allowed:
        sentence, num_words, innermost, last = self._sentence, self._num_words, self._innermost, self._last
        sets = sentence.sets
        depth = 0 if innermost is None else innermost.depth
        words = opening = closing = NO_IDS
        if num_words and (innermost is not None or last is None):
            words = sentence.words[num_words - 1]
        if last is not None and depth < sentence.max_open and num_words + depth + 2 <= num_left:
            if num_words:  # one of them can be the second part
                opening = sets.opening(NO_LABELS)
            elif len(last) < sentence.max_unary:
                opening = sets.opening(last)
        if innermost is None:
            return sets.any_of(words, opening, NO_IDS if num_words else sets.eos)
        if self._may_close(innermost) and (depth > 1 or not num_words or num_words + 3 <= num_left):
            closing = sets.closing[""]
        return sets.any_of(words, opening, closing)

    def after(self, token: int) -> "_InOrder":
        sentence, num_words, innermost = self._sentence, self._num_words, self._innermost
        symbol = sentence.sets.by_id[token]
        if symbol.kind == "word":
            return _InOrder(sentence, num_words - 1, innermost, None, NO_LABELS)
        if symbol.kind == "open":
            opened = _Level(symbol.label, innermost, 1 if innermost is None else innermost.depth + 1)
            return _InOrder(sentence, num_words, opened, self._last, None)
        assert innermost is not None
        own = frozenset((innermost.label,))
        # What is around it has parts before this one, or it could not have been opened yet.
        return _InOrder(sentence, num_words, innermost.above, None, own if self._chain is None else self._chain | own)

    def _may_close(self, innermost: _Level) -> bool:
        chain = self._chain
        return chain is None or (len(chain) < self._sentence.max_unary and innermost.label not in chain)


class _BottomUp(State):
    """A constituent is made of the last parts; how many parts one may have is up to the vocabulary."""

    __slots__ = ("_last", "_num_parts", "_num_words", "_sentence")

    def __init__(self, sentence: Sentence, num_words: int, num_parts: int, last: frozenset[str]) -> None:
        self._sentence = sentence
        self._num_words = num_words  # left
        self._num_parts = num_parts  # that nothing holds together yet
        self._last = last  # labels of the last part and of what has the same words below; none of a word

    def allowed(self, num_left: int) -> Allowed:
        sentence, num_words, num_parts, last = self._sentence, self._num_words, self._num_parts, self._last
        sets, num_reductions = sentence.sets, sentence.num_reductions
        words = sentence.words[num_words - 1] if num_words else NO_IDS
        unary = eos = NO_IDS
        parts_in_all, spare = num_words + num_parts, num_left - 1 - num_words
        counts = tuple(
            count for count in sets.part_counts if count <= num_parts and num_reductions[parts_in_all - count] <= spare
        )
        if num_parts:
            if len(last) < sentence.max_unary and num_reductions[parts_in_all - 1] <= spare:
                unary = sets.unary(last)
            if parts_in_all == 1:
                eos = sets.eos
        return sets.any_of(words, sets.reductions(counts), unary, eos)

    def after(self, token: int) -> "_BottomUp":
        sentence, num_words, num_parts = self._sentence, self._num_words, self._num_parts
        symbol = sentence.sets.by_id[token]
        if symbol.kind == "word":
            return _BottomUp(sentence, num_words - 1, num_parts + 1, NO_LABELS)
        own = frozenset((symbol.label,))
        last = self._last | own if symbol.num_parts == 1 else own
        return _BottomUp(sentence, num_words, num_parts - symbol.num_parts + 1, last)

"""States of a partial tree and the symbols that can still complete it; one class for each order.

This is more than counting brackets because unary chains, constituents over exactly the same words, are limited. Where a
chain has to end, another word must follow, and there may be too few left.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from attendo.decoding.constraints.constraint import AllowedTokens
from attendo.decoding.constraints.grammar_symbols import NO_IDS, NO_LABELS, Ids, SymbolSets
from attendo.parsing.config import Order

NEVER = 1 << 40
"""More symbols than any tree."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    """Facts about all trees over one sentence."""

    sets: SymbolSets
    words: tuple[Ids, ...]
    """The symbols that each word may have, the last word's first, so that the index of the next word's symbols is the
    number of words left minus 1."""
    max_unary: int
    """Maximum number of constituents over exactly the same words."""
    max_open: int
    """Maximum number of constituents open at the same time."""
    num_reductions: tuple[int, ...]
    """Bottom-up: the minimum number of constituents that combine all parts into one, by the number of surplus parts."""


class State(ABC):
    """The state after some of a tree's symbols."""

    __slots__ = ()

    @abstractmethod
    def allowed(self, num_left: int) -> AllowedTokens:
        """Returns the symbols after which the tree can be completed.

        Args:
            num_left: number of symbols that may still be written, not counting `</s>`; enough to complete this state.
        """

    @abstractmethod
    def after(self, token: int) -> "State":
        """The state after an allowed symbol."""


def start(sentence: Sentence, order: Order) -> State:
    """Returns the state before the first symbol."""
    num_words = len(sentence.words)
    if order == "top-down":
        return _TopDown(sentence, num_words, None, NO_LABELS)
    if order == "in-order":
        return _InOrder(sentence, num_words, None, None, None)
    return _BottomUp(sentence, num_words, 0, NO_LABELS)


def fewest_symbols(sentence: Sentence, order: Order) -> int:
    """Number of symbols of the smallest tree; at least NEVER if there is none."""
    num_words = len(sentence.words)
    if order == "bottom-up":
        return num_words + sentence.num_reductions[num_words - 1]
    if num_words == 1:
        return 1
    return num_words + 2 if sentence.sets.labels else NEVER


class _Open:
    """An open constituent, and those around it."""

    __slots__ = ("above", "depth", "is_first", "label", "need")

    def __init__(self, label: str, above: "_Open | None", is_first: bool, max_unary: int) -> None:
        self.label = label
        self.above = above
        self.is_first = is_first  # the first part of the one above
        self.depth: int = 1 if above is None else above.depth + 1
        # Words that the constituents above need to be closed, if this one is closed with several parts.
        self.need: int = _need_above(frozenset((label,)), above, is_first, max_unary)


def _need_above(chain: frozenset[str], above: _Open | None, is_first: bool, max_unary: int) -> int:
    """Minimum number of words that the open constituents need to be closed, once their pending part is complete.

    Where a chain may not grow, a word breaks it. Breaking it as late as possible is never worse, since part of a
    permitted chain is itself permitted.

    Args:
        chain: labels of the complete part, and of its descendants over the same words.
        above: the constituent around it, whose `need` is that of a chain beginning there.
        is_first: whether it is the first part of `above`.
        max_unary: maximum number of labels of a chain.
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
    """Constituents are opened before any of their words are known, so several at once may still need one."""

    __slots__ = ("_chain", "_innermost", "_num_words", "_sentence")

    def __init__(
        self, sentence: Sentence, num_words: int, innermost: _Open | None, chain: frozenset[str] | None
    ) -> None:
        self._sentence = sentence
        self._num_words = num_words  # words left
        self._innermost = innermost
        # For the innermost constituent: empty if it has no part yet; the labels of its only part, if a constituent, and
        # of that part's descendants over the same words; None if its only part is a word or it has several parts.
        self._chain = chain

    def allowed(self, num_left: int) -> AllowedTokens:
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
        """Returns the brackets that may be opened; those that would need more words than are left are excluded."""
        sets, spare = self._sentence.sets, self._num_words - 1
        if self._chain != NO_LABELS or spare > innermost.need:
            return sets.opening(NO_LABELS)  # at worst one more word than innermost needs
        max_unary = self._sentence.max_unary
        # A label that none of those above has allows the longest chain, which needs the fewest words.
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
    """An open constituent of in-order trees."""

    label: str
    above: "_Level | None"
    depth: int


class _InOrder(State):
    """A constituent is opened after its first part, so only the innermost can have just one part."""

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
        self._num_words = num_words  # words left
        self._innermost = innermost
        # For the innermost constituent: labels of its only part and of that part's descendants over the same words,
        # none for a word; None if it has several parts.
        self._chain = chain
        # The same for the preceding part, if a bracket may take it; None if there is none, or it is already taken.
        self._last = last

    def allowed(self, num_left: int) -> AllowedTokens:
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
        # The enclosing constituent has earlier parts, or it could not have been opened yet.
        return _InOrder(sentence, num_words, innermost.above, None, own if self._chain is None else self._chain | own)

    def _may_close(self, innermost: _Level) -> bool:
        chain = self._chain
        return chain is None or (len(chain) < self._sentence.max_unary and innermost.label not in chain)


class _BottomUp(State):
    """A constituent is made of the last parts; the vocabulary determines how many parts one may have."""

    __slots__ = ("_last", "_num_parts", "_num_words", "_sentence")

    def __init__(self, sentence: Sentence, num_words: int, num_parts: int, last: frozenset[str]) -> None:
        self._sentence = sentence
        self._num_words = num_words  # words left
        self._num_parts = num_parts  # parts not yet combined
        self._last = last  # labels of the last part and its descendants over the same words; none for a word

    def allowed(self, num_left: int) -> AllowedTokens:
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

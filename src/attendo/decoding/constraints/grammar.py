"""A constraint under which the output is a tree over exactly the words of a sentence."""

from collections.abc import Mapping, Sequence

from attendo.decoding.constraints.constraint import AllowedTokens, Place, TracingConstraint
from attendo.decoding.constraints.grammar_states import NEVER, Sentence, State, fewest_symbols, start
from attendo.decoding.constraints.grammar_symbols import Ids, SymbolSets
from attendo.errors import DataError
from attendo.parsing.config import Order


class Grammar:
    """The trees that can be written with a vocabulary; made once for a model.

    Every constituent has a word. At most `max_unary` constituents span exactly the same words, no two of them with the
    same label. Labels and tags are not restricted otherwise.

    Args:
        symbols: id to symbol, as `attendo.parsing.linearization` writes them; all other ids are never allowed.
        order: the order of the symbols.
        eos_id: the id of `</s>`, which is allowed where a tree is complete, and only there.
        max_unary: maximum number of constituents over exactly the same words.
        max_open: maximum number of constituents open at the same time; bottom-up, none ever is.

    Raises:
        DataError: a symbol does not belong to this order, there is none for words, or a limit is below 1.
    """

    def __init__(
        self, symbols: Mapping[int, str], order: Order, eos_id: int, *, max_unary: int = 4, max_open: int = 100
    ) -> None:
        for name, limit in (("max_unary", max_unary), ("max_open", max_open)):
            if limit < 1:
                raise DataError(f"{name} is {limit}; take 1 or more")
        self._sets = SymbolSets(symbols, order, eos_id)
        self._order, self._eos_id = order, eos_id
        self._max_unary, self._max_open = max_unary, max_open
        self._num_reductions: tuple[int, ...] = (0,)

    def sentence(
        self, num_words: int, max_symbols: int, tags: Sequence[frozenset[str] | None] | None = None
    ) -> TracingConstraint:
        """Returns the constraint for one sentence.

        It allows exactly the ids after which a tree can still be completed, so a search never reaches a dead end. After
        a symbol that it has not allowed, it allows none.

        Args:
            num_words: number of words of the sentence.
            max_symbols: maximum number of symbols of a tree, not counting `</s>`.
            tags: for each word the tags that it may have, None for any; None allows all words any tag.

        Raises:
            DataError: no tree can be written: there is no word, a word has no tag that the vocabulary has, the symbols
                are too few or cannot be put together; or the number of tags differs from that of words.
        """
        if num_words < 1:
            raise DataError("a tree has at least one word, but the sentence has none")
        if tags is not None and len(tags) != num_words:
            raise DataError(
                f"a sentence of {num_words} words has tags for {len(tags)}; give each word its tags, or None"
            )
        words = [self._word(place, its_tags) for place, its_tags in enumerate(tags or (None,) * num_words, start=1)]
        sentence = Sentence(
            sets=self._sets,
            words=tuple(reversed(words)),
            max_unary=self._max_unary,
            max_open=self._max_open,
            num_reductions=self._reductions_for(num_words),
        )
        needed = fewest_symbols(sentence, self._order)
        if needed >= NEVER:
            raise DataError(f"the vocabulary has no brackets that make one tree of {num_words} words")
        if needed > max_symbols:
            raise DataError(f"its trees have at least {needed} symbols, but may have {max_symbols}; allow more")
        return _SentenceTrees(start(sentence, self._order), max_symbols, self._eos_id)

    def _word(self, place: int, tags: frozenset[str] | None) -> Ids:
        ids = self._sets.words(tags)
        if not ids:
            listed = ", ".join(sorted(tags or ())) or "with nothing"
            raise DataError(f"word {place} may only be tagged {listed}, not in the vocabulary")
        return ids

    def _reductions_for(self, num_words: int) -> tuple[int, ...]:
        """The minimum number of constituents that reduce the number of parts by each amount, as in making change."""
        known = self._num_reductions
        if len(known) < num_words:
            longer = list(known)
            steps = [count - 1 for count in self._sets.part_counts]
            while len(longer) < num_words:
                surplus = len(longer)
                longer.append(1 + min((longer[surplus - step] for step in steps if step <= surplus), default=NEVER))
            self._num_reductions = known = tuple(longer)
        return known


class _SentenceTrees:
    """The trees over one sentence; a `TracingConstraint`."""

    def __init__(self, beginning: State, max_symbols: int, eos_id: int) -> None:
        self.beginning = _Reached(beginning, max_symbols, eos_id)
        """The state before the first symbol."""

    def following(self, ids: Sequence[int]) -> AllowedTokens:
        """Returns the symbols after which the tree can still be completed, and `</s>` if it is complete."""
        reached: Place = self.beginning
        for token in ids:
            reached = reached.after(token)
        return reached.allowed


class _Reached:
    """The state of a hypothesis that is part of a tree, with a number of symbols left; a `Place`."""

    __slots__ = ("_eos_id", "_num_left", "_state", "allowed")

    def __init__(self, state: State, num_left: int, eos_id: int) -> None:
        self._state, self._num_left, self._eos_id = state, num_left, eos_id
        self.allowed = state.allowed(num_left)

    def after(self, token: int) -> Place:
        """The state after a symbol; a forbidden symbol leads to the dead end."""
        if token not in self.allowed or token == self._eos_id:
            return _NOWHERE
        return _Reached(self._state.after(token), self._num_left - 1, self._eos_id)


class _Nowhere:
    """The state of a hypothesis that can never become a tree; a `Place`."""

    allowed = AllowedTokens(frozenset())

    def after(self, token: int) -> "_Nowhere":
        return self


_NOWHERE = _Nowhere()

"""The tree symbols of a vocabulary as sets of ids, each computed once, so that search only looks them up."""

from collections.abc import Callable, Hashable, Mapping

from attendo.decoding.constraints.constraint import AllowedTokens
from attendo.errors import DataError
from attendo.parsing.config import Order
from attendo.parsing.linearization import Symbol, read_symbol

Ids = frozenset[int]
NO_IDS: Ids = frozenset()
NO_LABELS: frozenset[str] = frozenset()
_MAX_KEPT = 10_000
"""Maximum number of cached sets of one kind; a few hundred occur, unless every word has its own choice of tags."""


class SymbolSets:
    """The ids of a vocabulary grouped by the meaning of their symbols.

    Two ids may have the same symbol.

    Args:
        symbols: id to symbol.
        order: the order of the trees' symbols.
        eos_id: the id of `</s>`.

    Raises:
        DataError: a symbol does not belong to this order or has the id of `</s>`, or there is no symbol for words.
    """

    def __init__(self, symbols: Mapping[int, str], order: Order, eos_id: int) -> None:
        self.by_id: dict[int, Symbol] = {}
        """The meaning of each id."""
        for token, text in symbols.items():
            symbol = read_symbol(text, order)
            if symbol is None:
                raise DataError(f"the symbol {text!r} is none of {order} trees; take its own order")
            self.by_id[token] = symbol
        if eos_id in symbols:
            raise DataError(f"the id {eos_id} is {symbols[eos_id]!r} as well as </s>; leave it out of the symbols")
        self.eos: Ids = frozenset((eos_id,))
        """`</s>` alone."""
        self.any_word = self._where(lambda symbol: symbol.kind == "word")
        """Ids of words, with any tag."""
        if not self.any_word:
            raise DataError("the vocabulary has no symbol of a word")
        closing: dict[str, set[int]] = {}
        for token, symbol in self.by_id.items():
            if symbol.kind == "close":
                closing.setdefault(symbol.label, set()).add(token)
        self.closing = {label: frozenset(tokens) for label, tokens in closing.items()}
        """Ids that close each label; in-order, the empty label stands for all."""
        self.labels = frozenset(
            symbol.label
            for symbol in self.by_id.values()
            if symbol.kind == "open" and (symbol.label if order == "top-down" else "") in closing
        )
        """Labels that can be opened, except those that could never be closed."""
        self.part_counts = tuple(sorted({symbol.num_parts for symbol in self.by_id.values()} - {0, 1}))
        """Bottom-up: the possible numbers of parts of a constituent, 2 or more."""
        self._sets: dict[Hashable, Ids] = {}
        self._unions: dict[tuple[Ids, ...], AllowedTokens] = {}

    def words(self, tags: frozenset[str] | None) -> Ids:
        """Allows a word with one of these tags; None for any tag."""
        if tags is None:
            return self.any_word
        return self._kept(("words", tags), lambda symbol: symbol.kind == "word" and symbol.label in tags)

    def opening(self, banned: frozenset[str]) -> Ids:
        """Returns the ids that open a constituent with none of these labels."""
        labels = self.labels
        return self._kept(
            ("opening", banned),
            lambda symbol: symbol.kind == "open" and symbol.label in labels and symbol.label not in banned,
        )

    def reductions(self, counts: tuple[int, ...]) -> Ids:
        """Bottom-up: returns the ids that combine this number of parts into a constituent."""
        return self._kept(("reductions", counts), lambda symbol: symbol.kind == "close" and symbol.num_parts in counts)

    def unary(self, banned: frozenset[str]) -> Ids:
        """Bottom-up: returns the ids that make a constituent of one part, with none of these labels."""
        return self._kept(("unary", banned), lambda symbol: symbol.num_parts == 1 and symbol.label not in banned)

    def any_of(self, *sets: Ids) -> AllowedTokens:
        """Allows all ids of these sets."""
        found = self._unions.get(sets)
        if found is None:
            if len(self._unions) >= _MAX_KEPT:
                self._unions.clear()
            found = self._unions[sets] = AllowedTokens(frozenset().union(*sets))
        return found

    def _kept(self, key: Hashable, holds: Callable[[Symbol], bool]) -> Ids:
        found = self._sets.get(key)
        if found is None:
            if len(self._sets) >= _MAX_KEPT:
                self._sets.clear()
            found = self._sets[key] = self._where(holds)
        return found

    def _where(self, holds: Callable[[Symbol], bool]) -> Ids:
        return frozenset(token for token, symbol in self.by_id.items() if holds(symbol))

"""Placeholders that a source does not have are never written: the pieces that would spell them are banned."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from attendo.decoding.constraints.constraint import Constraint, Forbidden, Rules
from attendo.decoding.constraints.words import Pieces
from attendo.decoding.guards.output import Without

_OPENING = "\u27e6"


class StrayPlaceholders:
    """Adds to rules that placeholders occur only if the source has them.

    Args:
        vocabulary: the target's pieces.
        placeholders: the placeholders that both vocabularies have.
    """

    def __init__(self, vocabulary: Pieces, placeholders: Sequence[str]) -> None:
        pieces = vocabulary.pieces(range(vocabulary.vocab_size))
        self.ids = {symbol: pieces.index(symbol) for symbol in placeholders}
        """The id of each placeholder."""
        with_bracket = {token for token, piece in enumerate(pieces) if _OPENING in piece}
        self._others = frozenset(with_bracket.difference(self.ids.values()))
        byte_pieces = [f"<0x{byte:02X}>" for byte in _OPENING.encode()]
        known = set(pieces)
        spelled = tuple(pieces.index(piece) for piece in byte_pieces) if known.issuperset(byte_pieces) else ()
        self._spelled: tuple[Constraint, ...] = (Forbidden((spelled,)),) if spelled else ()
        self._known: dict[frozenset[int], tuple[Constraint, ...]] = {}

    def banned(self, rules: Rules, read: str) -> Rules:
        """Bans the placeholders that are neither in a source nor forced by the rules.

        Args:
            rules: the rules for the source's translation.
            read: the source as the model reads it.
        """
        if not self.ids:
            return rules
        wanted = {
            token for ids in (rules.prefix, *rules.forced, *chain.from_iterable(rules.forced_any)) for token in ids
        }
        strays = frozenset(token for symbol, token in self.ids.items() if symbol not in read and token not in wanted)
        if not strays:
            return rules
        if strays not in self._known:
            self._known[strays] = (Without(strays | self._others), *self._spelled)
        constraints = self._known[strays]
        if constraints[0] in rules.constraints:
            return rules
        return replace(rules, constraints=(*rules.constraints, *constraints))

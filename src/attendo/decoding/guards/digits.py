"""A constraint on the numbers of a translation: only those that the source has."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from attendo.decoding.constraints.constraint import EVERYTHING, AllowedTokens
from attendo.decoding.constraints.words import Spelling

_DIGITS = frozenset(b"0123456789")
_SIGN = b"\0"
_Open = frozenset[bytes]
"""A possible beginning of a number at the end of a hypothesis, one per reading; b"" for none."""
_OUTSIDE: _Open = frozenset((b"",))


class DigitPieces:
    """The pieces of a vocabulary that write a digit.

    Args:
        spelling: the spelling of the target's pieces.
        placeholders: ids of those, whose digits are no digits of the translation.
    """

    def __init__(self, spelling: Spelling, placeholders: Collection[int]) -> None:
        self._spelling, self._placeholders = spelling, frozenset(placeholders)
        self.tokens = tuple(token for token in range(len(spelling.texts)) if not _DIGITS.isdisjoint(self.text(token)))
        """Ids in ascending order."""

    def text(self, token: int) -> bytes:
        """The bytes that a piece writes; a sign for a placeholder."""
        return _SIGN if token in self._placeholders else self._spelling.texts[token]

    def beginning(self, text: bytes) -> frozenset[int]:
        """Finds the ids of pieces that are a beginning of a text, or begin with it."""
        return self._spelling.beginning(text)


class OnlyNumbers:
    """Digits occur only as complete numbers from a list; a `TracingConstraint`.

    Two numbers need something other than a digit between them. Text around numbers is free. The bytes that pieces write
    are read, so it does not matter how a number is cut into pieces.

    Args:
        pieces: the pieces of the target vocabulary.
        numbers: the permitted numbers as the translation may write them; each begins and ends with a digit.
    """

    def __init__(self, pieces: DigitPieces, numbers: Collection[str]) -> None:
        self._pieces = pieces
        self._numbers = frozenset(number.encode() for number in numbers)
        self._beginnings = frozenset(number[:end] for number in self._numbers for end in range(1, len(number) + 1))
        self._after: dict[tuple[_Open, bytes], _Open] = {}
        self._allowed: dict[_Open, AllowedTokens] = {}

    @property
    def beginning(self) -> "NumberPlace":
        """The state before the first token."""
        return NumberPlace(self, _OUTSIDE)

    def following(self, ids: Sequence[int]) -> AllowedTokens:
        """Everything but digits that would begin, continue or end no number of the list."""
        place = self.beginning
        for token in ids:
            place = place.after(token)
        return place.allowed

    def after(self, open_numbers: _Open, token: int) -> _Open:
        """The state after one more token; empty if that is not allowed."""
        text = self._pieces.text(token)
        if open_numbers == _OUTSIDE and _DIGITS.isdisjoint(text):
            return open_numbers
        key = (open_numbers, text)
        if key not in self._after:
            state = open_numbers
            for place in range(len(text)):
                state = self._after_byte(state, text[place : place + 1])
            self._after[key] = state
        return self._after[key]

    def allowed(self, open_numbers: _Open) -> AllowedTokens:
        """Returns the tokens that may follow a state."""
        if open_numbers not in self._allowed:
            self._allowed[open_numbers] = self._allowed_after(open_numbers)
        return self._allowed[open_numbers]

    def _after_byte(self, open_numbers: _Open, byte: bytes) -> _Open:
        is_digit = byte[0] in _DIGITS
        found = set()
        for number in open_numbers:
            if (number or is_digit) and number + byte in self._beginnings:
                found.add(number + byte)
            if not is_digit and (not number or number in self._numbers):
                found.add(b"")
        return frozenset(found)

    def _allowed_after(self, open_numbers: _Open) -> AllowedTokens:
        may_end = any(not number or number in self._numbers for number in open_numbers)
        if may_end:
            banned = frozenset(token for token in self._pieces.tokens if not self.after(open_numbers, token))
            return AllowedTokens(banned=banned) if banned else EVERYTHING
        rests = {number[len(begun) :] for begun in open_numbers for number in self._numbers if number.startswith(begun)}
        tokens = {token for rest in rests for token in self._pieces.beginning(rest)}
        return AllowedTokens(frozenset(token for token in tokens if self.after(open_numbers, token)))


@dataclass(frozen=True, slots=True)
class NumberPlace:
    """The state of `OnlyNumbers` after a hypothesis."""

    constraint: OnlyNumbers
    """The constraint."""
    open_numbers: _Open
    """The numbers that it may end with a beginning of."""

    @property
    def allowed(self) -> AllowedTokens:
        """The tokens that may follow."""
        return self.constraint.allowed(self.open_numbers)

    def after(self, token: int) -> "NumberPlace":
        """The state after one more token."""
        return NumberPlace(self.constraint, self.constraint.after(self.open_numbers, token))

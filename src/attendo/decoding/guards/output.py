"""Degenerate translations: loops and copies of the source."""

import re
from collections import Counter
from collections.abc import Collection, Sequence

from attendo.decoding.constraints.constraint import EVERYTHING, Allowed, Constraint

TIMES = 3
"""An n-gram that comes so often in a row is a loop."""
_LOOP_LETTERS = 6
_MAX_LOOP = 100
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")
_MIN_COPY_WORDS = 3
_MAX_IN_COMMON = 0.5


def has_loop(pieces: Sequence[str]) -> bool:
    """Whether some n pieces come three times in a row; less than six letters, as in "iii", are no loop.

    Args:
        pieces: of a translation or its source.
    """
    return any(len("".join(_LETTER.findall(loop))) >= _LOOP_LETTERS for loop in _loops(pieces))


def is_long_loop(pieces: Sequence[str], source_tokens: int) -> bool:
    """Whether something comes three times in a row, if only points or digits, in far more tokens than the source has.

    Args:
        pieces: of a translation.
        source_tokens: of its source.
    """
    return len(pieces) > 2 * source_tokens + 10 and bool(_loops(pieces))


def _loops(pieces: Sequence[str]) -> list[str]:
    """The texts of all n-grams that come three times in a row or more, each with all its repetitions."""
    length = len(pieces)
    # Each piece of a loop comes three times; few sentences have one that does.
    if length - len(set(pieces)) < TIMES - 1 or max(Counter(pieces).values()) < TIMES:
        return []
    found = []
    for size in range(1, min(length // TIMES, _MAX_LOOP) + 1):
        run = 0
        for place in range(size, length + 1):
            if place < length and pieces[place] == pieces[place - size]:
                run += 1
                continue
            if run >= (TIMES - 1) * size:
                found.append("".join(pieces[place - run - size : place]))
            run = 0
    return found


class NoStutter:
    """No token comes a third time in a row; a `Constraint`, which with `NoRepeat(3)` leaves no loop."""

    def following(self, ids: Sequence[int]) -> Allowed:
        """Everything but a token that has come twice now."""
        if len(ids) < TIMES - 1 or ids[-1] != ids[-2]:
            return EVERYTHING
        return Allowed(banned=frozenset((ids[-1],)))


class Excused:
    """A constraint that wraps another one, but never bans some tokens; a `Constraint`.

    Args:
        constraint: the other one, which only bans.
        tokens: that it does not ban, such as digits, of which a number may have the same three in a row.
    """

    def __init__(self, constraint: Constraint, tokens: Collection[int]) -> None:
        self._constraint, self._tokens = constraint, frozenset(tokens)

    def following(self, ids: Sequence[int]) -> Allowed:
        """Returns the tokens that the constraint allows, and the excused ones."""
        allowed = self._constraint.following(ids)
        if allowed.banned.isdisjoint(self._tokens):
            return allowed
        return Allowed(allowed.only, allowed.banned - self._tokens)


class Without:
    """Some tokens never come; a `Constraint`.

    Args:
        tokens: that never come.
    """

    def __init__(self, tokens: frozenset[int]) -> None:
        self._allowed = Allowed(banned=tokens) if tokens else EVERYTHING

    def following(self, ids: Sequence[int]) -> Allowed:
        """Everything but these tokens."""
        return self._allowed


class AtMostOnce:
    """Some tokens come at most once; a `Constraint`.

    Args:
        tokens: that come at most once.
    """

    def __init__(self, tokens: frozenset[int]) -> None:
        self._tokens = tokens

    def following(self, ids: Sequence[int]) -> Allowed:
        """Everything but those that have come."""
        return Allowed(banned=self._tokens.intersection(ids))


class InOrder:
    """Some tokens come in their order, if at all; a `Constraint`.

    Args:
        tokens: in that order.
    """

    def __init__(self, tokens: Sequence[int]) -> None:
        self._tokens = tuple(tokens)

    def following(self, ids: Sequence[int]) -> Allowed:
        """Everything but what is behind the first that has not come."""
        missing = [token for token in self._tokens if token not in ids]
        return Allowed(banned=frozenset(missing[1:]))


def is_copy(source: str, translation: str) -> bool:
    """Whether a translation is its source's words, three or more; case, digits and punctuation aside."""
    # Nearly all that is none begins with another letter.
    first, other = source[:1].casefold(), translation[:1].casefold()
    if first.isalpha() and other.isalpha() and first != other:
        return False
    words = _words(translation)
    return len(words) >= _MIN_COPY_WORDS and words == _words(source)


def has_much_of(source: str, translation: str) -> bool:
    """Whether more than half of a translation's words are its source's."""
    words, theirs = _words(translation), set(_words(source))
    return sum(word in theirs for word in words) > _MAX_IN_COMMON * len(words)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())

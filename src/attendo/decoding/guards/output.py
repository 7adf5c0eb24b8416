"""Degenerate translations: loops, words written twice and copies of the source."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import pairwise

from attendo.decoding.constraints.constraint import EVERYTHING, AllowedTokens, Constraint

TIMES = 3
"""An n-gram repeated this many times in a row is a loop."""
_LOOP_LETTERS = 6
_MAX_LOOP = 100
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")
_GOES_ON = re.compile(r"[\w'’-]")
_SHORTEST_DOUBLED = 3
_RIGHTLY_DOUBLED = frozenset({
    "bye", "das", "dem", "den", "der", "die", "dir", "had", "her", "ihm", "ihn", "ihr", "lang", "long", "mal", "non",
    "nous", "oui", "que", "sehr", "she", "sie", "that", "tout", "très", "uns", "very", "vous", "war", "was", "way",
    "wer", "who", "wie", "yes", "you",
})  # fmt: skip
"""Words that a sentence may have twice in a row: *I think that that is true*, *die, die die Tür öffnet*."""
_MIN_COPY_WORDS = 3
_MAX_IN_COMMON = 0.5


def has_loop(pieces: Sequence[str]) -> bool:
    """Whether an n-gram of pieces occurs three times in a row; fewer than six letters, as in "iii", are no loop.

    Args:
        pieces: the pieces of a translation or its source.
    """
    return any(len("".join(_LETTER.findall(loop))) >= _LOOP_LETTERS for loop in _loops(pieces))


def is_long_loop(pieces: Sequence[str], source_tokens: int) -> bool:
    """Whether anything, even points or digits, occurs three times in a row, in far more tokens than the source has.

    Args:
        pieces: the pieces of a translation.
        source_tokens: number of tokens of its source.
    """
    return len(pieces) > 2 * source_tokens + 10 and bool(_loops(pieces))


def _loops(pieces: Sequence[str]) -> list[str]:
    """The texts of all n-grams that occur three times in a row or more, each with all its repetitions."""
    length = len(pieces)
    # Each piece of a loop occurs three times, which is rare in ordinary sentences.
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


def doubled_words(text: str, source: str) -> list[str]:
    """Finds words of three letters or more that a translation has twice in a row, as in *that blue blue house*.

    Args:
        text: the translation.
        source: its source; if that has a word twice in a row, nothing is found.
    """
    found = _doubled(text)
    return found if found and not _doubled(source) else []


def _doubled(text: str) -> list[str]:
    return [
        word
        for word, following in pairwise(text.split())
        if following.startswith(word)
        and len(word) >= _SHORTEST_DOUBLED
        and word.isalpha()
        and not _GOES_ON.match(following, len(word))
        and word.casefold() not in _RIGHTLY_DOUBLED
    ]


class NoStutter:
    """No token occurs three times in a row; a `Constraint`, which with `NoRepeat(3)` leaves no loop."""

    def following(self, ids: Sequence[int]) -> AllowedTokens:
        """Allows everything but a token that ends the hypothesis twice."""
        if len(ids) < TIMES - 1 or ids[-1] != ids[-2]:
            return EVERYTHING
        return AllowedTokens(banned=frozenset((ids[-1],)))


class ExemptingConstraint:
    """Wraps another constraint, but never bans certain tokens; a `Constraint`.

    Args:
        constraint: the other constraint, which only bans tokens.
        tokens: the tokens never banned, such as digits: a number may have the same digit three times in a row.
    """

    def __init__(self, constraint: Constraint, tokens: Collection[int]) -> None:
        self._constraint, self._tokens = constraint, frozenset(tokens)

    def following(self, ids: Sequence[int]) -> AllowedTokens:
        """Returns the tokens that the constraint allows, and the excused ones."""
        allowed = self._constraint.following(ids)
        if allowed.banned.isdisjoint(self._tokens):
            return allowed
        return AllowedTokens(allowed.only, allowed.banned - self._tokens)


class Without:
    """Bans certain tokens; a `Constraint`.

    Args:
        tokens: the banned tokens.
    """

    def __init__(self, tokens: frozenset[int]) -> None:
        self._allowed = AllowedTokens(banned=tokens) if tokens else EVERYTHING

    def following(self, ids: Sequence[int]) -> AllowedTokens:
        """Everything but these tokens."""
        return self._allowed


class AtMostOnce:
    """Allows certain tokens at most once; a `Constraint`.

    Args:
        tokens: the limited tokens.
    """

    def __init__(self, tokens: frozenset[int]) -> None:
        self._tokens = tokens

    def following(self, ids: Sequence[int]) -> AllowedTokens:
        """Allows everything but the limited tokens that have occurred."""
        return AllowedTokens(banned=self._tokens.intersection(ids))


class InOrder:
    """Allows certain tokens only in their order; a `Constraint`.

    Args:
        tokens: the limited tokens, in order.
    """

    def __init__(self, tokens: Sequence[int]) -> None:
        self._tokens = tuple(tokens)

    def following(self, ids: Sequence[int]) -> AllowedTokens:
        """Allows everything but the tokens after the first that has not occurred."""
        missing = [token for token in self._tokens if token not in ids]
        return AllowedTokens(banned=frozenset(missing[1:]))


def is_copy(source: str, translation: str) -> bool:
    """Whether a translation is its source's words, three or more; case, digits and punctuation aside."""
    # A quick check: nearly all translations that are no copies begin with another letter.
    first, other = source[:1].casefold(), translation[:1].casefold()
    if first.isalpha() and other.isalpha() and first != other:
        return False
    words = _words(translation)
    return len(words) >= _MIN_COPY_WORDS and words == _words(source)


def has_much_of(source: str, translation: str) -> bool:
    """Whether more than half of a translation's words are also in its source."""
    words, theirs = _words(translation), set(_words(source))
    return sum(word in theirs for word in words) > _MAX_IN_COMMON * len(words)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())

"""Links between tokens of source and translation, from word alignment and equal spelling."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from attendo.decoding.lines.alignment import Alignment, Words, words_of
from attendo.decoding.lines.translation import Candidate, Translation

_TOKEN = re.compile(r"\u27e6\d+\u27e7|\w+(?:[-'’]\w+)*|[^\w\s]")
_WORD = re.compile("[^ ]+")
_QUOTES = frozenset("\"“”„«»‘’‚'")
_FINAL = frozenset(".!?…")

Weights = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a symbol for protected text, or a mark."""

    start: int
    """Position of its first character."""
    end: int
    """Position of the character after it."""
    text: str
    """The text."""

    @property
    def is_mark(self) -> bool:
        """Whether it is a single character other than a letter or a digit."""
        return len(self.text) == 1 and not self.text.isalnum()


@dataclass(frozen=True, slots=True)
class TokenLinks:
    """The tokens of both sides, with the weights of their links."""

    source: tuple[Token, ...]
    """Tokens of the source in order."""
    target: tuple[Token, ...]
    """Tokens of the translation in order."""
    weights: Weights
    """The weights, `(target tokens, source tokens)`; a row sums to 1, or to 0 if nothing is known."""


def tokens_of(text: str) -> tuple[Token, ...]:
    """Returns the tokens of a text in order."""
    return tuple(Token(match.start(), match.end(), match[0]) for match in _TOKEN.finditer(text))


def word_spans(text: str) -> list[tuple[int, int]]:
    """Finds the words as alignments count them: stretches between spaces."""
    return [match.span() for match in _WORD.finditer(text)]


def token_links(
    read: str, written: str, alignment: Alignment | None, translation: Translation, candidate: Candidate
) -> TokenLinks:
    """Links tokens.

    Args:
        read: the line that was translated.
        written: a translation of the line.
        alignment: the alignment of the two; None if there is none.
        translation: the translation of the line.
        candidate: the candidate that was written.
    """
    source, target = tokens_of(read), tokens_of(written)
    by_word = _word_weights(read, written, alignment, translation, candidate)
    weights = np.zeros((len(target), len(source)))
    if by_word is not None and len(source) and len(target):
        source_words, target_words = _words_of_tokens(source, read), _words_of_tokens(target, written)
        weights = by_word[np.ix_(target_words, source_words)]
        weights[:, [token.is_mark for token in source]] = 0
        _prefer_the_same(weights, source, target)
    weights[[number for number, token in enumerate(target) if token.is_mark]] = 0
    _link_the_same(weights, source, target)
    sums = weights.sum(axis=1, keepdims=True)
    return TokenLinks(source, target, np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0))


def _word_weights(
    read: str, written: str, alignment: Alignment | None, translation: Translation, candidate: Candidate
) -> Weights | None:
    """`(target words, source words)`: the alignment's links, and its weights if they are for exactly these words."""
    num_source, num_target = len(word_spans(read)), len(word_spans(written))
    if alignment is None or len(alignment.source_words) != num_source or len(alignment.target_words) != num_target:
        return None
    weights = np.zeros((num_target, num_source))
    for source, target in alignment.links:
        weights[target, source] = 1
    if translation.words is None and candidate.words is None:
        source_places, target_places = words_of(alignment.source_pieces[:-1]), words_of(alignment.target_pieces[:-1])
        if len(source_places) == num_source and len(target_places) == num_target:
            rows = _membership(target_places, alignment.weights.shape[0])
            columns = _membership(source_places, alignment.weights.shape[1])
            weights += (rows / rows.sum(axis=1, keepdims=True)) @ alignment.weights @ columns.T
    return weights


def _membership(words: Words, num_pieces: int) -> Weights:
    """Returns `(words, pieces)`: 1 where a piece belongs to a word."""
    found = np.zeros((len(words), num_pieces))
    for word, places in enumerate(words):
        found[word, list(places)] = 1
    return found


def _prefer_the_same(weights: Weights, source: Sequence[Token], target: Sequence[Token]) -> None:
    """For a word with several tokens, such as two with a hyphen, links the tokens that are equal on both sides."""
    ids: dict[str, int] = {}
    source_ids, target_ids = (
        np.array([ids.setdefault(token.text.casefold(), len(ids)) for token in side]) for side in (source, target)
    )
    same = weights * (target_ids[:, None] == source_ids[None, :])
    found = same.any(axis=1)
    weights[found] = same[found]


def _words_of_tokens(tokens: Sequence[Token], text: str) -> list[int]:
    """Returns the number of each token's word."""
    numbers, number, spans = [], 0, word_spans(text)
    for token in tokens:
        while number + 1 < len(spans) and spans[number][1] <= token.start:
            number += 1
        numbers.append(number)
    return numbers


def _link_the_same(weights: Weights, source: Sequence[Token], target: Sequence[Token]) -> None:
    """Links equal tokens on both sides: symbols, names, numbers; marks in their order if they are equally many."""
    by_source, by_target = _by_likeness(source), _by_likeness(target)
    for likeness, rows in by_target.items():
        columns = by_source.get(likeness, [])
        if len(rows) != len(columns):
            continue
        if len(rows) > 1 and not source[columns[0]].is_mark:
            continue
        for row, column in zip(rows, columns, strict=True):
            weights[row] = 0
            weights[row, column] = 1


def _by_likeness(tokens: Sequence[Token]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for number, token in enumerate(tokens):
        last = number == len(tokens) - 1
        if token.is_mark:
            likeness = '"' if token.text in _QUOTES else "." if last and token.text in _FINAL else token.text
        else:
            likeness = token.text.casefold()
        found[likeness].append(number)
    return found

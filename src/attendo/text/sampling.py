"""Random segmentations of text into subwords, the same for the same seed in every process and on every machine.

SentencePiece draws its own, but from a generator into which each process mixes a number of its own (since 0.2.2): with
those, no run could be made again, gone on with, or shared by several processes. So the draw is made here, over
SentencePiece's vocabulary: BPE-dropout (Provilkov et al., 2020), and for unigram vocabularies subword regularisation
(Kudo, 2018). Without dropout, the merges here give SentencePiece's own segmentation to the id.
"""

import heapq
import math
import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import numpy.typing as npt

SPACE_MARK = "\u2581"
"""What SentencePiece writes for a space."""

_KEPT = 200_000
"""Stretches of text whose usual segmentation, or lattice, is kept: a language has few words that come often."""
_UNKNOWN_PENALTY = 10.0  # SentencePiece's


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """What of a SentencePiece model a segmentation follows from."""

    pieces: Mapping[str, int]
    """The ids of pieces that text is cut into: neither `</s>`, `<unk>`, single bytes nor symbols."""
    scores: Sequence[float]
    """Of each id."""
    symbols: Mapping[str, int]
    """The ids of symbols, which are never cut nor joined."""
    byte_ids: Sequence[int]
    """The ids of the 256 bytes, which spell characters without a piece; empty where there are none."""
    unknown_id: int
    """What a run of such characters becomes without them."""


class Sampler(ABC):
    """Draws segmentations of normalised text, where a space is `SPACE_MARK`.

    Args:
        vocabulary: to cut into.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        symbols = sorted(vocabulary.symbols, key=len, reverse=True)
        self._symbols = re.compile(f"({'|'.join(map(re.escape, symbols))})") if symbols else None
        # Where no piece goes on over a space, words are segmented each by itself, and the usual ones once.
        self._has_words = not any(SPACE_MARK in piece[1:] for piece in vocabulary.pieces)

    def sample(self, texts: Sequence[str], seed: int) -> list[list[int]]:
        """One random segmentation of each text, as ids.

        Args:
            texts: normalised.
            seed: equal seeds, texts and order give equal ids.
        """
        rng = np.random.default_rng(seed)
        stretches = [list(self._stretches(text)) for text in texts]
        drawn = iter(self._draw([stretch for text in stretches for stretch, _ in text], rng))
        return [self._spelled([next(drawn) for _ in text], text) for text in stretches]

    @abstractmethod
    def _draw(self, stretches: Sequence[str], rng: np.random.Generator) -> Iterator[tuple[str, ...]]:
        """Cuts stretches of text; what is no piece of the vocabulary is one character. A symbol is a stretch too."""

    def _stretches(self, text: str) -> Iterator[tuple[str, bool]]:
        """Parts of a text that are segmented each by itself, and whether they are symbols."""
        parts = self._symbols.split(text) if self._symbols else [text]
        for number, part in enumerate(parts):
            if number % 2:
                yield part, True
            elif part and self._has_words:
                starts = [i for i, character in enumerate(part) if character == SPACE_MARK or i == 0]
                yield from ((part[a:b], False) for a, b in zip(starts, [*starts[1:], len(part)], strict=True))
            elif part:
                yield part, False

    def _spelled(self, cut: Sequence[tuple[str, ...]], stretches: Sequence[tuple[str, bool]]) -> list[int]:
        ids: list[int] = []
        vocabulary = self._vocabulary
        for pieces, (stretch, is_symbol) in zip(cut, stretches, strict=True):
            if is_symbol:
                ids.append(vocabulary.symbols[stretch])
                continue
            for piece in pieces:
                known = vocabulary.pieces.get(piece)
                if known is not None:
                    ids.append(known)
                elif vocabulary.byte_ids:
                    ids += [vocabulary.byte_ids[byte] for byte in piece.encode()]
                elif not ids or ids[-1] != vocabulary.unknown_id:
                    ids.append(vocabulary.unknown_id)
        return ids


class MergeSampler(Sampler):
    """BPE-dropout: each merge is left out by chance when its turn comes, as SentencePiece does it.

    Args:
        vocabulary: of BPE: the score of a piece says when its merge comes.
        dropout: the chance.
    """

    def __init__(self, vocabulary: Vocabulary, dropout: float) -> None:
        super().__init__(vocabulary)
        self._dropout = dropout
        self._usual: dict[str, tuple[tuple[str, ...], int]] = {}

    def _draw(self, stretches: Sequence[str], rng: np.random.Generator) -> Iterator[tuple[str, ...]]:
        # A merge of n characters is offered 3 (n - 1) times at most: n - 1 pairs at first, and two new ones a merge.
        starts = list(accumulate((3 * (len(stretch) - 1) for stretch in stretches), initial=0))
        left_out = np.flatnonzero(rng.random(starts[-1]) < self._dropout).tolist()
        position = 0
        for start, stretch, end in zip(starts, stretches, starts[1:], strict=False):
            first = position
            position = bisect_right(left_out, end - 1, lo=position)
            pieces, num_merges = self._usual.get(stretch) or self._learn(stretch)
            if first == position or left_out[first] - start >= num_merges:
                yield pieces
            else:
                skipped = frozenset(left_out[i] - start for i in range(first, position))
                yield _merged(stretch, self._vocabulary, skipped)[0]

    def _learn(self, stretch: str) -> tuple[tuple[str, ...], int]:
        usual = _merged(stretch, self._vocabulary, frozenset())
        if len(self._usual) < _KEPT:
            self._usual[stretch] = usual
        return usual


def _merged(text: str, vocabulary: Vocabulary, skipped: frozenset[int]) -> tuple[tuple[str, ...], int]:
    """Merges a text's characters, the piece with the highest score first, of equal ones the leftmost.

    Args:
        text: at least a character.
        vocabulary: of BPE.
        skipped: which offers of a merge are turned down, counted from 0.

    Returns:
        The pieces, and how many merges were offered.
    """
    parts: list[str] = list(text)
    left, right = list(range(-1, len(parts) - 1)), list(range(1, len(parts) + 1))
    agenda: list[tuple[float, int, int, int]] = []

    def offer(first: int, second: int) -> None:
        if first >= 0 and second < len(parts):
            known = vocabulary.pieces.get(parts[first] + parts[second])
            if known is not None:
                size = len(parts[first]) + len(parts[second])
                heapq.heappush(agenda, (-vocabulary.scores[known], first, second, size))

    for first in range(len(parts) - 1):
        offer(first, first + 1)
    num_offers = 0
    while agenda:
        _, first, second, size = heapq.heappop(agenda)
        if not parts[first] or not parts[second] or len(parts[first]) + len(parts[second]) != size:
            continue  # one of the two has been merged with its other neighbour
        num_offers += 1
        if num_offers - 1 in skipped:
            continue
        parts[first] += parts[second]
        parts[second] = ""
        right[first] = right[second]
        if right[first] < len(parts):
            left[right[first]] = first
        offer(left[first], first)
        offer(first, right[first])
    return tuple(part for part in parts if part), num_offers


class LatticeSampler(Sampler):
    """Subword regularisation: a segmentation is drawn by its probability under the unigram model, smoothed.

    Args:
        vocabulary: of a unigram model: scores are log-probabilities.
        alpha: they are multiplied by it; smaller is more random.
    """

    def __init__(self, vocabulary: Vocabulary, alpha: float) -> None:
        super().__init__(vocabulary)
        self._alpha = alpha
        self._longest = max(map(len, vocabulary.pieces), default=1)
        self._unknown_score = min((vocabulary.scores[i] for i in vocabulary.pieces.values()), default=0.0)
        self._unknown_score -= _UNKNOWN_PENALTY
        self._lattices: dict[str, list[tuple[list[int], list[float]]]] = {}

    def _draw(self, stretches: Sequence[str], rng: np.random.Generator) -> Iterator[tuple[str, ...]]:
        numbers: npt.NDArray[np.float64] = rng.random(sum(map(len, stretches)))
        position = 0
        for stretch in stretches:
            lattice = self._lattices.get(stretch) or self._learn(stretch)
            pieces, end = [], len(stretch)
            while end > 0:
                starts, cumulative = lattice[end - 1]
                chosen = min(bisect_right(cumulative, numbers[position + end - 1]), len(starts) - 1)
                pieces.append(stretch[starts[chosen] : end])
                end = starts[chosen]
            position += len(stretch)
            yield tuple(reversed(pieces))

    def _learn(self, text: str) -> list[tuple[list[int], list[float]]]:
        """For each end of a piece, from the first character's on, where it may start, and cumulative probabilities."""
        vocabulary, forward = self._vocabulary, [0.0]
        lattice: list[tuple[list[int], list[float]]] = []
        for end in range(1, len(text) + 1):
            starts, weights = [], []
            for start in range(max(0, end - self._longest), end):
                known = vocabulary.pieces.get(text[start:end])
                if known is not None or start == end - 1:
                    score = self._unknown_score if known is None else vocabulary.scores[known]
                    starts.append(start)
                    weights.append(forward[start] + self._alpha * score)
            highest = max(weights)
            total = highest + math.log(sum(math.exp(weight - highest) for weight in weights))
            forward.append(total)
            lattice.append((starts, list(accumulate(math.exp(weight - total) for weight in weights))))
        if len(self._lattices) < _KEPT:
            self._lattices[text] = lattice
        return lattice

"""Random segmentations of text into subwords, the same for the same seed in every process and on every machine.

SentencePiece samples too, but from a generator seeded differently in each process (since 0.2.2): with it, no run could
be reproduced, resumed, or shared by several processes. So sampling is done here, over SentencePiece's vocabulary:
BPE-dropout (Provilkov et al., 2020), and for unigram vocabularies subword regularisation (Kudo, 2018). Without dropout,
the merges here give SentencePiece's own segmentation to the id.
"""

import heapq
import math
import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice

import numpy as np
import numpy.typing as npt

from attendo.text.subwords.pieces import SPACE_MARK

_KEPT = 200_000
"""Stretches of text whose usual segmentation, or lattice, is kept: a language has few frequent words."""
_WORD = re.compile(f"(?:{SPACE_MARK}|^[^{SPACE_MARK}])[^{SPACE_MARK}]*")
_UNKNOWN_PENALTY = 10.0  # SentencePiece's


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """The facts of a SentencePiece model that determine a segmentation."""

    pieces: Mapping[str, int]
    """The ids of pieces that text is cut into: neither `</s>`, `<unk>`, single bytes nor symbols."""
    scores: Sequence[float]
    """Score of each id."""
    symbols: Mapping[str, int]
    """The ids of symbols, which are never cut nor joined."""
    byte_ids: Sequence[int]
    """The ids of the 256 bytes, which spell characters without a piece; empty if there are none."""
    unknown_id: int
    """Id of a run of unknown characters in a model without bytes."""


class Sampler(ABC):
    """Draws segmentations of normalised text, where a space is `SPACE_MARK`.

    Args:
        vocabulary: the vocabulary of the pieces.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        symbols = sorted(vocabulary.symbols, key=len, reverse=True)
        self._symbols = re.compile(f"({'|'.join(map(re.escape, symbols))})") if symbols else None
        # If no piece extends over a space, words are segmented separately, and frequent ones only once.
        self._has_words = not any(SPACE_MARK in piece[1:] for piece in vocabulary.pieces)

    def sample(self, texts: Sequence[str], seed: int) -> list[list[int]]:
        """Draws a random segmentation of each text, as ids.

        Args:
            texts: normalised.
            seed: equal seeds, texts and order give equal ids.
        """
        rng = np.random.default_rng(seed)
        stretches = [self._stretches(text) for text in texts]
        drawn = self._draw([stretch for text in stretches for stretch in text], rng)
        return [self._chained(islice(drawn, len(text))) for text in stretches]

    @abstractmethod
    def _draw(self, stretches: Sequence[str], rng: np.random.Generator) -> Iterator[Sequence[int]]:
        """Draws the ids of each stretch of text; a symbol is a stretch too."""

    def _stretches(self, text: str) -> list[str]:
        """The parts of a text that are segmented separately; a symbol is one."""
        if self._symbols is None:
            return self._words(text)
        parts = self._symbols.split(text)
        return [
            stretch for number, part in enumerate(parts) for stretch in ((part,) if number % 2 else self._words(part))
        ]

    def _words(self, text: str) -> list[str]:
        if not self._has_words:
            return [text] if text else []
        words: list[str] = _WORD.findall(text)
        return words

    def _spelled(self, stretch: str, pieces: Iterable[str]) -> tuple[int, ...]:
        """The ids of a stretch that was cut into pieces; a character without a piece is one unit."""
        vocabulary, ids = self._vocabulary, list[int]()
        if stretch in vocabulary.symbols:
            return (vocabulary.symbols[stretch],)
        for piece in pieces:
            known = vocabulary.pieces.get(piece)
            if known is not None:
                ids.append(known)
            elif vocabulary.byte_ids:
                ids += [vocabulary.byte_ids[byte] for byte in piece.encode()]
            elif not ids or ids[-1] != vocabulary.unknown_id:
                ids.append(vocabulary.unknown_id)
        return tuple(ids)

    def _chained(self, stretches: Iterable[Sequence[int]]) -> list[int]:
        """The ids of a text; consecutive unknown characters are one `<unk>`, across stretches too."""
        if self._vocabulary.byte_ids:
            return list(chain.from_iterable(stretches))
        ids, unknown = list[int](), self._vocabulary.unknown_id
        for stretch in stretches:
            goes_on = ids and stretch and ids[-1] == stretch[0] == unknown
            ids += stretch[1:] if goes_on else stretch
        return ids


class MergeSampler(Sampler):
    """BPE-dropout: each merge is skipped at random when its turn comes, as in SentencePiece.

    Args:
        vocabulary: a BPE vocabulary: the score of a piece determines the order of its merge.
        dropout: the probability of skipping a merge.
    """

    def __init__(self, vocabulary: Vocabulary, dropout: float) -> None:
        super().__init__(vocabulary)
        self._dropout = dropout
        self._usual: dict[str, tuple[tuple[int, ...], int]] = {}
        self._unusual: dict[tuple[str, tuple[int, ...]], tuple[int, ...]] = {}

    def _draw(self, stretches: Sequence[str], rng: np.random.Generator) -> Iterator[Sequence[int]]:
        # A merge of n characters is considered at most 3 (n - 1) times: n - 1 pairs at first, and two new ones per
        # merge.
        offers = np.array([3 * (len(stretch) - 1) for stretch in stretches], dtype=np.int64)
        ends = np.cumsum(offers)
        starts = ends - offers
        left_out = np.flatnonzero(rng.random(int(offers.sum())) < self._dropout)
        first, behind = np.searchsorted(left_out, starts), np.searchsorted(left_out, ends)
        numbers, places = left_out.tolist(), zip(starts.tolist(), first.tolist(), behind.tolist(), strict=True)
        for stretch, (start, a, b) in zip(stretches, places, strict=True):
            ids, num_merges = self._usual.get(stretch) or self._learn(stretch)
            if a == b or numbers[a] - start >= num_merges:
                yield ids
            else:
                skipped = tuple(number - start for number in numbers[a:b])
                yield self._unusual.get((stretch, skipped)) or self._cut(stretch, skipped)

    def _learn(self, stretch: str) -> tuple[tuple[int, ...], int]:
        pieces, num_merges = _merged(stretch, self._vocabulary, frozenset())
        usual = self._spelled(stretch, pieces), num_merges
        if len(self._usual) < _KEPT:
            self._usual[stretch] = usual
        return usual

    def _cut(self, stretch: str, skipped: tuple[int, ...]) -> tuple[int, ...]:
        """The ids of a stretch, with some of its merges skipped."""
        ids = self._spelled(stretch, _merged(stretch, self._vocabulary, frozenset(skipped))[0])
        if len(self._unusual) < _KEPT:
            self._unusual[stretch, skipped] = ids
        return ids


def _merged(text: str, vocabulary: Vocabulary, skipped: frozenset[int]) -> tuple[tuple[str, ...], int]:
    """Merges a text's characters, the piece with the highest score first, the leftmost if tied.

    Args:
        text: a text of at least one character.
        vocabulary: a BPE vocabulary.
        skipped: the numbers, from 0, of the merges that are skipped.

    Returns:
        The pieces, and the number of merges considered.
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
        vocabulary: the vocabulary of a unigram model; its scores are log-probabilities.
        alpha: the factor of the scores; smaller is more random.
    """

    def __init__(self, vocabulary: Vocabulary, alpha: float) -> None:
        super().__init__(vocabulary)
        self._alpha = alpha
        self._longest = max(map(len, vocabulary.pieces), default=1)
        self._unknown_score = min((vocabulary.scores[i] for i in vocabulary.pieces.values()), default=0.0)
        self._unknown_score -= _UNKNOWN_PENALTY
        self._lattices: dict[str, list[tuple[list[int], list[float]]]] = {}

    def _draw(self, stretches: Sequence[str], rng: np.random.Generator) -> Iterator[Sequence[int]]:
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
            yield self._spelled(stretch, reversed(pieces))

    def _learn(self, text: str) -> list[tuple[list[int], list[float]]]:
        """Computes possible starts and cumulative probabilities for each end of a piece."""
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

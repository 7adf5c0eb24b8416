"""Tests against chance: position rules and positional twins, which read no words, and exact significance tests."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from attendo.paper.heads.head_attention import Heads

LEVEL = 0.05
"""Significance level: a corrected p below it counts."""


PlaceKind = Literal["offset", "from the start", "from the end"]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A word that attends and the word that it should attend to, in one sentence."""

    query: int
    """Index of the word that attends, from 0."""
    target: int
    """Index of the word that it should attend to, from 0."""
    length: int
    """Number of words in the sentence, without `</s>`."""


@dataclass(frozen=True, kw_only=True)
class PositionalBaseline:
    """A head that always attends to the same position, whatever the words are."""

    kind: PlaceKind
    number: int
    """Words to the right of the query, negative to the left; or the position from 1, counted as `kind` says."""

    def finds(self, case: Case) -> bool:
        """Whether the rule points at the target of a case."""
        return _place(case, self.kind) == self.number

    def to_text(self) -> str:
        """Describes the rule for a table."""
        if self.kind == "offset":
            return f"{abs(self.number)} to the {'right' if self.number > 0 else 'left'}"
        return f"word {self.number} {self.kind}"


def best_positional_baseline(cases: Sequence[Case]) -> PositionalBaseline:
    """Returns the rule that finds most targets; ties go to offsets before positions, then to the smallest distance.

    Args:
        cases: at least one case.
    """
    kinds: tuple[PlaceKind, ...] = get_args(PlaceKind)
    counts = Counter((kind, _place(case, kind)) for case in cases for kind in kinds)
    kind, number = max(counts, key=lambda rule: (counts[rule], -kinds.index(rule[0]), -abs(rule[1]), rule[1]))
    return PositionalBaseline(kind=kind, number=number)


class OffsetProfile:
    """The positional twins of heads: each attends by distance alone, with its head's mean attention at each offset.

    Args:
        weights: for each sentence `(num_layers, num_heads, length + 1, length + 1)`; the last row and column, `</s>` or
            the start, are ignored.
    """

    REACH = 15
    """Largest distance to either side, in words; farther words count as this far."""

    def __init__(self, weights: Iterable[NDArray[np.float64]]) -> None:
        sums: NDArray[np.float64] | None = None
        counts = np.zeros(2 * self.REACH + 1)
        for attention in weights:
            length = attention.shape[-1] - 1
            offsets = self._indices(length)
            if sums is None:
                sums = np.zeros((*attention.shape[:2], 2 * self.REACH + 1))
            for index in np.unique(offsets):
                at_offset = offsets == index
                sums[:, :, index] += attention[:, :, :length, :length][:, :, at_offset].sum(axis=-1)
                counts[index] += at_offset.sum()
        if sums is None:
            raise ValueError("a profile of no sentence")
        self._means = sums / np.maximum(counts, 1)

    def weights(self, length: int) -> NDArray[np.float64]:
        """Returns the twins' attention in a sentence of this many words: `(num_layers, num_heads, length, length)`."""
        return self._means[:, :, self._indices(length)]

    def _indices(self, length: int) -> NDArray[np.int64]:
        places = np.arange(length)
        indices: NDArray[np.int64] = np.clip(places[None, :] - places[:, None], -self.REACH, self.REACH) + self.REACH
        return indices


def sign_test(wins: int, losses: int) -> float:
    """The exact one-sided sign test: how probable this many wins or more are by chance; ties are left out of both."""
    tosses = wins + losses
    # The sum is of integers, which do not round however large they are.
    return float(sum(math.comb(tosses, k) for k in range(wins, tosses + 1)) / 2**tosses)


def sign_tests(differences: NDArray[np.float64]) -> Heads:
    """Applies the sign test to each head's differences from chance.

    Args:
        differences: `(sentences, num_layers, num_heads)`, positive for a win; 0 is a tie.
    """
    wins, losses = (differences > 0).sum(axis=0), (differences < 0).sum(axis=0)
    p_values: Heads = np.array(
        [
            [sign_test(int(won), int(lost)) for won, lost in zip(*layer, strict=True)]
            for layer in zip(wins, losses, strict=True)
        ]
    )
    return p_values


def holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Corrects the p-values of several tests by Holm's method (1979); the array may have any shape.

    The probability that any test without an effect then comes out below `LEVEL` is at most `LEVEL`.
    """
    flat = p_values.ravel()
    order = np.argsort(flat, kind="stable")
    stepped = np.maximum.accumulate(flat[order] * np.arange(flat.size, 0, -1))
    corrected = np.empty_like(flat)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected.reshape(p_values.shape)


def p_text(p: float) -> str:
    """Formats a p-value for a table."""
    if p < 0.0001:
        return "< 0.0001"
    return f"{p:.4f}" if p < 0.1 else f"{p:.2f}"


def _place(case: Case, kind: str) -> int:
    if kind == "offset":
        return case.target - case.query
    return case.target + 1 if kind == "from the start" else case.length - case.target

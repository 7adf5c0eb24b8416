"""What chance is: places that a head could learn without reading a word, popular words, and exact tests."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from attendo.paper.heads.looks import Heads

LEVEL = 0.05
"""Below which a corrected p counts."""


PlaceKind = Literal["offset", "from the start", "from the end"]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A word that looks, and the word that it should find, of one sentence."""

    query: int
    target: int
    length: int
    """Words of the sentence, without `</s>`."""


@dataclass(frozen=True, kw_only=True)
class PlaceRule:
    """A head that always looks at the same place, whatever the words are."""

    kind: PlaceKind
    number: int
    """Words to the right of the one that looks; or the place, from 1."""

    def finds(self, case: Case) -> bool:
        """Whether it looks at the word that it should."""
        return _place(case, self.kind) == self.number

    def to_text(self) -> str:
        """As a table has it."""
        if self.kind == "offset":
            return f"{abs(self.number)} to the {'right' if self.number > 0 else 'left'}"
        return f"word {self.number} {self.kind}"


def best_place_rule(cases: Sequence[Case]) -> PlaceRule:
    """The rule that finds most of some targets, the nearest offset of equal ones.

    Args:
        cases: at least one.
    """
    kinds: tuple[PlaceKind, ...] = get_args(PlaceKind)
    counts = Counter((kind, _place(case, kind)) for case in cases for kind in kinds)
    kind, number = max(counts, key=lambda each: (counts[each], -kinds.index(each[0]), -abs(each[1]), each[1]))
    return PlaceRule(kind=kind, number=number)


class OffsetProfile:
    """Each head's positional twin: what it gives a word so many places away on average, whatever the words are.

    Args:
        weights: of each sentence `(num_layers, num_heads, length + 1, length + 1)`, `</s>` last; the twin is made of
            the words alone.
    """

    REACH = 15
    """Places, to either side; what is farther counts as this far."""

    def __init__(self, weights: Iterable[NDArray[np.float64]]) -> None:
        sums: NDArray[np.float64] | None = None
        counts = np.zeros(2 * self.REACH + 1)
        for each in weights:
            length = each.shape[-1] - 1
            offsets = self._indices(length)
            if sums is None:
                sums = np.zeros((*each.shape[:2], 2 * self.REACH + 1))
            for index in np.unique(offsets):
                there = offsets == index
                sums[:, :, index] += each[:, :, :length, :length][:, :, there].sum(axis=-1)
                counts[index] += there.sum()
        if sums is None:
            raise ValueError("a profile of no sentence")
        self._means = sums / np.maximum(counts, 1)

    def weights(self, length: int) -> NDArray[np.float64]:
        """What the twins give in a sentence of so many words: `(num_layers, num_heads, length, length)`."""
        return self._means[:, :, self._indices(length)]

    def _indices(self, length: int) -> NDArray[np.int64]:
        places = np.arange(length)
        found: NDArray[np.int64] = np.clip(places[None, :] - places[:, None], -self.REACH, self.REACH) + self.REACH
        return found


def sign_test(wins: int, losses: int) -> float:
    """How often a fair coin gives so many wins or more of all tosses that are no tie: one-sided and exact."""
    tosses = wins + losses
    # As whole numbers, which do not round however many there are.
    return float(sum(math.comb(tosses, k) for k in range(wins, tosses + 1)) / 2**tosses)


def sign_tests(differences: NDArray[np.float64]) -> Heads:
    """Of each head the sign test of what it has more than chance.

    Args:
        differences: `(sentences, num_layers, num_heads)`; 0 is a tie.
    """
    wins, losses = (differences > 0).sum(axis=0), (differences < 0).sum(axis=0)
    found: Heads = np.array(
        [
            [sign_test(int(won), int(lost)) for won, lost in zip(*layer, strict=True)]
            for layer in zip(wins, losses, strict=True)
        ]
    )
    return found


def holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Holm's correction (1979) for all of some tests; of any shape.

    The probability that any of those without an effect comes out below `LEVEL` is below `LEVEL` too.
    """
    flat = p_values.ravel()
    order = np.argsort(flat, kind="stable")
    stepped = np.maximum.accumulate(flat[order] * np.arange(flat.size, 0, -1))
    corrected = np.empty_like(flat)
    corrected[order] = np.minimum(stepped, 1.0)
    return corrected.reshape(p_values.shape)


def p_text(p: float) -> str:
    """A p-value for a table."""
    if p < 0.0001:
        return "< 0.0001"
    return f"{p:.4f}" if p < 0.1 else f"{p:.2f}"


def _place(case: Case, kind: str) -> int:
    if kind == "offset":
        return case.target - case.query
    return case.target + 1 if kind == "from the start" else case.length - case.target

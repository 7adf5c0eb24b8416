"""The results of a search: hypotheses with scores, and the tokens of hypotheses during the search."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attendo.decoding.step import FloatArray, IntArray

_FIRST_CAPACITY = 32


@dataclass(frozen=True, kw_only=True)
class Hypothesis:
    """A translation that the search found, as ids."""

    ids: tuple[int, ...]
    """Target ids without `</s>`."""
    log_prob: float
    """Natural logarithm of the hypothesis' probability, including `</s>`."""
    score: float
    """`log_prob` over the length penalty: hypotheses are ranked by it; higher is better."""
    token_log_probs: tuple[float, ...]
    """Log-probability of each id, and of `</s>` at the end."""
    finished: bool
    """False where the length limit, or rules that leave no other token, ended it though `</s>` was not the choice."""


def length_penalty(length: int, alpha: float) -> float:
    """Wu et al.'s (2016) penalty ((5 + length) / 6)^alpha of a translation of `length` tokens, `</s>` included."""
    return float(((5 + length) / 6) ** alpha)


class GrowingHypotheses:
    """The tokens of a batch's hypotheses so far and their log-probabilities, one row each.

    Args:
        rows: hypotheses, all empty.
    """

    def __init__(self, rows: int) -> None:
        self.length = 0
        """Number of tokens of each hypothesis."""
        self._ids = np.empty((rows, _FIRST_CAPACITY), dtype=np.int64)
        self._log_probs = np.empty((rows, _FIRST_CAPACITY), dtype=np.float32)

    @property
    def ids(self) -> IntArray:
        """int64 `(rows, length)`; a view."""
        return self._ids[:, : self.length]

    def select(self, rows: IntArray) -> None:
        """Continues from other rows, int64 `(new rows,)`."""
        self._ids = self._ids.take(rows, axis=0)
        self._log_probs = self._log_probs.take(rows, axis=0)

    def append(self, ids: IntArray, log_probs: FloatArray | npt.NDArray[np.float64]) -> None:
        """Adds a token, `(rows,)`, to each row."""
        if self.length == self._ids.shape[1]:
            self._ids = np.concatenate((self._ids, np.empty_like(self._ids)), axis=1)
            self._log_probs = np.concatenate((self._log_probs, np.empty_like(self._log_probs)), axis=1)
        self._ids[:, self.length] = ids
        self._log_probs[:, self.length] = log_probs
        self.length += 1

    def hypothesis(self, row: int, eos_log_prob: float, *, finished: bool, alpha: float) -> Hypothesis:
        """Makes the hypothesis of a row that ends here with `</s>`, of the given log-probability."""
        log_probs = [*self._log_probs[row, : self.length].tolist(), eos_log_prob]
        return scored(self._ids[row, : self.length].tolist(), log_probs, finished=finished, alpha=alpha)


def scored(ids: Sequence[int], token_log_probs: Sequence[float], *, finished: bool, alpha: float) -> Hypothesis:
    """Ids without `</s>`, and their log-probabilities with its, as a hypothesis."""
    # From the left and in float64, as the searches sum too.
    log_prob = float(sum(token_log_probs))
    return Hypothesis(
        ids=tuple(ids),
        log_prob=log_prob,
        score=log_prob / length_penalty(len(token_log_probs), alpha),
        token_log_probs=tuple(token_log_probs),
        finished=finished,
    )

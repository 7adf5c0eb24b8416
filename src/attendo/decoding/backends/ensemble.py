"""Several models as one: the mean of their probabilities."""

import math
from collections.abc import Sequence

import numpy as np

from attendo.decoding.backends.array_next import ArrayNext
from attendo.decoding.step import FloatArray, IntArray, NextTokens, Step


class EnsembleStep:
    """Several models as one.

    Args:
        steps: one step per model, over the same sentences and the same target vocabulary.
    """

    def __init__(self, steps: Sequence[Step]) -> None:
        self._steps = tuple(steps)

    def start(self) -> ArrayNext:
        """Returns the first tokens' log-probabilities, a row per sentence."""
        return _mean([step.start() for step in self._steps])

    def advance(self, last_ids: IntArray) -> ArrayNext:
        """Adds a token, int64 `(rows,)`, to each row; returns the next tokens' log-probabilities."""
        return _mean([step.advance(last_ids) for step in self._steps])

    def select(self, rows: IntArray) -> None:
        """Continues from other rows, int64 `(sentences, hypotheses)`."""
        for step in self._steps:
            step.select(rows)


def _mean(answers: Sequence[NextTokens]) -> ArrayNext:
    return ArrayNext(mean_probability([answer.all() for answer in answers]))


def mean_probability(log_probs: Sequence[FloatArray]) -> FloatArray:
    """The logarithm of the mean of probabilities given as logarithms, all of one shape."""
    if len(log_probs) == 1:
        return log_probs[0]
    largest = np.max(log_probs, axis=0)
    largest[np.isneginf(largest)] = 0  # where every token is impossible, the differences would be between infinities
    summed = np.zeros_like(largest)
    for each in log_probs:
        summed += np.exp(each - largest)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean: FloatArray = np.log(summed) + largest - np.float32(math.log(len(log_probs)))
    # Rounding may put a probability above 1 by a hair; the search counts on logarithms that never rise.
    return np.minimum(mean, np.float32(0), out=mean)

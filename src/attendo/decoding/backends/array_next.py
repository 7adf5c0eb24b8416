"""Log-probabilities in numpy, as the searches need them; the torch counterparts are `DenseNext` and `top_k`."""

import numpy as np

from attendo.decoding.limits import excluded_by
from attendo.decoding.step import FloatArray, IntArray, Limits

BLOCK = 64
"""Size of a block of neighbouring tokens; the best token of each block decides which blocks are searched."""


class ArrayNext:
    """`NextTokens` over an array of all log-probabilities.

    Args:
        log_probs: float32 `(rows, vocab_size)`.
    """

    def __init__(self, log_probs: FloatArray) -> None:
        self._log_probs = log_probs

    def top_k(self, k: int, limits: Limits | None = None) -> tuple[FloatArray, IntArray]:
        """The k most probable tokens that each row may choose; see `NextTokens`."""
        log_probs = self._log_probs
        if limits is not None:
            log_probs = np.where(excluded_by(limits, log_probs.shape[1]), np.float32(-np.inf), log_probs)
        return top_k(log_probs, min(k, log_probs.shape[1]))

    def of(self, ids: IntArray) -> FloatArray:
        """Log-probabilities of given tokens, int64 `(rows, n)`: float32 of the same shape."""
        return np.take_along_axis(self._log_probs, ids, axis=1)

    def all(self) -> FloatArray:
        """Log-probabilities of all tokens, float32 `(rows, vocab_size)`."""
        return self._log_probs


def top_k(log_probs: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
    """The k largest values of each row and their positions.

    One pass finds the largest value of each block, and only the k best blocks are searched. They hold the k best
    tokens: a token in any other block comes after k block-bests.

    Args:
        log_probs: float32 `(rows, vocab_size)`.
        k: at most `vocab_size`.

    Returns:
        The values, float32 `(rows, k)`, largest first, ties by lower id, and their ids, int64.
    """
    rows, vocab_size = log_probs.shape
    in_blocks = vocab_size - vocab_size % BLOCK
    best = log_probs[:, :in_blocks].reshape(rows, in_blocks // BLOCK, BLOCK).max(axis=2)
    if in_blocks < vocab_size:
        best = np.concatenate((best, log_probs[:, in_blocks:].max(axis=1, keepdims=True)), axis=1)
    blocks = _largest(_order(best, np.arange(best.shape[1])), min(k, best.shape[1]))
    ids = (blocks[:, :, None] * BLOCK + np.arange(BLOCK)).reshape(rows, -1)
    values = np.take_along_axis(log_probs, np.minimum(ids, vocab_size - 1), axis=1)
    values[ids >= vocab_size] = -np.inf
    ids = np.take_along_axis(ids, _largest(_order(values, ids), k), axis=1)
    return np.take_along_axis(log_probs, ids, axis=1), ids


def _order(values: FloatArray, ids: IntArray) -> IntArray:
    """Integers that sort like the float32 values, and among equal values by lower id first."""
    bits = np.ascontiguousarray(values).view(np.int32)
    # IEEE floats order like their bits, except negative ones, whose magnitude has to be inverted.
    ordered = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).astype(np.int64)
    return ordered * 2**32 + (2**31 - 1 - ids)


def _largest(order: IntArray, k: int) -> IntArray:
    """Finds the positions of the k largest numbers of each row, the largest first; a row's numbers are distinct."""
    count = order.shape[1]
    candidates = np.argpartition(order, count - k, axis=1)[:, count - k :]
    by_size = np.argsort(-np.take_along_axis(order, candidates, axis=1), axis=1)
    return np.take_along_axis(candidates, by_size, axis=1)

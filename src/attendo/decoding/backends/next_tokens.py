"""Log-probabilities computed by torch, with the interface that the searches expect."""

import numpy as np
import torch
from torch import Tensor

from attendo.decoding.backends.top_k import top_k
from attendo.decoding.limits import excluded_by
from attendo.decoding.step import FloatArray, IntArray, Limits


class DenseNext:
    """`NextTokens` over a tensor of all log-probabilities; a call copies once from the device.

    Args:
        log_probs: float32 `(rows, vocab_size)`, on any device.
    """

    def __init__(self, log_probs: Tensor) -> None:
        self._log_probs = log_probs

    def top_k(self, k: int, limits: Limits | None = None) -> tuple[FloatArray, IntArray]:
        """The most probable tokens that each row may choose.

        Args:
            k: number of tokens to return; of a smaller vocabulary all.
            limits: the tokens that may be chosen; None for any token.

        Returns:
            Log-probabilities, float32 `(rows, min(k, vocab_size))`, largest first, ties by lower id, and the tokens,
            int64; -inf with any token where fewer are left.
        """
        log_probs = self._log_probs
        if limits is not None:
            excluded = torch.from_numpy(excluded_by(limits, log_probs.shape[1])).to(log_probs.device)
            log_probs = log_probs.masked_fill(excluded, -torch.inf)
        values, ids = top_k(log_probs, min(k, log_probs.shape[1]))
        # Both in one tensor, because each copy from a device blocks until it is done.
        both = torch.stack((ids, values.view(torch.int32).long())).cpu().numpy()
        return both[1].astype(np.int32).view(np.float32), both[0]

    def row(self, number: int) -> "DenseNext":
        """Returns the log-probabilities of one row."""
        return DenseNext(self._log_probs[number : number + 1])

    def of(self, ids: IntArray) -> FloatArray:
        """Log-probabilities of given tokens, int64 `(rows, n)`: float32 of the same shape."""
        places = torch.from_numpy(np.ascontiguousarray(ids)).to(self._log_probs.device)
        found: FloatArray = self._log_probs.gather(1, places).cpu().numpy()
        return found

    def all(self) -> FloatArray:
        """Log-probabilities of all tokens, float32 `(rows, vocab_size)`."""
        found: FloatArray = self._log_probs.cpu().numpy()
        return found

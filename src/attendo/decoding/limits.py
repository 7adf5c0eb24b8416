"""The limits on the next token, as a mask over the vocabulary."""

import numpy as np

from attendo.decoding.step import BoolArray, Limits


def excluded_by(limits: Limits, vocab_size: int) -> BoolArray:
    """The tokens that each row may not choose, boolean `(rows, vocab_size)`."""
    excluded = np.tile(limits.only[:, None], vocab_size)
    excluded[np.repeat(np.arange(len(excluded)), np.diff(limits.offsets)), limits.ids] ^= True
    return excluded

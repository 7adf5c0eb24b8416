"""Agreement of probabilities with outcomes: the reliability curve and the calibration error."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from attendo.errors import DataError

NUM_BINS = 10
_DRAWS = 1000
_Z95 = 1.959964

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Bin:
    """Sentences of similar confidence."""

    count: int
    """Number of sentences."""
    confidence: float
    """Mean confidence of the sentences."""
    share: float
    """Share of the sentences whose translation came close."""
    low: float
    """Lower end of the share's 95% interval (Wilson, 1927)."""
    high: float
    """Upper end of that interval."""


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """The agreement of confidences with outcomes."""

    sentences: int
    """Number of sentences."""
    confidence: float
    """Mean confidence of the sentences."""
    share: float
    """Share of the sentences whose translation came close."""
    error: float
    """Expected calibration error: the mean difference of a bin's confidence and share, weighted by its sentences."""
    error_by_chance: float
    """95% quantile of the error that perfectly calibrated probabilities would show on this number of sentences."""
    ranking: float | None
    """The probability that of two sentences, one close and one not, the close one has the higher confidence: the area
    under the receiver operating characteristic curve. 0.5 is chance; None if all are close, or none is."""
    bins: tuple[Bin, ...]
    """Bins of equal sizes, from low to high confidence."""


def reliability(confidences: Sequence[float], close: Sequence[bool]) -> Reliability:
    """Compares confidences with outcomes.

    Args:
        confidences: the confidence of each sentence, from 0 to 1.
        close: whether the translation of each sentence came close.

    Raises:
        DataError: there is no sentence.
    """
    if not len(confidences):
        raise DataError("no sentence at all, so there is nothing to compare; check the files' paths and sizes")
    order = np.argsort(np.asarray(confidences, dtype=np.float64), kind="stable")
    probabilities = np.asarray(confidences, dtype=np.float64)[order]
    outcomes = np.asarray(close, dtype=np.float64)[order]
    return Reliability(
        sentences=len(outcomes),
        confidence=float(probabilities.mean()),
        share=float(outcomes.mean()),
        error=calibration_error(probabilities, outcomes),
        error_by_chance=_error_by_chance(probabilities),
        ranking=_ranking(probabilities, outcomes),
        bins=tuple(_bin(probabilities[part], outcomes[part]) for part in _parts(len(outcomes))),
    )


def calibration_error(probabilities: Floats, outcomes: Floats) -> float:
    """Returns the expected calibration error over bins of equal sizes.

    Args:
        probabilities: `(sentences,)`, in ascending order.
        outcomes: `(sentences,)`, 1 or 0 each.
    """
    gaps = [
        len(outcomes[part]) * abs(float(probabilities[part].mean() - outcomes[part].mean()))
        for part in _parts(len(outcomes))
    ]
    return sum(gaps) / len(outcomes)


def _parts(count: int) -> list[slice]:
    """Returns the bins of `count` sorted sentences: 10 of nearly equal sizes, or fewer if there are fewer sentences."""
    edges = np.linspace(0, count, min(NUM_BINS, count) + 1).round().astype(int).tolist()
    return [slice(start, end) for start, end in pairwise(edges)]


def _bin(probabilities: Floats, outcomes: Floats) -> Bin:
    count, share = len(outcomes), float(outcomes.mean())
    low, high = wilson(share, count)
    return Bin(count=count, confidence=float(probabilities.mean()), share=share, low=low, high=high)


def wilson(share: float, count: int) -> tuple[float, float]:
    """Returns the 95% interval of a share (Wilson, 1927), which is valid for small counts and shares near 0 and 1."""
    squared = _Z95**2
    middle = (share + squared / (2 * count)) / (1 + squared / count)
    half = _Z95 * math.sqrt(share * (1 - share) / count + squared / (4 * count**2)) / (1 + squared / count)
    return max(0.0, middle - half), min(1.0, middle + half)


def _error_by_chance(probabilities: Floats) -> float:
    """Returns the 95% quantile of the error if each outcome is drawn with its probability."""
    generator = np.random.default_rng(1)
    errors = [
        calibration_error(probabilities, (generator.random(len(probabilities)) < probabilities).astype(np.float64))
        for _ in range(_DRAWS)
    ]
    return float(np.quantile(errors, 0.95))


def _ranking(probabilities: Floats, outcomes: Floats) -> float | None:
    """Returns the area under the curve by ranks (Mann and Whitney, 1947); equal confidences share their mean rank."""
    num_close = int(outcomes.sum())
    if num_close in (0, len(outcomes)):
        return None
    _, groups, counts = np.unique(probabilities, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[groups]
    above = ranks[outcomes == 1].sum() - num_close * (num_close + 1) / 2
    return float(above / (num_close * (len(outcomes) - num_close)))

"""Whether probabilities say what comes true: the reliability curve and the calibration error."""

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
    """Their mean confidence."""
    share: float
    """The share of them that came close."""
    low: float
    """Lower end of the share's 95% interval (Wilson, 1927)."""
    high: float
    """Upper end of the same."""


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """How well confidences agree with outcomes."""

    sentences: int
    """Number of sentences."""
    confidence: float
    """Their mean confidence."""
    share: float
    """The share of them that came close."""
    error: float
    """Expected calibration error: by how much confidence and share of a bin differ, on the average of all sentences."""
    error_by_chance: float
    """The error that probabilities without fault would show on so few sentences, in 95 of 100 cases at most."""
    ranking: float | None
    """The probability that of two sentences, one close and one not, the close one has the higher confidence: the area
    under the receiver's operating curve. 0.5 is chance; None where all are close, or none is."""
    bins: tuple[Bin, ...]
    """Bins of equal sizes, from low to high confidence."""


def reliability(confidences: Sequence[float], close: Sequence[bool]) -> Reliability:
    """Compares probabilities with what came true.

    Args:
        confidences: one a sentence, from 0 to 1.
        close: whether each came close.

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
    """The expected calibration error over bins of equal sizes.

    Args:
        probabilities: `(sentences,)`, sorted.
        outcomes: `(sentences,)`, 1 or 0 each.
    """
    gaps = [
        len(outcomes[part]) * abs(float(probabilities[part].mean() - outcomes[part].mean()))
        for part in _parts(len(outcomes))
    ]
    return sum(gaps) / len(outcomes)


def _parts(count: int) -> list[slice]:
    """Bins of `count` sorted sentences: 10 of nearly equal sizes, or as many as there are sentences."""
    edges = np.linspace(0, count, min(NUM_BINS, count) + 1).round().astype(int).tolist()
    return [slice(start, end) for start, end in pairwise(edges)]


def _bin(probabilities: Floats, outcomes: Floats) -> Bin:
    count, share = len(outcomes), float(outcomes.mean())
    low, high = wilson(share, count)
    return Bin(count=count, confidence=float(probabilities.mean()), share=share, low=low, high=high)


def wilson(share: float, count: int) -> tuple[float, float]:
    """The 95% interval of a share (Wilson, 1927), which is sound for few and for shares near 0 and 1."""
    squared = _Z95**2
    middle = (share + squared / (2 * count)) / (1 + squared / count)
    half = _Z95 * math.sqrt(share * (1 - share) / count + squared / (4 * count**2)) / (1 + squared / count)
    return max(0.0, middle - half), min(1.0, middle + half)


def _error_by_chance(probabilities: Floats) -> float:
    """The 95% quantile of the error where each outcome is drawn with its own probability."""
    generator = np.random.default_rng(1)
    errors = [
        calibration_error(probabilities, (generator.random(len(probabilities)) < probabilities).astype(np.float64))
        for _ in range(_DRAWS)
    ]
    return float(np.quantile(errors, 0.95))


def _ranking(probabilities: Floats, outcomes: Floats) -> float | None:
    """The area under the curve by ranks (Mann and Whitney, 1947); equal confidences share their ranks."""
    num_close = int(outcomes.sum())
    if num_close in (0, len(outcomes)):
        return None
    _, which, counts = np.unique(probabilities, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[which]
    above = ranks[outcomes == 1].sum() - num_close * (num_close + 1) / 2
    return float(above / (num_close * (len(outcomes) - num_close)))

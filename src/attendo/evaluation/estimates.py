"""Means over seeds and fitted lines with their confidence intervals, and the verdict on a printed difference."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar

RunT = TypeVar("RunT")

CONFIDENCE = 0.95
"""Confidence level of every interval."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean over seeds."""

    mean: float
    half_width: float | None
    """Half the width of the 95% confidence interval, by Student's t; None for a single seed."""
    count: int
    """Number of seeds."""

    @property
    def low(self) -> float | None:
        """The lower end of the interval; None without an interval."""
        return None if self.half_width is None else self.mean - self.half_width

    @property
    def high(self) -> float | None:
        """The upper end of the interval; None without an interval."""
        return None if self.half_width is None else self.mean + self.half_width

    @property
    def sign(self) -> int:
        """1 or -1 if the interval lies above or below zero; 0 if it includes zero or there is none."""
        if self.low is None or self.high is None or self.low <= 0 <= self.high:
            return 0
        return 1 if self.mean > 0 else -1

    def covers(self, value: float) -> bool:
        """Returns whether a value is in the interval; False without an interval."""
        return self.low is not None and self.high is not None and self.low <= value <= self.high

    def to_json(self) -> dict[str, Any]:
        """Returns the mean, its interval and the number of seeds for `result.json`."""
        return {"mean": self.mean, "low": self.low, "high": self.high, "seeds": self.count}

    def to_text(self, form: str = ".2f") -> str:
        """Returns the mean and half the width of its interval, if there is one: `25.31 ± 0.42`.

        Args:
            form: format specification of the mean; `+.2f` shows its sign.
        """
        half = "" if self.half_width is None else f" ± {self.half_width:{form.removeprefix('+')}}"
        return f"{self.mean:{form}}{half}"

    def __format__(self, form: str) -> str:
        """Returns the same text as `to_text`, for the cells of tables."""
        return self.to_text(form)


class Verdict(Enum):
    """The relation of a measured difference between a row and the base row to the printed one."""

    AS_IN_THE_PAPER = "as in the paper"
    OTHER_WAY_ROUND = "the other way round"
    NOT_TOLD_APART = "not significant at this scale"
    APART_HERE_ALONE = "apart here, the same in the paper"


def estimate(values: Sequence[float]) -> Estimate:
    """Returns the mean of some values and its confidence interval, by Student's t with n - 1 degrees of freedom.

    Args:
        values: one value per seed, at least one.
    """
    mean = statistics.fmean(values)
    if len(values) < 2:
        return Estimate(mean=mean, half_width=None, count=len(values))
    error = statistics.stdev(values) / math.sqrt(len(values))
    return Estimate(mean=mean, half_width=t_quantile((1 + CONFIDENCE) / 2, len(values) - 1) * error, count=len(values))


def paired(ours: Mapping[int, RunT], others: Mapping[int, RunT], of: Callable[[RunT], float]) -> Estimate | None:
    """Returns the mean difference of a measure between two rows, paired by seed; None if no seed has both.

    Args:
        ours: runs of the first row, by seed.
        others: runs of the row that is subtracted, by seed.
        of: returns the measure of a run.
    """
    both = sorted(ours.keys() & others.keys())
    return estimate([of(ours[seed]) - of(others[seed]) for seed in both]) if both else None


def verdict(difference: Estimate, printed: float, unit: float) -> Verdict:
    """Compares a measured difference with the printed one.

    Args:
        difference: difference of a row to the base row, paired by seed.
        printed: difference of the same rows' printed figures, which have no interval.
        unit: unit of the last printed digit. Rounding alone can make equal figures differ by one unit, so a printed
            difference of up to one unit counts as none.
    """
    if not difference.sign:
        return Verdict.NOT_TOLD_APART
    if abs(printed) < 1.5 * unit:
        return Verdict.APART_HERE_ALONE
    return Verdict.AS_IN_THE_PAPER if (difference.mean > 0) == (printed > 0) else Verdict.OTHER_WAY_ROUND


@cache
def t_quantile(probability: float, degrees: int) -> float:
    """Returns the quantile of Student's t distribution at a probability of at least 0.5 and below 1.

    Args:
        probability: the probability, such as 0.975 for a two-sided interval of 95%.
        degrees: degrees of freedom, at least 1.
    """
    low, high = 0.0, 1.0
    while t_probability(high, degrees) < probability:
        low, high = high, 2 * high
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        low, high = (middle, high) if t_probability(middle, degrees) < probability else (low, middle)


def t_probability(value: float, degrees: int) -> float:
    """Returns the cumulative probability of Student's t distribution at a value that is not negative.

    It is the finite series in theta = atan(t / sqrt(degrees)) of Abramowitz and Stegun, 26.7.3 and 26.7.4.

    Args:
        value: the value t.
        degrees: degrees of freedom, a whole number of at least 1.
    """
    theta = math.atan(value / math.sqrt(degrees))
    sine, cosine = math.sin(theta), math.cos(theta)
    is_odd = degrees % 2
    term = total = cosine if is_odd else 1.0
    for k in range(3 if is_odd else 2, degrees - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    if degrees == 1:
        total = 0.0
    inside = 2 / math.pi * (theta + sine * total) if is_odd else sine * total
    return (1 + inside) / 2


@dataclass(frozen=True, kw_only=True)
class Line:
    """A straight line fitted by least squares."""

    slope: float
    half_width: float | None
    """Half the width of the slope's 95% confidence interval, by Student's t; None for only two points."""
    intercept: float
    count: int
    """Number of points."""

    def __format__(self, form: str) -> str:
        """Returns the same text as `to_text`, for the cells of tables."""
        return self.to_text()

    def to_text(self) -> str:
        """Returns the slope and half the width of its interval, if there is one."""
        return f"{self.slope:.2f}" + ("" if self.half_width is None else f" ± {self.half_width:.2f}")


def line(xs: Sequence[float], ys: Sequence[float]) -> Line:
    """Fits a line through some points by least squares of the distances in y.

    Args:
        xs: x of the points, with at least two different values.
        ys: y of the points.
    """
    slope, intercept = statistics.linear_regression(xs, ys)
    degrees = len(xs) - 2
    if degrees < 1:
        return Line(slope=slope, half_width=None, intercept=intercept, count=len(xs))
    mean = statistics.fmean(xs)
    rest = sum((y - intercept - slope * x) ** 2 for x, y in zip(xs, ys, strict=True))
    error = math.sqrt(rest / degrees / sum((x - mean) ** 2 for x in xs))
    half_width = t_quantile((1 + CONFIDENCE) / 2, degrees) * error
    return Line(slope=slope, half_width=half_width, intercept=intercept, count=len(xs))


def power_law(xs: Sequence[float], ys: Sequence[float]) -> Line:
    """Fits y = c x^slope by a line through the logarithms; all numbers have to be positive."""
    return line([math.log(x) for x in xs], [math.log(y) for y in ys])


def at(law: Line, x: float) -> float:
    """Returns the value of a power law at x."""
    return math.exp(law.intercept + law.slope * math.log(x))


def meeting(xs: Sequence[float], rising: Sequence[float], other: Sequence[float]) -> float | None:
    """Finds where one measured curve reaches another, by linear interpolation of the logarithms between two points.

    Args:
        xs: x of the points, in rising order.
        rising: y of the curve that starts below, one for each x.
        other: y of the other curve, one for each x.

    Returns:
        The first x at which the rising curve is not below the other; None if there is none.
    """
    gaps = [math.log(rising_y / other_y) for rising_y, other_y in zip(rising, other, strict=True)]
    for index, gap in enumerate(gaps):
        if gap >= 0:
            if index == 0:
                return xs[0]
            share = -gaps[index - 1] / (gap - gaps[index - 1])
            return math.exp((1 - share) * math.log(xs[index - 1]) + share * math.log(xs[index]))
    return None

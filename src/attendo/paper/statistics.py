"""Means over seeds and straight lines with their confidence intervals, and what an interval says about a claim."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, TypeVar

RunT = TypeVar("RunT")

CONFIDENCE = 0.95
"""Of every interval."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean over seeds."""

    mean: float
    half_width: float | None
    """Half of the 95% confidence interval, by Student's t; None where there is one seed alone."""
    count: int

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""
        return None if self.half_width is None else self.mean - self.half_width

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""
        return None if self.half_width is None else self.mean + self.half_width

    @property
    def sign(self) -> int:
        """1 or -1 where the interval excludes zero, on that side; 0 where it cannot tell."""
        if self.low is None or self.high is None or self.low <= 0 <= self.high:
            return 0
        return 1 if self.mean > 0 else -1

    def covers(self, value: float) -> bool:
        """Whether a value is in the interval, if there is one."""
        return self.low is not None and self.high is not None and self.low <= value <= self.high

    def to_json(self) -> dict[str, Any]:
        """The mean with its interval for `result.json`."""
        return {"mean": self.mean, "low": self.low, "high": self.high, "seeds": self.count}

    def to_text(self, form: str = ".2f") -> str:
        """The mean and, where there is one, half of the interval: `25.31 ± 0.42`.

        Args:
            form: of the mean, as format has it; `+.2f` shows its sign.
        """
        half = "" if self.half_width is None else f" ± {self.half_width:{form.removeprefix('+')}}"
        return f"{self.mean:{form}}{half}"

    def __format__(self, form: str) -> str:
        """As `to_text` has it, for the cells of tables."""
        return self.to_text(form)


class Verdict(Enum):
    """What the measured difference of a row to the base row says about the printed one."""

    AS_IN_THE_PAPER = "as in the paper"
    OTHER_WAY_ROUND = "the other way round"
    NOT_TOLD_APART = "not significant at this scale"
    APART_HERE_ALONE = "apart here, the same in the paper"


def estimate(values: Sequence[float]) -> Estimate:
    """The mean of some values and its confidence interval, by Student's t with one degree of freedom less than values.

    Args:
        values: one a seed, at least one.
    """
    mean = statistics.fmean(values)
    if len(values) < 2:
        return Estimate(mean=mean, half_width=None, count=len(values))
    error = statistics.stdev(values) / math.sqrt(len(values))
    return Estimate(mean=mean, half_width=t_quantile((1 + CONFIDENCE) / 2, len(values) - 1) * error, count=len(values))


def paired(ours: Mapping[int, RunT], others: Mapping[int, RunT], of: Callable[[RunT], float]) -> Estimate | None:
    """The mean difference of a figure between two rows, paired by seed; None where no seed has both.

    Args:
        ours: the runs of one row by seed.
        others: those of the row that is subtracted.
        of: the figure of a run.
    """
    both = sorted(ours.keys() & others.keys())
    return estimate([of(ours[seed]) - of(others[seed]) for seed in both]) if both else None


def verdict(difference: Estimate, printed: float, unit: float) -> Verdict:
    """Holds a measured difference against the printed one.

    Args:
        difference: of a row to the base row, paired by seed.
        printed: the same difference of the paper's figures, which have no interval.
        unit: the last digit of these figures. Rounding alone makes equal figures differ by so much, so that a
            difference up to it is none.
    """
    if not difference.sign:
        return Verdict.NOT_TOLD_APART
    if abs(printed) < 1.5 * unit:
        return Verdict.APART_HERE_ALONE
    return Verdict.AS_IN_THE_PAPER if (difference.mean > 0) == (printed > 0) else Verdict.OTHER_WAY_ROUND


@cache
def t_quantile(probability: float, degrees: int) -> float:
    """The value that a variable of Student's t distribution stays below with a probability, from 0.5 to below 1.

    Args:
        probability: such as 0.975 for a two-sided interval of 95%.
        degrees: of freedom, from 1 on.
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
    """The probability of Student's t distribution below a value that is not negative.

    The finite series in theta = atan(t / sqrt(degrees)) of Abramowitz and Stegun, 26.7.3 and 26.7.4.

    Args:
        value: t.
        degrees: of freedom, a whole number from 1 on.
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
    """A straight line by least squares."""

    slope: float
    half_width: float | None
    """Half of the slope's 95% confidence interval, by Student's t; None where there are two points alone."""
    intercept: float
    count: int
    """Points."""

    def __format__(self, form: str) -> str:
        """As `to_text` has it, for the cells of tables."""
        return self.to_text()

    def to_text(self) -> str:
        """The slope and its interval."""
        return f"{self.slope:.2f}" + ("" if self.half_width is None else f" ± {self.half_width:.2f}")


def line(xs: Sequence[float], ys: Sequence[float]) -> Line:
    """The line through some points that the squared distances to, in y, are least of.

    Args:
        xs: at least two different ones.
        ys: one for each.
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
    """The exponent of y = c x^slope, by a line through the logarithms; all numbers are above 0."""
    return line([math.log(x) for x in xs], [math.log(y) for y in ys])


def at(law: Line, x: float) -> float:
    """What a power law gives for x."""
    return math.exp(law.intercept + law.slope * math.log(x))


def meeting(xs: Sequence[float], rising: Sequence[float], other: Sequence[float]) -> float | None:
    """Where one measured curve comes up to another, between two points by straight lines of the logarithms.

    Args:
        xs: in order.
        rising: of the curve that starts below, one for each x.
        other: of the other one.

    Returns:
        The first such x; None where it stays below.
    """
    gaps = [math.log(one / two) for one, two in zip(rising, other, strict=True)]
    for place, gap in enumerate(gaps):
        if gap >= 0:
            if place == 0:
                return xs[0]
            share = -gaps[place - 1] / (gap - gaps[place - 1])
            return math.exp((1 - share) * math.log(xs[place - 1]) + share * math.log(xs[place]))
    return None

"""Straight lines through measurements, their slopes with intervals: the exponents of power laws."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from attendo.paper.statistics import CONFIDENCE, t_quantile


@dataclass(frozen=True, kw_only=True)
class Line:
    """A straight line by least squares."""

    slope: float
    half_width: float | None
    """Half of the slope's 95% confidence interval, by Student's t; None where there are two points alone."""
    intercept: float
    count: int
    """Points."""

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

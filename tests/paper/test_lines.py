"""Lines through points: Anscombe's data with its published figures, power laws that are known, and where they meet."""

import math

import pytest

from attendo.evaluation.estimates import line, meeting, power_law


def test_anscombes_first_set() -> None:
    # Anscombe, Graphs in Statistical Analysis, 1973: y = 3.00 + 0.500 x, the slope's standard error 0.118; Student's t
    # of 9 degrees of freedom at 97.5% is 2.262.
    xs = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
    ys = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]
    found = line(xs, ys)
    assert found.slope == pytest.approx(0.500, abs=5e-4)
    assert found.intercept == pytest.approx(3.00, abs=5e-3)
    assert found.half_width == pytest.approx(2.262 * 0.118, abs=1e-3)
    assert found.to_text() == "0.50 ± 0.27"


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1.0, 2.0, -1.5])
def test_an_exact_power_law(exponent: float) -> None:
    xs = [16, 32, 64, 512]
    found = power_law(xs, [7.5 * x**exponent for x in xs])
    assert found.slope == pytest.approx(exponent)
    assert math.exp(found.intercept) == pytest.approx(7.5)
    assert found.half_width == pytest.approx(0, abs=1e-9)
    assert found.count == 4


def test_the_interval_of_a_noisy_law_has_the_exponent_and_two_points_have_none() -> None:
    xs = [2**power for power in range(4, 12)]
    found = power_law(xs, [x**1.7 * (1.1 if place % 2 else 0.9) for place, x in enumerate(xs)])
    assert found.half_width is not None
    assert abs(found.slope - 1.7) < found.half_width < 0.2
    assert power_law([2, 4], [3, 9]).half_width is None


def test_where_measured_curves_meet() -> None:
    xs = [1, 10, 100, 1000]
    # x^2 / 1000 and x meet at 1000; x^2 / 30 and x at 30, between two points, which straight lines find exactly.
    assert meeting(xs, [x * x / 1000 for x in xs], xs) == pytest.approx(1000)
    assert meeting(xs, [x * x / 30 for x in xs], xs) == pytest.approx(30)
    assert meeting(xs, [x * x / 2000 for x in xs], xs) is None
    assert meeting(xs, [2 * x for x in xs], xs) == 1

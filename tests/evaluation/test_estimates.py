"""Student's t against published tables, and intervals against a textbook's example."""

import pytest

from attendo.evaluation.estimates import Estimate, Verdict, estimate, t_probability, t_quantile, verdict


@pytest.mark.parametrize(
    ("probability", "degrees", "published"),
    [  # the tables at the end of every textbook of statistics
        (0.95, 1, 6.314), (0.975, 1, 12.706), (0.975, 2, 4.303), (0.975, 3, 3.182), (0.975, 4, 2.776),
        (0.975, 5, 2.571), (0.95, 10, 1.812), (0.975, 10, 2.228), (0.995, 9, 3.250), (0.975, 30, 2.042),
        (0.975, 120, 1.980), (0.995, 2, 9.925), (0.9, 7, 1.415),
    ],
)  # fmt: skip
def test_quantiles_are_those_of_the_tables(probability: float, degrees: int, published: float) -> None:
    assert round(t_quantile(probability, degrees), 3) == published
    assert t_probability(t_quantile(probability, degrees), degrees) == pytest.approx(probability, abs=1e-12)


def test_the_interval_of_students_own_example() -> None:
    # The sleep of ten patients with either of two drugs (Cushny and Peebles, as Student took it up in 1908); R's
    # t.test(..., paired = TRUE) on its data set `sleep` prints 0.7001142 to 2.4598858.
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    found = estimate([b - a for a, b in zip(first, second, strict=True)])
    assert found.mean == pytest.approx(1.58)
    assert found.low == pytest.approx(0.7001142, abs=1e-7)
    assert found.high == pytest.approx(2.4598858, abs=1e-7)
    assert found.count == 10


def test_one_seed_has_no_interval() -> None:
    found = estimate([25.0])
    assert (found.mean, found.half_width, found.low, found.high) == (25.0, None, None, None)


def difference(mean: float, half_width: float | None) -> Estimate:
    return Estimate(mean=mean, half_width=half_width, count=3)


@pytest.mark.parametrize(
    ("ours", "printed", "expected"),
    [
        (difference(-0.5, 0.4), -0.9, Verdict.AS_IN_THE_PAPER),
        (difference(0.5, 0.4), 0.4, Verdict.AS_IN_THE_PAPER),
        (difference(0.5, 0.4), -0.9, Verdict.OTHER_WAY_ROUND),
        (difference(-0.5, 0.4), 0.4, Verdict.OTHER_WAY_ROUND),
        (difference(-0.5, 0.6), -0.9, Verdict.NOT_TOLD_APART),  # the interval has zero in it
        (difference(-0.5, 0.5), -0.9, Verdict.NOT_TOLD_APART),  # just so
        (difference(0.0, 0.0), -0.9, Verdict.NOT_TOLD_APART),  # all seeds the same
        (difference(-0.5, None), -0.9, Verdict.NOT_TOLD_APART),  # one seed cannot tell
        (difference(0.5, 0.6), 0.0, Verdict.NOT_TOLD_APART),
        (difference(0.5, 0.4), 0.0, Verdict.APART_HERE_ALONE),
        (difference(0.5, 0.4), 25.7 - 25.8, Verdict.APART_HERE_ALONE),  # 25.8 and 25.7 may both be 25.75
        (difference(-0.5, 0.4), 25.6 - 25.8, Verdict.AS_IN_THE_PAPER),
    ],
)
def test_verdicts(ours: Estimate, printed: float, expected: Verdict) -> None:
    assert verdict(ours, printed, unit=0.1) is expected

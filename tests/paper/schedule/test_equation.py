"""Equation 3: worked examples whose roots are whole numbers, and the training code against decimals."""

from decimal import Decimal

import pytest

from attendo.paper.schedule import rows as module
from attendo.paper.schedule.rows import CURVES, Curve, checked, rate, worked

ROUND = Curve(title="round", d_model=1024, warmup_steps=4096, max_steps=20_000)
"""Square roots: 32 and 64."""


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        (1, Decimal(1) / (32 * 64**3)),
        (1024, Decimal(1024) / (32 * 64**3)),
        (4096, Decimal(1) / (32 * 64)),  # the highest: 1 / 2048
        (16384, Decimal(1) / (32 * 128)),
    ],
)
def test_worked_examples(step: int, expected: Decimal) -> None:
    assert abs(worked(step, 1024, 4096) / expected - 1) < Decimal("1e-35")
    assert rate(ROUND, step) == pytest.approx(float(expected), rel=1e-14)


def test_the_papers_two_models() -> None:
    # 1 / sqrt(512 x 4000) = 1 / 1431.08..., 1 / sqrt(1024 x 4000) = 1 / 2023.86..., by a pocket calculator.
    base, big = (checked(curve) for curve in CURVES[:2])
    assert (base.peak_step, big.peak_step) == (4000, 4000)
    assert base.peak == pytest.approx(6.98771e-4, rel=1e-6)
    assert big.peak == pytest.approx(4.94106e-4, rel=1e-6)
    assert base.last == pytest.approx(1.39754e-4, rel=1e-5)  # 1 / sqrt(512 x 100,000)
    assert big.last == pytest.approx(5.70544e-5, rel=1e-5)  # 1 / sqrt(1024 x 300,000)
    assert base.first == pytest.approx(6.98771e-4 / 4000, rel=1e-6)


@pytest.mark.parametrize("warmup", [1, 2, 7, 100])
def test_the_highest_rate_is_found_at_the_end_of_the_warmup(warmup: int) -> None:
    found = checked(Curve(title="", d_model=64, warmup_steps=warmup, max_steps=300))
    assert found.peak_step == warmup
    assert found.peak == pytest.approx(found.worked_peak, rel=1e-14)
    assert found.largest_difference < 1e-14


def test_another_formula_would_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "learning_rate", lambda step, d_model, config: 1e-3 / step)
    found = checked(Curve(title="", d_model=64, warmup_steps=10, max_steps=300))
    assert found.peak_step == 1
    assert found.largest_difference > 0.1

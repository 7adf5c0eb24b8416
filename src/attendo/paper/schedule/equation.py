"""Equation 3 as the training code has it, held against the same worked out in decimals."""

from dataclasses import dataclass
from decimal import Decimal, localcontext

from attendo.training.config import TrainingConfig
from attendo.training.schedule import learning_rate

_DIGITS = 40


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A schedule of Section 5.3, or one beside it."""

    title: str
    d_model: int
    warmup_steps: int
    max_steps: int


CURVES = (
    Curve(title="base", d_model=512, warmup_steps=4000, max_steps=100_000),
    Curve(title="big", d_model=1024, warmup_steps=4000, max_steps=300_000),
    Curve(title="base, warm-up 1,000", d_model=512, warmup_steps=1000, max_steps=100_000),
    Curve(title="base, warm-up 8,000", d_model=512, warmup_steps=8000, max_steps=100_000),
    Curve(title="base, warm-up 16,000", d_model=512, warmup_steps=16_000, max_steps=100_000),
)
"""The paper's two first."""


@dataclass(frozen=True, kw_only=True)
class CheckedCurve:
    """A curve as it trains."""

    curve: Curve
    first: float
    """Learning rate of the first update."""
    peak_step: int
    """The update of the highest rate, found among all."""
    peak: float
    last: float
    """That of the last update."""
    worked_peak: float
    """d_model^-0.5 * warmup_steps^-0.5, in decimals."""
    largest_difference: float
    """To decimals of 40 digits, relative, over steps before, at and behind the peak."""


def rate(curve: Curve, step: int) -> float:
    """The learning rate that training takes."""
    config = TrainingConfig(warmup_steps=curve.warmup_steps, max_steps=curve.max_steps)
    return learning_rate(step, curve.d_model, config)


def worked(step: int, d_model: int, warmup_steps: int) -> Decimal:
    """Equation 3 in decimals: d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5).

    Args:
        step: the update, from 1.
        d_model: the model's width.
        warmup_steps: steps of rising learning rate.
    """
    with localcontext() as context:
        context.prec = _DIGITS
        rising = step / Decimal(warmup_steps**3).sqrt()
        falling = 1 / Decimal(step).sqrt()
        return min(rising, falling) / Decimal(d_model).sqrt()


def checked(curve: Curve) -> CheckedCurve:
    """Finds the highest rate among all updates, and holds the curve against decimals."""
    config = TrainingConfig(warmup_steps=curve.warmup_steps, max_steps=curve.max_steps)
    rates = [learning_rate(step, curve.d_model, config) for step in range(1, curve.max_steps + 1)]
    warmup = curve.warmup_steps
    steps = {1, 2, warmup // 2, warmup - 1, warmup, warmup + 1, 2 * warmup, curve.max_steps}
    differences = [
        abs(Decimal(rates[step - 1]) / worked(step, curve.d_model, warmup) - 1)
        for step in steps
        if 1 <= step <= curve.max_steps
    ]
    peak = max(rates)
    return CheckedCurve(
        curve=curve,
        first=rates[0],
        peak_step=rates.index(peak) + 1,
        peak=peak,
        last=rates[-1],
        worked_peak=float(worked(warmup, curve.d_model, warmup)),
        largest_difference=float(max(differences)),
    )

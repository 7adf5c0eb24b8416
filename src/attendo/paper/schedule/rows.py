"""Equation 3 in decimals, the schedules that are tried (Section 5.3), and what became of their runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from attendo.paper.declared import declared
from attendo.paper.experiment import Order, Scale
from attendo.paper.phrasebook_texts import corpora_folder, taken_from
from attendo.paper.run_results import RunResult, validations
from attendo.paper.statistics import Estimate, estimate
from attendo.recipe import Recipe, load_recipe
from attendo.text.prepared import PreparedData
from attendo.training.config import TrainingConfig
from attendo.training.schedule import learning_rate
from attendo.workflow.runs.curves import read_metrics
from attendo.workflow.runs.skipped import SKIPPED

# --- Equation 3 -------------------------------------------------------------------------------------------------------

_DIGITS = 40


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A schedule of Section 5.3, or one beside it."""

    title: str
    d_model: int
    warmup_steps: int
    max_steps: int


CURVES: tuple[Curve, ...] = declared("schedule/curves.toml", "curves", tuple[Curve, ...])
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


# --- rows and what became of their runs -------------------------------------------------------------------------------

_WARMUPS: dict[Scale, tuple[int, ...]] = {"tiny": (1, 40), "small": (1, 50, 200), "paper": (1, 1000, 4000, 16000)}
_FACTORS: dict[Scale, tuple[float, ...]] = {"tiny": (1.0, 4.0), "small": (0.25, 1.0, 4.0), "paper": (0.5, 1.0, 2.0)}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A schedule."""

    warmup_steps: int
    """Of Equation 3; 1 is none."""
    factor: float
    """Multiplies Equation 3; the paper's is 1."""

    @property
    def name(self) -> str:
        """That of its runs."""
        return f"warmup-{self.warmup_steps}-factor-{self.factor:g}"

    @property
    def title(self) -> str:
        """In words."""
        return "no warm-up" if self.warmup_steps == 1 else f"warm-up {self.warmup_steps:,}"

    def peak(self, d_model: int) -> float:
        """The highest learning rate, that of step `warmup_steps`: factor * d_model^-0.5 * warmup_steps^-0.5."""
        return self.factor / math.sqrt(d_model * self.warmup_steps)


def rows_of(scale: Scale) -> tuple[Row, ...]:
    """The schedules that are tried at a scale: every factor with every warm-up, the longest first."""
    return tuple(
        Row(warmup_steps=warmup, factor=factor) for factor in _FACTORS[scale] for warmup in reversed(_WARMUPS[scale])
    )


def base_recipe(order: Order) -> Recipe:
    """The shipped recipe of a scale.

    Raises:
        RecipeError: `--data` was given where the data is attendo's own.
    """
    return load_recipe(f"schedule/{order.scale}", taken_from(corpora_folder(order)))


def recipes(order: Order) -> dict[str, Recipe]:
    """The rows' recipes by the rows' names.

    Raises:
        RecipeError: as for `base_recipe`.
    """
    base = base_recipe(order)
    return {row.name: _recipe(base, row) for row in rows_of(order.scale)}


def _recipe(base: Recipe, row: Row) -> Recipe:
    training = replace(base.training, warmup_steps=row.warmup_steps, learning_rate_factor=row.factor)
    return replace(base, name=f"{base.name}-{row.name}", training=training)


class Fate(Enum):
    """What a run came to."""

    LEARNT = "learnt"
    STUCK = "no better than word frequencies"
    DIVERGED = "diverged"


@dataclass(frozen=True, kw_only=True)
class RunCurve:
    """A run's training as its log has it."""

    row: str
    seed: int
    steps: tuple[int, ...]
    losses: tuple[float, ...]
    """Nats a target token of the training text, without smoothing, the mean since the line before."""
    rates: tuple[float, ...]
    """Learning rate of each of these steps."""


@dataclass(frozen=True, kw_only=True)
class RowOutcome:
    """A schedule of which at least one run has ended."""

    row: Row
    fates: Mapping[int, Fate]
    """By seed."""
    log_loss: Estimate | None
    """Of the validation set, nats a target token; of the runs that came to a number."""
    bleu: Estimate | None
    """Likewise."""
    difference: Estimate | None
    """In log-loss to the longest warm-up with the same factor, paired by seed; None for that one itself."""

    def count(self, fate: Fate) -> int:
        """Runs that came to it."""
        return sum(found is fate for found in self.fates.values())

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        return {
            "row": self.row.name,
            "warmup_steps": self.row.warmup_steps,
            "factor": self.row.factor,
            "fates": {str(seed): fate.value for seed, fate in self.fates.items()},
            "log_loss": self.log_loss and self.log_loss.to_json(),
            "bleu": self.bleu and self.bleu.to_json(),
            "difference": self.difference and self.difference.to_json(),
        }


def outcomes(
    rows: Sequence[Row], results: Sequence[RunResult], diverged: Mapping[str, Sequence[int]], frequencies: float
) -> tuple[RowOutcome, ...]:
    """Holds the schedules against each other.

    Args:
        rows: in the study's order.
        results: of runs that came to a number.
        diverged: seeds of the runs that did not, by row.
        frequencies: nats a target token that word frequencies alone come to.
    """
    by_row = {row: {result.seed: result for result in results if result.row == row.name} for row in rows}
    longest = {row.factor: max(each.warmup_steps for each in rows if each.factor == row.factor) for row in rows}
    found = []
    for row, runs in by_row.items():
        fates = {seed: _fate(result, frequencies) for seed, result in runs.items()}
        fates |= dict.fromkeys(diverged.get(row.name, ()), Fate.DIVERGED)
        if not fates:
            continue
        base = by_row[Row(warmup_steps=longest[row.factor], factor=row.factor)]
        both = sorted(runs.keys() & base.keys()) if row.warmup_steps != longest[row.factor] else []
        differences = [math.log(runs[seed].perplexity / base[seed].perplexity) for seed in both]
        losses = [math.log(result.perplexity) for result in runs.values()]
        found.append(
            RowOutcome(
                row=row,
                fates=dict(sorted(fates.items())),
                log_loss=estimate(losses) if losses else None,
                bleu=estimate([result.bleu for result in runs.values()]) if runs else None,
                difference=estimate(differences) if differences else None,
            )
        )
    return tuple(found)


def has_diverged(run: Path) -> bool:
    """Whether the run of a folder ended because its loss, or its validation, was no number."""
    if (run / SKIPPED).is_file():
        return True
    try:
        return any(record.get("perplexity") is None for record in validations(run))
    except OSError:
        return False


def run_curve(run: Path, row: str, seed: int) -> RunCurve:
    """Reads a run's log.

    Raises:
        DataError: it has none.
    """
    lines = [point for point in read_metrics(run / "metrics.jsonl").train if math.isfinite(point.loss)]
    return RunCurve(
        row=row,
        seed=seed,
        steps=tuple(point.step for point in lines),
        losses=tuple(point.loss for point in lines),
        rates=tuple(point.learning_rate for point in lines),
    )


def largest_rate_difference(curves: Sequence[RunCurve], rows: Sequence[Row], d_model: int) -> float:
    """How far the logged learning rates are from Equation 3 in decimals, times the factor: relative, the largest."""
    by_name = {row.name: row for row in rows}
    differences = [
        abs(found / (by_name[curve.row].factor * float(worked(step, d_model, by_name[curve.row].warmup_steps))) - 1)
        for curve in curves
        for step, found in zip(curve.steps, curve.rates, strict=True)
    ]
    return max(differences, default=0.0)


def frequency_loss(prepared: PreparedData) -> float:
    """Nats a target token of the validation set, where each token is as probable as it is frequent in training.

    A count of 1 is added to every token, so that none is impossible. A model that is no better has learnt nothing of
    the source, nor of what stands before.

    Args:
        prepared: the study's data, which has a validation set.
    """
    size = prepared.target_tokenizer.vocab_size
    counts = np.ones(size)
    for pairs in prepared.corpora.values():
        for index in range(len(pairs)):
            np.add.at(counts, pairs.target(index), 1.0)
    losses = -np.log(counts / counts.sum())
    valid = prepared.valid
    assert valid is not None, "the shipped recipes have a validation set"
    return float(np.concatenate([losses[valid.target(index)] for index in range(len(valid))]).mean())


def _fate(result: RunResult, frequencies: float) -> Fate:
    return Fate.LEARNT if math.log(result.perplexity) < frequencies else Fate.STUCK

"""A check of Equation 3 against decimals, the tried schedules (Section 5.3), and the outcomes of their runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np

from attendo.evaluation.estimates import Estimate, estimate
from attendo.paper.declared import declared
from attendo.paper.experiment import Scale, StudyRequest
from attendo.paper.phrasebook_texts import corpora_folder, taken_from
from attendo.paper.run_results import RunResult, validations
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
    """A learning rate schedule by Equation 3, of Section 5.3 or for comparison."""

    title: str
    d_model: int
    warmup_steps: int
    max_steps: int


CURVES: tuple[Curve, ...] = declared("schedule/curves.toml", "curves", tuple[Curve, ...])
"""The curves, the paper's two first."""


@dataclass(frozen=True, kw_only=True)
class CheckedCurve:
    """A curve's learning rates as training computes them, checked against decimals."""

    curve: Curve
    first: float
    """Learning rate of the first update."""
    peak_step: int
    """The update with the highest rate of all."""
    peak: float
    """The highest rate."""
    last: float
    """Learning rate of the last update."""
    worked_peak: float
    """The expected highest rate, d_model^-0.5 * warmup_steps^-0.5, computed in decimals."""
    largest_difference: float
    """Largest relative difference to decimals of 40 digits, over steps before, at and after the peak."""


def rate(curve: Curve, step: int) -> float:
    """Returns the learning rate that training uses at a step."""
    config = TrainingConfig(warmup_steps=curve.warmup_steps, max_steps=curve.max_steps)
    return learning_rate(step, curve.d_model, config)


def worked(step: int, d_model: int, warmup_steps: int) -> Decimal:
    """Computes Equation 3 in decimals: d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5).

    Args:
        step: number of the update, from 1.
        d_model: width of the model.
        warmup_steps: number of steps with a rising learning rate.
    """
    with localcontext() as context:
        context.prec = _DIGITS
        rising = step / Decimal(warmup_steps**3).sqrt()
        falling = 1 / Decimal(step).sqrt()
        return min(rising, falling) / Decimal(d_model).sqrt()


def checked(curve: Curve) -> CheckedCurve:
    """Finds the highest rate among all updates, and compares the curve with decimals."""
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


# --- rows and the outcomes of their runs ------------------------------------------------------------------------------

_WARMUPS: dict[Scale, tuple[int, ...]] = {"tiny": (1, 40), "small": (1, 50, 200), "paper": (1, 1000, 4000, 16000)}
_FACTORS: dict[Scale, tuple[float, ...]] = {"tiny": (1.0, 4.0), "small": (0.25, 1.0, 4.0), "paper": (0.5, 1.0, 2.0)}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A schedule that is tried."""

    warmup_steps: int
    """The parameter of Equation 3; 1 means no warm-up."""
    factor: float
    """Factor of Equation 3; the paper's is 1."""

    @property
    def name(self) -> str:
        """The name of the row, which its runs carry."""
        return f"warmup-{self.warmup_steps}-factor-{self.factor:g}"

    @property
    def title(self) -> str:
        """The warm-up in words."""
        return "no warm-up" if self.warmup_steps == 1 else f"warm-up {self.warmup_steps:,}"

    def peak(self, d_model: int) -> float:
        """Returns the highest learning rate, at step `warmup_steps`: factor * d_model^-0.5 * warmup_steps^-0.5."""
        return self.factor / math.sqrt(d_model * self.warmup_steps)


def rows_of(scale: Scale) -> tuple[Row, ...]:
    """Returns the schedules that are tried at a scale: every factor with every warm-up, the longest first."""
    return tuple(
        Row(warmup_steps=warmup, factor=factor) for factor in _FACTORS[scale] for warmup in reversed(_WARMUPS[scale])
    )


def base_recipe(request: StudyRequest) -> Recipe:
    """Returns the shipped recipe of a scale, with the folder of the corpora.

    Raises:
        RecipeError: `--data` is given at the scale `tiny`, which generates its corpora.
    """
    return load_recipe(f"schedule/{request.scale}", taken_from(corpora_folder(request)))


def recipes(request: StudyRequest) -> dict[str, Recipe]:
    """Returns the rows' recipes by the rows' names.

    Raises:
        RecipeError: `--data` is given at the scale `tiny`, which generates its corpora.
    """
    base = base_recipe(request)
    return {row.name: _recipe(base, row) for row in rows_of(request.scale)}


def _recipe(base: Recipe, row: Row) -> Recipe:
    training = replace(base.training, warmup_steps=row.warmup_steps, learning_rate_factor=row.factor)
    return replace(base, name=f"{base.name}-{row.name}", training=training)


class RunStatus(Enum):
    """The outcome of a run."""

    LEARNT = "learnt"
    STUCK = "no better than word frequencies"
    DIVERGED = "diverged"


@dataclass(frozen=True, kw_only=True)
class RunCurve:
    """The training losses and learning rates in a run's log."""

    row: str
    seed: int
    steps: tuple[int, ...]
    losses: tuple[float, ...]
    """Training loss without label smoothing, in nats per target token: the mean since the previous line."""
    rates: tuple[float, ...]
    """Learning rate at each of these steps."""


@dataclass(frozen=True, kw_only=True)
class RowOutcome:
    """The outcomes of a schedule with at least one finished run."""

    row: Row
    fates: Mapping[int, RunStatus]
    """Outcome of each run, by seed."""
    log_loss: Estimate | None
    """Mean validation loss of the runs that did not diverge, in nats per target token; None if there are none."""
    bleu: Estimate | None
    """Mean BLEU of the validation set over the runs that did not diverge; None if there are none."""
    difference: Estimate | None
    """Difference in `log_loss` to the longest warm-up with the same factor, paired by seed; None for the longest
    warm-up itself, and if no seed has both."""

    def count(self, fate: RunStatus) -> int:
        """Returns the number of runs with an outcome."""
        return sum(outcome is fate for outcome in self.fates.values())

    def to_json(self) -> dict[str, Any]:
        """Returns the data for `result.json`."""
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
    """Summarises the schedules that have finished runs, and compares them with the longest warm-up.

    Args:
        rows: the schedules, in the study's order.
        results: results of the runs that did not diverge.
        diverged: seeds of the runs that diverged, by row.
        frequencies: validation loss of a prediction by word frequencies alone, in nats per target token.
    """
    by_row = {row: {result.seed: result for result in results if result.row == row.name} for row in rows}
    longest = {row.factor: max(other.warmup_steps for other in rows if other.factor == row.factor) for row in rows}
    summaries = []
    for row, runs in by_row.items():
        fates = {seed: _fate(result, frequencies) for seed, result in runs.items()}
        fates |= dict.fromkeys(diverged.get(row.name, ()), RunStatus.DIVERGED)
        if not fates:
            continue
        base = by_row[Row(warmup_steps=longest[row.factor], factor=row.factor)]
        both = sorted(runs.keys() & base.keys()) if row.warmup_steps != longest[row.factor] else []
        differences = [math.log(runs[seed].perplexity / base[seed].perplexity) for seed in both]
        losses = [math.log(result.perplexity) for result in runs.values()]
        summaries.append(
            RowOutcome(
                row=row,
                fates=dict(sorted(fates.items())),
                log_loss=estimate(losses) if losses else None,
                bleu=estimate([result.bleu for result in runs.values()]) if runs else None,
                difference=estimate(differences) if differences else None,
            )
        )
    return tuple(summaries)


def has_diverged(run: Path) -> bool:
    """Whether a run ended because its loss, or that of a validation, was not a finite number."""
    if (run / SKIPPED).is_file():
        return True
    try:
        return any(record.get("perplexity") is None for record in validations(run))
    except OSError:
        return False


def run_curve(run: Path, row: str, seed: int) -> RunCurve:
    """Reads the training losses and learning rates in a run's log.

    Raises:
        DataError: the run has no log.
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
    """Returns the largest relative difference of the logged rates to Equation 3 in decimals, times the factor."""
    by_name = {row.name: row for row in rows}
    differences = [
        abs(logged / (by_name[curve.row].factor * float(worked(step, d_model, by_name[curve.row].warmup_steps))) - 1)
        for curve in curves
        for step, logged in zip(curve.steps, curve.rates, strict=True)
    ]
    return max(differences, default=0.0)


def frequency_loss(prepared: PreparedData) -> float:
    """Returns the validation loss of a prediction by the tokens' training frequencies, in nats per target token.

    A count of 1 is added to every token, so that none is impossible. A model that is no better has learnt nothing from
    the source or from the preceding tokens.

    Args:
        prepared: data of the study, with a validation set.
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


def _fate(result: RunResult, frequencies: float) -> RunStatus:
    return RunStatus.LEARNT if math.log(result.perplexity) < frequencies else RunStatus.STUCK

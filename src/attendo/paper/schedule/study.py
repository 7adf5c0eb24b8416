"""`attendo reproduce schedule`: a check of Equation 3, and a model trained with several warm-ups, factors and seeds."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

from attendo.evaluation.estimates import Estimate, estimate
from attendo.paper.experiment import Reporter, StudyRequest
from attendo.paper.forecast import Forecast, forecast_of_runs
from attendo.paper.page_parts import signatures_of
from attendo.paper.rows_study import Findings, Page, RowsStudy, StudySession
from attendo.paper.schedule.rows import (
    CURVES,
    CheckedCurve,
    Curve,
    Row,
    RowOutcome,
    RunCurve,
    RunStatus,
    base_recipe,
    checked,
    frequency_loss,
    has_diverged,
    largest_rate_difference,
    outcomes,
    rate,
    recipes,
    rows_of,
    run_curve,
)
from attendo.paper.study import Run
from attendo.plots.figure_files import png_bytes
from attendo.plots.panels import BLUE, GREEN, ORANGE, PURPLE, VERMILION, finish, panels

# --- pictures ---------------------------------------------------------------------------------------------------------

_COLOURS = (VERMILION, BLUE, GREEN, PURPLE, ORANGE)
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_POINTS = 400
_WIDTH, _HEIGHT = 4.6, 4.4
"""Size of a panel, in inches."""
_FREQUENCIES = "#555555"


def equation_png(curves: Sequence[Curve], rows: Sequence[Row], d_model: int, max_steps: int) -> bytes:
    """Draws the paper's learning rates with others for comparison, and those of the tried schedules.

    Args:
        curves: curves at full size.
        rows: the tried schedules; those with factor 1 are drawn.
        d_model: width of the study's models.
        max_steps: number of updates of the study's runs.
    """
    figure, (left, right) = panels(_WIDTH * 2 + 1, _HEIGHT, 2)
    last = max(curve.max_steps for curve in curves if curve.title != "big")
    for curve, colour, line in zip(curves, _COLOURS, _LINES, strict=False):
        steps = _spread(min(curve.max_steps, last))
        left.plot(steps, [rate(curve, step) for step in steps], color=colour, linestyle=line, label=curve.title)
    _finish_panel(left, "Equation 3 at full size", "learning rate")
    left.legend(frameon=False, fontsize=9)
    plain = [row for row in rows if row.factor == 1.0]
    for row, colour, line in zip(sorted(plain, key=lambda row: row.warmup_steps), _COLOURS, _LINES, strict=False):
        own = Curve(title=row.title, d_model=d_model, warmup_steps=row.warmup_steps, max_steps=max_steps)
        steps = _spread(max_steps)
        right.plot(steps, [rate(own, step) for step in steps], color=colour, linestyle=line, label=row.title)
    right.set_yscale("log")
    _finish_panel(right, "As tried here, with factor 1", "learning rate")
    right.legend(frameon=False, fontsize=9)
    return png_bytes(figure)


def losses_png(rows: Sequence[Row], curves: Sequence[RunCurve], frequencies: float) -> bytes:
    """Draws the training losses by step: one panel per factor, one line per warm-up, with bands over seeds.

    Args:
        rows: rows of the study.
        curves: training curves of the runs that have ended.
        frequencies: loss of a prediction by word frequencies alone.
    """
    factors = sorted({row.factor for row in rows})
    warmups = sorted({row.warmup_steps for row in rows})
    figure, all_axes = panels(_WIDTH * len(factors) + 1, _HEIGHT, len(factors), sharex=True, sharey=True)
    for axes, factor in zip(all_axes, factors, strict=True):
        axes.axhline(frequencies, color=_FREQUENCIES, linewidth=1, linestyle=(0, (1, 2)), label="word frequencies")
        for warmup, colour, line in zip(warmups, _COLOURS, _LINES, strict=False):
            row = Row(warmup_steps=warmup, factor=factor)
            run_curves = [curve for curve in curves if curve.row == row.name]
            if not run_curves:
                continue
            steps, mean, low, high = _band(run_curves)
            axes.plot(steps, mean, color=colour, linestyle=line, linewidth=1.5, label=row.title)
            axes.fill_between(steps, low, high, color=colour, alpha=0.18, linewidth=0)
        _finish_panel(
            axes, f"Equation 3 times {factor:g}", "training loss, nats a token" if axes is all_axes[0] else ""
        )
    lowest = min((loss for curve in curves for loss in curve.losses), default=0.0)
    all_axes[0].set_ylim(0.9 * min(lowest, frequencies), 1.25 * frequencies)
    all_axes[0].set_xlim(0, max((step for curve in curves for step in curve.steps), default=1))
    handles = {
        label: handle
        for axes in all_axes
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }  # fmt: skip
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=len(handles), frameon=False)
    return png_bytes(figure)


def _band(curves: Sequence[RunCurve]) -> tuple[list[int], list[float], list[float], list[float]]:
    """The logged steps with the mean loss and the ends of its interval; for a single run both ends are its loss."""
    by_step: dict[int, list[float]] = {}
    for curve in curves:
        for step, loss in zip(curve.steps, curve.losses, strict=True):
            by_step.setdefault(step, []).append(loss)
    steps = sorted(by_step)
    estimates = [estimate(by_step[step]) for step in steps]
    mean = [interval.mean for interval in estimates]
    low = [interval.mean if interval.low is None else interval.low for interval in estimates]
    high = [interval.mean if interval.high is None else interval.high for interval in estimates]
    return steps, mean, low, high


def _spread(last: int) -> list[int]:
    """Returns steps from 1 to the last, closer together at the beginning."""
    return sorted(
        {round(step) for step in np.geomspace(1, last, _POINTS)} | {round(s) for s in np.linspace(1, last, _POINTS)}
    )


def _finish_panel(axes: Axes, title: str, up: str) -> None:
    finish(axes, title, "update", up)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))


# --- the study --------------------------------------------------------------------------------------------------------


_TEXT = "schedule/page.md"


@dataclass(frozen=True, kw_only=True)
class Checks:
    """The results that need no run: the check of Equation 3, and the loss of word frequencies alone."""

    equation: tuple[CheckedCurve, ...]
    frequencies: float
    """Validation loss of a prediction by word frequencies alone, in nats per target token."""


ScheduleFindings = Findings[Checks, RunCurve]


def _check(session: StudySession) -> Checks:
    return Checks(
        equation=tuple(checked(curve) for curve in CURVES), frequencies=frequency_loss(session.opened.prepared)
    )


def _curve(session: StudySession, checks: Checks, run: Run) -> RunCurve:
    return run_curve(session.folder(run), run.row, run.seed)


def _forecast(request: StudyRequest, reporter: Reporter) -> Forecast:
    base, rows = base_recipe(request), rows_of(request.scale)
    peaks = [(row, row.peak(base.model.d_model)) for row in rows]
    # All runs take the same time: the learning rate does not affect it.
    return forecast_of_runs(
        request,
        base,
        reporter,
        _TEXT,
        num_rows=len(rows),
        data={
            "max_steps": base.training.max_steps,
            "rows": [{"row": row.name, **asdict(row), "peak": peak} for row, peak in peaks],
        },
        rows=peaks,
    )


def _page(findings: ScheduleFindings) -> Page | None:
    if not findings.num_ended:
        return None
    rows, recipe, checks = rows_of(findings.request.scale), findings.any_recipe, findings.begun
    curves = (*(run.measured for run in findings.runs), *findings.diverged.values())
    diverged = {row.name: [seed for name, seed in findings.diverged if name == row.name] for row in rows}
    compared = outcomes(rows, findings.results, diverged, checks.frequencies)
    shape = recipe.model
    rate_difference = largest_rate_difference(curves, rows, shape.d_model)
    return Page(
        values={
            "d_model": shape.d_model,
            "num_layers": shape.num_layers,
            "outcomes": _outcomes(compared),
            "rates": checks.equation,
            "rate_difference": f"{rate_difference:.0e}",
            "equation": equation_png(CURVES, rows, shape.d_model, recipe.training.max_steps),
            "losses": losses_png(rows, curves, checks.frequencies),
            "warmups": [(outcome, *_warmup_cells(outcome, shape.d_model)) for outcome in compared],
            "frequencies": f"{math.exp(checks.frequencies):.1f}",
            "runs": [(run, _plain(run.perplexity, 1e6)) for run in findings.results],
        },
        bleu=f"BLEU is sacreBLEU's, of translations by beam {recipe.search.beam_size}: "
        f"{signatures_of(findings.results)}",
        data={
            "equation": [asdict(curve) for curve in checks.equation],
            "logged_rate_difference": rate_difference,
            "frequency_log_loss": checks.frequencies,
            "rows": [outcome.to_json() for outcome in compared],
            "results": [asdict(result) for result in findings.results],
        },
    )


# --- findings ---------------------------------------------------------------------------------------------------------


def _outcomes(outcomes: Sequence[RowOutcome]) -> list[str]:
    factors = sorted({outcome.row.factor for outcome in outcomes})
    sentences = [
        _of_factor(factor, [outcome for outcome in outcomes if outcome.row.factor == factor]) for factor in factors
    ]
    if sound := [
        (outcome.log_loss.mean, outcome.row)
        for outcome in outcomes
        if outcome.log_loss and not outcome.count(RunStatus.DIVERGED)
    ]:
        _, best = min(sound, key=lambda pair: pair[0])
        sentences.append(f"The lowest mean is that of {best.title} with factor {best.factor:g}.")
    return sentences


def _of_factor(factor: float, outcomes: Sequence[RowOutcome]) -> str:
    parts = []
    for outcome in outcomes:
        ended = [
            f"{outcome.count(fate)} {fate.value}"
            for fate in (RunStatus.STUCK, RunStatus.DIVERGED)
            if outcome.count(fate)
        ]
        text = outcome.row.title
        if outcome.log_loss is not None:
            text += f": perplexity {_perplexity(outcome.log_loss)}"
        if ended:
            text += f" (of {len(outcome.fates)} runs {', '.join(ended)})"
        if _verdict(outcome):
            text += f", {_verdict(outcome)}"
        parts.append(text)
    return f"Equation 3 times {factor:g}. {'; '.join(parts)}."


def _verdict(outcome: RowOutcome) -> str:
    """The verdict against the longest warm-up; `diverged` if any run did, since the others' mean is too favourable."""
    if outcome.count(RunStatus.DIVERGED):
        return "diverged"
    if outcome.difference is None:
        return ""
    return {0: "not significant", 1: "worse", -1: "better"}[outcome.difference.sign]


# --- cells of tables -------------------------------------------------------------------------------------------------


def _warmup_cells(outcome: RowOutcome, d_model: int) -> tuple[object, ...]:
    """Warm-up, highest rate, perplexity, share of runs that learnt, and verdict."""
    return (
        "none" if outcome.row.warmup_steps == 1 else f"{outcome.row.warmup_steps:,}",
        outcome.row.peak(d_model),
        outcome.log_loss and _perplexity(outcome.log_loss),
        f"{outcome.count(RunStatus.LEARNT)} of {len(outcome.fates)}",
        _verdict(outcome),
    )


def _perplexity(log_loss: Estimate) -> str:
    mean = _number(log_loss.mean)
    if log_loss.low is None or log_loss.high is None:
        return mean
    return f"{mean} [{_number(log_loss.low)}, {_number(log_loss.high)}]"


def _number(log_loss: float) -> str:
    """Formats the perplexity, which may be very large."""
    return _plain(math.exp(min(log_loss, 700.0)), 1e5)


def _plain(perplexity: float, large: float) -> str:
    return f"{perplexity:.2f}" if perplexity < large else f"{perplexity:.1e}"


SCHEDULE = RowsStudy[Checks, RunCurve](
    name="schedule",
    title="Section 5.3: the learning rate and its warm-up",
    short_title="The learning rate's warm-up",
    subject="warm-up",
    text=_TEXT,
    recipes=recipes,
    expect=_forecast,
    begin=_check,
    measure=_curve,
    page=_page,
    is_result=has_diverged,
)

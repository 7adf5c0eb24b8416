"""Charts that compare the learning curves of several runs."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullLocator

from attendo.checkpoint.finding import check_run
from attendo.errors import DataError
from attendo.files import naming
from attendo.plots.figure_files import COLOURS, LINES, MARKERS
from attendo.reading import require_regular
from attendo.workflow.runs.curves import Metrics, TrainPoint, ValidPoint, read_metrics, smooth

By = Literal["steps", "tokens", "hours"]
"""The unit of the horizontal axis."""
Measure = Literal["loss", "perplexity", "bleu", "f1"]
"""The measure that a panel shows."""
MEASURES: tuple[Measure, ...] = get_args(Measure)
_FAR_APART = 4
_ACROSS = {"steps": "training step", "tokens": "target tokens trained on", "hours": "hours of the run"}
_TITLES = {
    "loss": "Training loss",
    "perplexity": "Validation perplexity",
    "bleu": "Validation BLEU",
    "f1": "Validation F1",
}
_UNITS = {"loss": "nats a target token, running mean", "perplexity": "per word piece", "bleu": "BLEU", "f1": "F1"}


@dataclass(frozen=True, kw_only=True)
class RunHistory:
    """A run with its metrics so far."""

    name: str
    """A name that distinguishes the run from the others."""
    metrics: Metrics

    @property
    def points(self) -> list[TrainPoint | ValidPoint]:
        """All points of training, then all points of validation."""
        return [*self.metrics.train, *self.metrics.valid]


def read_runs(folders: Sequence[Path]) -> tuple[RunHistory, ...]:
    """Reads the metrics of runs, whether they are still being trained or not.

    Raises:
        ModelError: a folder does not exist or is not a run.
        DataError: a run has no metrics yet, or the same run is named twice.
        OSError: the metrics are not a regular file.
    """
    for folder in folders:
        check_run(folder)
    twice = [folder for folder, times in Counter(folder.resolve() for folder in folders).items() if times > 1]
    if twice:
        raise DataError(f"{twice[0]}: is named twice; name each run once")
    histories = []
    for name, folder in zip(_names(folders), folders, strict=True):
        path = folder / "metrics.jsonl"
        if path.exists():
            with naming(path):
                require_regular(path)
        histories.append(RunHistory(name=name, metrics=read_metrics(path)))
    return tuple(histories)


def usual_measures(runs: Sequence[RunHistory]) -> tuple[Measure, ...]:
    """Returns the measures to draw by default: loss, perplexity, and F1 for parsers or BLEU for other models."""
    points = [point for run in runs for point in run.metrics.valid]
    has_f1, has_bleu = (any(getattr(point, key) is not None for point in points) for key in ("f1", "bleu"))
    return ("loss", "perplexity", *(("bleu",) if has_bleu or not has_f1 else ()), *(("f1",) if has_f1 else ()))


def draw_runs(runs: Sequence[RunHistory], by: By, measures: Sequence[Measure] = ()) -> Figure:
    """Draws measures of several runs, one panel per measure.

    Args:
        runs: histories of the runs.
        by: the unit of the horizontal axis.
        measures: the measures to draw; empty for `usual_measures`.

    Raises:
        DataError: the metrics of a run lack the unit of the horizontal axis.
    """
    measures = measures or usual_measures(runs)
    places = {run.name: _places(run, by) for run in runs}
    rows = (len(runs) + 2) // 3
    figure = Figure(
        figsize=(4.6 * len(measures) + 0.6, 4.0 + 0.22 * rows), dpi=110, layout="constrained", facecolor="white"
    )
    panels = figure.subplots(1, len(measures), squeeze=False)[0]
    for axes, measure in zip(panels, measures, strict=True):
        _dress(axes, measure, by)
        num_points = [_draw(axes, run, number, measure, places[run.name]) for number, run in enumerate(runs)]
        if not any(num_points):
            axes.set_yticks([])
            axes.text(0.5, 0.5, "not measured yet", transform=axes.transAxes, ha="center", va="center", color="#777777")
        elif measure == "perplexity":
            _scale_perplexity(axes, runs)
        elif measure in ("bleu", "f1"):
            axes.set_ylim(
                0, 1.08 * max(_value(point, measure) or 0.0 for run in runs for point in run.metrics.valid) or 1
            )
    last = max(places[run.name](point) for run in runs for point in run.points)
    for axes in panels:
        axes.set_xlim(0, 1.02 * last if last else 1)
    legends = [axes.get_legend_handles_labels() for axes in panels]
    # A run without a validation appears in the first panel only; the legend below all panels names each run once.
    handles = {label: handle for legend in legends for handle, label in zip(*legend, strict=True)}
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=min(3, len(handles)), frameon=False
    )
    return figure


def described(runs: Sequence[RunHistory], by: By) -> str:
    """Describes a chart of runs in words, as a text alternative."""
    parts = []
    for run in runs:
        metrics = run.metrics
        last = max(point.step for point in run.points)
        text = f"{run.name}: up to step {last:,}"
        if metrics.train:
            text += f", training loss {metrics.train[-1].loss:.3f}"
        if metrics.best is not None:
            text += f", best validation perplexity {metrics.best.perplexity:.3f}"
            if metrics.best.score is not None:
                text += f", {metrics.score_name} {metrics.best.score:.2f}"
        parts.append(text)
    return f"Learning curves by {by}. {'; '.join(parts)}."


def _names(folders: Sequence[Path]) -> list[str]:
    """Returns a name for each folder, preceded by names of its parents as far as needed to make all names distinct."""
    parts = [folder.resolve().parts for folder in folders]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(path[-depth:]) for path in parts]
        if len(set(names)) == len(names):
            break
    return names


def _places(run: RunHistory, by: By) -> Callable[[TrainPoint | ValidPoint], float]:
    """Returns a function that gives a point's position on the horizontal axis.

    Raises:
        DataError: some points lack the unit of the axis.
    """
    points = run.points
    lacking = sum(_place(point, by) is None for point in points)
    if lacking:
        raise DataError(
            f"{run.name}: {lacking} of {len(points)} lines of its metrics do not tell {by}, as those of earlier "
            "versions; take --by steps"
        )

    def place(point: TrainPoint | ValidPoint) -> float:
        value = _place(point, by)
        assert value is not None
        return value

    return place


def _place(point: TrainPoint | ValidPoint, by: By) -> float | None:
    match by:
        case "steps":
            return point.step
        case "tokens":
            return point.target_tokens
        case "hours":
            return None if point.elapsed_s is None else point.elapsed_s / 3600


def _draw(
    axes: Axes, run: RunHistory, number: int, measure: Measure, place: Callable[[TrainPoint | ValidPoint], float]
) -> int:
    """Draws one curve and returns its number of points."""
    colour, line = COLOURS[number % len(COLOURS)], LINES[number // len(COLOURS) % len(LINES)]
    if measure == "loss":
        losses = [point.loss for point in run.metrics.train]
        xs = [place(point) for point in run.metrics.train]
        if losses:
            axes.plot(xs, losses, color=colour, alpha=0.2, linewidth=0.7)
            means = smooth(losses, half_width=len(losses) // 50)
            axes.plot(xs, means, color=colour, linestyle=line, linewidth=1.8, label=run.name)
        return len(losses)
    points = [
        (place(point), value)
        for point in run.metrics.valid
        if (value := _value(point, measure)) is not None and np.isfinite(value)
    ]
    if points:
        marker = MARKERS[number % len(MARKERS)]
        axes.plot(
            *zip(*points, strict=True), color=colour, linestyle=line, marker=marker, markersize=4.5, label=run.name
        )
    return len(points)


def _value(point: ValidPoint, measure: Measure) -> float | None:
    """Returns a measure of a validation; None if it was not measured."""
    match measure:
        case "bleu":
            return point.bleu
        case "f1":
            return point.f1
        case _:
            return point.perplexity


def _scale_perplexity(axes: Axes, runs: Sequence[RunHistory]) -> None:
    """Makes the axis logarithmic if the values span a range in which the low ones would look alike."""
    values = [point.perplexity for run in runs for point in run.metrics.valid if np.isfinite(point.perplexity)]
    if max(values) <= _FAR_APART * min(values):
        return
    axes.set_yscale("log")
    axes.set_ylabel(f"{_UNITS['perplexity']}, log scale")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(EngFormatter(sep=""))
    axes.yaxis.set_minor_locator(NullLocator())


def _dress(axes: Axes, measure: Measure, by: By) -> None:
    axes.set_title(_TITLES[measure], loc="left", fontsize=11, fontweight="bold")
    axes.set_xlabel(_ACROSS[by])
    axes.set_ylabel(_UNITS[measure])
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=by != "hours"))
    if by != "hours":
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))

"""Learning curves of a run, drawn from its metrics.jsonl."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullLocator

from attendo.errors import DataError
from attendo.files import atomic_path

NumberT = TypeVar("NumberT", int, float)

TRAIN_COLOUR, VALID_COLOUR, BEST_COLOUR = "#4477aa", "#cc6611", "#1a7a3c"


@dataclass(frozen=True, kw_only=True)
class TrainPoint:
    """The values of one progress line of training.

    Attributes:
        step: number of updates so far.
        loss: nats per target token, without label smoothing if the line has that, so that it is comparable with the
            validation's.
        learning_rate: the learning rate of that step.
        elapsed_s: seconds of the run so far; None if the line does not have it.
        target_tokens: number of target tokens trained on so far; None if the line does not have it.
    """

    step: int
    loss: float
    learning_rate: float
    elapsed_s: float | None = None
    target_tokens: int | None = None


@dataclass(frozen=True, kw_only=True)
class ValidPoint:
    """The results of one validation; `bleu`, and `f1` of a parser, are None if nothing was decoded.

    `elapsed_s` and `target_tokens` are as in `TrainPoint`.
    """

    step: int
    loss: float
    perplexity: float
    bleu: float | None
    best: bool
    elapsed_s: float | None = None
    target_tokens: int | None = None
    f1: float | None = None

    @property
    def score(self) -> float | None:
        """F1 of a parser, BLEU of a translator; None if nothing was decoded."""
        return self.bleu if self.f1 is None else self.f1


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """A run's history in the order of its steps.

    Attributes:
        train: progress of training.
        valid: validations.
        skipped_lines: 1-based numbers of lines that could not be read, such as one torn by a crash.
    """

    train: tuple[TrainPoint, ...]
    valid: tuple[ValidPoint, ...]
    skipped_lines: tuple[int, ...]

    @property
    def best(self) -> ValidPoint | None:
        """The validation last marked best; without a mark the highest BLEU or F1, without that the lowest loss."""
        marked = [point for point in self.valid if point.best]
        if marked:
            return marked[-1]
        return max(self.valid, key=lambda point: (point.score or 0.0, -point.loss), default=None)

    @property
    def score_name(self) -> str:
        """Returns the name of the validation score: F1 if there is any, otherwise BLEU."""
        return "BLEU" if all(point.f1 is None for point in self.valid) else "F1"


def read_metrics(path: Path) -> Metrics:
    """Reads a run's metrics.jsonl, even if interrupted.

    If a resumed run repeats steps, the later lines count: a line replaces all earlier ones of its step and beyond.
    Lines of a kind other than `train` and `valid` are left to other readers.

    Raises:
        DataError: the file is missing or has no line of training or validation.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); a run writes it once training starts") from error
    points: list[TrainPoint | ValidPoint] = []
    skipped = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            point = _parse_line(line)
        except (ValueError, KeyError, TypeError):
            skipped.append(number)
            continue
        if point is None:
            continue
        _supersede(points, point)
    if not points:
        raise DataError(f"{path}: no line of training or validation yet ({len(skipped)} unreadable); nothing to draw")
    return Metrics(
        train=tuple(point for point in points if isinstance(point, TrainPoint)),
        valid=tuple(point for point in points if isinstance(point, ValidPoint)),
        skipped_lines=tuple(skipped),
    )


def draw_curves(metrics_path: Path, output: Path) -> Metrics:
    """Draws a run's learning curves: loss, perplexity, BLEU or F1 with the best marked, learning rate.

    Args:
        metrics_path: the run's metrics.jsonl.
        output: the PNG to write; an older one is replaced at once or not at all.

    Returns:
        What was drawn, with the numbers of the lines that had to be skipped.

    Raises:
        DataError: there is nothing to draw.
    """
    metrics = read_metrics(metrics_path)
    figure = Figure(figsize=(10, 6.6), dpi=120, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    grid = figure.subplots(2, 2, sharex=True)
    _draw_loss(grid[0][0], metrics)
    _draw_perplexity(grid[0][1], metrics)
    _draw_score(grid[1][0], metrics)
    _draw_learning_rate(grid[1][1], metrics)
    for axes in grid[1]:
        axes.set_xlabel("training step")
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True))
        axes.set_xlim(left=0)
    with atomic_path(output) as path:
        # Without the software's name the same metrics give the same bytes under any version.
        figure.savefig(path, format="png", metadata={"Software": None})
    return metrics


def smooth(values: Sequence[float], half_width: int) -> np.ndarray:
    """Means over windows centred on each value, so that a falling curve is not drawn too high.

    Args:
        values: one for each progress line; values that are not finite are excluded from the means.
        half_width: neighbours counted on each side, at least 0; fewer, but as many on both sides, near the start,
            where the loss falls steeply; near the end as many as there are, so that the curve does not end in noise.

    Returns:
        The means, float64, one for each value; NaN where a window holds no finite value.
    """
    numbers = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(numbers)
    sums = np.concatenate(([0.0], np.cumsum(np.where(finite, numbers, 0.0))))
    counts = np.concatenate(([0], np.cumsum(finite)))
    index = np.arange(len(numbers))
    reach = np.minimum(half_width, index)
    first, last = index - reach, np.minimum(index + reach + 1, len(numbers))
    num_counted = counts[last] - counts[first]
    means = (sums[last] - sums[first]) / np.maximum(num_counted, 1)
    return np.where(num_counted > 0, means, np.nan)


def _parse_line(line: str) -> TrainPoint | ValidPoint | None:
    record = json.loads(line)
    kind = record["kind"]
    if kind == "train":
        loss = record["log_loss"] if "log_loss" in record else record["loss"]
        return TrainPoint(
            step=int(record["step"]),
            loss=float(loss),
            learning_rate=float(record["learning_rate"]),
            elapsed_s=_number(record, "elapsed_s", float),
            target_tokens=_number(record, "target_tokens", int),
        )
    if kind == "valid":
        bleu, f1 = record.get("bleu"), record.get("f1")
        return ValidPoint(
            step=int(record["step"]),
            loss=float(record["loss"]),
            perplexity=float(record["perplexity"]),
            bleu=None if bleu is None else float(bleu),
            best=bool(record.get("best", False)),
            elapsed_s=_number(record, "elapsed_s", float),
            target_tokens=_number(record, "target_tokens", int),
            f1=None if f1 is None else float(f1),
        )
    return None


def _number(record: dict[str, Any], key: str, kind: Callable[[Any], NumberT]) -> NumberT | None:
    """Returns a line's value; None if missing, as in earlier versions."""
    return None if record.get(key) is None else kind(record[key])


def _supersede(points: list[TrainPoint | ValidPoint], later: TrainPoint | ValidPoint) -> None:
    """Appends a point in the order of steps, and removes the points that it repeats."""
    while points and points[-1].step > later.step:
        points.pop()
    # Training and validation of one step may be in either order.
    repeated = [point for point in points[-2:] if point.step == later.step and type(point) is type(later)]
    for point in repeated:
        points.remove(point)
    points.append(later)


def _draw_loss(axes: Axes, metrics: Metrics) -> None:
    _prepare(axes, "Loss", "nats a target token")
    steps = [point.step for point in metrics.train]
    losses = [point.loss for point in metrics.train]
    if steps:
        axes.plot(steps, losses, color=TRAIN_COLOUR, alpha=0.25, linewidth=0.8)
        axes.plot(
            steps,
            smooth(losses, half_width=len(losses) // 50),
            color=TRAIN_COLOUR,
            linewidth=1.8,
            label="training, running mean",
        )
    if metrics.valid:
        valid_steps = [point.step for point in metrics.valid]
        valid_losses = [point.loss for point in metrics.valid]
        axes.plot(valid_steps, valid_losses, color=VALID_COLOUR, marker="o", markersize=3.5, label="validation")
    axes.legend(frameon=False)


def _draw_perplexity(axes: Axes, metrics: Metrics) -> None:
    _prepare(axes, "Validation perplexity", "per word piece, log scale")
    steps = [point.step for point in metrics.valid]
    perplexities = [point.perplexity for point in metrics.valid]
    if not np.isfinite(perplexities).any():
        _say_nothing_yet(axes)
        return
    axes.plot(steps, perplexities, color=VALID_COLOUR, marker="o", markersize=3.5)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(EngFormatter(sep=""))
    axes.yaxis.set_minor_locator(NullLocator())
    lowest = min(
        (point for point in metrics.valid if np.isfinite(point.perplexity)), key=lambda point: point.perplexity
    )
    _mark(axes, lowest.step, lowest.perplexity, f"lowest {lowest.perplexity:.2f}", VALID_COLOUR, above=True)


def _draw_score(axes: Axes, metrics: Metrics) -> None:
    name = metrics.score_name
    _prepare(axes, f"Validation {name}", name)
    points = [(point.step, point.score) for point in metrics.valid if point.score is not None]
    if not points:
        _say_nothing_yet(axes)
        return
    axes.plot(*zip(*points, strict=True), color=VALID_COLOUR, marker="o", markersize=3.5)
    axes.set_ylim(bottom=0)
    best = metrics.best
    if best is not None and best.score is not None:
        _mark(axes, best.step, best.score, f"best {best.score:.2f}\nstep {best.step:,}", BEST_COLOUR, above=False)


def _draw_learning_rate(axes: Axes, metrics: Metrics) -> None:
    _prepare(axes, "Learning rate", "")
    if not metrics.train:
        _say_nothing_yet(axes)
        return
    rates = [point.learning_rate for point in metrics.train]
    axes.plot([point.step for point in metrics.train], rates, color=TRAIN_COLOUR, linewidth=1.8)
    axes.set_ylim(bottom=0)
    axes.ticklabel_format(axis="y", style="sci", scilimits=(0, 0), useMathText=True)


def _prepare(axes: Axes, title: str, unit: str) -> None:
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.set_ylabel(unit)
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    # Shared steps hide the upper row's labels, which a reader of one panel then misses.
    axes.tick_params(labelbottom=True)


def _mark(axes: Axes, step: int, value: float, text: str, colour: str, *, above: bool) -> None:
    axes.plot([step], [value], marker="*", markersize=13, color=colour, linestyle="none", zorder=3)
    axes.annotate(
        text,
        (step, value),
        xytext=(0, 10 if above else -12),
        textcoords="offset points",
        ha="center",
        va="bottom" if above else "top",
        color=colour,
        fontweight="bold",
    )


def _say_nothing_yet(axes: Axes) -> None:
    axes.set_yticks([])
    axes.text(0.5, 0.5, "not measured yet", transform=axes.transAxes, ha="center", va="center", color="#777777")

"""Equation 3 and what warm-up does as pictures."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter

from attendo.paper.charts import BLUE, GREEN, ORANGE, PURPLE, VERMILION, finish, panels
from attendo.paper.schedule.equation import Curve, rate
from attendo.paper.schedule.rows import Row, RunCurve
from attendo.paper.statistics import estimate
from attendo.plots.figure_files import png_bytes

_COLOURS = (VERMILION, BLUE, GREEN, PURPLE, ORANGE)
_LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_POINTS = 400
_WIDTH, _HEIGHT = 4.6, 4.4
"""Of a panel, in inches."""
_FREQUENCIES = "#555555"


def equation_png(curves: Sequence[Curve], rows: Sequence[Row], d_model: int, max_steps: int) -> bytes:
    """Draws the paper's learning rates with others beside them, and those that are tried here.

    Args:
        curves: at full size.
        rows: tried here; those with factor 1 are drawn.
        d_model: of the models here.
        max_steps: updates here.
    """
    figure, (left, right) = panels(_WIDTH * 2 + 1, _HEIGHT, 2)
    last = max(curve.max_steps for curve in curves if curve.title != "big")
    for curve, colour, line in zip(curves, _COLOURS, _LINES, strict=False):
        steps = _spread(min(curve.max_steps, last))
        left.plot(steps, [rate(curve, step) for step in steps], color=colour, linestyle=line, label=curve.title)
    _dress(left, "Equation 3 at full size", "learning rate")
    left.legend(frameon=False, fontsize=9)
    plain = [row for row in rows if row.factor == 1.0]
    for row, colour, line in zip(sorted(plain, key=lambda row: row.warmup_steps), _COLOURS, _LINES, strict=False):
        own = Curve(title=row.title, d_model=d_model, warmup_steps=row.warmup_steps, max_steps=max_steps)
        steps = _spread(max_steps)
        right.plot(steps, [rate(own, step) for step in steps], color=colour, linestyle=line, label=row.title)
    right.set_yscale("log")
    _dress(right, "As tried here, with factor 1", "learning rate")
    right.legend(frameon=False, fontsize=9)
    return png_bytes(figure)


def losses_png(rows: Sequence[Row], curves: Sequence[RunCurve], frequencies: float) -> bytes:
    """Draws the training losses by step: a panel a factor, a line a warm-up, with bands over seeds.

    Args:
        rows: of the study.
        curves: of the runs that have logged something.
        frequencies: the loss of word frequencies alone.
    """
    factors = sorted({row.factor for row in rows})
    warmups = sorted({row.warmup_steps for row in rows})
    figure, all_axes = panels(_WIDTH * len(factors) + 1, _HEIGHT, len(factors), sharex=True, sharey=True)
    for axes, factor in zip(all_axes, factors, strict=True):
        axes.axhline(frequencies, color=_FREQUENCIES, linewidth=1, linestyle=(0, (1, 2)), label="word frequencies")
        for warmup, colour, line in zip(warmups, _COLOURS, _LINES, strict=False):
            row = Row(warmup_steps=warmup, factor=factor)
            found = [curve for curve in curves if curve.row == row.name]
            if not found:
                continue
            steps, mean, low, high = _band(found)
            axes.plot(steps, mean, color=colour, linestyle=line, linewidth=1.5, label=row.title)
            axes.fill_between(steps, low, high, color=colour, alpha=0.18, linewidth=0)
        _dress(axes, f"Equation 3 times {factor:g}", "training loss, nats a token" if axes is all_axes[0] else "")
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
    """The mean over the runs that have logged a step, and its interval; where there is one run alone, itself."""
    by_step: dict[int, list[float]] = {}
    for curve in curves:
        for step, loss in zip(curve.steps, curve.losses, strict=True):
            by_step.setdefault(step, []).append(loss)
    steps = sorted(by_step)
    found = [estimate(by_step[step]) for step in steps]
    mean = [one.mean for one in found]
    low = [one.mean if one.low is None else one.low for one in found]
    high = [one.mean if one.high is None else one.high for one in found]
    return steps, mean, low, high


def _spread(last: int) -> list[int]:
    """Steps from 1 to the last, closer together at the beginning."""
    return sorted(
        {round(step) for step in np.geomspace(1, last, _POINTS)} | {round(s) for s in np.linspace(1, last, _POINTS)}
    )


def _dress(axes: Axes, title: str, up: str) -> None:
    finish(axes, title, "update", up)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))

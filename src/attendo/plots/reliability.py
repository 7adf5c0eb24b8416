"""The reliability curve drawn: how often what was promised came true."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attendo.evaluation.reliability import Reliability
from attendo.plots.figure_files import COLOURS, MARKERS
from attendo.workflow.confidence import Measured


def draw_reliability(measured: Sequence[Measured], name: str) -> Figure:
    """A panel a test set: confidence against the share that came close, with and without calibration.

    Args:
        measured: the test sets.
        name: of the model.
    """
    columns = min(3, math.ceil(math.sqrt(len(measured))))
    rows = -(-len(measured) // columns)
    figure = Figure(figsize=(4.4 * columns, 4.3 * rows + 0.5), dpi=100, layout="constrained", facecolor="white")
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    for axes, one in zip(panels, measured, strict=False):
        _draw(axes, one)
    for axes in panels[len(measured) :]:
        axes.set_visible(False)
    figure.supxlabel("confidence", fontsize=10)
    figure.supylabel("share that came close to a person's translation", fontsize=10)
    figure.suptitle(f"How sure {name} is, and how often it was right to be", x=0.01, ha="left", fontweight="bold")
    return figure


def description(measured: Sequence[Measured]) -> str:
    """The same in words."""
    return " ".join(
        f"{one.name}: calibration error {one.confidence.error:.3f}, without calibration "
        f"{one.token_probability.error:.3f}, {one.confidence.sentences} sentences."
        for one in measured
    )


def _draw(axes: Axes, one: Measured) -> None:
    axes.plot((0, 1), (0, 1), color="#777777", linewidth=1, linestyle=":", label="as promised")
    _curve(axes, one.token_probability, 1, f"token probability, error {one.token_probability.error:.3f}")
    _curve(axes, one.confidence, 0, f"confidence, error {one.confidence.error:.3f}")
    kind = "learned from, by parts" if one.learned_from else "not learned from"
    axes.set_title(f"{one.name}\n{one.confidence.sentences:,} sentences, {kind}", loc="left", fontsize=10)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ticks = [0, 0.25, 0.5, 0.75, 1]
    axes.set_xticks(ticks, [f"{tick:.0%}" for tick in ticks])
    axes.set_yticks(ticks, [f"{tick:.0%}" for tick in ticks])
    axes.grid(color="#e4e4e4", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.legend(loc="upper left", fontsize=8, frameon=False)


def _curve(axes: Axes, found: Reliability, place: int, label: str) -> None:
    """Bins from low to high, each with the interval of its share."""
    at = [one.confidence for one in found.bins]
    shares = [one.share for one in found.bins]
    below = [max(0.0, one.share - one.low) for one in found.bins]
    above = [max(0.0, one.high - one.share) for one in found.bins]
    axes.errorbar(
        at,
        shares,
        yerr=(below, above),
        color=COLOURS[place],
        marker=MARKERS[place],
        markersize=5,
        linewidth=1.6,
        elinewidth=0.8,
        capsize=2,
        label=label,
        zorder=3 - place,
    )

"""Charts of reliability: the share of translations that came close, by their confidence."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from attendo.evaluation.reliability import Reliability
from attendo.plots.figure_files import COLOURS, MARKERS
from attendo.workflow.confidence import ConfidenceQuality


def draw_reliability(measured: Sequence[ConfidenceQuality], name: str) -> Figure:
    """Draws a panel for each test set: confidence against the share that came close, with and without calibration.

    Args:
        measured: the measurements, one per test set.
        name: name of the model.
    """
    columns = min(3, math.ceil(math.sqrt(len(measured))))
    rows = -(-len(measured) // columns)
    figure = Figure(figsize=(4.4 * columns, 4.3 * rows + 0.5), dpi=100, layout="constrained", facecolor="white")
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    for axes, test_set in zip(panels, measured, strict=False):
        _draw(axes, test_set)
    for axes in panels[len(measured) :]:
        axes.set_visible(False)
    figure.supxlabel("confidence", fontsize=10)
    figure.supylabel("share that came close to a person's translation", fontsize=10)
    figure.suptitle(f"How sure {name} is, and how often it was right to be", x=0.01, ha="left", fontweight="bold")
    return figure


def description(measured: Sequence[ConfidenceQuality]) -> str:
    """Describes the chart in words, as a text alternative."""
    return " ".join(
        f"{test_set.name}: calibration error {test_set.confidence.error:.3f}, without calibration "
        f"{test_set.token_probability.error:.3f}, {test_set.confidence.sentences} sentences."
        for test_set in measured
    )


def _draw(axes: Axes, test_set: ConfidenceQuality) -> None:
    axes.plot((0, 1), (0, 1), color="#777777", linewidth=1, linestyle=":", label="as promised")
    _curve(axes, test_set.token_probability, 1, f"token probability, error {test_set.token_probability.error:.3f}")
    _curve(axes, test_set.confidence, 0, f"confidence, error {test_set.confidence.error:.3f}")
    kind = "learned from, by parts" if test_set.learned_from else "not learned from"
    axes.set_title(f"{test_set.name}\n{test_set.confidence.sentences:,} sentences, {kind}", loc="left", fontsize=10)
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    ticks = [0, 0.25, 0.5, 0.75, 1]
    axes.set_xticks(ticks, [f"{tick:.0%}" for tick in ticks])
    axes.set_yticks(ticks, [f"{tick:.0%}" for tick in ticks])
    axes.grid(color="#e4e4e4", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.legend(loc="upper left", fontsize=8, frameon=False)


def _curve(axes: Axes, reliability: Reliability, place: int, label: str) -> None:
    """Draws the bins from low to high confidence, each with the interval of its share."""
    confidences = [bin_.confidence for bin_ in reliability.bins]
    shares = [bin_.share for bin_ in reliability.bins]
    below = [max(0.0, bin_.share - bin_.low) for bin_ in reliability.bins]
    above = [max(0.0, bin_.high - bin_.share) for bin_ in reliability.bins]
    axes.errorbar(
        confidences,
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

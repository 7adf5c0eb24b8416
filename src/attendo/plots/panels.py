"""The common style of the studies' charts: resolution, palette, axes and legends."""

from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from attendo.plots.figure_files import COLOURS

BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, _ = COLOURS
"""Okabe and Ito's palette, legible with every kind of colour vision; charts vary markers and line styles as well."""
OURS, PAPER = BLUE, VERMILION
GREY = "#777777"
"""Colour of reference lines."""


def new_figure(width: float, height: float) -> Figure:
    """Returns an empty chart.

    Args:
        width: width in inches.
        height: height in inches.
    """
    figure = Figure(figsize=(width, height), layout="constrained", dpi=110)
    FigureCanvasAgg(figure)
    return figure


def panels(width: float, height: float, count: int, **shared: Any) -> tuple[Figure, list[Axes]]:
    """Returns a chart with panels side by side.

    Args:
        width: width of the whole chart, in inches.
        height: height in inches.
        count: the number of panels.
        shared: further arguments of `Figure.subplots`, such as `sharey`.
    """
    figure = new_figure(width, height)
    return figure, list(figure.subplots(1, count, squeeze=False, **shared)[0])


def finish(
    axes: Axes, title: str = "", across: str = "", upright: str = "", *, grid: Literal["both", "x"] = "both"
) -> None:
    """Gives a panel its title, labels and grid, and hides the upper and right lines of its frame.

    Args:
        axes: the panel.
        title: the title, in bold at the left.
        across: the label of the x axis.
        upright: the label of the y axis.
        grid: which grid lines to draw.
    """
    if title:
        set_title(axes, title)
    if across:
        axes.set_xlabel(across)
    if upright:
        axes.set_ylabel(upright)
    axes.grid(axis=grid, alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def set_title(axes: Axes, title: str) -> None:
    """Sets a panel's title, in bold at the left."""
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")


def legend_below(figure: Figure, axes: Axes, columns: int) -> None:
    """Draws one legend for all panels below them.

    Args:
        figure: the chart.
        axes: the panel whose lines are explained.
        columns: number of columns of the legend.
    """
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)

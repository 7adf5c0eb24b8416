"""F1 of the parsers that were trained here and of those in the paper's table, as a picture."""

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from attendo.paper.table4.comparison import Cell
from attendo.paper.table4.printed import ROWS
from attendo.plots.figure_files import png_bytes

_COLOURS = ("#0072b2", "#009e73", "#cc79a7", "#e69f00")
"""Of Okabe and Ito, which every kind of colour vision tells apart; the shapes differ too."""
_SHAPES = "os^v"
_PAPER = "#d55e00"


def f1_png(cells: Sequence[Cell]) -> bytes:
    """Draws what was trained here above what the paper prints, a line each.

    Args:
        cells: at least one.
    """
    names = list(dict.fromkeys(cell.name for cell in cells))
    height = 1.7 + 0.3 * (len(names) + len(ROWS))
    figure = Figure(figsize=(9.5, height), layout="constrained", dpi=110)
    FigureCanvasAgg(figure)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(len(names) + 1, len(ROWS) + 1))
    _draw_ours(upper, names, cells)
    _draw_paper(lower)
    for axes in (upper, lower):
        axes.invert_yaxis()
        axes.grid(axis="x", alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    lower.set_xlabel("F1 in percent; the test sets differ, so that lines of the two panels cannot be compared")
    handles, labels = upper.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(3, len(labels)), frameon=False)
    return png_bytes(figure)


def _draw_ours(axes: Axes, names: Sequence[str], cells: Sequence[Cell]) -> None:
    tests = list(dict.fromkeys(cell.test for cell in cells))
    for number, test in enumerate(tests):
        of_test = [cell for cell in cells if cell.test == test]
        shift = 0.5 * ((number + 1) / (len(tests) + 1) - 0.5)
        axes.errorbar(
            [cell.f1.mean for cell in of_test],
            [names.index(cell.name) + shift for cell in of_test],
            xerr=[math.nan if cell.f1.half_width is None else cell.f1.half_width for cell in of_test],
            fmt=_SHAPES[number % len(_SHAPES)],
            color=_COLOURS[number % len(_COLOURS)],
            markersize=5,
            capsize=3,
            linewidth=1.3,
            label=f"tested on {test}",
        )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.7, len(names) - 0.3)
    axes.set_title("Here, every sentence counted", loc="left", fontsize=11, fontweight="bold")


def _draw_paper(axes: Axes) -> None:
    for place, row in enumerate(ROWS):
        axes.plot(row.f1, place, "D" if row.is_transformer else "x", color=_PAPER, markersize=6)
    axes.set_yticks(range(len(ROWS)), [f"{row.parser}, {row.training}" for row in ROWS], fontsize=8)
    axes.set_ylim(-0.7, len(ROWS) - 0.3)
    axes.set_title("The paper: WSJ section 23", loc="left", fontsize=11, fontweight="bold")

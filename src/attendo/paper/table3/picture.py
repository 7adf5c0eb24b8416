"""The differences of Table 3's rows to its base row, ours with their intervals beside the paper's, as a picture."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from attendo.paper.table3.comparison import Difference, RowComparison
from attendo.plots.figure_files import png_bytes

_OURS, _PAPER = "#0072b2", "#d55e00"
"""Blue and vermilion of Okabe and Ito, which every kind of colour vision tells apart; the shapes differ too."""


def differences_png(comparisons: Sequence[RowComparison]) -> bytes:
    """Draws perplexity and BLEU side by side, a line a row.

    Args:
        comparisons: those of the base row are left out.
    """
    rows = [one for one in comparisons if one.perplexity_difference and one.bleu_difference]
    figure = Figure(figsize=(11, 1.6 + 0.34 * len(rows)), layout="constrained", dpi=110)
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True)
    _draw(left, rows, [one.perplexity_difference for one in rows], "Perplexity per word piece: lower is better")
    _draw(right, rows, [one.bleu_difference for one in rows], "BLEU: higher is better")
    left.set_yticks(range(len(rows)), [one.row.name for one in rows])
    left.invert_yaxis()
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return png_bytes(figure)


def _draw(axes: Axes, rows: Sequence[RowComparison], differences: Sequence[Difference | None], title: str) -> None:
    found = [difference for difference in differences if difference is not None]
    places = range(len(found))
    axes.axvline(0, color="#777777", linewidth=1)
    for place in places:
        if place and rows[place].row.group != rows[place - 1].row.group:
            axes.axhline(place - 0.5, color="#dddddd", linewidth=0.8)
    axes.errorbar(
        [one.ours.mean for one in found],
        [place - 0.14 for place in places],
        xerr=[one.ours.half_width or 0.0 for one in found],
        fmt="o", color=_OURS, markersize=5, capsize=3, linewidth=1.4, label="here: mean and 95% interval",
    )  # fmt: skip
    axes.plot(
        [one.printed for one in found],
        [place + 0.18 for place in places],
        "D", color=_PAPER, markersize=5, label="the paper, one run each",
    )  # fmt: skip
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.set_xlabel("difference to the base row")
    axes.grid(axis="x", alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)

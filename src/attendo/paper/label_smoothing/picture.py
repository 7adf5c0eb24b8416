"""Label smoothing as pictures: figures by eps_ls beside the paper's, and the reliability curves."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from attendo.paper.label_smoothing.comparison import MEASURES, Measure, RowComparison
from attendo.plots.figure_files import png_bytes

_OURS, _PAPER = "#0072b2", "#d55e00"
_ROWS = (("#0072b2", "o", "-"), ("#e69f00", "s", "--"), ("#009e73", "D", "-."), ("#cc79a7", "^", ":"))
"""Colours of Okabe and Ito, which every kind of colour vision tells apart; marks and lines differ too."""
_FEWEST_TOKENS = 20
"""A point of fewer tokens than that would be chance alone."""


def differences_png(comparisons: Sequence[RowComparison]) -> bytes:
    """Draws perplexity, accuracy and BLEU by eps_ls, as differences to the row without smoothing.

    Args:
        comparisons: of all rows; those without a difference are left out.
    """
    rows = [one for one in comparisons if one.differences]
    figure = Figure(figsize=(11, 3.9), layout="constrained", dpi=110)
    FigureCanvasAgg(figure)
    titles = ("Perplexity: lower is better", "Accuracy: higher is better", "BLEU: higher is better")
    units = ("per word piece", "% points", "BLEU points")
    for axes, measure, title, unit in zip(figure.subplots(1, 3), MEASURES, titles, units, strict=False):
        _draw(axes, rows, measure)
        axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
        axes.set_ylabel(f"difference, {unit}")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False)
    return _png(figure)


def _draw(axes: Axes, rows: Sequence[RowComparison], measure: Measure) -> None:
    found = [one.differences[measure.key] for one in rows]
    axes.axhline(0, color="#777777", linewidth=1)
    axes.errorbar(
        [one.epsilon - 0.006 for one in rows],
        [one.ours.mean for one in found],
        yerr=[one.ours.half_width or 0.0 for one in found],
        fmt="o", color=_OURS, markersize=6, capsize=4, linewidth=1.4, label="here: mean and 95% interval",
    )  # fmt: skip
    printed = [(one.epsilon + 0.006, each.printed) for one, each in zip(rows, found, strict=True)]
    shown = [(place, value) for place, value in printed if value is not None]
    if shown:
        axes.plot(*zip(*shown, strict=True), "D", color=_PAPER, markersize=6, label="the paper, one run each")
    axes.set_xticks([one.epsilon for one in rows])
    axes.set_xlabel("eps_ls, against 0")
    axes.margins(x=0.2)
    _finish(axes)


def reliability_png(comparisons: Sequence[RowComparison]) -> bytes:
    """Draws accuracy by confidence, a curve a row, and how many tokens there are at each confidence.

    Args:
        comparisons: of all rows.
    """
    figure = Figure(figsize=(11, 4.6), layout="constrained", dpi=110)
    FigureCanvasAgg(figure)
    curves, counts = figure.subplots(1, 2)
    curves.plot([0, 100], [0, 100], color="#777777", linewidth=1, label="as sure as it is right")
    for one, (colour, mark, line) in zip(comparisons, _ROWS, strict=False):
        style = {"color": colour, "marker": mark, "linestyle": line, "markersize": 5, "linewidth": 1.5}
        shown = [each for each in one.curve if each.tokens >= _FEWEST_TOKENS]
        curves.plot(
            [100 * each.confidence for each in shown],
            [100 * each.accuracy for each in shown],
            label=f"eps_ls {one.epsilon}",
            **style,
        )
        total = sum(each.tokens for each in one.curve)
        counts.plot(
            [50 * (each.low + each.high) for each in one.curve],
            [100 * each.tokens / total for each in one.curve],
            label=f"eps_ls {one.epsilon}",
            **style,
        )
    curves.set_title("Below the line: too sure; above: too unsure", loc="left", fontsize=11, fontweight="bold")
    curves.set_xlabel("confidence: probability of the most probable token, %")
    curves.set_ylabel("accuracy: share of right tokens, %")
    curves.set_aspect("equal")
    counts.set_title("How sure the models are", loc="left", fontsize=11, fontweight="bold")
    counts.set_xlabel("confidence, %")
    counts.set_ylabel("share of all tokens, %")
    counts.set_xlim(0, 100)
    counts.set_ylim(bottom=0)
    curves.legend(frameon=False, loc="upper left")
    counts.legend(frameon=False)
    for axes in (curves, counts):
        _finish(axes)
    return _png(figure)


def _finish(axes: Axes) -> None:
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)


def _png(figure: Figure) -> bytes:
    return png_bytes(figure)

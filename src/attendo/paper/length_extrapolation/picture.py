"""Charts of lengths beyond training: scores by length and by position, and the similarity of a table's positions."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from attendo.evaluation.estimates import Estimate
from attendo.paper.length_extrapolation.comparison import Cell, Place
from attendo.paper.length_extrapolation.rows import ROWS, Row
from attendo.plots.figure_files import png_bytes
from attendo.plots.panels import BLUE, VERMILION, finish, legend_below, panels

_SINUSOIDAL, _LEARNED = BLUE, VERMILION
_STYLES = {
    ROWS[0]: (_SINUSOIDAL, "o", "-"),
    ROWS[1]: (_LEARNED, "s", "-"),
    ROWS[2]: (_SINUSOIDAL, "^", ":"),
    ROWS[3]: (_LEARNED, "v", ":"),
}
_LIMIT = "#555555"
_LOGARITHMIC = 4.0
"""Smallest ratio of the largest to the smallest value for which a scale is logarithmic."""


def lengths_png(places: Sequence[Place], limit: int, usual: int) -> bytes:
    """Draws perplexity and BLEU by length, side by side, one line per row.

    Args:
        places: comparisons from `by_length`.
        limit: number of tokens of the longest target among the short training texts.
        usual: number of tokens that 19 of 20 of these targets do not exceed.
    """
    figure, (left, right) = panels(11, 4.4, 2)
    across = [place.target_tokens for place in places]
    for row in ROWS:
        cells = [(x, cell) for x, place in zip(across, places, strict=True) if (cell := place.cell(row))]
        _curve(left, row, [x for x, _ in cells], [_perplexity(cell) for _, cell in cells])
        _curve(right, row, [x for x, _ in cells], [_interval(cell.bleu) for _, cell in cells])
    _perplexities(left)
    for axes, title, label in (
        (left, "Perplexity: lower is better", "perplexity per word piece"),
        (right, "BLEU: higher is better", "BLEU"),
    ):
        _mark(axes, limit, usual)
        finish(axes, title, "target tokens of a text, mean", label)
    right.set_ylim(bottom=0)
    legend_below(figure, left, 2)
    return png_bytes(figure)


def positions_png(places: Sequence[Place], limit: int, usual: int, sentence: float) -> bytes:
    """Draws the perplexity of single sentences by the position of their first token.

    Args:
        places: comparisons from `by_position`.
        limit: number of tokens of the longest target among the short training texts.
        usual: number of tokens that 19 of 20 of these targets do not exceed.
        sentence: mean number of target tokens in a sentence; one that begins closer to the limit than this passes it.
    """
    figure, (axes,) = panels(7.5, 4.4, 1)
    for row in ROWS:
        cells = [(place.at, cell) for place in places if (cell := place.cell(row))]
        _curve(axes, row, [x for x, _ in cells], [_perplexity(cell) for _, cell in cells])
    _perplexities(axes)
    axes.set_xscale("symlog", base=2, linthresh=8)
    ticks = [place.at for place in places]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.axvspan(max(0.0, limit - sentence), limit, color=_LIMIT, alpha=0.12, linewidth=0)
    _mark(axes, limit, usual)
    finish(axes, "The same sentences, further on", "position of the first token", "perplexity per word piece")
    legend_below(figure, axes, 2)
    return png_bytes(figure)


def similarity_png(
    tables: Mapping[str, npt.NDArray[np.float64]], curves: Mapping[str, Sequence[float]], limit: int, shown: int
) -> bytes:
    """Draws the similarity of positions in tables, as heat maps and by distance.

    Args:
        tables: cosines between rows, `(rows, rows)`, by title.
        curves: mean cosines of rows 0, 1, 2, ... positions apart, within the often trained positions, by title.
        limit: number of positions that short training texts reach.
        shown: number of rows in each heat map.
    """
    figure, axes = panels(4.0 * len(tables) + 4.6, 4.4, len(tables) + 1)
    image = None
    for panel, (title, similarity) in zip(axes, tables.items(), strict=False):
        part = similarity[:shown, :shown]
        image = panel.imshow(part, vmin=-1, vmax=1, cmap="cividis", origin="lower", interpolation="nearest")
        if limit < len(part):
            panel.axhline(limit, color="white", linestyle="--", linewidth=1)
            panel.axvline(limit, color="white", linestyle="--", linewidth=1)
        panel.set_title(title, loc="left", fontsize=10, fontweight="bold")
        panel.set_xlabel("position")
        panel.set_ylabel("position")
    if image is not None:
        figure.colorbar(image, ax=list(axes[:-1]), label="cosine", shrink=0.8)
    for (title, values), (colour, line) in zip(
        curves.items(), ((_SINUSOIDAL, "-"), (_LEARNED, "-"), (_LEARNED, ":")), strict=False
    ):
        axes[-1].plot(range(len(values)), values, line, color=colour, linewidth=1.6, label=title)
    finish(axes[-1], "By distance", "positions apart, k", "mean cosine")
    axes[-1].legend(frameon=False, fontsize=8)
    return png_bytes(figure)


def _curve(
    axes: Axes, row: Row, across: Sequence[float], intervals: Sequence[tuple[float, float, float] | None]
) -> None:
    """Draws a row's line with its intervals."""
    known = [(x, *interval) for x, interval in zip(across, intervals, strict=True) if interval is not None]
    if not known:
        return
    colour, marker, line = _STYLES[row]
    x, y, low, high = (np.array(column) for column in zip(*known, strict=True))
    axes.errorbar(
        x, y, yerr=np.stack((y - low, high - y)), fmt=marker + line, color=colour, markersize=5, capsize=3,
        linewidth=1.4, markerfacecolor="white" if line == ":" else colour, label=row.title,
    )  # fmt: skip


def _perplexity(cell: Cell) -> tuple[float, float, float]:
    """The perplexities at the mean log-loss and at the lower and upper end of its interval."""
    interval = _interval(cell.log_loss)
    assert interval is not None, "every cell has a log-loss"
    mean, low, high = (math.exp(min(value, 50.0)) for value in interval)
    return mean, low, high


def _interval(estimated: Estimate | None) -> tuple[float, float, float] | None:
    if estimated is None:
        return None
    half = estimated.half_width or 0.0
    return estimated.mean, estimated.mean - half, estimated.mean + half


def _perplexities(axes: Axes) -> None:
    """Sets a logarithmic scale with plain numbers, if the values are far enough apart."""
    low, high = axes.dataLim.intervaly
    if high < _LOGARITHMIC * low:
        return
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.yaxis.set_minor_locator(NullLocator())


def _mark(axes: Axes, limit: int, usual: int) -> None:
    """Marks how far 19 of 20 short training texts reach, and how far the longest does."""
    for at, line, text, down in ((usual, ":", "19 of 20 trained texts", 4), (limit, "--", "longest trained text", 16)):
        axes.axvline(at, color=_LIMIT, linestyle=line, linewidth=1.2)
        axes.annotate(
            f"{text}: {at}", (at, 1.0), xycoords=("data", "axes fraction"), xytext=(4, -down),
            textcoords="offset points", va="top", fontsize=8, color=_LIMIT,
        )  # fmt: skip

"""Pictures of Table 1: growth of work, time and memory, path lengths, and self-attention compared with recurrence."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from attendo.evaluation.estimates import at, power_law
from attendo.paper.table1.findings import Findings, TimedCrossing, graph_sizes
from attendo.paper.table1.layers import LAYERS, Layer, Sizes
from attendo.paper.table1.points import Plan
from attendo.plots.figure_files import COLOURS, MARKERS, png_bytes
from attendo.plots.panels import GREY, finish, panels, set_title

_DARK = "#333333"


def growth_png(
    plan: Plan,
    lengths: Sequence[int],
    measure: Mapping[tuple[str, Sizes], float],
    unit: str,
    *,
    bent: Sequence[str] = (),
) -> bytes:
    """Draws a measure over n and over d, with the fitted lines whose slopes are the exponents.

    Args:
        plan: the measured sizes.
        lengths: values of n in the left panel.
        measure: values by layer and sizes.
        unit: label of the y axes: the measure and its unit.
        bent: layers that follow no single power law over n; their points are joined instead of fitted.
    """
    figure, (left, right) = _figure(2)
    for axes, variable, words in (
        (left, "n", f"n, positions (d = {plan.width})"),
        (right, "d", f"d, width of a position (n = {plan.length})"),
    ):
        xs: list[int] = []
        for layer, style in _styles():
            sweep = plan.sweep(layer, variable, lengths)
            xs = [getattr(sizes, variable) for sizes in sweep]
            ys = [measure[layer.name, sizes] for sizes in sweep]
            if variable == "n" and layer.name in bent:
                axes.plot(xs, ys, linestyle="--", linewidth=1, label=f"{layer.name}: written out, then fused", **style)
                continue
            law = power_law(xs, ys)
            axes.plot(xs, ys, linestyle="none", label=f"{layer.name}: {variable}^{law.slope:.2f}", **style)
            axes.plot(xs, [at(law, x) for x in xs], "-", color=style["color"], linewidth=1, alpha=0.7)
        _logarithmic(axes, words, unit, xs)
        axes.legend(fontsize=8, frameon=False, labelspacing=0.7)
    return png_bytes(figure)


def paths_png(findings: Findings) -> bytes:
    """Draws three measures over n: the longest chain of products, the layers that join positions, and path lengths."""
    figure, (left, middle, right) = _figure(3)
    lengths: dict[Axes, list[int]] = {}
    for layer, style in _styles():
        graphs = [findings.graphs[layer.name, sizes] for sizes in graph_sizes(layer, findings)]
        for axes, values in (
            (left, [graph.chain.products for graph in graphs]),
            (middle, [graph.from_the_middle for graph in graphs]),
            (right, [graph.on_the_way for graph in graphs]),
        ):
            points = [(graph.sizes.n, value) for graph, value in zip(graphs, values, strict=True) if value is not None]
            lengths[axes] = [n for n, _ in points]
            axes.plot(lengths[axes], [value for _, value in points], "-", label=layer.name, linewidth=1, **style)
    for axes, title, unit in (
        (left, "Sequential steps", "matrix products in a row, one layer"),
        (middle, "Layers that join the middle and both ends", "layers"),
        (right, "The way from the first to the last position", "operations on the way"),
    ):
        _logarithmic(axes, "n, positions", unit, lengths[axes])
        set_title(axes, title)
    left.legend(fontsize=8, frameon=False, labelspacing=0.7)
    return png_bytes(figure)


def crossing_png(findings: Findings, crossings: Sequence[TimedCrossing]) -> bytes:
    """Draws self-attention's operations and times as multiples of recurrence's, over n / d."""
    figure, (axes,) = _figure(1)
    points = sorted(
        (sizes.n / sizes.d, operations.mixing / recurrence.mixing, operations.total / recurrence.mixing)
        for (name, sizes), operations in findings.operations.items()
        if name == "self-attention" and (recurrence := findings.operations.get(("recurrent", sizes))) is not None
    )
    multiples = [point[0] for point in points]
    axes.plot(multiples, [point[1] for point in points], "-", color=_DARK, label="operations, attention alone")
    axes.plot(multiples, [point[2] for point in points], "--", color=_DARK, label="operations, with projections")
    for crossing, colour, marker in zip(crossings, COLOURS, MARKERS, strict=False):
        places = [n / crossing.d for n in crossing.lengths]
        axes.plot(places, crossing.ratios, marker + "-", color=colour, label=f"time, d = {crossing.d}")
    axes.axhline(1, color=GREY, linewidth=1)
    axes.axvline(1, color=GREY, linewidth=1, linestyle=":")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    finish(axes, across="n / d (dotted: n = d)", upright="self-attention by recurrence, a ratio")
    axes.legend(fontsize=8, frameon=False)
    return png_bytes(figure)


def _styles() -> Iterator[tuple[Layer, dict[str, Any]]]:
    """Yields the layers with their markers: hollow, each smaller than the one before, so that coinciding ones show."""
    for index, layer in enumerate(LAYERS):
        yield (
            layer,
            {
                "color": COLOURS[index],
                "marker": MARKERS[index],
                "markersize": 11.5 - 1.3 * index,
                "markerfacecolor": "none",
                "markeredgewidth": 1.6,
            },
        )


def _figure(count: int) -> tuple[Figure, list[Axes]]:
    return panels((8, 12, 16.5)[count - 1], 4.8, count)


def _logarithmic(axes: Axes, across: str, upright: str, ticks: Sequence[float]) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(list(ticks), [str(tick) for tick in ticks])
    axes.set_xticks([], minor=True)
    low, high = axes.get_ylim()
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0,) if high > 100 * low else (1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    finish(axes, across=across, upright=upright)

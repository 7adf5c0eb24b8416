"""The pictures of the page, the paper's claims with their verdicts, and the values of the page's text."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from attendo.model.config import AttentionFunction
from attendo.paper.attention_functions.measures import (
    ADDITIVE,
    FUNCTIONS,
    NUM_KEYS,
    SCALED,
    UNSCALED,
    WHOLE,
    Cost,
    Products,
    Sharpness,
    Softmax,
)
from attendo.paper.attention_functions.rows import SHORT, Difference, RowSummary, with_interval
from attendo.plots.figure_files import png_bytes
from attendo.plots.panels import BLUE, GREEN, GREY, PURPLE, VERMILION, finish, panels

# --- pictures ---------------------------------------------------------------------------------------------------------

_STYLES: dict[AttentionFunction, tuple[str, str]] = {
    SCALED: (BLUE, "o"),
    UNSCALED: (VERMILION, "D"),
    ADDITIVE: (GREEN, "s"),
}
_HEIGHT = 4.0
_SHAPES = ("o", "x")


def variance_png(products: Sequence[Products], softmax: Sequence[Softmax]) -> bytes:
    """Draws the variance of q·k, the softmax's largest weight and the norm of its derivative, each against d_k."""
    figure, (left, middle, right) = panels(_width(3), _HEIGHT, 3)
    widths = sorted({product.d_k for product in products})
    left.plot(widths, widths, color=GREY, linewidth=1, label="the footnote: d_k")
    for distribution, shape in zip(dict.fromkeys(product.distribution for product in products), _SHAPES, strict=True):
        rows = [product for product in products if product.distribution == distribution]
        left.errorbar(
            [product.d_k for product in rows],
            [product.variance.mean for product in rows],
            yerr=[product.variance.half_width or 0.0 for product in rows],
            fmt=shape, color=_STYLES[UNSCALED][0] if shape == "x" else _STYLES[SCALED][0],
            markersize=6, capsize=3, linewidth=1.2, label=f"components: {distribution}",
        )  # fmt: skip
    _log_y(left)
    _finish_panel(left, "The variance of q·k", "variance (no unit)")
    for axes, title, unit, name in (
        (middle, "The largest weight", "mean over queries (share of 1)", "largest"),
        (right, "The softmax's derivative", "norm, mean over queries (no unit)", "jacobian"),
    ):
        for function, values in _by_function(softmax, name):
            colour, shape = _STYLES[function]
            axes.plot(widths, values, f"{shape}-", color=colour, markersize=5, label=SHORT[function])
        axes.set_ylim(bottom=0)
        _finish_panel(axes, title, unit)
    return png_bytes(figure)


def quality_png(summaries: Sequence[RowSummary]) -> bytes:
    """Draws perplexity and the trained heads' variance by function and d_k, with the intervals."""
    figure, (left, right) = panels(_width(2), _HEIGHT, 2)
    for number, function in enumerate(FUNCTIONS):
        colour, shape = _STYLES[function]
        rows = [summary for summary in summaries if summary.row.function == function]
        # Shifted sideways, so that intervals do not hide each other.
        places = [summary.row.d_k * 1.06 ** (number - 1) for summary in rows]
        left.errorbar(
            places, [summary.perplexity.mean for summary in rows],
            yerr=[summary.perplexity.half_width or 0.0 for summary in rows],
            fmt=f"{shape}-", color=colour, markersize=6, capsize=3, linewidth=1.2, label=SHORT[function],
        )  # fmt: skip
        trained = [summary.trained["variance"] for summary in rows]
        new = [summary.new["variance"] for summary in rows]
        right.plot(places, trained, f"{shape}-", color=colour, markersize=6, label=f"{SHORT[function]}, trained")
        right.plot(places, new, f"{shape}:", color=colour, markersize=6, mfc="white", label=f"{SHORT[function]}, new")
    _log_y(right)
    _finish_panel(left, "Perplexity per word piece: lower is better", "validation perplexity (no unit)")
    _finish_panel(right, "How far apart a query's logits are", "variance over its keys (no unit)")
    return png_bytes(figure)


def cost_png(costs: Sequence[Cost]) -> bytes:
    """Draws time and memory of each function as multiples of the scaled one's, by d_k."""
    figure, axes = panels(_width(2), _HEIGHT, 2)
    n = max({cost.setting.n for cost in costs}, key=lambda length: sum(cost.setting.n == length for cost in costs))
    rows = sorted((cost for cost in costs if cost.setting.n == n), key=lambda cost: cost.setting.d_k)
    widths = [cost.setting.d_k for cost in rows]
    for function in (UNSCALED, ADDITIVE):
        colour, shape = _STYLES[function]
        spreads = [cost.ratios[function] for cost in rows]
        low = [spread.median - spread.low for spread in spreads]
        high = [spread.high - spread.median for spread in spreads]
        axes[0].errorbar(
            widths, [spread.median for spread in spreads], yerr=[low, high],
            fmt=f"{shape}-", color=colour, markersize=6, capsize=3, linewidth=1.2, label=SHORT[function],
        )  # fmt: skip
    for name, (colour, shape), label in (
        (UNSCALED, _STYLES[UNSCALED], SHORT[UNSCALED]),
        (ADDITIVE, _STYLES[ADDITIVE], "additive, as attendo computes it"),
        ("additive, whole", (PURPLE, "^"), "additive, as it is usually written"),
    ):
        ratios = [cost.memory[name] for cost in rows]
        axes[1].plot(widths, ratios, f"{shape}-", color=colour, markersize=6, label=label)
    for panel, title in zip(axes, (f"Time, n = {n}", f"Memory, n = {n}"), strict=True):
        panel.axhline(1, color=GREY, linewidth=1)
        _log_y(panel)
        panel.set_ylim(top=4 * panel.get_ylim()[1])  # room for the legend
        _finish_panel(panel, title, "multiple of the scaled function's")
    return png_bytes(figure)


def _by_function(softmax: Sequence[Softmax], name: str) -> list[tuple[AttentionFunction, list[float]]]:
    def values(rows: Sequence[Sharpness]) -> list[float]:
        return [float(getattr(row, name).mean) for row in rows]

    return [
        (SCALED, values([row.scaled for row in softmax])),
        (UNSCALED, values([row.unscaled for row in softmax])),
    ]


def _width(columns: int) -> float:
    """The width of a chart with a number of panels, in inches."""
    return 1 + 4.4 * columns


def _log_y(axes: Axes) -> None:
    """Gives the y axis a logarithmic scale to the base 2, with plain numbers as labels."""
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter("{x:g}")


def _finish_panel(axes: Axes, title: str, unit: str) -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:.0f}")
    finish(axes, title, "d_k (components)", unit)
    axes.legend(frameon=False, fontsize=9)


# --- claims -----------------------------------------------------------------------------------------------------------

HOLDS, FAILS, OPEN = "holds here", "does not hold here", "not significant at this scale"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A statement of the paper, the finding of this study, and the verdict."""

    text: str
    found: str
    verdict: str


def claims(differences: Sequence[Difference], costs: Sequence[Cost], key_sizes: Sequence[int]) -> tuple[Claim, ...]:
    """Returns the paper's claims for which there are measurements, each with the finding and its verdict.

    Args:
        differences: differences between the functions.
        costs: time and memory of the functions.
        key_sizes: values of d_k of the rows, in rising order.
    """
    by_key = {
        (difference.d_k, difference.function, difference.other): difference.perplexity for difference in differences
    }
    smallest, largest = key_sizes[0], key_sizes[-1]
    statements = (
        (
            f"For small d_k additive and unscaled dot-product attention do about as well (here d_k {smallest}).",
            by_key.get((smallest, UNSCALED, ADDITIVE)),
            (OPEN, FAILS, FAILS),
            "unscaled less additive",
        ),
        (
            f"For large d_k additive attention does better than the unscaled dot product (here d_k {largest}).",
            by_key.get((largest, UNSCALED, ADDITIVE)),
            (OPEN, HOLDS, FAILS),
            "unscaled less additive",
        ),
        (
            f"The scale repairs that: scaled does better than unscaled (here d_k {largest}).",
            by_key.get((largest, UNSCALED, SCALED)),
            (OPEN, HOLDS, FAILS),
            "unscaled less scaled",
        ),
    )
    quality = [
        Claim(
            text=text,
            found=f"{name}: perplexity {with_interval(difference)}",
            verdict=verdicts[difference.sign],
        )
        for text, difference, verdicts, name in statements
        if difference is not None
    ]
    return (*quality, *_cost_claims(costs))


def _cost_claims(costs: Sequence[Cost]) -> tuple[Claim, ...]:
    if not costs:
        return ()
    medians = [cost.ratios[ADDITIVE].median for cost in costs]
    whole, chunked = ([cost.memory[name] for cost in costs] for name in (WHOLE, ADDITIVE))
    is_slower = all(cost.ratios[ADDITIVE].low > 1 for cost in costs)
    return (
        Claim(
            text="Dot-product attention is much faster than additive attention.",
            found=f"additive takes {min(medians):.1f} to {max(medians):.1f} times the scaled function's time",
            verdict=HOLDS if is_slower else OPEN,
        ),
        Claim(
            text="Dot-product attention needs less memory.",
            found=f"written as usual, additive needs {min(whole):.1f} to {max(whole):.1f} times as much; as attendo "
            f"computes it, some queries at a time, {min(chunked):.1f} to {max(chunked):.1f} times",
            verdict=HOLDS if min(whole) > 1 else FAILS,
        ),
    )


def by_width(products: Sequence[Products]) -> list[tuple[int, *tuple[Products, ...]]]:
    """Returns each d_k with its measurements, one for each distribution."""
    widths = dict.fromkeys(product.d_k for product in products)
    return [(d_k, *(product for product in products if product.d_k == d_k)) for d_k in widths]


def softmax_values(softmax: Sequence[Softmax]) -> dict[str, object]:
    """Returns the values of the page's text on the softmax."""
    first, last = softmax[0], softmax[-1]
    peak = max(softmax, key=lambda row: row.unscaled.jacobian.mean)
    scaled = [row.scaled.jacobian.mean for row in softmax]
    return {
        "num_keys": NUM_KEYS,
        "first_d_k": first.d_k,
        "last_d_k": last.d_k,
        "first_largest": f"{first.unscaled.largest.mean:.2f}",
        "last_largest": f"{last.unscaled.largest.mean:.2f}",
        "below": _below(softmax),
        "peak_d_k": peak.d_k,
        "last_jacobian": f"{last.unscaled.jacobian.mean:.3f}",
        "last_median": f"{last.unscaled.jacobian_median.mean:.4f}",
        "scaled_least": f"{min(scaled):.3f}",
        "scaled_most": f"{max(scaled):.3f}",
        "unscaled_to_query": f"{last.unscaled.to_query.mean:.2f}",
        "scaled_to_query": f"{last.scaled.to_query.mean:.2f}",
    }


def _below(softmax: Sequence[Softmax]) -> str:
    """States from which d_k on the unscaled derivative stays below the scaled one."""
    above = [number for number, row in enumerate(softmax) if row.unscaled.jacobian.mean >= row.scaled.jacobian.mean]
    rest = softmax[above[-1] + 1 :] if above else softmax
    return f"below the scaled one's from d_k {rest[0].d_k} on" if rest else "nowhere below the scaled one's"

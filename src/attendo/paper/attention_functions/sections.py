"""What the page shows of the functions themselves: the footnote, the softmax, time and memory; and the claims."""

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
from attendo.paper.charts import BLUE, GREEN, GREY, PURPLE, VERMILION, finish, panels
from attendo.plots.figure_files import png_bytes

# --- pictures ---------------------------------------------------------------------------------------------------------

_STYLES: dict[AttentionFunction, tuple[str, str]] = {
    SCALED: (BLUE, "o"),
    UNSCALED: (VERMILION, "D"),
    ADDITIVE: (GREEN, "s"),
}
_HEIGHT = 4.0
_SHAPES = ("o", "x")


def variance_png(products: Sequence[Products], softmax: Sequence[Softmax]) -> bytes:
    """Draws the variance of q·k against d_k, and what becomes of the softmax."""
    figure, (left, middle, right) = panels(_width(3), _HEIGHT, 3)
    widths = sorted({one.d_k for one in products})
    left.plot(widths, widths, color=GREY, linewidth=1, label="the footnote: d_k")
    for distribution, shape in zip(dict.fromkeys(one.distribution for one in products), _SHAPES, strict=True):
        rows = [one for one in products if one.distribution == distribution]
        left.errorbar(
            [one.d_k for one in rows],
            [one.variance.mean for one in rows],
            yerr=[one.variance.half_width or 0.0 for one in rows],
            fmt=shape, color=_STYLES[UNSCALED][0] if shape == "x" else _STYLES[SCALED][0],
            markersize=6, capsize=3, linewidth=1.2, label=f"components: {distribution}",
        )  # fmt: skip
    _log(left)
    _dress(left, "The variance of q·k", "variance (no unit)")
    for axes, title, unit, name in (
        (middle, "The largest weight", "mean over queries (share of 1)", "largest"),
        (right, "The softmax's derivative", "norm, mean over queries (no unit)", "jacobian"),
    ):
        for function, values in _by_function(softmax, name):
            colour, shape = _STYLES[function]
            axes.plot(widths, values, f"{shape}-", color=colour, markersize=5, label=SHORT[function])
        axes.set_ylim(bottom=0)
        _dress(axes, title, unit)
    return png_bytes(figure)


def quality_png(summaries: Sequence[RowSummary]) -> bytes:
    """Draws perplexity and the trained heads' variance by function and d_k, with the intervals."""
    figure, (left, right) = panels(_width(2), _HEIGHT, 2)
    for number, function in enumerate(FUNCTIONS):
        colour, shape = _STYLES[function]
        rows = [one for one in summaries if one.row.function == function]
        # Side by side, so that intervals do not hide each other.
        places = [one.row.d_k * 1.06 ** (number - 1) for one in rows]
        left.errorbar(
            places, [one.perplexity.mean for one in rows], yerr=[one.perplexity.half_width or 0.0 for one in rows],
            fmt=f"{shape}-", color=colour, markersize=6, capsize=3, linewidth=1.2, label=SHORT[function],
        )  # fmt: skip
        trained = [one.trained["variance"] for one in rows]
        new = [one.new["variance"] for one in rows]
        right.plot(places, trained, f"{shape}-", color=colour, markersize=6, label=f"{SHORT[function]}, trained")
        right.plot(places, new, f"{shape}:", color=colour, markersize=6, mfc="white", label=f"{SHORT[function]}, new")
    _log(right)
    _dress(left, "Perplexity per word piece: lower is better", "validation perplexity (no unit)")
    _dress(right, "How far apart a query's logits are", "variance over its keys (no unit)")
    return png_bytes(figure)


def cost_png(costs: Sequence[Cost]) -> bytes:
    """Draws time and memory of each function as multiples of the scaled one's, by d_k."""
    figure, axes = panels(_width(2), _HEIGHT, 2)
    n = max({one.setting.n for one in costs}, key=lambda each: sum(one.setting.n == each for one in costs))
    rows = sorted((one for one in costs if one.setting.n == n), key=lambda one: one.setting.d_k)
    widths = [one.setting.d_k for one in rows]
    for function in (UNSCALED, ADDITIVE):
        colour, shape = _STYLES[function]
        spreads = [one.ratios[function] for one in rows]
        low = [one.median - one.low for one in spreads]
        high = [one.high - one.median for one in spreads]
        axes[0].errorbar(
            widths, [one.median for one in spreads], yerr=[low, high],
            fmt=f"{shape}-", color=colour, markersize=6, capsize=3, linewidth=1.2, label=SHORT[function],
        )  # fmt: skip
    for name, (colour, shape), label in (
        (UNSCALED, _STYLES[UNSCALED], SHORT[UNSCALED]),
        (ADDITIVE, _STYLES[ADDITIVE], "additive, as attendo computes it"),
        ("additive, whole", (PURPLE, "^"), "additive, as it is usually written"),
    ):
        ratios = [one.memory[name] for one in rows]
        axes[1].plot(widths, ratios, f"{shape}-", color=colour, markersize=6, label=label)
    for each, title in zip(axes, (f"Time, n = {n}", f"Memory, n = {n}"), strict=True):
        each.axhline(1, color=GREY, linewidth=1)
        _log(each)
        each.set_ylim(top=4 * each.get_ylim()[1])  # room for the legend
        _dress(each, title, "multiple of the scaled function's")
    return png_bytes(figure)


def _by_function(softmax: Sequence[Softmax], name: str) -> list[tuple[AttentionFunction, list[float]]]:
    def values(rows: Sequence[Sharpness]) -> list[float]:
        return [float(getattr(one, name).mean) for one in rows]

    return [
        (SCALED, values([one.scaled for one in softmax])),
        (UNSCALED, values([one.unscaled for one in softmax])),
    ]


def _width(columns: int) -> float:
    """Of a chart, in inches."""
    return 1 + 4.4 * columns


def _log(axes: Axes) -> None:
    """Has the heights doubled from line to line, and plain numbers beside them."""
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter("{x:g}")


def _dress(axes: Axes, title: str, unit: str) -> None:
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter("{x:.0f}")
    finish(axes, title, "d_k (components)", unit)
    axes.legend(frameon=False, fontsize=9)


# --- what it says -----------------------------------------------------------------------------------------------------

HOLDS, FAILS, OPEN = "holds here", "does not hold here", "not significant at this scale"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of the paper, and what was found here."""

    text: str
    found: str
    verdict: str


def claims(found: Sequence[Difference], costs: Sequence[Cost], key_sizes: Sequence[int]) -> tuple[Claim, ...]:
    """The paper's sentences, each with what is known here already.

    Args:
        found: the differences.
        costs: of the functions.
        key_sizes: d_k of the rows, from the smallest up.
    """
    by_key = {(one.d_k, one.function, one.other): one.perplexity for one in found}
    smallest, largest = key_sizes[0], key_sizes[-1]
    told = (
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
        for text, difference, verdicts, name in told
        if difference is not None
    ]
    return (*quality, *_cost_claims(costs))


def _cost_claims(costs: Sequence[Cost]) -> tuple[Claim, ...]:
    if not costs:
        return ()
    medians = [cost.ratios[ADDITIVE].median for cost in costs]
    whole, here = ([cost.memory[name] for cost in costs] for name in (WHOLE, ADDITIVE))
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
            f"computes it, some queries at a time, {min(here):.1f} to {max(here):.1f} times",
            verdict=HOLDS if min(whole) > 1 else FAILS,
        ),
    )


def by_width(products: Sequence[Products]) -> list[tuple[int, *tuple[Products, ...]]]:
    """Each d_k with what was found of it, a distribution behind the other."""
    widths = dict.fromkeys(one.d_k for one in products)
    return [(d_k, *(one for one in products if one.d_k == d_k)) for d_k in widths]


def softmax_values(found: Sequence[Softmax]) -> dict[str, object]:
    """What the page's text says of the softmax."""
    first, last = found[0], found[-1]
    peak = max(found, key=lambda one: one.unscaled.jacobian.mean)
    scaled = [one.scaled.jacobian.mean for one in found]
    return {
        "num_keys": NUM_KEYS,
        "first_d_k": first.d_k,
        "last_d_k": last.d_k,
        "first_largest": f"{first.unscaled.largest.mean:.2f}",
        "last_largest": f"{last.unscaled.largest.mean:.2f}",
        "below": _below(found),
        "peak_d_k": peak.d_k,
        "last_jacobian": f"{last.unscaled.jacobian.mean:.3f}",
        "last_median": f"{last.unscaled.jacobian_median.mean:.4f}",
        "scaled_least": f"{min(scaled):.3f}",
        "scaled_most": f"{max(scaled):.3f}",
        "unscaled_to_query": f"{last.unscaled.to_query.mean:.2f}",
        "scaled_to_query": f"{last.scaled.to_query.mean:.2f}",
    }


def _below(softmax: Sequence[Softmax]) -> str:
    """From which d_k on the unscaled derivative stays below the scaled one."""
    above = [number for number, one in enumerate(softmax) if one.unscaled.jacobian.mean >= one.scaled.jacobian.mean]
    from_here = softmax[above[-1] + 1 :] if above else softmax
    return f"below the scaled one's from d_k {from_here[0].d_k} on" if from_here else "nowhere below the scaled one's"

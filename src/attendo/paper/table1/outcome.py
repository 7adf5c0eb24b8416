"""What holds of Table 1 here and what does not, in words that follow from the figures."""

from collections.abc import Sequence

from attendo.model.restricted import FEWEST_QUERIES
from attendo.paper.report import Paragraph, Section
from attendo.paper.table1.findings import Exponent, Findings, TimedCrossing, graph_sizes
from attendo.paper.table1.fit import line
from attendo.paper.table1.layers import LAYERS, Layer, layers_that_reach
from attendo.paper.table1.points import GraphAt

_EXACT = 1.0005
"""Counted by the formula, largest by smallest: up to here the formula is the count."""


def outcome(
    found: Findings, times: Sequence[Exponent], memory: Sequence[Exponent], crossings: Sequence[TimedCrossing]
) -> Section:
    """A paragraph for each column of the table, and for time, memory and the crossing."""
    texts = (
        _work(found),
        _steps(found),
        _paths(found),
        *_ways(found),
        f"Time of a passage forward and back: {_growth(times)}.",
        f"Memory of it over n: {_growth([one for one in memory if one.variable == 'n'])}.",
        _meeting(found, crossings),
    )
    return Section(title="What holds here", blocks=tuple(Paragraph(text=text) for text in texts))


def units(layer: Layer, found: Findings) -> tuple[float, float, str]:
    """The least and the most operations counted for one of the formula's, and both in words."""
    counted: list[float] = [
        operations.mixing / layer.operations(sizes)
        for (name, sizes), operations in found.operations.items()
        if name == layer.name
    ]
    low, high = min(counted), max(counted)
    return low, high, f"{low:g}" if high / low < _EXACT else f"{low:.2f} to {high:.2f}"


def graphs_of(layer: Layer, found: Findings) -> list[GraphAt]:
    """What was found of a layer's dependencies, from the shortest sequence on."""
    return [found.graphs[layer.name, sizes] for sizes in graph_sizes(layer, found)]


def _work(found: Findings) -> str:
    exact: list[str] = []
    other: list[str] = []
    for layer in LAYERS:
        low, high, words = units(layer, found)
        formula = f"({layer.work})" if "+" in layer.work else layer.work
        (exact if high / low < _EXACT else other).append(f"{layer.name} ({words} × {formula})")
    text = f"Work: counted operations are the formula times a constant at all sizes: {', '.join(exact)}."
    if other:
        text += (
            f" Not so: {', '.join(other)}. Its queries are worked on in blocks of at least {FEWEST_QUERIES}, whose "
            "keys are more than r, and a sequence hardly longer than block and window is worked on whole; the "
            "formula's growth with r is that of windows much wider than a block."
        )
    return text


def _steps(found: Findings) -> str:
    same, growing = [], []
    for layer in LAYERS:
        graphs = graphs_of(layer, found)
        products = [graph.chain.products for graph in graphs]
        if len(set(products)) == 1:
            same.append(f"{layer.name} ({products[0]})")
        else:
            slope = line([graph.sizes.n for graph in graphs], products).slope
            growing.append(f"{layer.name} ({slope:.2f} for each position)")
    return (
        f"Sequential steps: as many matrix products in a row whatever n is: {', '.join(same) or 'none'}. "
        f"More with n: {', '.join(growing) or 'none'}."
    )


def _paths(found: Findings) -> str:
    agreeing: list[str] = []
    others: list[str] = []
    for layer in LAYERS:
        agrees = all(
            graph.from_the_middle == layers_that_reach(layer, graph.sizes, graph.sizes.n // 2)
            for graph in graphs_of(layer, found)
        )
        (agreeing if agrees else others).append(layer.name)
    text = (
        "Longest path, in layers until the middle of a sequence and both ends are joined: at every n as what one layer "
        f"sees lets expect: {', '.join(agreeing) or 'none'}."
    )
    return text + (f" Not so: {', '.join(others)}." if others else "")


def _ways(found: Findings) -> list[str]:
    told, lengths = [], (0, 0)
    for layer in LAYERS:
        known = [(graph.sizes.n, graph.on_the_way) for graph in graphs_of(layer, found) if graph.on_the_way is not None]
        if len(known) > 1:
            lengths = (known[0][0], known[-1][0])
            told.append(f"{layer.name} {known[0][1]} and {known[-1][1]}")
    if not told:
        return []
    return [
        f"Longest path, in operations from the first input to the last output of the layers it takes, at n = "
        f"{lengths[0]} and n = {lengths[1]}: {', '.join(told)}."
    ]


def _growth(exponents: Sequence[Exponent]) -> str:
    told = []
    for verdict in dict.fromkeys(one.verdict for one in exponents):
        some = [
            f"{one.layer} ({one.variable}^{one.found.slope:.2f}, formula {one.expected:.2f})"
            for one in exponents
            if one.verdict == verdict
        ]
        told.append(f"{verdict}: {', '.join(some)}")
    return "; ".join(told)


def _meeting(found: Findings, crossings: Sequence[TimedCrossing]) -> str:
    counted = ", ".join(f"n = {one.alone} for d = {one.d}" for one in found.crossings)
    told = []
    for one in crossings:
        if one.measured is not None:
            told.append(f"at n = {one.measured:,.0f} for d = {one.d}")
        else:
            told.append(
                f"not up to n = {one.lengths[-1]:,} for d = {one.d}, where recurrence takes {1 / one.ratios[-1]:.1f} "
                f"times as long (expected at about {one.expected:,.0f})"
            )
    return (
        "Self-attention against recurrence: the formulas meet at n = d. Counted operations, without projections as in "
        f"the formulas, meet at {counted}. Measured times meet {'; '.join(told)}."
    )

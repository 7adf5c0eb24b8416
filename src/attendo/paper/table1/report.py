"""The page of Table 1: ours beside the paper's, what holds and what does not in words, and how it was measured."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from attendo.model.attention import MANY_LOGITS
from attendo.model.mixing.restricted import FEWEST_QUERIES
from attendo.paper.experiment import Order
from attendo.paper.page_parts import each, head_data
from attendo.paper.page_text import page_text
from attendo.paper.report import Report
from attendo.paper.statistics import line, power_law
from attendo.paper.table1.findings import (
    EXACT,
    NEAR,
    Exponent,
    Findings,
    TimedCrossing,
    graphs_of,
    memory_exponents,
    operation_exponents,
    time_exponents,
    timed_crossings,
    units,
)
from attendo.paper.table1.layers import D_K, DILATED_INDEX, LAYERS, Layer, Operations, Sizes, layers_that_reach
from attendo.paper.table1.picture import crossing_png, growth_png, paths_png
from attendo.paper.table1.points import GRAPH_WINDOW, GraphAt, Plan

_TEXT = "table1/page.md"


def table1_report(order: Order, plan: Plan, found: Findings) -> Report:
    """Makes the page.

    Args:
        order: how it was wanted.
        plan: the sizes of its scale.
        found: all measurements.
    """
    operations, times = operation_exponents(plan, found), time_exponents(plan, found)
    memory, crossings = memory_exponents(plan, found), timed_crossings(plan, found)
    text = page_text(_TEXT)
    words = text.fill(
        tiny=text.note("tiny") if order.scale == "tiny" else "",
        outcomes=outcomes(found, times, memory, crossings),
        **_figures(plan, found),
        **_pictures(plan, found, crossings),
        operation_exponents=operations,
        time_exponents=times,
        memory_exponents=memory,
        timed_crossings=[(one, _meets(one), one.expected if one.measured is None else None) for one in crossings],
        processor_time=" " + text.note("processor time") if found.on_a_processor else "",
        fused=" " + text.note("fused", many_logits=f"{MANY_LOGITS:,}") if found.on_a_processor else "",
        k=plan.kernels[0],
        window=plan.window,
        graph_window=GRAPH_WINDOW,
        d_k=D_K,
        dilated_index=DILATED_INDEX,
        near=NEAR,
        command=order.command,
    )
    data: dict[str, Any] = {
        **head_data(order, "table1"),
        "rounds": found.rounds,
        "operation_exponents": [one.to_json() for one in operations],
        "time_exponents": [one.to_json() for one in times],
        "memory_exponents": [one.to_json() for one in memory],
        "timed_crossings": [{**asdict(one), "expected": one.expected} for one in crossings],
        **found.to_json(),
    }
    return Report(
        title="Table 1: what a layer costs, and how far signals go in it",
        introduction=words.introduction,
        sections=words.sections,
        data=data,
    )


def _figures(plan: Plan, found: Findings) -> dict[str, object]:
    """The tables of what was found, and what the text says of it."""
    graphs = [(layer, graph) for layer in LAYERS for graph in graphs_of(layer, found)]
    lengths = [graph.sizes.n for graph in graphs_of(LAYERS[-1], found)]
    versions = (", ".join(f"{name} {version}" for name, version in place.versions.items()) for place in found.places)
    return {
        "first_n": lengths[0],
        "last_n": lengths[-1],
        "the_table": _the_table(found),
        "projections": _projections(plan, found),
        "path_exponents": [_path_fits(layer, plan, found) for layer in LAYERS],
        "graphs": [(*each, _expected(*each)) for each in graphs],
        "rounds": found.rounds,
        "times": [
            (name, sizes, *(1e3 * seconds for seconds in (spread.median, spread.low, spread.high)))
            for (name, sizes), spread in found.seconds.items()
        ],
        "peaks": [(name, sizes, peak / 2**20) for (name, sizes), peak in found.memory.items()],
        "counted_crossings": found.crossings,
        "total_seconds": f"{found.total_seconds:,.0f}",
        "places": each(f"{place.machine}, on {place.device}" for place in found.places),
        "versions": each(versions),
    }


def _pictures(plan: Plan, found: Findings, crossings: Sequence[TimedCrossing]) -> dict[str, bytes]:
    counts = {key: float(one.mixing) for key, one in found.operations.items()}
    seconds = {key: 1e3 * spread.median for key, spread in found.seconds.items()}
    mebibytes = {key: peak / 2**20 for key, peak in found.memory.items()}
    milliseconds = "milliseconds of the processor" if found.on_a_processor else "milliseconds"
    bent = ("self-attention",) if found.on_a_processor else ()
    return {
        "operations": growth_png(plan, plan.counted_lengths, counts, "operations, forward, attention alone"),
        "paths": paths_png(found),
        "time": growth_png(plan, plan.lengths, seconds, milliseconds),
        "memory": growth_png(plan, plan.memory_lengths, mebibytes, "MiB", bent=bent),
        "crossing": crossing_png(found, crossings),
    }


# --- in words ---------------------------------------------------------------------------------------------------------


def outcomes(
    found: Findings, times: Sequence[Exponent], memory: Sequence[Exponent], crossings: Sequence[TimedCrossing]
) -> tuple[str, ...]:
    """A paragraph for each column of the table, and for time, memory and the crossing."""
    return (
        _work(found),
        _steps(found),
        _paths(found),
        *_ways(found),
        f"Time of a passage forward and back: {_growth(times)}.",
        f"Memory of it over n: {_growth([one for one in memory if one.variable == 'n'])}.",
        _meeting(found, crossings),
    )


def _work(found: Findings) -> str:
    exact: list[str] = []
    other: list[str] = []
    for layer in LAYERS:
        low, high, words = units(layer, found)
        formula = f"({layer.work})" if "+" in layer.work else layer.work
        (exact if high / low < EXACT else other).append(f"{layer.name} ({words} × {formula})")
    text = f"Work: counted operations are the formula times a constant at all sizes: {', '.join(exact)}."
    if not other:
        return text
    why = page_text(_TEXT).note("restricted", fewest_queries=FEWEST_QUERIES)
    return f"{text} Not so: {', '.join(other)}. {why}"


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
    return page_text(_TEXT).note("steps", same=", ".join(same) or "none", growing=", ".join(growing) or "none")


def _paths(found: Findings) -> str:
    agreeing: list[str] = []
    others: list[str] = []
    for layer in LAYERS:
        agrees = all(graph.from_the_middle == _expected(layer, graph) for graph in graphs_of(layer, found))
        (agreeing if agrees else others).append(layer.name)
    text = page_text(_TEXT).note("paths", agreeing=", ".join(agreeing) or "none")
    return text + (f" Not so: {', '.join(others)}." if others else "")


def _expected(layer: Layer, graph: GraphAt) -> int:
    """The layers that join the middle and both ends by what one layer sees."""
    return layers_that_reach(layer, graph.sizes, graph.sizes.n // 2)


def _ways(found: Findings) -> list[str]:
    told, lengths = [], (0, 0)
    for layer in LAYERS:
        known = [(graph.sizes.n, graph.on_the_way) for graph in graphs_of(layer, found) if graph.on_the_way is not None]
        if len(known) > 1:
            lengths = (known[0][0], known[-1][0])
            told.append(f"{layer.name} {known[0][1]} and {known[-1][1]}")
    if not told:
        return []
    return [page_text(_TEXT).note("ways", first=lengths[0], last=lengths[1], told=", ".join(told))]


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


def _meets(one: TimedCrossing) -> str:
    return "none" if one.measured is None else f"{one.measured:,.0f}"


def _meeting(found: Findings, crossings: Sequence[TimedCrossing]) -> str:
    counted = ", ".join(f"n = {one.alone} for d = {one.d}" for one in found.crossings)
    told = []
    for one in crossings:
        if one.measured is not None:
            told.append(f"at n = {_meets(one)} for d = {one.d}")
        else:
            told.append(
                f"not up to n = {one.longest:,} for d = {one.d}, where recurrence takes {1 / one.last:.1f} "
                f"times as long (expected at about {one.expected:,.0f})"
            )
    return page_text(_TEXT).note("meeting", counted=counted, told="; ".join(told))


# --- tables -----------------------------------------------------------------------------------------------------------


def _the_table(found: Findings) -> list[tuple[object, ...]]:
    """The layers with their units, and what was found of the shortest sequence and of the longest."""
    return [
        (layer, units(layer, found)[2], graphs_of(layer, found)[0], graphs_of(layer, found)[-1]) for layer in LAYERS
    ]


def _projections(plan: Plan, found: Findings) -> list[tuple[Layer, Sizes, Operations, float]]:
    """Operations of attention and of its projections, and the share of these."""
    return [
        (layer, sizes, one := found.operations[layer.name, sizes], one.projections / one.total)
        for layer in LAYERS
        if layer.leaves_out_projections
        for sizes in dict.fromkeys(each for name in "nd" for each in plan.sweep(layer, name, plan.counted_lengths))
    ]


def _path_fits(layer: Layer, plan: Plan, found: Findings) -> tuple[str, ...]:
    graphs = graphs_of(layer, found)
    lengths = [graph.sizes.n for graph in graphs]

    def exponent(values: Sequence[int | None]) -> str:
        known = [(n, value) for n, value in zip(lengths, values, strict=True) if value is not None]
        if len(known) < 2:
            return "none"
        return power_law([n for n, _ in known], [value for _, value in known]).to_text()

    layers = [graph.from_the_middle for graph in graphs]
    straight = ""
    if layer.name == "dilated-convolutional" and None not in layers:
        logarithms = [math.log(n, plan.kernels[0]) for n in lengths]
        straight = line(logarithms, [count for count in layers if count is not None]).to_text()
    return (
        layer.name,
        exponent([graph.chain.products for graph in graphs]),
        exponent(layers),
        exponent([graph.on_the_way for graph in graphs]),
        straight,
    )

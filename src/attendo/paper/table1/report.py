"""The page of Table 1: measurements beside the paper's formulas, which of them hold, and how they were measured."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from attendo.evaluation.estimates import line, power_law
from attendo.model.attention import MANY_LOGITS
from attendo.model.mixing.restricted import FEWEST_QUERIES
from attendo.paper.experiment import StudyRequest
from attendo.paper.page_parts import each, head_data
from attendo.paper.page_text import page_text
from attendo.paper.report import Report
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


def table1_report(request: StudyRequest, plan: Plan, findings: Findings) -> Report:
    """Returns the page of Table 1.

    Args:
        request: options of the experiment.
        plan: the sizes of its scale.
        findings: all measurements.
    """
    operations, times = operation_exponents(plan, findings), time_exponents(plan, findings)
    memory, crossings = memory_exponents(plan, findings), timed_crossings(plan, findings)
    text = page_text(_TEXT)
    words = text.fill(
        tiny=text.note("tiny") if request.scale == "tiny" else "",
        outcomes=outcomes(findings, times, memory, crossings),
        **_figures(plan, findings),
        **_pictures(plan, findings, crossings),
        operation_exponents=operations,
        time_exponents=times,
        memory_exponents=memory,
        timed_crossings=[
            (crossing, _meets(crossing), crossing.expected if crossing.measured is None else None)
            for crossing in crossings
        ],
        processor_time=" " + text.note("processor time") if findings.on_a_processor else "",
        fused=" " + text.note("fused", many_logits=f"{MANY_LOGITS:,}") if findings.on_a_processor else "",
        k=plan.kernels[0],
        window=plan.window,
        graph_window=GRAPH_WINDOW,
        d_k=D_K,
        dilated_index=DILATED_INDEX,
        near=NEAR,
        command=request.command,
    )
    data: dict[str, Any] = {
        **head_data(request, "table1"),
        "rounds": findings.rounds,
        "operation_exponents": [exponent.to_json() for exponent in operations],
        "time_exponents": [exponent.to_json() for exponent in times],
        "memory_exponents": [exponent.to_json() for exponent in memory],
        "timed_crossings": [{**asdict(crossing), "expected": crossing.expected} for crossing in crossings],
        **findings.to_json(),
    }
    return Report(
        title="Table 1: what a layer costs, and how far signals go in it",
        introduction=words.introduction,
        sections=words.sections,
        data=data,
    )


def _figures(plan: Plan, findings: Findings) -> dict[str, object]:
    """The values of the page's text other than pictures and exponents: tables and figures from the measurements."""
    graphs = [(layer, graph) for layer in LAYERS for graph in graphs_of(layer, findings)]
    lengths = [graph.sizes.n for graph in graphs_of(LAYERS[-1], findings)]
    versions = (", ".join(f"{name} {version}" for name, version in place.versions.items()) for place in findings.places)
    return {
        "first_n": lengths[0],
        "last_n": lengths[-1],
        "the_table": _the_table(findings),
        "projections": _projections(plan, findings),
        "path_exponents": [_path_fits(layer, plan, findings) for layer in LAYERS],
        "graphs": [(*pair, _expected(*pair)) for pair in graphs],
        "rounds": findings.rounds,
        "times": [
            (name, sizes, *(1e3 * seconds for seconds in (spread.median, spread.low, spread.high)))
            for (name, sizes), spread in findings.seconds.items()
        ],
        "peaks": [(name, sizes, peak / 2**20) for (name, sizes), peak in findings.memory.items()],
        "counted_crossings": findings.crossings,
        "total_seconds": f"{findings.total_seconds:,.0f}",
        "places": each(f"{place.machine}, on {place.device}" for place in findings.places),
        "versions": each(versions),
    }


def _pictures(plan: Plan, findings: Findings, crossings: Sequence[TimedCrossing]) -> dict[str, bytes]:
    counts = {key: float(operations.mixing) for key, operations in findings.operations.items()}
    seconds = {key: 1e3 * spread.median for key, spread in findings.seconds.items()}
    mebibytes = {key: peak / 2**20 for key, peak in findings.memory.items()}
    milliseconds = "milliseconds of the processor" if findings.on_a_processor else "milliseconds"
    bent = ("self-attention",) if findings.on_a_processor else ()
    return {
        "operations": growth_png(plan, plan.counted_lengths, counts, "operations, forward, attention alone"),
        "paths": paths_png(findings),
        "time": growth_png(plan, plan.lengths, seconds, milliseconds),
        "memory": growth_png(plan, plan.memory_lengths, mebibytes, "MiB", bent=bent),
        "crossing": crossing_png(findings, crossings),
    }


# --- in words ---------------------------------------------------------------------------------------------------------


def outcomes(
    findings: Findings, times: Sequence[Exponent], memory: Sequence[Exponent], crossings: Sequence[TimedCrossing]
) -> tuple[str, ...]:
    """Returns a paragraph for each column of the table, for path lengths if known, time, memory and the crossing."""
    return (
        _work(findings),
        _steps(findings),
        _paths(findings),
        *_ways(findings),
        f"Time of a passage forward and back: {_growth(times)}.",
        f"Memory of it over n: {_growth([exponent for exponent in memory if exponent.variable == 'n'])}.",
        _meeting(findings, crossings),
    )


def _work(findings: Findings) -> str:
    exact: list[str] = []
    other: list[str] = []
    for layer in LAYERS:
        low, high, words = units(layer, findings)
        formula = f"({layer.work})" if "+" in layer.work else layer.work
        (exact if high / low < EXACT else other).append(f"{layer.name} ({words} × {formula})")
    text = f"Work: counted operations are the formula times a constant at all sizes: {', '.join(exact)}."
    if not other:
        return text
    why = page_text(_TEXT).note("restricted", fewest_queries=FEWEST_QUERIES)
    return f"{text} Not so: {', '.join(other)}. {why}"


def _steps(findings: Findings) -> str:
    same, growing = [], []
    for layer in LAYERS:
        graphs = graphs_of(layer, findings)
        products = [graph.chain.products for graph in graphs]
        if len(set(products)) == 1:
            same.append(f"{layer.name} ({products[0]})")
        else:
            slope = line([graph.sizes.n for graph in graphs], products).slope
            growing.append(f"{layer.name} ({slope:.2f} for each position)")
    return page_text(_TEXT).note("steps", same=", ".join(same) or "none", growing=", ".join(growing) or "none")


def _paths(findings: Findings) -> str:
    agreeing: list[str] = []
    others: list[str] = []
    for layer in LAYERS:
        agrees = all(graph.from_the_middle == _expected(layer, graph) for graph in graphs_of(layer, findings))
        (agreeing if agrees else others).append(layer.name)
    text = page_text(_TEXT).note("paths", agreeing=", ".join(agreeing) or "none")
    return text + (f" Not so: {', '.join(others)}." if others else "")


def _expected(layer: Layer, graph: GraphAt) -> int:
    """The number of layers that join the middle and both ends, from the reach of one layer."""
    return layers_that_reach(layer, graph.sizes, graph.sizes.n // 2)


def _ways(findings: Findings) -> list[str]:
    ways, lengths = [], (0, 0)
    for layer in LAYERS:
        known = [
            (graph.sizes.n, graph.on_the_way) for graph in graphs_of(layer, findings) if graph.on_the_way is not None
        ]
        if len(known) > 1:
            lengths = (known[0][0], known[-1][0])
            ways.append(f"{layer.name} {known[0][1]} and {known[-1][1]}")
    if not ways:
        return []
    return [page_text(_TEXT).note("ways", first=lengths[0], last=lengths[1], told=", ".join(ways))]


def _growth(exponents: Sequence[Exponent]) -> str:
    parts = []
    for verdict in dict.fromkeys(exponent.verdict for exponent in exponents):
        rows = [
            f"{exponent.layer} ({exponent.variable}^{exponent.found.slope:.2f}, formula {exponent.expected:.2f})"
            for exponent in exponents
            if exponent.verdict == verdict
        ]
        parts.append(f"{verdict}: {', '.join(rows)}")
    return "; ".join(parts)


def _meets(crossing: TimedCrossing) -> str:
    return "none" if crossing.measured is None else f"{crossing.measured:,.0f}"


def _meeting(findings: Findings, crossings: Sequence[TimedCrossing]) -> str:
    counted = ", ".join(f"n = {crossing.alone} for d = {crossing.d}" for crossing in findings.crossings)
    parts = []
    for crossing in crossings:
        if crossing.measured is not None:
            parts.append(f"at n = {_meets(crossing)} for d = {crossing.d}")
        else:
            parts.append(
                f"not up to n = {crossing.longest:,} for d = {crossing.d}, where recurrence takes "
                f"{1 / crossing.last:.1f} times as long (expected at about {crossing.expected:,.0f})"
            )
    return page_text(_TEXT).note("meeting", counted=counted, told="; ".join(parts))


# --- tables -----------------------------------------------------------------------------------------------------------


def _the_table(findings: Findings) -> list[tuple[object, ...]]:
    """The layers with their operations per unit of the formula, and the graphs of the shortest and longest sequence."""
    return [
        (layer, units(layer, findings)[2], graphs_of(layer, findings)[0], graphs_of(layer, findings)[-1])
        for layer in LAYERS
    ]


def _projections(plan: Plan, findings: Findings) -> list[tuple[Layer, Sizes, Operations, float]]:
    """The operations of each kind of attention with its sizes, and the share of its projections."""
    return [
        (layer, sizes, operations := findings.operations[layer.name, sizes], operations.projections / operations.total)
        for layer in LAYERS
        if layer.leaves_out_projections
        for sizes in dict.fromkeys(swept for name in "nd" for swept in plan.sweep(layer, name, plan.counted_lengths))
    ]


def _path_fits(layer: Layer, plan: Plan, findings: Findings) -> tuple[str, ...]:
    graphs = graphs_of(layer, findings)
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

"""The page of Table 1: ours beside the paper's, what holds and what does not in words, and how it was measured."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from attendo.model.mixing.restricted import FEWEST_QUERIES
from attendo.paper.experiment import Order
from attendo.paper.page_parts import each, head_data
from attendo.paper.report import Paragraph, Report, Section, Shell, paragraphs
from attendo.paper.statistics import line
from attendo.paper.table1 import sections
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
from attendo.paper.table1.layers import D_K, DILATED_INDEX, LAYERS, layers_that_reach
from attendo.paper.table1.points import Plan


def table1_report(order: Order, plan: Plan, found: Findings) -> Report:
    """Makes the page.

    Args:
        order: how it was wanted.
        plan: the sizes of its scale.
        found: all measurements.
    """
    operations, times = operation_exponents(plan, found), time_exponents(plan, found)
    memory, crossings = memory_exponents(plan, found), timed_crossings(plan, found)
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
        introduction=_introduction(order),
        sections=(
            outcome(found, times, memory, crossings),
            sections.the_table(found),
            sections.operations(plan, found, operations),
            sections.dependencies(plan, found),
            sections.times(plan, found, times),
            sections.memory(plan, found, memory),
            sections.crossing(found, crossings),
            _how(order, plan, found),
        ),
        data=data,
    )


def _introduction(order: Order) -> tuple[str, ...]:
    parts = [
        "Table 1 of the paper compares layer types that map n positions of width d to as many, by three formulas: "
        "operations a layer, operations that have to wait for each other, and the longest path between two positions. "
        "Here each layer is a real one, with which an encoder can be trained (model.encoder_layer in a recipe), and "
        "each figure is counted, timed, or found in the graph of what the layer really computes."
    ]
    if order.scale == "tiny":
        parts.append(
            "This scale only shows that the study works. Its sizes are too small for its times and memory to say "
            "anything about the formulas; use --scale small."
        )
    return tuple(parts)


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
    return Section(title="Comparison with the paper", blocks=paragraphs(*texts))


def _work(found: Findings) -> str:
    exact: list[str] = []
    other: list[str] = []
    for layer in LAYERS:
        low, high, words = units(layer, found)
        formula = f"({layer.work})" if "+" in layer.work else layer.work
        (exact if high / low < EXACT else other).append(f"{layer.name} ({words} × {formula})")
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


def _how(order: Order, plan: Plan, found: Findings) -> Section:
    places = each(f"{place.machine}, on {place.device}" for place in found.places)
    versions = each(
        ", ".join(f"{name} {version}" for name, version in place.versions.items()) for place in found.places
    )
    text = (
        f"Heads are {D_K} wide, as the base model's, so that their number grows with d; k is {plan.kernels[0]} and r "
        f"is {plan.window} where they are not varied; the dilated layer that is timed is that of index "
        f"{DILATED_INDEX}. The growth is 'as the formula' where the exponent is within {NEAR} of the formula's "
        "exponent over the same sizes, 'in the end' where that between the two largest sizes is, and 'not told' where "
        "the interval is wider than the difference. Intervals are by Student's t and say how well a power law fits the "
        "points. There are no seeds: neither weights nor inputs matter to these figures, and of chance there is what "
        f"else the machine does, which the {found.rounds} rounds show."
    )
    return Section(
        title="How to repeat it",
        blocks=(
            Shell(lines=(order.command,)),
            Paragraph(text=text),
            Paragraph(text=f"Processor time and machine: {found.total_seconds:,.0f} s in what was timed; {places}."),
            Paragraph(text=f"Versions: {versions}"),
        ),
    )

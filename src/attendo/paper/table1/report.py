"""The page of Table 1: ours beside the paper's, what holds and what does not, and how it was measured."""

from dataclasses import asdict
from typing import Any

from attendo.paper.experiment import Order
from attendo.paper.report import Paragraph, Report, Section, Shell
from attendo.paper.table1 import sections
from attendo.paper.table1.cost import DILATED_INDEX
from attendo.paper.table1.findings import (
    NEAR,
    Findings,
    memory_exponents,
    operation_exponents,
    time_exponents,
    timed_crossings,
)
from attendo.paper.table1.layers import D_K
from attendo.paper.table1.outcome import outcome
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
        "table": "table1",
        "scale": order.scale,
        "command": order.command,
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
            "This scale shows that it works. Its sizes are so small that its times and memory say nothing of the "
            "formulas; take --scale small."
        )
    return tuple(parts)


def _how(order: Order, plan: Plan, found: Findings) -> Section:
    places = "; ".join(dict.fromkeys(f"{place.machine}, on {place.device}" for place in found.places))
    versions = "; ".join(
        dict.fromkeys(
            ", ".join(f"{name} {version}" for name, version in place.versions.items()) for place in found.places
        )
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

"""What the measurements for Table 1 say: exponents beside the formulas', and where self-attention meets recurrence."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from attendo.model.attention import MANY_LOGITS
from attendo.paper.statistics import Line, meeting, power_law
from attendo.paper.table1.layers import LAYERS, Crossing, Layer, Operations, Sizes, num_heads
from attendo.paper.table1.points import (
    BytesAt,
    CrossingAt,
    GraphAt,
    Measurement,
    OperationsAt,
    Place,
    Plan,
    SecondsAt,
)

NEAR = 0.15
"""How far an exponent may lie from the formula's to count as the same, beside its interval."""
EXACT = 1.0005
"""Counted by the formula, largest by smallest: up to here the formula is the count."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """A time, measured in some rounds."""

    median: float
    """Seconds: the median of the rounds' medians."""
    low: float
    """The smallest of these."""
    high: float
    """The largest of these."""


@dataclass(frozen=True, kw_only=True)
class Exponent:
    """How a measure grows with one of the sizes."""

    layer: str
    """With what sets it apart, where the layer has more than one line."""
    variable: str
    expected: float | None
    """The exponent that the formula has over the same sizes, a sum's being no whole number; None for no formula."""
    found: Line
    last: float
    """The exponent between the two largest sizes alone."""

    @property
    def verdict(self) -> str:
        """Whether it grows as the formula."""
        if self.expected is None:
            return ""
        difference = self.found.slope - self.expected
        if abs(difference) <= NEAR:
            return "as the formula"
        if abs(self.last - self.expected) <= NEAR:
            return "as the formula in the end"
        if abs(difference) <= (self.found.half_width or 0.0):
            return "not told"
        return "faster" if difference > 0 else "slower"

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        return {
            "layer": self.layer,
            "variable": self.variable,
            "expected": self.expected,
            "exponent": self.found.slope,
            "half_width": self.found.half_width,
            "points": self.found.count,
            "last": self.last,
            "verdict": self.verdict,
        }


@dataclass(frozen=True, kw_only=True)
class TimedCrossing:
    """Where self-attention takes as long as recurrence, by measured times."""

    d: int
    lengths: tuple[int, ...]
    ratios: tuple[float, ...]
    """Time of self-attention by that of recurrence, one a length."""
    measured: float | None
    """Positions; None where self-attention is faster at all of these lengths."""

    @property
    def longest(self) -> int:
        """The longest n."""
        return self.lengths[-1]

    @property
    def last(self) -> float:
        """The ratio there."""
        return self.ratios[-1]

    @property
    def expected(self) -> float:
        """Positions, if beyond the longest n self-attention's time grows like n² and recurrence's like n."""
        return self.lengths[-1] / self.ratios[-1]


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All that was measured, by layer and sizes."""

    operations: Mapping[tuple[str, Sizes], Operations]
    graphs: Mapping[tuple[str, Sizes], GraphAt]
    memory: Mapping[tuple[str, Sizes], int]
    """Bytes."""
    seconds: Mapping[tuple[str, Sizes], Spread]
    crossings: tuple[Crossing, ...]
    places: tuple[Place, ...]
    rounds: int
    total_seconds: float
    """Of all passages that were timed."""

    @property
    def on_a_processor(self) -> bool:
        """Whether times and memory are a processor's, not a graphics card's."""
        return all("processor" in place.device for place in self.places)

    @staticmethod
    def of(measurements: Iterable[Measurement]) -> "Findings":
        """Puts measurements in order."""
        operations: dict[tuple[str, Sizes], Operations] = {}
        graphs: dict[tuple[str, Sizes], GraphAt] = {}
        memory: dict[tuple[str, Sizes], int] = {}
        crossings: list[Crossing] = []
        places: list[Place] = []
        rounds: dict[tuple[str, Sizes], dict[int, float]] = {}
        total_seconds = 0.0
        for one in measurements:
            match one:
                case OperationsAt():
                    operations[one.layer, one.sizes] = one.operations
                case CrossingAt():
                    crossings.append(one.crossing)
                case GraphAt():
                    graphs[one.layer, one.sizes] = one
                case BytesAt():
                    memory[one.layer, one.sizes] = one.peak
                    places.append(one.place)
                case SecondsAt():
                    rounds.setdefault((one.layer, one.sizes), {})[one.round] = statistics.median(one.seconds)
                    total_seconds += sum(one.seconds)
                    places.append(one.place)
        return Findings(
            operations=operations,
            graphs=graphs,
            memory=memory,
            seconds={key: _spread(list(medians.values())) for key, medians in rounds.items()},
            crossings=tuple(crossings),
            places=tuple(place for number, place in enumerate(places) if place not in places[:number]),
            rounds=max((len(medians) for medians in rounds.values()), default=0),
            total_seconds=total_seconds,
        )

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        return {
            "operations": _rows(self.operations, asdict),
            "graphs": [asdict(found) for found in self.graphs.values()],
            "memory": _rows(self.memory, lambda peak: {"bytes": peak}),
            "seconds": _rows(self.seconds, asdict),
            "counted_crossings": [asdict(crossing) for crossing in self.crossings],
            "places": [asdict(place) for place in self.places],
        }


def _rows(found: Mapping[tuple[str, Sizes], Any], of: Callable[[Any], dict[str, Any]]) -> list[dict[str, Any]]:
    """What was found by layer and sizes, a row each."""
    return [{"layer": layer, **asdict(sizes), **of(one)} for (layer, sizes), one in found.items()]


def operation_exponents(plan: Plan, found: Findings) -> tuple[Exponent, ...]:
    """How the operations that the formulas are about grow, and with projections those of self-attention."""
    exponents = []
    for layer in LAYERS:
        for variable in "ndkr":
            sizes = plan.sweep(layer, variable, plan.counted_lengths)
            mixing = [found.operations[layer.name, each].mixing for each in sizes]
            exponents += _exponents(layer.name, variable, sizes, layer.operations, mixing)
            if layer.leaves_out_projections and variable in "nd":
                total = [found.operations[layer.name, each].total for each in sizes]
                label = f"{layer.name}, with projections"
                exponents += _exponents(label, variable, sizes, _with_projections(layer), total)
    return tuple(exponents)


def time_exponents(plan: Plan, found: Findings) -> tuple[Exponent, ...]:
    """How the time of a passage forward and back grows, beside all operations of the sub-layer."""
    exponents = []
    for layer in LAYERS:
        for variable in "ndkr":
            sizes = plan.sweep(layer, variable, plan.lengths)
            seconds = [found.seconds[layer.name, each].median for each in sizes]
            exponents += _exponents(layer.name, variable, sizes, _with_projections(layer), seconds)
    return tuple(exponents)


def memory_exponents(plan: Plan, found: Findings) -> tuple[Exponent, ...]:
    """How the memory of a passage grows; over n beside what has to be held, n x n weights or n positions.

    Self-attention has a line where its weights are written out, and one where torch's fused attention keeps none.
    """
    exponents = []
    for layer in LAYERS:
        for variable in "nd":
            sizes = plan.sweep(layer, variable, plan.memory_lengths)
            fused = [each for each in sizes if layer.name != "self-attention" or keeps_no_weights(each, found)]
            written = [each for each in sizes if each not in fused]
            label = layer.name if layer.name != "self-attention" else f"{layer.name}, fused"
            for name, some, power in ((f"{layer.name}, weights written out", written, 2), (label, fused, 1)):
                peaks = [found.memory[layer.name, each] for each in some]
                formula = partial(_power_of_n, power) if variable == "n" else None
                exponents += _exponents(name, variable, some, formula, peaks)
    return tuple(exponents)


def keeps_no_weights(sizes: Sizes, found: Findings) -> bool:
    """Whether self-attention is fused there, so that no n x n weights are written."""
    return not found.on_a_processor or num_heads(sizes.d) * sizes.n**2 > MANY_LOGITS


def timed_crossings(plan: Plan, found: Findings) -> tuple[TimedCrossing, ...]:
    """Where self-attention takes as long as recurrence, for each width that was timed."""
    crossings = []
    for d in sorted({*plan.timed_crossings, plan.width}):
        lengths = plan.lengths if d == plan.width else plan.crossing_lengths
        sizes = [Sizes(n=n, d=d, k=plan.kernels[0], r=plan.window) for n in lengths]
        attention = [found.seconds["self-attention", each].median for each in sizes]
        recurrence = [found.seconds["recurrent", each].median for each in sizes]
        crossings.append(
            TimedCrossing(
                d=d,
                lengths=lengths,
                ratios=tuple(one / two for one, two in zip(attention, recurrence, strict=True)),
                measured=meeting(lengths, attention, recurrence),
            )
        )
    return tuple(crossings)


def graph_sizes(layer: Layer, found: Findings) -> tuple[Sizes, ...]:
    """The sizes at which a layer's dependencies were looked at, from the shortest on."""
    return tuple(sorted((sizes for name, sizes in found.graphs if name == layer.name), key=lambda sizes: sizes.n))


def units(layer: Layer, found: Findings) -> tuple[float, float, str]:
    """The least and the most operations counted for one of the formula's, and both in words."""
    counted: list[float] = [
        operations.mixing / layer.operations(sizes)
        for (name, sizes), operations in found.operations.items()
        if name == layer.name
    ]
    low, high = min(counted), max(counted)
    return low, high, f"{low:g}" if high / low < EXACT else f"{low:.2f} to {high:.2f}"


def graphs_of(layer: Layer, found: Findings) -> list[GraphAt]:
    """What was found of a layer's dependencies, from the shortest sequence on."""
    return [found.graphs[layer.name, sizes] for sizes in graph_sizes(layer, found)]


def _with_projections(layer: Layer) -> Callable[[Sizes], float]:
    """The formula of all that a sub-layer does, which holds for whole layers: two operations a product's term."""
    if not layer.leaves_out_projections:
        return layer.operations
    return lambda s: 4 * layer.operations(s) + 8 * s.n * s.d**2


def _exponents(
    label: str,
    variable: str,
    sizes: Sequence[Sizes],
    formula: Callable[[Sizes], float] | None,
    values: Sequence[float],
) -> list[Exponent]:
    """The exponent over some sizes; none where there are fewer than two."""
    if len(sizes) < 2:
        return []
    xs = [getattr(each, variable) for each in sizes]
    return [
        Exponent(
            layer=label,
            variable=variable,
            expected=None if formula is None else power_law(xs, [formula(each) for each in sizes]).slope,
            found=power_law(xs, values),
            last=power_law(xs[-2:], values[-2:]).slope,
        )
    ]


def _power_of_n(power: int, sizes: Sizes) -> float:
    return float(sizes.n**power)


def _spread(medians: Sequence[float]) -> Spread:
    return Spread(median=statistics.median(medians), low=min(medians), high=max(medians))

"""The evaluation of Table 1's measurements: growth exponents, and where self-attention costs as much as recurrence."""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from attendo.evaluation.estimates import Line, meeting, power_law
from attendo.model.attention import MANY_LOGITS
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
"""Largest difference at which an exponent counts as equal to the formula's."""
EXACT = 1.0005
"""Largest ratio of most to fewest operations per unit of the formula at which the formula counts as exact."""


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The time of a layer at one size, over the rounds."""

    median: float
    """Median of the rounds' medians, in seconds."""
    low: float
    """Smallest median of a round, in seconds."""
    high: float
    """Largest median of a round, in seconds."""


@dataclass(frozen=True, kw_only=True)
class Exponent:
    """The growth of a measure with one of the sizes, as the exponent of a power law."""

    layer: str
    """Name of the layer, with a distinguishing note if the layer has more than one row."""
    variable: str
    """The size that varies: `n`, `d`, `k` or `r`."""
    expected: float | None
    """Exponent of the formula, fitted over the same sizes, so not an integer for a sum; None without a formula."""
    found: Line
    """The fitted power law; its slope is the measured exponent."""
    last: float
    """Exponent between the two largest sizes alone."""

    @property
    def verdict(self) -> str:
        """How the measured growth compares with the formula, in words; empty without a formula."""
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
        """Returns the data for `result.json`."""
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
    """The length at which self-attention takes as long as recurrence, from measured times at one width."""

    d: int
    lengths: tuple[int, ...]
    """Measured lengths n, in rising order."""
    ratios: tuple[float, ...]
    """Time of self-attention divided by that of recurrence, one for each length."""
    measured: float | None
    """The interpolated length, in positions; None if self-attention is faster at all measured lengths."""

    @property
    def longest(self) -> int:
        """The longest measured n."""
        return self.lengths[-1]

    @property
    def last(self) -> float:
        """The ratio of times at the longest n."""
        return self.ratios[-1]

    @property
    def expected(self) -> float:
        """The length in positions if from the longest n on self-attention's time grows like n², recurrence's like n."""
        return self.lengths[-1] / self.ratios[-1]


@dataclass(frozen=True, kw_only=True)
class Findings:
    """All measurements, by layer and sizes."""

    operations: Mapping[tuple[str, Sizes], Operations]
    graphs: Mapping[tuple[str, Sizes], GraphAt]
    memory: Mapping[tuple[str, Sizes], int]
    """Peak memory of a forward and backward pass, in bytes."""
    seconds: Mapping[tuple[str, Sizes], Spread]
    crossings: tuple[Crossing, ...]
    places: tuple[Place, ...]
    rounds: int
    total_seconds: float
    """Total seconds of all timed passes."""

    @property
    def on_a_processor(self) -> bool:
        """Whether times and memory were measured on a processor rather than a graphics card."""
        return all("processor" in place.device for place in self.places)

    @staticmethod
    def of(measurements: Iterable[Measurement]) -> "Findings":
        """Sorts measurements by kind, layer and sizes."""
        operations: dict[tuple[str, Sizes], Operations] = {}
        graphs: dict[tuple[str, Sizes], GraphAt] = {}
        memory: dict[tuple[str, Sizes], int] = {}
        crossings: list[Crossing] = []
        places: list[Place] = []
        rounds: dict[tuple[str, Sizes], dict[int, float]] = {}
        total_seconds = 0.0
        for measurement in measurements:
            match measurement:
                case OperationsAt():
                    operations[measurement.layer, measurement.sizes] = measurement.operations
                case CrossingAt():
                    crossings.append(measurement.crossing)
                case GraphAt():
                    graphs[measurement.layer, measurement.sizes] = measurement
                case BytesAt():
                    memory[measurement.layer, measurement.sizes] = measurement.peak
                    places.append(measurement.place)
                case SecondsAt():
                    rounds.setdefault((measurement.layer, measurement.sizes), {})[measurement.round] = (
                        statistics.median(measurement.seconds)
                    )
                    total_seconds += sum(measurement.seconds)
                    places.append(measurement.place)
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
        """Returns the data for `result.json`."""
        return {
            "operations": _rows(self.operations, asdict),
            "graphs": [asdict(graph) for graph in self.graphs.values()],
            "memory": _rows(self.memory, lambda peak: {"bytes": peak}),
            "seconds": _rows(self.seconds, asdict),
            "counted_crossings": [asdict(crossing) for crossing in self.crossings],
            "places": [asdict(place) for place in self.places],
        }


def _rows(values: Mapping[tuple[str, Sizes], Any], of: Callable[[Any], dict[str, Any]]) -> list[dict[str, Any]]:
    """Converts values by layer and sizes to one JSON row each."""
    return [{"layer": layer, **asdict(sizes), **of(value)} for (layer, sizes), value in values.items()]


def operation_exponents(plan: Plan, findings: Findings) -> tuple[Exponent, ...]:
    """The growth of the operations that the formulas count, and of all where a formula leaves out projections."""
    exponents = []
    for layer in LAYERS:
        for variable in "ndkr":
            sweep = plan.sweep(layer, variable, plan.counted_lengths)
            mixing = [findings.operations[layer.name, sizes].mixing for sizes in sweep]
            exponents += _exponents(layer.name, variable, sweep, layer.operations, mixing)
            if layer.leaves_out_projections and variable in "nd":
                total = [findings.operations[layer.name, sizes].total for sizes in sweep]
                label = f"{layer.name}, with projections"
                exponents += _exponents(label, variable, sweep, _with_projections(layer), total)
    return tuple(exponents)


def time_exponents(plan: Plan, findings: Findings) -> tuple[Exponent, ...]:
    """The growth of the time of a forward and backward pass, beside that of all operations of the sub-layer."""
    exponents = []
    for layer in LAYERS:
        for variable in "ndkr":
            sweep = plan.sweep(layer, variable, plan.lengths)
            seconds = [findings.seconds[layer.name, sizes].median for sizes in sweep]
            exponents += _exponents(layer.name, variable, sweep, _with_projections(layer), seconds)
    return tuple(exponents)


def memory_exponents(plan: Plan, findings: Findings) -> tuple[Exponent, ...]:
    """The growth of the peak memory of a pass; over n beside that of the stored values, n x n weights or n positions.

    Self-attention has a row for the sizes at which its weights are written out, and one for those at which torch's
    fused attention keeps none.
    """
    exponents = []
    for layer in LAYERS:
        for variable in "nd":
            sweep = plan.sweep(layer, variable, plan.memory_lengths)
            fused = [sizes for sizes in sweep if layer.name != "self-attention" or keeps_no_weights(sizes, findings)]
            written = [sizes for sizes in sweep if sizes not in fused]
            label = layer.name if layer.name != "self-attention" else f"{layer.name}, fused"
            for name, part, power in ((f"{layer.name}, weights written out", written, 2), (label, fused, 1)):
                peaks = [findings.memory[layer.name, sizes] for sizes in part]
                formula = partial(_power_of_n, power) if variable == "n" else None
                exponents += _exponents(name, variable, part, formula, peaks)
    return tuple(exponents)


def keeps_no_weights(sizes: Sizes, findings: Findings) -> bool:
    """Whether self-attention is fused at these sizes, so that no n x n weights are written."""
    return not findings.on_a_processor or num_heads(sizes.d) * sizes.n**2 > MANY_LOGITS


def timed_crossings(plan: Plan, findings: Findings) -> tuple[TimedCrossing, ...]:
    """The lengths at which self-attention takes as long as recurrence, one for each timed width."""
    crossings = []
    for d in sorted({*plan.timed_crossings, plan.width}):
        lengths = plan.lengths if d == plan.width else plan.crossing_lengths
        sweep = [Sizes(n=n, d=d, k=plan.kernels[0], r=plan.window) for n in lengths]
        attention = [findings.seconds["self-attention", sizes].median for sizes in sweep]
        recurrence = [findings.seconds["recurrent", sizes].median for sizes in sweep]
        crossings.append(
            TimedCrossing(
                d=d,
                lengths=lengths,
                ratios=tuple(
                    attention_s / recurrence_s for attention_s, recurrence_s in zip(attention, recurrence, strict=True)
                ),
                measured=meeting(lengths, attention, recurrence),
            )
        )
    return tuple(crossings)


def graph_sizes(layer: Layer, findings: Findings) -> tuple[Sizes, ...]:
    """The sizes at which a layer's dependencies were measured, by rising n."""
    return tuple(sorted((sizes for name, sizes in findings.graphs if name == layer.name), key=lambda sizes: sizes.n))


def units(layer: Layer, findings: Findings) -> tuple[float, float, str]:
    """The fewest and the most operations counted per unit of the formula, and the range as text."""
    counted: list[float] = [
        operations.mixing / layer.operations(sizes)
        for (name, sizes), operations in findings.operations.items()
        if name == layer.name
    ]
    low, high = min(counted), max(counted)
    return low, high, f"{low:g}" if high / low < EXACT else f"{low:.2f} to {high:.2f}"


def graphs_of(layer: Layer, findings: Findings) -> list[GraphAt]:
    """The measurements of a layer's dependencies, by rising n."""
    return [findings.graphs[layer.name, sizes] for sizes in graph_sizes(layer, findings)]


def _with_projections(layer: Layer) -> Callable[[Sizes], float]:
    """Returns the formula of a sub-layer's cost with its projections, at two operations per term of a product."""
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
    """Fits the exponent over some sizes; an empty list for fewer than two."""
    if len(sizes) < 2:
        return []
    xs = [getattr(point, variable) for point in sizes]
    return [
        Exponent(
            layer=label,
            variable=variable,
            expected=None if formula is None else power_law(xs, [formula(point) for point in sizes]).slope,
            found=power_law(xs, values),
            last=power_law(xs[-2:], values[-2:]).slope,
        )
    ]


def _power_of_n(power: int, sizes: Sizes) -> float:
    return float(sizes.n**power)


def _spread(medians: Sequence[float]) -> Spread:
    return Spread(median=statistics.median(medians), low=min(medians), high=max(medians))

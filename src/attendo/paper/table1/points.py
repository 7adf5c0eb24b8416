"""The sizes that are measured for Table 1 at each scale, and the kinds of measurements, each kept in its own file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from attendo.model.config import EncoderLayerType
from attendo.paper.declared import declared
from attendo.paper.experiment import Scale
from attendo.paper.table1.layers import Crossing, Layer, Operations, Sizes
from attendo.paper.table1.paths import Chain

GRAPH_WIDTH = 8
"""d in measurements of dependencies, which do not depend on it."""
GRAPH_WINDOW = 9
"""r in measurements of dependencies: four positions to either side."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The sizes that are measured at a scale."""

    lengths: tuple[int, ...]
    """Values of n for times, at `width`."""
    width: int
    """The value of d where it does not vary."""
    widths: tuple[int, ...]
    """Values of d, at `length`."""
    length: int
    """The value of n where d or k varies."""
    kernels: tuple[int, ...]
    """Values of k, at `length` and `width`; the first one is used everywhere else."""
    windows: tuple[int, ...]
    """Values of r, at the longest length and `width`."""
    window: int
    """The value of r everywhere else."""
    counted_lengths: tuple[int, ...]
    """Values of n for which operations are counted."""
    graph_lengths: tuple[int, ...]
    """Values of n for which sequential steps and joining layers are counted."""
    way_lengths: tuple[int, ...]
    """Values of n for which the operations on the path between the ends are counted too."""
    counted_crossings: tuple[int, ...]
    """Values of d for which the operations of self-attention and recurrence are compared."""
    timed_crossings: tuple[int, ...]
    """Values of d, besides `width`, for which their times are compared, at `crossing_lengths`."""
    crossing_lengths: tuple[int, ...]
    """Values of n for these comparisons of times."""
    memory_lengths: tuple[int, ...]
    """Values of n for which memory is measured; the profiler is slow for a long recurrence."""
    repeats: int
    """Number of calls of each timed pass in a round, at most."""
    most_s: float
    """Seconds of calls of one pass in a round after which no further call starts."""

    def sweep(self, layer: Layer, variable: str, lengths: Sequence[int]) -> tuple[Sizes, ...]:
        """Returns sizes that differ in one variable only; none if the layer does not depend on it.

        Args:
            layer: the layer type.
            variable: the size to vary: `n`, `d`, `k` or `r`.
            lengths: values of n; r is varied at the last of them.
        """
        k, r = self.kernels[0], self.window
        if variable == "n":
            return tuple(Sizes(n=n, d=self.width, k=k, r=r) for n in lengths)
        if variable == "d":
            return tuple(Sizes(n=self.length, d=d, k=k, r=r) for d in self.widths)
        if variable != layer.variable:
            return ()
        if variable == "k":
            return tuple(Sizes(n=self.length, d=self.width, k=kernel, r=r) for kernel in self.kernels)
        return tuple(Sizes(n=lengths[-1], d=self.width, k=k, r=window) for window in self.windows)


PLANS: dict[Scale, Plan] = declared("table1/plans.toml", "plans", dict[Scale, Plan])


@dataclass(frozen=True, kw_only=True)
class OperationsAt:
    """The counted operations of a layer at one size."""

    layer: EncoderLayerType
    sizes: Sizes
    operations: Operations
    kind: Literal["operations"] = "operations"


@dataclass(frozen=True, kw_only=True)
class CrossingAt:
    """The length at which self-attention's counted operations overtake recurrence's, at one width."""

    crossing: Crossing
    kind: Literal["crossing"] = "crossing"


@dataclass(frozen=True, kw_only=True)
class GraphAt:
    """The dependencies of a layer, and of the lowest stacks that join positions, at one size."""

    layer: EncoderLayerType
    sizes: Sizes
    chain: Chain
    """The longest chains of one layer."""
    from_the_middle: int | None
    """Number of layers that let both ends depend on the input in the middle; None if even 2 n are not enough."""
    from_end_to_end: int | None
    """Number of layers that let each end depend on the input at the other end; None if even 2 n are not enough."""
    on_the_way: int | None
    """Fewest operations from the first input to the last output of the latter stack; None if they were not counted."""
    kind: Literal["graph"] = "graph"


@dataclass(frozen=True, kw_only=True)
class Place:
    """The machine, device and software of a measurement."""

    machine: str
    device: str
    versions: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class BytesAt:
    """The peak memory of a layer's forward and backward pass at one size."""

    layer: EncoderLayerType
    sizes: Sizes
    peak: int
    """Peak memory in bytes."""
    place: Place
    kind: Literal["bytes"] = "bytes"


@dataclass(frozen=True, kw_only=True)
class SecondsAt:
    """The times of a layer's forward and backward passes in one round."""

    layer: EncoderLayerType
    sizes: Sizes
    round: int
    """Number of the round, from 1."""
    seconds: tuple[float, ...]
    place: Place
    kind: Literal["seconds"] = "seconds"


Measurement = OperationsAt | CrossingAt | GraphAt | BytesAt | SecondsAt
KEPT: TypeAdapter[Measurement] = TypeAdapter(Annotated[Measurement, Field(discriminator="kind")])
"""Type of the content of a measurement's file."""

"""What is measured for Table 1 at each scale, and the folder that keeps each measurement."""

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
"""d where dependencies are looked for: they do not depend on it."""
GRAPH_WINDOW = 9
"""r there: four positions to either side."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The sizes of a scale."""

    lengths: tuple[int, ...]
    """n of what is timed and whose memory is measured, at `width`."""
    width: int
    widths: tuple[int, ...]
    """d, at `length`."""
    length: int
    kernels: tuple[int, ...]
    """k, at `length` and `width`; the first one everywhere else."""
    windows: tuple[int, ...]
    """r, at the longest length and `width`."""
    window: int
    """r everywhere else."""
    counted_lengths: tuple[int, ...]
    """n for which operations are counted."""
    graph_lengths: tuple[int, ...]
    """n for which steps and layers are found."""
    way_lengths: tuple[int, ...]
    """n for which the operations on the way are counted too."""
    counted_crossings: tuple[int, ...]
    """d for which self-attention's and recurrence's operations are compared."""
    timed_crossings: tuple[int, ...]
    """d for which their times are compared, at `crossing_lengths`, beside `width`."""
    crossing_lengths: tuple[int, ...]
    memory_lengths: tuple[int, ...]
    """n whose memory is measured; the profiler is slow in a long recurrence."""
    repeats: int
    """Of each passage in a round."""
    most_s: float
    """Seconds of a passage's repeats in a round after which no other begins."""

    def sweep(self, layer: Layer, variable: str, lengths: Sequence[int]) -> tuple[Sizes, ...]:
        """Sizes that differ in one of them: `n`, `d`, or the layer's `k` or `r`.

        Args:
            layer: the type.
            variable: which one.
            lengths: for `n`.
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
    """Operations of a layer."""

    layer: EncoderLayerType
    sizes: Sizes
    operations: Operations
    kind: Literal["operations"] = "operations"


@dataclass(frozen=True, kw_only=True)
class CrossingAt:
    """Where self-attention overtakes recurrence, by counting."""

    crossing: Crossing
    kind: Literal["crossing"] = "crossing"


@dataclass(frozen=True, kw_only=True)
class GraphAt:
    """Dependencies of a layer, and of the stack that joins positions."""

    layer: EncoderLayerType
    sizes: Sizes
    chain: Chain
    """Of one layer."""
    from_the_middle: int | None
    """Layers in which the outputs at both ends know of the middle of the input."""
    from_end_to_end: int | None
    """Layers in which the outputs at both ends know of the input at the other end."""
    on_the_way: int | None
    """The fewest operations from the first input to the last output of these; None where they were not looked for."""
    kind: Literal["graph"] = "graph"


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where something was measured, and with what."""

    machine: str
    device: str
    versions: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class BytesAt:
    """The most memory that a layer's passage forward and back holds at a time."""

    layer: EncoderLayerType
    sizes: Sizes
    peak: int
    """Bytes."""
    place: Place
    kind: Literal["bytes"] = "bytes"


@dataclass(frozen=True, kw_only=True)
class SecondsAt:
    """How long a layer's passages forward and back took in a round."""

    layer: EncoderLayerType
    sizes: Sizes
    round: int
    """From 1 on."""
    seconds: tuple[float, ...]
    place: Place
    kind: Literal["seconds"] = "seconds"


Measurement = OperationsAt | CrossingAt | GraphAt | BytesAt | SecondsAt
KEPT: TypeAdapter[Measurement] = TypeAdapter(Annotated[Measurement, Field(discriminator="kind")])
"""What the file of a measurement holds."""

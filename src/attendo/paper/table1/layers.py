"""The six layer types of Table 1: what the paper says of each, its operations, its time and its memory here."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from attendo.model.config import EncoderLayerType, ModelConfig
from attendo.model.mixing.layer_types import mixing_sub_layer

# --- the layers -------------------------------------------------------------------------------------------------------

D_K = 64
"""Width of a head, the base model's: h grows with d."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What the cost of a layer depends on, by Table 1's names."""

    n: int
    """Positions."""
    d: int
    """Width of a position."""
    k: int
    """Positions that a convolution sees."""
    r: int
    """Positions that restricted self-attention sees."""

    def to_text(self) -> str:
        """For names of files."""
        return f"n{self.n}-d{self.d}-k{self.k}-r{self.r}"


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A row of the table."""

    name: EncoderLayerType
    """A recipe's `model.encoder_layer`."""
    work: str
    """Operations a layer, as the paper has them."""
    steps: str
    """Sequential steps, as the paper has them."""
    path: str
    """The longest path, as the paper has it."""
    operations: Callable[[Sizes], float]
    """What the paper's formula of the work comes to, without its constant."""
    reach: Callable[[Sizes, int], int]
    """How many positions to either side so many layers see, by the geometry of one layer."""
    variable: str = ""
    """`k` or `r`, where the work depends on one."""
    leaves_out_projections: bool = False
    """Whether the paper's formula leaves out the matrices W_Q, W_K, W_V and W_O that the layer has."""


LAYERS = (
    Layer(
        name="self-attention",
        work="n² d",
        steps="1",
        path="1",
        operations=lambda s: s.n**2 * s.d,
        reach=lambda s, count: s.n,
        leaves_out_projections=True,
    ),
    Layer(
        name="recurrent",
        work="n d²",
        steps="n",
        path="n",
        operations=lambda s: s.n * s.d**2,
        reach=lambda s, count: s.n,
    ),
    Layer(
        name="convolutional",
        work="k n d²",
        steps="1",
        path="n / k",
        operations=lambda s: s.k * s.n * s.d**2,
        reach=lambda s, count: count * (s.k // 2),
        variable="k",
    ),
    Layer(
        name="dilated-convolutional",
        work="k n d²",
        steps="1",
        path="log_k n",
        operations=lambda s: s.k * s.n * s.d**2,
        reach=lambda s, count: s.k // 2 * sum(s.k**index for index in range(count)),
        variable="k",
    ),
    Layer(
        name="separable-convolutional",
        work="k n d + n d²",
        steps="1",
        path="as convolutional",
        operations=lambda s: s.k * s.n * s.d + s.n * s.d**2,
        reach=lambda s, count: count * (s.k // 2),
        variable="k",
    ),
    Layer(
        name="restricted-self-attention",
        work="r n d",
        steps="1",
        path="n / r",
        operations=lambda s: s.r * s.n * s.d,
        reach=lambda s, count: count * ((s.r - 1) // 2),
        variable="r",
        leaves_out_projections=True,
    ),
)
BY_NAME = {layer.name: layer for layer in LAYERS}


def num_heads(d: int) -> int:
    """Heads of an attention of width d, as many as the base model has for its width."""
    return max(1, d // D_K)


def sub_layer(name: EncoderLayerType, sizes: Sizes, index: int = 0) -> nn.Module:
    """The part of an encoder layer that mixes positions, with weights that are the same each time.

    Args:
        name: of the layer type.
        sizes: its d, k and r; the dilation grows with `index` alone.
        index: of the layer in its stack, 0 the lowest.

    Returns:
        What takes `hidden`, `(batch, n, d)`, and a mask or None, and gives `(batch, n, d)`.
    """
    config = ModelConfig(
        d_model=sizes.d,
        num_heads=num_heads(sizes.d),
        encoder_layer=name,
        kernel_size=sizes.k,
        window=sizes.r,
        num_layers=1,
        dropout=0.0,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(index)
        return mixing_sub_layer(config, index)


def layers_that_reach(layer: Layer, sizes: Sizes, distance: int) -> int:
    """The fewest layers that see so far to either side, by the geometry of one layer.

    Args:
        layer: the type.
        sizes: its own.
        distance: in positions.
    """
    count = 1
    while layer.reach(sizes, count) < distance:
        count += 1
    return count


def stacked(layer: Layer, sizes: Sizes, index: int) -> nn.Module:
    """A layer of a stack of any height.

    Dilations grow until a position in the middle sees the whole sequence, and start anew then, as in the models that
    have such layers: a dilation beyond the sequence sees padding alone.

    Args:
        layer: the type.
        sizes: of layer and sequence.
        index: of the layer, 0 the lowest.
    """
    return sub_layer(layer.name, sizes, index % layers_that_reach(layer, sizes, sizes.n // 2))


# --- operations -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Operations:
    """Additions and multiplications of a layer's matrix products and convolutions, forward, for one sequence."""

    mixing: int
    """Those that the paper's formula is about."""
    projections: int
    """Those of W_Q, W_K, W_V and W_O, which it leaves out; 0 in layers without them."""

    @property
    def total(self) -> int:
        """All of the sub-layer."""
        return self.mixing + self.projections


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """The shortest sequences for which self-attention makes no fewer operations than recurrence."""

    d: int
    alone: int
    """Positions, where the projections of self-attention are left out as in the paper."""
    with_projections: int
    """Positions, where they are counted."""


def count_operations(name: EncoderLayerType, sizes: Sizes) -> Operations:
    """Counts a layer's operations. They are not made: tensors without content pass through the real layer.

    A recurrence alone is really run, on the processor, where torch makes it step by step, each with a product that is
    counted; without content its steps would be the same, and take many times as long.

    Args:
        name: of the layer type.
        sizes: of layer and sequence.
    """
    with torch.no_grad(), torch.device("cpu" if name == "recurrent" else "meta"):
        layer = sub_layer(name, sizes)
        hidden = torch.zeros(1, sizes.n, sizes.d)
        total, linear = counted(layer, lambda: layer(hidden, None))
    projections = linear if BY_NAME[name].leaves_out_projections else 0
    return Operations(mixing=total - projections, projections=projections)


def counted(module: nn.Module, call: Callable[[], object]) -> tuple[int, int]:
    """Operations of a call, and those of them that the `nn.Linear` of a module make.

    torch counts its matrix products and convolutions. A kernel for a whole recurrence, as graphics cards have one, and
    that of the processor for attention would go uncounted: call it where there are none.

    Args:
        module: whose linear layers they are.
        call: what calls it.
    """
    with FlopCounterMode(display=False) as counter:
        call()
    counts, root = counter.get_flop_counts(), type(module).__name__
    names = [name for name, part in module.named_modules() if isinstance(part, nn.Linear)]
    linear = sum(sum(counts.get(f"{root}.{name}", {}).values()) for name in names)
    return counter.get_total_flops(), linear


def find_crossing(d: int) -> Crossing:
    """Finds by counting where self-attention of width d makes as many operations as recurrence or more.

    Args:
        d: the width of both.
    """

    def overtakes(n: int, *, with_projections: bool) -> bool:
        sizes = Sizes(n=n, d=d, k=3, r=3)
        attention, recurrence = count_operations("self-attention", sizes), count_operations("recurrent", sizes)
        return (attention.total if with_projections else attention.mixing) >= recurrence.mixing

    return Crossing(
        d=d,
        alone=first_true(lambda n: overtakes(n, with_projections=False)),
        with_projections=first_true(lambda n: overtakes(n, with_projections=True)),
    )


def first_true(holds: Callable[[int], bool]) -> int:
    """The smallest number from 1 on of which something holds that, once it does, holds of all larger ones."""
    low, high = 0, 1
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


# --- seconds and bytes ------------------------------------------------------------------------------------------------

DILATED_INDEX = 2
"""Of the dilated layer that is measured: its taps are k² positions apart. Dilation does not change the work."""


def time_passes(call: Callable[[], None], device: torch.device, *, repeats: int, most_s: float) -> tuple[float, ...]:
    """Seconds that each of some calls takes, after one that is not counted.

    On a processor they are seconds that it worked for the calling thread, the only one: a clock's where nothing else
    is running, and hardly more where something is.

    Args:
        call: what to measure.
        device: that works on it.
        repeats: how often.
        most_s: seconds after which no other begins; two are made in any case.
    """
    seconds: list[float] = []
    clock = time.thread_time if device.type == "cpu" else time.perf_counter
    _wait_for(device, call)
    while len(seconds) < repeats and (len(seconds) < 2 or sum(seconds) < most_s):
        started = clock()
        _wait_for(device, call)
        seconds.append(clock() - started)
    return tuple(seconds)


def passage(name: EncoderLayerType, sizes: Sizes, device: torch.device) -> Callable[[], None]:
    """A layer's passage forward and back, with the gradients of its input and of its weights.

    Args:
        name: of the layer type.
        sizes: of layer and sequence; one sequence, without padding.
        device: where.
    """
    layer = sub_layer(name, sizes, DILATED_INDEX if name == "dilated-convolutional" else 0).to(device)
    generator = torch.Generator().manual_seed(sizes.n)
    hidden = torch.randn(1, sizes.n, sizes.d, generator=generator).to(device).requires_grad_()
    towards = torch.randn(1, sizes.n, sizes.d, generator=generator).to(device)

    def call() -> None:
        output: Tensor = layer(hidden, None)
        torch.autograd.backward(output, towards)
        _forget(layer, hidden)

    return call


def peak_bytes(call: Callable[[], None], device: torch.device) -> int:
    """The most bytes that a call holds at a time, above what was held before.

    On a processor torch's profiler tells of every piece that torch's allocator gives and takes back, within operations
    too; what oneDNN and MKL take for themselves it does not see. On a graphics card the allocator keeps count.

    Args:
        call: what to measure; called twice, since the first call of a size also sets up what stays.
        device: that works on it.
    """
    _wait_for(device, call)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        _wait_for(device, call)
        return torch.cuda.max_memory_allocated(device) - before
    with _quiet_profiler(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        call()
    assert profiler.profiler is not None
    assert profiler.profiler.kineto_results is not None
    events = [event for event in profiler.profiler.kineto_results.events() if event.name() == "[memory]"]
    held = most = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        held += event.nbytes()
        most = max(most, held)
    return most


@contextmanager
def _quiet_profiler() -> Iterator[None]:
    """Has the profiler's library keep its notes to itself; it reads this when it is first used."""
    name = "KINETO_LOG_LEVEL"
    before = os.environ.get(name)
    os.environ[name] = before or "99"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]


def _forget(layer: nn.Module, hidden: Tensor) -> None:
    """Gives the gradients back, so that the next passage makes its own."""
    layer.zero_grad(set_to_none=True)
    hidden.grad = None


def _wait_for(device: torch.device, call: Callable[[], None]) -> None:
    call()
    if device.type == "cuda":
        torch.cuda.synchronize(device)

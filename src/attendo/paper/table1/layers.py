"""The six layer types of Table 1: the paper's formulas, and their measured operations, time and memory."""

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
"""Width of a head, that of the base model; the number of heads grows with d."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The sizes that the cost of a layer depends on, by Table 1's names."""

    n: int
    """Number of positions."""
    d: int
    """Width of a position."""
    k: int
    """Number of positions that a convolution sees."""
    r: int
    """Number of positions that restricted self-attention sees."""

    def to_text(self) -> str:
        """Returns the sizes as a part of file names, such as `n8-d16-k3-r9`."""
        return f"n{self.n}-d{self.d}-k{self.k}-r{self.r}"


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A row of Table 1."""

    name: EncoderLayerType
    """Value of a recipe's `model.encoder_layer`."""
    work: str
    """The paper's formula for the operations of a layer."""
    steps: str
    """The paper's formula for the number of sequential operations."""
    path: str
    """The paper's formula for the longest path."""
    operations: Callable[[Sizes], float]
    """Value of the paper's formula for the operations, without its constant factor."""
    reach: Callable[[Sizes, int], int]
    """Positions that a stack with a given number of layers sees to either side, from the geometry of one layer."""
    variable: str = ""
    """`k` or `r` if the operations depend on it, else empty."""
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
    """The number of heads of an attention of width d, in the base model's proportion."""
    return max(1, d // D_K)


def sub_layer(name: EncoderLayerType, sizes: Sizes, index: int = 0) -> nn.Module:
    """Returns the part of an encoder layer that mixes positions, with weights seeded by its index.

    Args:
        name: name of the layer type.
        sizes: sizes of which d, k and r matter; the dilation depends on k and `index`.
        index: index of the layer in its stack, 0 for the lowest.

    Returns:
        A module that maps `hidden`, `(batch, n, d)`, and a mask or None to `(batch, n, d)`.
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
    """Returns the smallest number of layers that see a distance to either side, from the geometry of one layer.

    Args:
        layer: the layer type.
        sizes: sizes of the layer.
        distance: distance in positions.
    """
    count = 1
    while layer.reach(sizes, count) < distance:
        count += 1
    return count


def stacked(layer: Layer, sizes: Sizes, index: int) -> nn.Module:
    """Returns a layer of a stack of any height.

    Dilations grow until a position in the middle sees the whole sequence, and then start again, as in models with such
    layers: a dilation longer than the sequence would see only padding.

    Args:
        layer: the layer type.
        sizes: sizes of layer and sequence.
        index: index of the layer in the stack, 0 for the lowest.
    """
    return sub_layer(layer.name, sizes, index % layers_that_reach(layer, sizes, sizes.n // 2))


# --- operations -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Operations:
    """Additions and multiplications of a layer's matrix products and convolutions, forward, for one sequence."""

    mixing: int
    """Operations that the paper's formula counts."""
    projections: int
    """Operations of W_Q, W_K, W_V and W_O, which the formula leaves out; 0 in layers without them."""

    @property
    def total(self) -> int:
        """All operations of the sub-layer."""
        return self.mixing + self.projections


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """The shortest sequences for which self-attention needs at least as many operations as recurrence."""

    d: int
    alone: int
    """Length in positions, without the projections of self-attention, as in the paper."""
    with_projections: int
    """Length in positions, with the projections counted."""


def count_operations(name: EncoderLayerType, sizes: Sizes) -> Operations:
    """Counts a layer's operations by passing meta tensors, which hold no data, through the real layer.

    Only a recurrence is really computed, on the processor, where torch runs it step by step, each step with products
    that are counted; on meta tensors it would take the same steps, and many times as long.

    Args:
        name: name of the layer type.
        sizes: sizes of layer and sequence.
    """
    with torch.no_grad(), torch.device("cpu" if name == "recurrent" else "meta"):
        layer = sub_layer(name, sizes)
        hidden = torch.zeros(1, sizes.n, sizes.d)
        total, linear = counted(layer, lambda: layer(hidden, None))
    projections = linear if BY_NAME[name].leaves_out_projections else 0
    return Operations(mixing=total - projections, projections=projections)


def counted(module: nn.Module, call: Callable[[], object]) -> tuple[int, int]:
    """Returns the number of operations of a call, and how many of them the `nn.Linear` layers of a module make.

    torch counts matrix products and convolutions. It does not count the fused kernels of a graphics card for a whole
    recurrence or of the processor for attention: use a device or call that does not run them.

    Args:
        module: module with the linear layers.
        call: calls the module.
    """
    with FlopCounterMode(display=False) as counter:
        call()
    counts, root = counter.get_flop_counts(), type(module).__name__
    names = [name for name, part in module.named_modules() if isinstance(part, nn.Linear)]
    linear = sum(sum(counts.get(f"{root}.{name}", {}).values()) for name in names)
    return counter.get_total_flops(), linear


def find_crossing(d: int) -> Crossing:
    """Finds, by counting, the lengths from which on self-attention needs at least as many operations as recurrence.

    Args:
        d: width of both layers.
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
    """Returns the smallest number from 1 on for which a monotone condition holds: once true, it stays true."""
    low, high = 0, 1
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


# --- seconds and bytes ------------------------------------------------------------------------------------------------

DILATED_INDEX = 2
"""Index of the dilated layer that is measured; its taps are k² positions apart. Dilation does not change the work."""


def time_passes(call: Callable[[], None], device: torch.device, *, repeats: int, most_s: float) -> tuple[float, ...]:
    """Measures the seconds of repeated calls, after a warm-up call.

    On a processor they are the processor time of the calling thread, which has to be the only one; other programs on
    the machine hardly affect it.

    Args:
        call: the call to measure.
        device: device that does the work.
        repeats: number of calls at most.
        most_s: total seconds after which no further call starts; at least two calls are made.
    """
    seconds: list[float] = []
    clock = time.thread_time if device.type == "cpu" else time.perf_counter
    _call_and_wait(device, call)
    while len(seconds) < repeats and (len(seconds) < 2 or sum(seconds) < most_s):
        started = clock()
        _call_and_wait(device, call)
        seconds.append(clock() - started)
    return tuple(seconds)


def passage(name: EncoderLayerType, sizes: Sizes, device: torch.device) -> Callable[[], None]:
    """Returns a call that runs a layer forward and backward, with the gradients of its input and weights.

    Args:
        name: name of the layer type.
        sizes: sizes of the layer and of its input, one sequence without padding.
        device: device of the layer and its input.
    """
    layer = sub_layer(name, sizes, DILATED_INDEX if name == "dilated-convolutional" else 0).to(device)
    generator = torch.Generator().manual_seed(sizes.n)
    hidden = torch.randn(1, sizes.n, sizes.d, generator=generator).to(device).requires_grad_()
    towards = torch.randn(1, sizes.n, sizes.d, generator=generator).to(device)

    def call() -> None:
        output: Tensor = layer(hidden, None)
        torch.autograd.backward(output, towards)
        _drop_gradients(layer, hidden)

    return call


def peak_bytes(call: Callable[[], None], device: torch.device) -> int:
    """Measures the peak memory of a call, in bytes above what was allocated before.

    On a processor torch's profiler reports every allocation and release of torch's allocator, including those within
    operations, but not the memory that oneDNN and MKL allocate themselves. On a graphics card the allocator keeps
    count.

    Args:
        call: the call to measure; it is made twice, since the first call of a size also allocates what stays.
        device: device that does the work.
    """
    _call_and_wait(device, call)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        _call_and_wait(device, call)
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
    """Silences the log of the profiler's library, which reads its log level when it is first used."""
    name = "KINETO_LOG_LEVEL"
    before = os.environ.get(name)
    os.environ[name] = before or "99"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]


def _drop_gradients(layer: nn.Module, hidden: Tensor) -> None:
    """Frees the gradients, so that the next pass allocates its own."""
    layer.zero_grad(set_to_none=True)
    hidden.grad = None


def _call_and_wait(device: torch.device, call: Callable[[], None]) -> None:
    call()
    if device.type == "cuda":
        torch.cuda.synchronize(device)

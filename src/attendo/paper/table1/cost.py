"""What a layer's passage forward and back takes on this machine: seconds, and bytes at the most."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.profiler import ProfilerActivity, profile

from attendo.model.config import EncoderLayerType
from attendo.paper.table1.layers import Sizes, sub_layer

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

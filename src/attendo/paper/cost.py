"""Table 2's cost of a training: its time by its GPUs by what each sustains, and the FLOPs that its products have."""

import time
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from attendo.bench.systems import torch_threads
from attendo.errors import RecipeError
from attendo.model.products import fast_float32_products
from attendo.paper.declared import declared

DAY_S = 86_400.0

PAPER_TFLOPS: Mapping[str, float] = {"K80": 2.8, "K40": 3.7, "M40": 6.0, "P100": 9.5}
"""What the paper takes a GPU to sustain in single precision (footnote to Section 6.1)."""

SUSTAINED_SHARE = 0.35
"""Of a data sheet's figure that a training of the Transformer is taken to sustain: an assumption, no measurement."""

_SIDE = 1024
_WINDOWS = 5


@dataclass(frozen=True, kw_only=True)
class Clocked:
    """One of the paper's GPUs, by its cores and clocks: what its peak in single precision comes to."""

    name: str
    cores: int
    base_mhz: int
    boost_mhz: int
    note: str = ""

    def peak_tflops(self, mhz: int) -> float:
        """Two operations, an addition and a multiplication, a core and cycle; in 1e12 a second."""
        return 2 * self.cores * mhz / 1e6


PAPER_GPUS: tuple[Clocked, ...] = declared("gpus.toml", "paper", tuple[Clocked, ...])
"""Cores and clocks are the vendor's."""


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """A GPU of today with its vendor's own figures, in TFLOPS, sparsity left out."""

    name: str
    float32: float
    """Without tensor cores."""
    half: float
    """Of the tensor cores, dense, summed up in float32."""
    half_dtype: str
    """What these multiply: `bfloat16`, or `float16` where there is no other."""
    source: str
    """What the figures stand in."""

    @property
    def sustained(self) -> float:
        """TFLOPS that a training is taken to sustain."""
        return SUSTAINED_SHARE * self.half


TODAYS_GPUS: tuple[Gpu, ...] = declared("gpus.toml", "today", tuple[Gpu, ...])


@dataclass(frozen=True, kw_only=True)
class Sustained:
    """What a device is taken to sustain, and why."""

    flops: float
    """A second."""
    what: str
    """For people: `P100, the paper's 9.5 TFLOPS`, or what was measured."""


def training_cost(seconds: float, devices: int, sustained_flops: float) -> float:
    """The paper's estimate of the FLOPs of a training (Section 6.1): time, by GPUs, by what one of them sustains.

    Args:
        seconds: of training.
        devices: that trained side by side.
        sustained_flops: a second, of one of them.
    """
    return seconds * devices * sustained_flops


def gpu_days(cost: float, gpu: str) -> float:
    """The days on one of the paper's GPUs that a printed cost comes to: the estimate, the other way round."""
    return cost / (PAPER_TFLOPS[gpu] * 1e12 * DAY_S)


def named_gpu(name: str) -> Sustained:
    """What a GPU of either list is taken to sustain.

    Raises:
        RecipeError: it is on neither list.
    """
    for known, tflops in PAPER_TFLOPS.items():
        if known.lower() == name.lower():
            return Sustained(flops=tflops * 1e12, what=f"{known}: the paper's {tflops} TFLOPS")
    for gpu in TODAYS_GPUS:
        if gpu.name.lower() == name.lower():
            return Sustained(
                flops=gpu.sustained * 1e12,
                what=f"{gpu.name}: {SUSTAINED_SHARE:.0%} assumed of {gpu.half:g} TFLOPS in {gpu.half_dtype}",
            )
    known_names = ", ".join([*PAPER_TFLOPS, *(gpu.name for gpu in TODAYS_GPUS)])
    raise RecipeError(f"{name}: what this GPU sustains is not known; take one of {known_names}")


def measured_flops(dtype: torch.dtype, device: torch.device, threads: int, *, window_s: float = 0.2) -> float:
    """Additions and multiplications a second of a product of two 1024 x 1024 matrices: what this device can sustain.

    The best of a few windows, by the processor's own time: whatever else the machine does takes away, and nothing adds.

    Args:
        dtype: of both matrices.
        device: where they are.
        threads: of the processor, while it is measured.
        window_s: seconds of each window.
    """
    left, right = (torch.ones(_SIDE, _SIDE, dtype=dtype, device=device) for _ in range(2))
    best = 0.0
    with torch_threads(threads), fast_float32_products(device):
        torch.mm(left, right)
        for _ in range(_WINDOWS):
            products, started = 0, _clock(device, threads)
            while _clock(device, threads) - started < window_s:
                torch.mm(left, right)
                products += 1
            best = max(best, products * 2.0 * _SIDE**3 / (_clock(device, threads) - started))
    return best


def _clock(device: torch.device, threads: int) -> float:
    """Seconds that the device has worked for this process: of a processor, not those in which it did other work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        return time.perf_counter()
    return time.process_time() / threads

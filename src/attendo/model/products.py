"""Matrix products in float32 at the speed the processor has.

On AMD processors torch's default library (MKL) leaves half of the speed unused, and oneDNN, which torch also carries,
does not. Torch reaches oneDNN's float32 kernels through a setting whose name speaks of bfloat16: on a processor without
matrix units for it oneDNN still computes in float32. Whether it does is measured before it is believed.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch

LARGEST_ERROR = 1e-5
"""Relative to the largest entry of a product of known matrices; bfloat16 products are at about 3e-3."""


@contextmanager
def fast_float32_products(device: torch.device) -> Iterator[bool]:
    """Within the block, float32 products on a CPU run through oneDNN if it is as exact as float32 should be.

    Args:
        device: the device of the products; nothing changes unless it is a CPU.

    Yields:
        Whether oneDNN is used. The setting is torch's own and global; it is restored at the end.
    """
    use = device.type == "cpu" and is_exact()
    previous = _setting().fp32_precision
    if use:
        _setting().fp32_precision = "bf16"
    try:
        yield use
    finally:
        _setting().fp32_precision = previous


@cache
def is_exact() -> bool:
    """Whether oneDNN's product of known matrices is float32's, here and now."""
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]  # torch leaves it untyped
        return False
    generator = torch.Generator().manual_seed(1)
    left, right = (torch.randn(256, 256, generator=generator) for _ in range(2))
    exact = left.double() @ right.double()
    previous = _setting().fp32_precision
    _setting().fp32_precision = "bf16"
    try:
        error = ((left @ right).double() - exact).abs().max() / exact.abs().max()
    finally:
        _setting().fp32_precision = previous
    return float(error) < LARGEST_ERROR


def _setting() -> Any:
    return torch.backends.mkldnn.matmul  # type: ignore[attr-defined]  # torch makes the attribute at run time

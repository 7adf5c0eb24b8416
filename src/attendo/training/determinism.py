"""Reproducible operations on a GPU, where by default operations may add numbers in any order."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def same_bits(device: torch.device, wanted: bool) -> Iterator[None]:
    """Within the block a GPU uses only bitwise reproducible operations; torch refuses any other.

    Args:
        device: the device of the model; CPUs are always reproducible.
        wanted: `TrainingConfig.deterministic`.
    """
    if not wanted or device.type != "cuda":
        yield
        return
    # cuBLAS reads it with the first product; without it, torch refuses products.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)

"""Facts about this machine from torch, for `attendo info`."""

from dataclasses import dataclass

import torch

from attendo.model.products import is_exact


@dataclass(frozen=True, kw_only=True)
class TorchFacts:
    """This machine's properties as reported by torch."""

    threads: int
    gpus: tuple[str, ...]
    fast_float32: bool
    """Whether float32 products run through oneDNN (`model.products`)."""


def torch_facts() -> TorchFacts:
    """Reads the properties from torch."""
    return TorchFacts(
        threads=torch.get_num_threads(),
        gpus=tuple(torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())),
        fast_float32=is_exact(),
    )

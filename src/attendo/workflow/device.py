"""Where to work: the device that a setting means on this machine."""

import torch

from attendo.errors import AttendoError

DEVICES = ("auto", "cpu", "cuda")
"""The settings that `choose_device` knows."""


def choose_device(name: str, number: int = 0) -> torch.device:
    """The device of a setting: `cpu`, `cuda`, or `auto` for a GPU where there is one.

    Args:
        name: the setting.
        number: which GPU, from 0: of several processes on a machine each has its own.

    Raises:
        AttendoError: the setting is unknown, a GPU is asked for and torch sees none, or not so many.
    """
    if name not in DEVICES:
        raise AttendoError(f"device = {name!r} is unknown; take one of {', '.join(DEVICES)}")
    if name == "cuda" and not torch.cuda.is_available():
        raise AttendoError('device = "cuda", but torch sees no GPU here; take "auto" or "cpu"')
    if name == "cpu" or not torch.cuda.is_available():
        return torch.device("cpu")
    if number >= torch.cuda.device_count():
        raise AttendoError(
            f"process {number + 1} of this machine has no GPU: torch sees {torch.cuda.device_count()} here; take "
            "torchrun --nproc-per-node gpu"
        )
    return torch.device("cuda", number)

"""Where to work: the device that a setting means on this machine."""

import torch

from attendo.errors import AttendoError


def choose_device(name: str) -> torch.device:
    """The device of a setting: `cpu`, `cuda`, or `auto` for a GPU where there is one.

    Raises:
        AttendoError: a GPU is asked for and torch sees none.
    """
    if name == "cuda" and not torch.cuda.is_available():
        raise AttendoError('device = "cuda", but torch sees no GPU here; take "auto" or "cpu"')
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")

"""Resolves the settings of device and threads on this machine."""

import os

import torch

from attendo.errors import AttendoError
from attendo.threads import cores_by_affinity, openmp_advice, usable_cores
from attendo.workflow.machine.devices import check_device


def choose_device(name: str, number: int = 0) -> torch.device:
    """The device of a setting: `cpu`, `cuda`, or `auto` for a GPU if there is one.

    Args:
        name: the setting.
        number: number of the GPU, from 0: each of several processes on a machine has its own.

    Raises:
        AttendoError: the setting is unknown, a GPU is requested and torch sees none, or too few.
    """
    check_device(name)
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


def set_threads(threads: int | None) -> int:
    """Sets torch's number of threads for this process, and returns it.

    Args:
        threads: at least 1; None for torch's default, limited by a container's quota, unless the user has chosen by
            `OMP_NUM_THREADS` or `torch.set_num_threads`.
    """
    chosen = threads
    if chosen is None and "OMP_NUM_THREADS" not in os.environ and torch.get_num_threads() == cores_by_affinity():
        chosen = usable_cores()
    if chosen is not None and chosen != torch.get_num_threads():
        torch.set_num_threads(chosen)
    return torch.get_num_threads()


def waiting_advice(device: torch.device) -> str | None:
    """Returns `threads.openmp_advice` where work is about to begin that it matters for; None elsewhere.

    Args:
        device: the device of torch's work.
    """
    return openmp_advice() if device.type == "cpu" and torch.get_num_threads() > 1 else None

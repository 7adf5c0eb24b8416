"""The device and threads of decoding, determined without torch where possible."""

import ctypes
import os
import sys
from pathlib import Path

from attendo.threads import physical_cores, usable_cores
from attendo.workflow.extras import is_installed, need_packages
from attendo.workflow.machine.devices import check_device


def choose_place(name: str) -> str:
    """The device of a setting, `cpu` or `cuda:0`; torch is used only if there may be a GPU.

    Args:
        name: `cpu`, `cuda`, or `auto` for a GPU if there is one.

    Raises:
        AttendoError: the setting is unknown, or a GPU is requested and there is none, or torch is missing.
    """
    check_device(name)
    if name == "cpu" or (name == "auto" and not may_have_gpu()):
        return "cpu"
    need_packages(["torch"], "train")
    from attendo.workflow.machine.device import choose_device

    return str(choose_device(name))


def may_have_gpu() -> bool:
    """Whether torch might find a GPU: not without torch, nor without a driver."""
    if _is_torch_loaded():
        return True
    if not is_installed("torch") or sys.platform == "darwin":
        return False
    if Path("/dev/kfd").exists():  # AMD's driver
        return True
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True


def choose_threads(threads: int | None) -> int:
    """Chooses the number of threads, and sets torch's if it is loaded already.

    Args:
        threads: at least 1; None for the user's choice by `OMP_NUM_THREADS` or `torch.set_num_threads`, or else one
            thread per core, limited by a container's quota.
    """
    if _is_torch_loaded():
        from attendo.workflow.machine.device import set_threads

        return set_threads(threads)
    if threads is not None:
        return threads
    chosen = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if chosen.isascii() and chosen.isdigit() and int(chosen):
        return int(chosen)
    return min(usable_cores(), physical_cores())


def _is_torch_loaded() -> bool:
    return sys.modules.get("torch") is not None

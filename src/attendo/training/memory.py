"""How a process that trains keeps its memory."""

import ctypes
import os

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4  # of mallopt(3)
_MOST = 2**31 - 1
_STEP_BYTES = 64 << 20


def keep_freed_memory() -> bool:
    """Has this process keep memory that it frees, to use it again, where the system's allocator can be told so (glibc).

    Each update frees what the one before it has asked for: activations and gradients, many of them of tens of MB. Glibc
    gives those back to the system, which clears every page of them before it hands them out anew; for a base model on
    two cores that took a sixth of the time of an update. The process grows to the largest it has ever been, and stays
    there.

    Returns:
        Whether it does from now on.
    """
    if os.name != "posix":
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:
        return False
    settings = ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, _MOST), (_TOP_PAD, _STEP_BYTES))
    return all(mallopt(name, value) == 1 for name, value in settings)

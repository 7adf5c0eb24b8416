"""The memory of a training process: keeping freed memory, and detecting that an update does not fit."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from attendo.training.loader import LoadedUpdate

if sys.platform != "win32":
    import resource

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD, _MMAP_MAX = -1, -2, -3, -4  # of mallopt(3)
_KEEPING = ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, 2**31 - 1), (_TOP_PAD, 64 << 20))
_AT_FIRST = ((_MMAP_MAX, 1 << 16), (_TRIM_THRESHOLD, 1 << 17), (_TOP_PAD, 1 << 17), (_MMAP_THRESHOLD, 1 << 17))
"""The setting at the start of a process."""

_SIGNS = (
    "can't allocate memory",  # torch's allocator for main memory
    "not enough memory",
    "bad allocation",
    "bad_alloc",
    "could not create a primitive",  # oneDNN, for any reason; the products here are plain ones, so it is memory
    "could not execute a primitive",
    "could not create a memory object",
    "failed to allocate",
)


def _is_limited() -> bool:
    if sys.platform == "win32":
        return False
    kinds = (resource.RLIMIT_AS, resource.RLIMIT_DATA)
    return any(resource.getrlimit(kind)[0] != resource.RLIM_INFINITY for kind in kinds)


@contextmanager
def kept_memory() -> Iterator[bool]:
    """Within the block this process keeps freed memory for reuse, if the allocator is glibc's.

    Each update allocates and frees activations and gradients, many of them of tens of MB. Glibc returns these to the
    system, which clears every page before it allocates them again; for a base model on two cores that took a sixth of
    the time of an update. Within the block the process stays at its largest size; after it, glibc behaves as before,
    and free memory is returned.

    If the address space of this process is limited (`ulimit -v`), nothing is changed: kept memory is one block, no part
    of which could be returned to make room for an update in smaller pieces.

    Yields:
        Whether freed memory is kept.
    """
    libc = ctypes.CDLL(None) if os.name == "posix" and not _is_limited() else None
    if not hasattr(libc, "mallopt") or not hasattr(libc, "malloc_trim"):
        yield False
        return
    assert libc is not None
    kept = all(libc.mallopt(name, value) == 1 for name, value in _KEEPING)
    try:
        yield kept
    finally:
        for name, value in _AT_FIRST:
            libc.mallopt(name, value)
        libc.malloc_trim(0)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory ran out, on the device or in main memory."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    # torch has no kind of its own for main memory.
    return isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _SIGNS)


def smaller_pieces(loaded: LoadedUpdate, max_tokens: int | None) -> int | None:
    """The size of pieces to try next: half the size of this update's pieces.

    Args:
        loaded: the update that did not fit.
        max_tokens: the present size of one side of a piece, padded; None if the update was one piece.

    Returns:
        The new size; None if the pieces already have one pair each.
    """
    longest = loaded.longest
    whole = longest * loaded.num_pairs
    present = whole if max_tokens is None else min(max_tokens, whole)
    if present < 2 * longest:
        return None
    return present // 2

"""The memory of a training process: keeping what it frees, and telling that an update does not fit."""

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
    "could not create a primitive",  # oneDNN, whatever the reason; the products here are plain ones, so it is memory
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
    """Within the block this process keeps memory that it frees, to use it again, where the allocator is glibc's.

    Each update frees what the one before it has asked for: activations and gradients, many of them of tens of MB. Glibc
    gives those back to the system, which clears every page of them before it hands them out anew; for a base model on
    two cores that took a sixth of the time of an update. Within the block the process grows to the largest it has been,
    and stays there; behind it, glibc does as at first, and what is free goes back.

    Where this process may have so much address space only (`ulimit -v`), nothing is changed: kept memory is in one
    piece, of which nothing could be given back to make room for an update in smaller pieces.

    Yields:
        Whether it is so.
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
    """Whether an error says that memory ran out, the device's or main memory."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    # torch has no kind of its own for main memory.
    return isinstance(error, RuntimeError) and any(sign in str(error).lower() for sign in _SIGNS)


def smaller_pieces(loaded: LoadedUpdate, max_tokens: int | None) -> int | None:
    """The size of pieces to try next: half of what this update's pieces have had.

    Args:
        loaded: an update that did not fit.
        max_tokens: the size so far, of a piece and a side, padded; None where the update was one piece.

    Returns:
        The new size; None where the pieces have one pair each already.
    """
    longest = loaded.longest
    whole = longest * loaded.num_pairs
    present = whole if max_tokens is None else min(max_tokens, whole)
    if present < 2 * longest:
        return None
    return present // 2

"""Memory that does not hold an update: telling it from other errors, and the size of smaller pieces."""

import torch

from attendo.training.loader import LoadedUpdate

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

"""The k most probable tokens of each row, with ties broken by the lower id, on every device and in any batch."""

import torch
from torch import Tensor

BLOCK = 64
"""Size of a block of neighbouring tokens; the best token of each block decides which blocks are searched."""


def top_k(log_probs: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest values of each row and their positions.

    `torch.topk` does not specify which of two equal values it returns, and bfloat16 logits are often equal. It is also
    slow on a CPU over a vocabulary: here one pass finds the largest value of each block, and only the k best blocks are
    searched. They hold the k best tokens: a token in any other block comes after k block-bests.

    Args:
        log_probs: float32 `(rows, vocab_size)`.
        k: at most `vocab_size`.

    Returns:
        The values, float32 `(rows, k)`, largest first, ties by lower id, and their ids, int64.
    """
    vocab_size = log_probs.shape[1]
    in_blocks = vocab_size - vocab_size % BLOCK
    best = log_probs[:, :in_blocks].reshape(len(log_probs), in_blocks // BLOCK, BLOCK).amax(2)
    if in_blocks < vocab_size:
        best = torch.cat((best, log_probs[:, in_blocks:].amax(1, keepdim=True)), dim=1)
    block_ids = torch.arange(best.shape[1], device=log_probs.device)
    blocks = _order(best, block_ids).topk(min(k, best.shape[1])).indices
    ids = (blocks[:, :, None] * BLOCK + torch.arange(BLOCK, device=log_probs.device)).flatten(1)
    values = log_probs.gather(1, ids.clamp(max=vocab_size - 1)).masked_fill(ids >= vocab_size, -torch.inf)
    ids = ids.gather(1, _order(values, ids).topk(k).indices)
    return log_probs.gather(1, ids), ids


def _order(values: Tensor, ids: Tensor) -> Tensor:
    """Integers that sort like the float32 values, and among equal values by lower id first."""
    bits = values.contiguous().view(torch.int32)
    # IEEE floats order like their bits, except negative ones, whose magnitude has to be inverted.
    ordered = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    return ordered.long() * 2**32 + (2**31 - 1 - ids)

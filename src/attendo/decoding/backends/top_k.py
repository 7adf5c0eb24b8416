"""The k most probable tokens of each row, with ties decided: the lower id first, on every device and in any batch."""

import torch
from torch import Tensor

BLOCK = 64
"""Neighbouring tokens that are looked at together; the best of each decides which blocks are opened."""


def top_k(log_probs: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest values of each row and where they are.

    `torch.topk` leaves open which of two equal values it takes, and bfloat16 logits are often equal. It is also slow on
    a CPU over a vocabulary: here one pass takes the largest of each block, and only the k best blocks are looked into.
    They hold the k best tokens: a token in any other block comes after k block-bests.

    Args:
        log_probs: float32 `(rows, vocab_size)`.
        k: at most `vocab_size`.

    Returns:
        The values, float32 `(rows, k)`, largest first and of equal ones the lower id first, and their ids, int64.
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
    """Whole numbers that are larger for larger float32 values, and of equal values for lower ids."""
    bits = values.contiguous().view(torch.int32)
    # IEEE floats order like their bits, but for negative ones, whose magnitude has to be turned round.
    ordered = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    return ordered.long() * 2**32 + (2**31 - 1 - ids)

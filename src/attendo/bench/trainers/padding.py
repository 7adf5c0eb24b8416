"""Batches in the format of the peers: rows padded at the end to equal length."""

from dataclasses import dataclass

import torch
from torch import Tensor

from attendo.bench.trainers.serving import PairBatch


@dataclass(frozen=True)
class PaddedBatch:
    """A batch with padding."""

    src: Tensor
    """int64 `(batch, src_len)`."""
    tgt_in: Tensor
    """int64 `(batch, tgt_len)`: the start token, then the target without its last token."""
    tgt_out: Tensor
    """int64 `(batch, tgt_len)`: the target with its `</s>`."""
    src_lengths: Tensor
    """int64 `(batch,)`: lengths of the sources, without padding."""
    num_tokens: int
    """Number of target tokens, without padding."""
    src_is_padded: bool


def pad(batch: PairBatch, *, pad_id: int, start_id: int, device: str) -> PaddedBatch:
    """Pads a batch.

    Args:
        batch: the pairs; all ids are below the vocabulary's size, so that ids from there on are free for padding and
            start.
        pad_id: id that follows the tokens in `src`, `tgt_in` and `tgt_out`.
        start_id: id that `tgt_in` begins with.
        device: device of the tensors.
    """
    src = _rows([list(row) for row in batch.source], pad_id)
    tgt_out = _rows([list(row) for row in batch.target], pad_id)
    tgt_in = _rows([[start_id, *row[:-1]] for row in batch.target], pad_id)
    lengths = torch.tensor([len(row) for row in batch.source])
    return PaddedBatch(
        src=src.to(device),
        tgt_in=tgt_in.to(device),
        tgt_out=tgt_out.to(device),
        src_lengths=lengths.to(device),
        num_tokens=batch.num_tokens,
        src_is_padded=bool((lengths < src.shape[1]).any()),
    )


def _rows(rows: list[list[int]], pad_id: int) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[pad_id] * (longest - len(row))] for row in rows])

"""Padding and masks, made only here: a mask is boolean, True where attention is allowed.

There is no padding token: padded positions have id 0 and no real position can see them. The decoder reads its target
shifted right by one after `START`, whose embedding is the zero vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from attendo.model.config import START

Ids = Sequence[int] | npt.NDArray[np.integer]


@dataclass(frozen=True, kw_only=True)
class DistilledTokens:
    """The target tokens of a batch that are learned from another model's probabilities, and the others.

    Tokens are numbered from 0 through all rows, without padding.
    """

    distilled: Tensor
    """int64 `(distilled tokens,)`."""
    others: Tensor
    """int64 `(other tokens,)`."""

    @classmethod
    def of(cls, is_distilled: npt.NDArray[np.bool_]) -> Self:
        """Finds both kinds of tokens of a batch.

        Args:
            is_distilled: `(tokens,)`.
        """
        distilled, others = (torch.from_numpy(np.flatnonzero(chosen)) for chosen in (is_distilled, ~is_distilled))
        return cls(distilled=distilled, others=others)

    def to(self, device: torch.device) -> "DistilledTokens":
        """Moves the numbers to another device."""
        return DistilledTokens(distilled=_sent(self.distilled, device), others=_sent(self.others, device))


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Sentence pairs as tensors."""

    src_ids: Tensor
    """int64 `(batch, src_len)`, each row a sentence with its `</s>`, then padding."""
    src_mask: Tensor | None
    """boolean `(batch, 1, 1, src_len)`, True at tokens; None where no row is padded."""
    tgt_in_ids: Tensor
    """int64 `(batch, tgt_len)`: the start, then the target without its last token."""
    tgt_ids: Tensor
    """int64 `(batch, tgt_len)`: the target with its `</s>`."""
    tgt_mask: Tensor | None
    """boolean `(1, 1, tgt_len, tgt_len)`: each position sees itself and those before; this also hides the padding after
    them. None for a model whose decoder is restricted to a window, which has its own mask."""
    tgt_tokens: Tensor
    """boolean `(batch, tgt_len)`, True at tokens: the places that count in the loss."""
    tgt_places: Tensor
    """int64 `(num_tokens,)`: their positions, counted through all rows; finding them there would mean waiting for a
    GPU."""
    num_tokens: int
    """Target tokens without padding."""
    distilled: DistilledTokens | None = None
    """The tokens learned from another model's probabilities; None if there are none."""

    def to(self, device: torch.device) -> "Batch":
        """Moves the batch to another device."""
        if device == self.src_ids.device:
            return self
        return replace(
            self,
            src_ids=_sent(self.src_ids, device),
            src_mask=None if self.src_mask is None else _sent(self.src_mask, device),
            tgt_in_ids=_sent(self.tgt_in_ids, device),
            tgt_ids=_sent(self.tgt_ids, device),
            tgt_mask=None if self.tgt_mask is None else _sent(self.tgt_mask, device),
            tgt_tokens=_sent(self.tgt_tokens, device),
            tgt_places=_sent(self.tgt_places, device),
            distilled=None if self.distilled is None else self.distilled.to(device),
        )

    def at_tokens(self, values: Tensor) -> Tensor:
        """Selects the entries of `values` `(batch, tgt_len, ...)` at the target's tokens, `(num_tokens, ...)`."""
        return values.flatten(0, 1).index_select(0, self.tgt_places)


def _sent(tensor: Tensor, device: torch.device) -> Tensor:
    """A copy on another device; from pinned memory, so that the copy does not block."""
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """Allows attention to the own and earlier positions: boolean `(1, 1, length, length)` (Section 3.2.3)."""
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()[None, None]


def pad(rows: Sequence[Ids]) -> tuple[Tensor, Tensor]:
    """Rows of unequal length as one padded tensor, and their mask.

    Returns:
        The ids, int64 `(batch, length)`, and a boolean of the same shape that is True at tokens.
    """
    lengths = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
    tokens = np.arange(lengths.max(initial=0)) < lengths[:, None]
    ids = np.zeros(tokens.shape, dtype=np.int64)
    if len(rows):
        ids[tokens] = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows])
    return torch.from_numpy(ids), torch.from_numpy(tokens)


def pad_source(rows: Sequence[Ids]) -> tuple[Tensor, Tensor | None]:
    """Source sentences as input of the encoder.

    Args:
        rows: each sentence's ids with its `</s>`; not empty.

    Returns:
        `src_ids`, int64 `(batch, src_len)`, and `src_mask`, boolean `(batch, 1, 1, src_len)` or None without padding.
    """
    src_ids, tokens = pad(rows)
    return src_ids, None if bool(tokens.all()) else tokens[:, None, None, :]


def collate(source: Sequence[Ids], target: Sequence[Ids], *, start: int = START, masked: bool = True) -> Batch:
    """Pairs as a batch for teacher forcing.

    Args:
        source: each source sentence's ids with its `</s>`.
        target: each target sentence's ids with its `</s>`, in the same order.
        start: the decoder's first input (`ModelConfig.start_id`).
        masked: whether the decoder needs the causal mask, large for long targets (`ModelConfig.masks_targets`).

    Returns:
        The batch, in main memory.
    """
    src_ids, src_mask = pad_source(source)
    tgt_ids, tokens = pad(target)
    tgt_in_ids = torch.cat((torch.full_like(tgt_ids[:, :1], start), tgt_ids[:, :-1]), dim=1)
    return Batch(
        src_ids=src_ids,
        src_mask=src_mask,
        tgt_in_ids=tgt_in_ids,
        tgt_ids=tgt_ids,
        tgt_mask=causal_mask(tgt_ids.shape[1]) if masked else None,
        tgt_tokens=tokens,
        tgt_places=tokens.flatten().nonzero().squeeze(1),
        num_tokens=sum(len(row) for row in target),
    )

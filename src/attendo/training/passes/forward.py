"""The forward pass of a batch: as packed rows if the kernels can train the model, otherwise as padded rows."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from attendo.model import batch as padded
from attendo.model.batch import Batch, Ids
from attendo.model.transformer import Transformer
from attendo.training.passes.kernels import training_kernels
from attendo.training.passes.packed import PackedBatch, pack, packed_hidden

TrainingBatch: TypeAlias = Batch | PackedBatch
"""Pairs for one passage through the model."""

Collate: TypeAlias = Callable[[Sequence[Ids], Sequence[Ids]], TrainingBatch]
"""Makes a batch of source and target sentences, each with its `</s>`."""


def collate_for(model: Transformer) -> Collate:
    """Returns the function that makes the batches which a model trains on fastest.

    Args:
        model: the model on its device, divided among processes or not.
    """
    start = model.config.start_id
    # A model divided among processes gathers its layers when they are called, which packed rows do not do.
    whole = not isinstance(model.output_weight, DTensor)
    if whole and model.drafter is None and training_kernels(model.config, model.output_weight.device) is not None:
        return partial(pack, start=start)
    return partial(padded.collate, start=start, masked=model.config.masks_targets)


def target_rows(model: Transformer, batch: TrainingBatch, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """The decoder's output for every real target token of a batch, and the token that should follow.

    Args:
        model: the model, in training or evaluation mode.
        batch: a batch from `collate_for(model)`, on the model's device.
        dtype: the type of the matrix products.

    Returns:
        `(rows, d_model)`, of `dtype`, the rows of the tokens first, and int64 `(tokens,)`.
    """
    with torch.autocast(model.output_weight.device.type, torch.bfloat16, enabled=dtype == torch.bfloat16):
        if isinstance(batch, PackedBatch):
            kernels = training_kernels(model.config, batch.tgt_ids.device)
            assert kernels is not None
            return packed_hidden(model, batch, kernels, dtype), batch.tgt_ids
        hidden = model.hidden(batch)
    return batch.at_tokens(hidden).to(dtype), batch.at_tokens(batch.tgt_ids)

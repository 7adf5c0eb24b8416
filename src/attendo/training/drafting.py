"""Trains a drafter, with its model or alone.

The drafter learns to predict the model's own output: its targets should be the model's own translations, which is
sequence-level distillation (Kim and Rush, 2016) as Stern et al. (2018) use it. Trained together, the model's last layer
learns to encode the coming tokens; trained alone, the model and its translations do not change, and fewer proposals are
right.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional as F

from attendo.model.batch import Batch
from attendo.model.layers import DecoderLayer
from attendo.model.transformer import Transformer

IntArray = npt.NDArray[np.int64]


def train_drafter(model: Transformer, *, alone: bool) -> None:
    """Trains a drafter together with its model, or the drafter alone."""
    assert model.drafter is not None
    model.requires_grad_(not alone)
    model.drafter.requires_grad_(True)
    model.drafter.shortlist.requires_grad_(False)


def learns_alone(model: Transformer) -> bool:
    """Whether only the drafter is trained."""
    return not model.output_weight.requires_grad


def choose_shortlist(model: Transformer, counts: IntArray) -> None:
    """Sets a drafter's shortlist to the most frequent tokens.

    Args:
        model: a model with a drafter.
        counts: `(tgt_vocab_size,)`, how often each id occurs in its training targets.
    """
    assert model.drafter is not None
    # Equal counts are ordered by id, so that any machine chooses the same; `</s>` is in every sentence.
    chosen = np.sort(np.argsort(-counts, kind="stable")[: len(model.drafter.shortlist)])
    with torch.no_grad():
        model.drafter.shortlist.copy_(torch.from_numpy(chosen))


def shortlist_projection(model: Transformer) -> tuple[Tensor, Tensor | None]:
    """Returns the rows of the pre-softmax matrix and its bias for the tokens of the shortlist."""
    assert model.drafter is not None
    ids = model.drafter.ids
    return model.output_weight[ids], None if model.output_bias is None else model.output_bias[ids]


@dataclass(frozen=True, kw_only=True)
class DraftedRows:
    """The drafter's training examples from a batch."""

    hidden: Tensor
    """The decoder's output at the target's tokens, `(tokens, d_model)`."""
    ids: Tensor
    """int64 `(tokens,)`: these tokens."""
    drafted: Tensor
    """The drafter's output, `(proposals, d_model)`."""
    places: Tensor
    """int64 `(proposals,)`: places in the shortlist, of the tokens that should be proposed."""


def drafted_rows(model: Transformer, batch: Batch, dtype: torch.dtype) -> DraftedRows:
    """The drafter's output for every proposal whose token in a batch is in the shortlist, and that token's index.

    The start, and each token except the last of a sentence, is followed by up to `draft_tokens` proposals. All but the
    first occur twice: unadjusted, for choosing candidates, and adjusted to the token before.

    Args:
        model: a model with a drafter; if the drafter learns alone, the rest has no dropout.
        batch: a padded batch on the model's device.
        dtype: the type of the matrix products.

    Returns:
        The rows, of `dtype`.
    """
    with torch.autocast(batch.src_ids.device.type, torch.bfloat16, enabled=dtype == torch.bfloat16):
        with _untouched(model) if learns_alone(model) else nullcontext():
            memory = model.encode(batch.src_ids, batch.src_mask)
            hidden = model.decode(batch.tgt_in_ids, batch.tgt_mask, memory, batch.src_mask)
            last = model.decoder_layers[-1]
            assert isinstance(last, DecoderLayer)
            seen = last.encoder_attention.look_at(memory)
        # The state before a token and the token itself; before the start there is none.
        before = F.pad(hidden[:, :-1], (0, 0, 1, 0))
        drafted = model.draft(before, batch.tgt_in_ids, seen, batch.src_mask)
        count = drafted.shape[2]
        # One more column for each proposal, so that positions after the end are not tokens.
        ids = F.pad(batch.tgt_ids, (0, count - 1)).unfold(1, count, 1)
        real = F.pad(batch.tgt_tokens, (0, count - 1)).unfold(1, count, 1)
        adjusted = model.adjusted(drafted[:, :, 1:], ids[:, :, :-1])
    assert model.drafter is not None
    place = torch.full((model.tgt_vocab_size,), -1, device=ids.device)
    place[model.drafter.ids] = torch.arange(len(model.drafter.ids), device=ids.device)
    places = place[ids]
    wanted = real & (places >= 0)
    behind = wanted[:, :, 1:]
    return DraftedRows(
        hidden=batch.at_tokens(hidden).to(dtype),
        ids=batch.at_tokens(batch.tgt_ids),
        drafted=torch.cat((drafted[wanted], adjusted[behind])).to(dtype),
        places=torch.cat((places[wanted], places[:, :, 1:][behind])),
    )


@contextmanager
def _untouched(model: Transformer) -> Iterator[None]:
    """Runs the block without dropout and without gradients."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)

"""Perplexity, accuracy and calibration of a model's next-token probabilities under teacher forcing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional as F

from attendo.model.batch import collate
from attendo.model.products import fast_float32_products
from attendo.model.transformer import Transformer
from attendo.text.batching import plan_epoch
from attendo.text.shards import PairShards

NUM_BINS = 10
"""Number of bins of equal width in the reliability curve."""

_MAX_TOKENS = 4096
_POSITIONS = 512
"""Number of target positions that are projected to the vocabulary at a time."""

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictions:
    """A model's predictions of each target token, given the right tokens before it; arrays of shape `(tokens,)`."""

    log_prob: FloatArray
    """Log-probability of the right token, in nats."""
    confidence: FloatArray
    """Probability of the most probable token."""
    is_right: npt.NDArray[np.bool_]
    """Whether the most probable token is the right one."""
    entropy: FloatArray
    """Entropy of the distribution, in nats."""


@dataclass(frozen=True, kw_only=True)
class Bin:
    """The tokens whose confidence is above `low` and at most `high`."""

    low: float
    high: float
    tokens: int
    confidence: float
    """Mean confidence; 0 if the bin is empty."""
    accuracy: float
    """Share of tokens that are predicted right; 0 if the bin is empty."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Means over target tokens, `</s>` included, and the reliability curve."""

    tokens: int
    perplexity: float
    """Perplexity per word piece, from plain cross-entropy."""
    accuracy: float
    """Share of tokens whose most probable prediction is right."""
    confidence: float
    """Mean probability of the most probable token."""
    entropy: float
    """Mean entropy, in nats."""
    calibration_error: float
    """Expected calibration error: mean distance between confidence and accuracy over the bins, weighted by tokens."""
    bins: tuple[Bin, ...]


@torch.no_grad()
def teacher_forced(model: Transformer, pairs: PairShards) -> Predictions:
    """Returns a model's prediction of every target token of some pairs.

    Args:
        model: the model, in float32, without dropout, on its device.
        pairs: at least one pair.

    Returns:
        The predictions batch by batch; their order has no meaning.
    """
    longest = int(max(pairs.source_lengths.max(), pairs.target_lengths.max()))
    budget = max(_MAX_TOKENS, longest)
    plan = plan_epoch(pairs.source_lengths, pairs.target_lengths, max_tokens=budget, seed=0, epoch=0)
    parts: list[torch.Tensor] = []
    with fast_float32_products(model.device):
        for indices in plan.batches:
            source, target = [pairs.source(int(i)) for i in indices], [pairs.target(int(i)) for i in indices]
            batch = collate(source, target, start=model.config.start_id).to(model.device)
            hidden, right = batch.at_tokens(model.hidden(batch)), batch.at_tokens(batch.tgt_ids)
            for some_hidden, some_right in zip(
                torch.split(hidden, _POSITIONS), torch.split(right, _POSITIONS), strict=True
            ):
                parts.append(_stacked_predictions(model.project(some_hidden), some_right).cpu())
    log_prob, confidence, is_right, entropy = torch.cat(parts, dim=1).double().numpy()
    return Predictions(log_prob=log_prob, confidence=confidence, is_right=is_right > 0, entropy=entropy)


def _stacked_predictions(logits: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The four fields of `Predictions`, `(4, tokens)`, for logits `(tokens, vocab_size)` and the right ids."""
    log_probs = F.log_softmax(logits.float(), dim=1)
    best, best_id = log_probs.max(dim=1)
    return torch.stack(
        (
            log_probs.gather(1, right[:, None])[:, 0],
            best.exp(),
            (best_id == right).float(),
            -(log_probs.exp() * log_probs).sum(dim=1),
        )
    )


def calibration(predictions: Predictions, num_bins: int = NUM_BINS) -> Calibration:
    """Returns means and the reliability curve (Guo et al., 2017, Equations 1 to 3; each bin includes its upper end).

    Args:
        predictions: the predictions of at least one token.
        num_bins: number of bins of equal width in the curve.
    """
    numbers = np.clip(np.ceil(predictions.confidence * num_bins).astype(np.int64) - 1, 0, num_bins - 1)
    counts = np.bincount(numbers, minlength=num_bins)
    filled = np.maximum(counts, 1)
    confidences = np.bincount(numbers, weights=predictions.confidence, minlength=num_bins) / filled
    accuracies = np.bincount(numbers, weights=predictions.is_right, minlength=num_bins) / filled
    bins = tuple(
        Bin(
            low=number / num_bins,
            high=(number + 1) / num_bins,
            tokens=int(counts[number]),
            confidence=float(confidences[number]),
            accuracy=float(accuracies[number]),
        )
        for number in range(num_bins)
    )
    return Calibration(
        tokens=len(predictions.log_prob),
        perplexity=math.exp(-float(predictions.log_prob.mean())),
        accuracy=float(predictions.is_right.mean()),
        confidence=float(predictions.confidence.mean()),
        entropy=float(predictions.entropy.mean()),
        calibration_error=calibration_error(bins),
        bins=bins,
    )


def calibration_error(bins: Sequence[Bin]) -> float:
    """The expected calibration error: the mean of |accuracy - confidence| over the bins, weighted by tokens."""
    total = sum(bin_.tokens for bin_ in bins)
    return sum(bin_.tokens * abs(bin_.accuracy - bin_.confidence) for bin_ in bins) / total


def pooled(curves: Sequence[Sequence[Bin]]) -> tuple[Bin, ...]:
    """Merges the reliability curves of several models into that of all their tokens.

    Args:
        curves: at least one curve, all with the same bins.
    """
    return tuple(_merged_bin(bins) for bins in zip(*curves, strict=True))


def _merged_bin(bins: Sequence[Bin]) -> Bin:
    tokens = sum(bin_.tokens for bin_ in bins)
    return Bin(
        low=bins[0].low,
        high=bins[0].high,
        tokens=tokens,
        confidence=sum(bin_.tokens * bin_.confidence for bin_ in bins) / max(tokens, 1),
        accuracy=sum(bin_.tokens * bin_.accuracy for bin_ in bins) / max(tokens, 1),
    )

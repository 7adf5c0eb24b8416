"""How sure a model is of the right tokens and of its own, by teacher forcing: perplexity, accuracy and calibration."""

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
"""Of equal width, for the reliability curve."""

_MAX_TOKENS = 4096
_POSITIONS = 512
"""Target positions projected to the vocabulary at a time."""

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictions:
    """What a model says at each target token when it is given the right ones before it; `(tokens,)` each."""

    log_prob: FloatArray
    """Of the right token, in nats."""
    confidence: FloatArray
    """The probability of the most probable token."""
    is_right: npt.NDArray[np.bool_]
    """Whether that one is the right token."""
    entropy: FloatArray
    """Of the distribution, in nats."""


@dataclass(frozen=True, kw_only=True)
class Bin:
    """Tokens of about equal confidence: above `low`, up to `high`."""

    low: float
    high: float
    tokens: int
    confidence: float
    """The mean; 0 where there is no token."""
    accuracy: float
    """The share of right tokens; 0 where there is no token."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Means over target tokens, each `</s>` included, and the reliability curve."""

    tokens: int
    perplexity: float
    """Per word piece, by plain cross-entropy."""
    accuracy: float
    """The share of tokens at which the most probable one is right."""
    confidence: float
    """The mean probability of the most probable token."""
    entropy: float
    """In nats."""
    calibration_error: float
    """The expected calibration error: the mean distance of confidence and accuracy, bin by bin."""
    bins: tuple[Bin, ...]


@torch.no_grad()
def teacher_forced(model: Transformer, pairs: PairShards) -> Predictions:
    """Gives a model every target of some pairs, and keeps what it says of the next token.

    Args:
        model: float32, without dropout, on its device.
        pairs: at least one.

    Returns:
        The tokens batch by batch: their order says nothing.
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
                parts.append(_told(model.project(some_hidden), some_right).cpu())
    log_prob, confidence, is_right, entropy = torch.cat(parts, dim=1).double().numpy()
    return Predictions(log_prob=log_prob, confidence=confidence, is_right=is_right > 0, entropy=entropy)


def _told(logits: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The four figures of `Predictions`, `(4, tokens)`, of logits `(tokens, vocab_size)` and the right ids."""
    log_probs = F.log_softmax(logits.float(), dim=1)
    best, its_id = log_probs.max(dim=1)
    return torch.stack(
        (
            log_probs.gather(1, right[:, None])[:, 0],
            best.exp(),
            (its_id == right).float(),
            -(log_probs.exp() * log_probs).sum(dim=1),
        )
    )


def calibration(told: Predictions, num_bins: int = NUM_BINS) -> Calibration:
    """Means and the reliability curve (Guo et al., 2017, Equations 1 to 3: bins of equal width, each closed above).

    Args:
        told: at least one token.
        num_bins: of the curve.
    """
    numbers = np.clip(np.ceil(told.confidence * num_bins).astype(np.int64) - 1, 0, num_bins - 1)
    counts = np.bincount(numbers, minlength=num_bins)
    filled = np.maximum(counts, 1)
    confidences = np.bincount(numbers, weights=told.confidence, minlength=num_bins) / filled
    accuracies = np.bincount(numbers, weights=told.is_right, minlength=num_bins) / filled
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
        tokens=len(told.log_prob),
        perplexity=math.exp(-float(told.log_prob.mean())),
        accuracy=float(told.is_right.mean()),
        confidence=float(told.confidence.mean()),
        entropy=float(told.entropy.mean()),
        calibration_error=calibration_error(bins),
        bins=bins,
    )


def calibration_error(bins: Sequence[Bin]) -> float:
    """The expected calibration error of some bins: their distances of accuracy and confidence, weighted by tokens."""
    total = sum(each.tokens for each in bins)
    return sum(each.tokens * abs(each.accuracy - each.confidence) for each in bins) / total


def pooled(curves: Sequence[Sequence[Bin]]) -> tuple[Bin, ...]:
    """The reliability curve of several models' tokens together.

    Args:
        curves: at least one, each with the same bins.
    """
    return tuple(_pooled(bins) for bins in zip(*curves, strict=True))


def _pooled(bins: Sequence[Bin]) -> Bin:
    tokens = sum(each.tokens for each in bins)
    return Bin(
        low=bins[0].low,
        high=bins[0].high,
        tokens=tokens,
        confidence=sum(each.tokens * each.confidence for each in bins) / max(tokens, 1),
        accuracy=sum(each.tokens * each.accuracy for each in bins) / max(tokens, 1),
    )

"""Batches: pairs of similar length, up to a budget of tokens, in a seeded order."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attendo.errors import DataError

_SAMPLE_STREAM, _PLAN_STREAM = 0, 1


@dataclass(frozen=True, kw_only=True)
class BatchPlan:
    """The batches of one epoch and their sizes."""

    batches: list[npt.NDArray[np.int64]]
    """Pair indices of each batch, in the order to train on them."""
    source_tokens: int
    """Tokens of all sources, without padding."""
    target_tokens: int
    """Tokens of all targets, without padding."""
    padded_source: int
    """Tokens of all sources, with padding."""
    padded_target: int
    """Tokens of all targets, with padding."""

    @property
    def padding_share(self) -> float:
        """Padding as a share of all positions computed, of both sides; 0.0 with no batch."""
        padded = self.padded_source + self.padded_target
        return 1 - (self.source_tokens + self.target_tokens) / padded if padded else 0.0


def sample_indices(sizes: Sequence[int], weights: Sequence[float], seed: int, epoch: int) -> npt.NDArray[np.int64]:
    """Chooses the pairs of one epoch by the corpora's weights.

    With weight 2.0 each pair occurs twice. With 0.5 a random half occurs, and the other half in the next epoch: the
    whole corpus is used before it is shuffled again.

    Args:
        sizes: number of pairs of each corpus.
        weights: the weight of each corpus, above 0.
        seed: the seed of the random choice.
        epoch: the number of the epoch, from 0.

    Returns:
        Indices into the concatenated corpora, `(num_sampled,)`, in no particular order within a corpus.
    """
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    parts = [np.zeros(0, dtype=np.int64)]
    for number, (size, weight) in enumerate(zip(sizes, weights, strict=True)):
        # The passes over the corpus form an endless sequence, of which each epoch takes the next section.
        position, end = round(epoch * weight * size), round((epoch + 1) * weight * size)
        while position < end:
            cycle, offset = divmod(position, size)
            count = min(size - offset, end - position)
            if count == size:
                part = np.arange(size, dtype=np.int64)
            else:
                order = np.random.default_rng([seed, _SAMPLE_STREAM, number, cycle]).permutation(size)
                part = order[offset : offset + count]
            parts.append(part + starts[number])
            position += count
    return np.concatenate(parts)


def plan_epoch(
    src_lengths: npt.NDArray[np.integer],
    tgt_lengths: npt.NDArray[np.integer],
    *,
    max_tokens: int,
    seed: int,
    epoch: int,
    indices: npt.NDArray[np.int64] | None = None,
) -> BatchPlan:
    """Divides the pairs of one epoch into batches.

    The pairs are sorted by the length of their longer side, and among equals by how much longer it is, alternately up
    and down, so that neighbours are similar in both lengths. The sorted sequence is cut where a batch is full; then the
    batches are shuffled. Pairs of equal lengths, the position of the first cut, and the direction differ from epoch to
    epoch.

    Args:
        src_lengths: tokens of each source, with `</s>`, `(num_pairs,)`.
        tgt_lengths: tokens of each target, with `</s>`, `(num_pairs,)`.
        max_tokens: maximum number of source tokens of a batch, and also of target tokens, including padding.
        seed: equal arguments give equal plans.
        epoch: the number of the epoch, from 0.
        indices: the pairs to use, as from `sample_indices`; all, once, when None.

    Returns:
        The plan; each of `indices` is in exactly one batch.

    Raises:
        DataError: a pair alone has more tokens than `max_tokens`.
    """
    rng = np.random.default_rng([seed, _PLAN_STREAM, epoch])
    chosen = np.arange(len(src_lengths), dtype=np.int64) if indices is None else indices
    chosen = rng.permutation(chosen)
    src, tgt = src_lengths[chosen].astype(np.int64), tgt_lengths[chosen].astype(np.int64)
    longer = np.maximum(src, tgt)
    if len(longer) and longer.max() > max_tokens:
        raise DataError(
            f"training.max_tokens = {max_tokens}: {np.count_nonzero(longer > max_tokens)} pairs have more tokens on a "
            f"side, the longest {longer.max()}; raise it, or lower data.cleaning.max_tokens and prepare again"
        )
    difference = np.where((longer + rng.integers(2)) % 2 == 0, src - tgt, tgt - src)
    order = np.argsort(longer * (4 * max_tokens) + difference, kind="stable")  # stable: equals stay shuffled
    chosen, src, tgt = chosen[order], src[order], tgt[order]
    spans = _cut(src, tgt, max_tokens, first_budget=int(rng.integers(max_tokens // 2, max_tokens, endpoint=True)))
    sizes = [stop - start for start, stop in spans]
    shuffled = rng.permutation(len(spans))
    return BatchPlan(
        batches=[chosen[slice(*spans[i])] for i in shuffled],
        source_tokens=int(src.sum()),
        target_tokens=int(tgt.sum()),
        padded_source=sum(size * int(src[slice(*span)].max()) for size, span in zip(sizes, spans, strict=True)),
        padded_target=sum(size * int(tgt[slice(*span)].max()) for size, span in zip(sizes, spans, strict=True)),
    )


def _cut(
    src: npt.NDArray[np.int64], tgt: npt.NDArray[np.int64], max_tokens: int, first_budget: int
) -> list[tuple[int, int]]:
    """Cuts a sorted sequence of pairs into batches, each as long as the budget allows.

    Args:
        src: source lengths, in order.
        tgt: target lengths.
        max_tokens: the budget of each side, padding counted.
        first_budget: the budget of the first batch; one pair it has in any case.

    Returns:
        Start and stop of each batch.
    """
    longer = np.maximum(src, tgt)
    spans = []
    start, budget = 0, first_budget
    while start < len(longer):
        # At most as many pairs fit as if all were as short as this one, since they are sorted by the longer side.
        window = longer[start : start + max(1, budget // int(longer[start]))]
        padded = window * np.arange(1, len(window) + 1)
        size = max(1, int(np.searchsorted(padded, budget, side="right")))
        spans.append((start, start + size))
        start, budget = start + size, max_tokens
    return spans

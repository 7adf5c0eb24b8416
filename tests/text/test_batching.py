from itertools import chain

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attendo.errors import DataError
from attendo.text.batching import BatchPlan, plan_epoch, sample_indices

Lengths = npt.NDArray[np.int32]


def realistic(num_pairs: int, seed: int = 0) -> tuple[Lengths, Lengths]:
    """Lengths as captions and news have them: log-normal, and a translation within a fifth of its source."""
    rng = np.random.default_rng(seed)
    source = np.clip(rng.lognormal(2.9, 0.5, num_pairs), 2, 200)
    target = np.clip(source * rng.normal(1.05, 0.18, num_pairs), 2, 200)
    return source.astype(np.int32), target.astype(np.int32)


def padded(plan: BatchPlan, lengths: Lengths) -> list[int]:
    return [len(batch) * int(max(lengths[i] for i in batch)) for batch in plan.batches]


@given(
    pairs=st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), max_size=60),
    max_tokens=st.integers(40, 300),
    seed=st.integers(0, 2**64),
    epoch=st.integers(0, 5),
)
def test_each_pair_once_within_the_budget_and_the_sums_right(
    pairs: list[tuple[int, int]], max_tokens: int, seed: int, epoch: int
) -> None:
    src, tgt = (np.array([pair[side] for pair in pairs], dtype=np.int32) for side in (0, 1))
    plan = plan_epoch(src, tgt, max_tokens=max_tokens, seed=seed, epoch=epoch)
    assert sorted(int(i) for batch in plan.batches for i in batch) == list(range(len(pairs)))
    assert all(len(batch) for batch in plan.batches)
    assert all(size <= max_tokens for size in padded(plan, src) + padded(plan, tgt))
    assert (plan.source_tokens, plan.target_tokens) == (src.sum(), tgt.sum())
    assert (plan.padded_source, plan.padded_target) == (sum(padded(plan, src)), sum(padded(plan, tgt)))
    tokens = int(src.sum() + tgt.sum())
    assert plan.padding_share == (1 - tokens / (plan.padded_source + plan.padded_target) if pairs else 0.0)


def test_padding_by_hand() -> None:
    src, tgt = np.array([2, 3], dtype=np.int32), np.array([4, 4], dtype=np.int32)
    plan = plan_epoch(src, tgt, max_tokens=100, seed=0, epoch=0)
    # One batch of 2 x 3 and 2 x 4 positions: 14, of which 13 are tokens.
    assert len(plan.batches) == 1
    assert plan.padding_share == pytest.approx(1 / 14)


@pytest.mark.parametrize(("num_pairs", "max_tokens"), [(29_000, 4096), (200_000, 25_000), (29_000, 2048)])
def test_little_padding_on_realistic_lengths(num_pairs: int, max_tokens: int) -> None:
    src, tgt = realistic(num_pairs)
    plan = plan_epoch(src, tgt, max_tokens=max_tokens, seed=1, epoch=0)
    assert plan.padding_share < 0.05  # the bound of the project
    # Filled well too: not many more batches than if nothing were wasted.
    assert len(plan.batches) <= 1.1 * np.maximum(src, tgt).sum() / max_tokens + 2


def test_plans_are_reproducible_and_differ_by_seed_and_epoch() -> None:
    src, tgt = realistic(3000)

    def order(seed: int, epoch: int) -> list[int]:
        plan = plan_epoch(src, tgt, max_tokens=1000, seed=seed, epoch=epoch)
        return [int(i) for batch in plan.batches for i in batch]

    assert order(1, 0) == order(1, 0)
    assert len({tuple(order(seed, epoch)) for seed in (1, 2) for epoch in (0, 1)}) == 4


def test_batches_are_shuffled_and_pairs_of_equal_length_mixed() -> None:
    src = tgt = np.repeat(np.arange(1, 11, dtype=np.int32), 100)
    plans = [plan_epoch(src, tgt, max_tokens=100, seed=1, epoch=epoch) for epoch in (0, 1)]
    longest = [int(src[batch].max()) for batch in plans[0].batches]
    assert longest != sorted(longest)
    groups = [{frozenset(batch.tolist()) for batch in plan.batches} for plan in plans]
    assert not groups[0] & groups[1]


def test_only_the_chosen_pairs_come_and_as_often_as_chosen() -> None:
    src, tgt = realistic(100)
    chosen = np.array([5, 7, 7, 99], dtype=np.int64)
    plan = plan_epoch(src, tgt, max_tokens=400, seed=1, epoch=0, indices=chosen)
    assert sorted(int(i) for batch in plan.batches for i in batch) == [5, 7, 7, 99]
    assert plan.source_tokens == src[chosen].sum()


def test_a_pair_beyond_the_budget_is_refused() -> None:
    src, tgt = np.array([5, 50, 60], dtype=np.int32), np.array([5, 5, 5], dtype=np.int32)
    with pytest.raises(DataError, match=r"max_tokens = 40: 2 pairs have more tokens on a side, the longest 60; raise"):
        plan_epoch(src, tgt, max_tokens=40, seed=1, epoch=0)


def test_weights_of_whole_numbers_repeat_pairs() -> None:
    indices = sample_indices([3, 2], [1.0, 2.0], seed=1, epoch=4)
    assert sorted(indices.tolist()) == [0, 1, 2, 3, 3, 4, 4]


@pytest.mark.parametrize(("weight", "epochs"), [(0.5, 2), (0.25, 4), (0.1, 10)])
def test_a_part_each_epoch_until_all_pairs_have_come(weight: float, epochs: int) -> None:
    parts = [sample_indices([20], [weight], seed=1, epoch=epoch).tolist() for epoch in range(2 * epochs)]
    assert {len(part) for part in parts} == {int(20 * weight)}
    assert sorted(chain(*parts[:epochs])) == list(range(20))
    assert sorted(chain(*parts[epochs:])) == list(range(20))
    assert parts[:epochs] != parts[epochs:]  # shuffled anew
    assert sample_indices([20], [weight], seed=1, epoch=1).tolist() == parts[1]
    assert sample_indices([20], [weight], seed=2, epoch=1).tolist() != parts[1]


@given(
    sizes=st.lists(st.integers(1, 30), max_size=3),
    weight=st.floats(0.01, 5.0),
    seed=st.integers(0, 2**32),
    num_epochs=st.integers(1, 8),
)
def test_over_many_epochs_each_pair_comes_as_often_as_any_other(
    sizes: list[int], weight: float, seed: int, num_epochs: int
) -> None:
    epochs = [sample_indices(sizes, [weight] * len(sizes), seed, epoch) for epoch in range(num_epochs)]
    counts = np.bincount(np.concatenate(epochs), minlength=sum(sizes))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    for size, start in zip(sizes, starts[:-1], strict=True):
        own = counts[start : start + size]
        assert own.max() - own.min() <= 1
        assert own.sum() == round(num_epochs * weight * size)


def test_a_corpus_without_pairs_gives_none() -> None:
    assert sample_indices([0, 2], [2.5, 1.0], seed=1, epoch=0).tolist() == [0, 1]
    assert sample_indices([], [], seed=1, epoch=0).tolist() == []

"""Expected values: Python's own stable sort of (value, id), and torch.topk where no two values are equal."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attendo.decoding.backends.top_k import BLOCK, top_k


@pytest.mark.parametrize("vocab_size", [1, 5, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 1000])
@pytest.mark.parametrize("k", [1, 4, 12])
def test_like_torch_where_all_values_differ(vocab_size: int, k: int) -> None:
    log_probs = torch.randn(7, vocab_size, generator=torch.Generator().manual_seed(k)).log_softmax(-1)
    k = min(k, vocab_size)
    values, ids = top_k(log_probs, k)
    expected = log_probs.topk(k)
    assert torch.equal(values, expected.values)
    assert torch.equal(ids, expected.indices)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    vocab_size=st.sampled_from([2, BLOCK, 3 * BLOCK + 5]),
    levels=st.integers(1, 6),
    k=st.integers(1, 9),
)
def test_of_equal_values_the_lower_id_comes_first(seed: int, vocab_size: int, levels: int, k: int) -> None:
    k = min(k, vocab_size)
    drawn = torch.randint(levels, (3, vocab_size), generator=torch.Generator().manual_seed(seed))
    # Values on both sides of zero, and the one that nothing is below.
    log_probs = torch.tensor([-torch.inf, -2.5, -1e-30, 0.0, 1.0, 3.5])[drawn]
    values, ids = top_k(log_probs, k)
    for row, its_ids, its_values in zip(log_probs.tolist(), ids.tolist(), values.tolist(), strict=True):
        assert its_ids == sorted(range(vocab_size), key=lambda i: (-row[i], i))[:k]
        assert its_values == [row[i] for i in its_ids]


def test_a_row_does_not_depend_on_the_others() -> None:
    log_probs = torch.randint(3, (5, 300), generator=torch.Generator().manual_seed(0)).float()
    values, ids = top_k(log_probs, 4)
    for row in range(5):
        alone_values, alone_ids = top_k(log_probs[row : row + 1], 4)
        assert torch.equal(alone_values[0], values[row])
        assert torch.equal(alone_ids[0], ids[row])

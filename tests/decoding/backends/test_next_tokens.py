"""Expected values: Python's own stable sort of (value, id) over the tokens that are left."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from attendo.decoding.backends.array_next import ArrayNext
from attendo.decoding.backends.next_tokens import DenseNext
from attendo.decoding.step import Limits, NextTokens

NO_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
DEVICES = ["numpy", "cpu", pytest.param("cuda", marks=[pytest.mark.gpu, NO_GPU])]


def next_tokens_of(log_probs: torch.Tensor, device: str) -> NextTokens:
    return ArrayNext(log_probs.numpy()) if device == "numpy" else DenseNext(log_probs.to(device))


def limits(lists: list[list[int]], only: list[bool]) -> Limits:
    flat = np.array([token for ids in lists for token in ids], dtype=np.int64)
    return Limits(offsets=np.cumsum([0, *map(len, lists)]), ids=flat, only=np.array(only))


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    vocab_size=st.sampled_from([3, 64, 200]),
    levels=st.integers(1, 5),
    k=st.integers(1, 300),
    listed=st.none() | st.lists(st.sets(st.integers(0, 2)).map(sorted), min_size=3, max_size=3),
    only=st.lists(st.booleans(), min_size=3, max_size=3),
)
@pytest.mark.parametrize("device", DEVICES)
def test_the_best_that_may_be_chosen(
    device: str, seed: int, vocab_size: int, levels: int, k: int, listed: list[list[int]] | None, only: list[bool]
) -> None:
    drawn = torch.randint(levels, (3, vocab_size), generator=torch.Generator().manual_seed(seed))
    log_probs = torch.tensor([-0.1, -2.5, -1e-30, -7.0, -50.0])[drawn]
    values, ids = next_tokens_of(log_probs, device).top_k(k, None if listed is None else limits(listed, only))
    assert values.dtype == np.float32
    assert ids.dtype == np.int64
    assert values.shape == ids.shape == (3, min(k, vocab_size))
    for number, row in enumerate(log_probs.tolist()):
        among = set(range(vocab_size)) if listed is None else set(listed[number])
        if listed is not None and not only[number]:
            among = set(range(vocab_size)) - among
        left = sorted(among, key=lambda i: (-row[i], i))[:k]
        assert ids[number, : len(left)].tolist() == left
        assert values[number, : len(left)].tolist() == [row[i] for i in left]
        assert np.isneginf(values[number, len(left) :]).all()
    assert ((ids >= 0) & (ids < vocab_size)).all()


@pytest.mark.parametrize("device", DEVICES)
def test_those_of_given_tokens_and_of_all(device: str) -> None:
    log_probs = torch.randn(2, 5, generator=torch.Generator().manual_seed(1))
    next_tokens = next_tokens_of(log_probs, device)
    assert next_tokens.all().tolist() == log_probs.tolist()
    ids = np.array([[4, 0, 0], [1, 2, 3]])
    assert next_tokens.of(ids).tolist() == [[log_probs[row, i].item() for i in ids[row]] for row in range(2)]
    assert next_tokens.of(ids[:, ::-1]).tolist() == next_tokens.of(ids)[:, ::-1].tolist()


def test_a_limit_leaves_the_step_as_it_is() -> None:
    log_probs = torch.tensor([[-1.0, -2.0]])
    next_tokens = DenseNext(log_probs)
    assert next_tokens.top_k(1, limits([[0]], [False]))[1].tolist() == [[1]]
    assert next_tokens.top_k(1, limits([[1]], [True]))[1].tolist() == [[1]]
    assert next_tokens.top_k(1)[1].tolist() == [[0]]
    assert next_tokens.all().tolist() == [[-1.0, -2.0]]

"""Padding and masks by hand."""

import numpy as np
import torch

from attendo.model.batch import causal_mask, collate, pad, pad_source


def test_collate_by_hand() -> None:
    batch = collate([[5, 0], [6, 7, 0]], [np.array([8, 9, 0], dtype=np.uint16), np.array([0], dtype=np.uint16)])
    assert batch.src_ids.tolist() == [[5, 0, 0], [6, 7, 0]]
    assert batch.src_mask is not None
    assert batch.src_mask.tolist() == [[[[True, True, False]]], [[[True, True, True]]]]
    assert batch.tgt_in_ids.tolist() == [[-1, 8, 9], [-1, 0, 0]]
    assert batch.tgt_ids.tolist() == [[8, 9, 0], [0, 0, 0]]
    assert batch.tgt_tokens.tolist() == [[True, True, True], [True, False, False]]
    assert batch.num_tokens == 4
    assert batch.tgt_places.tolist() == [0, 1, 2, 3]
    assert batch.at_tokens(batch.tgt_ids).tolist() == [8, 9, 0, 0]
    assert batch.tgt_mask is not None
    assert batch.tgt_mask[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, True]]


def test_values_at_the_tokens_are_those_of_the_mask() -> None:
    batch = collate([[5, 0]] * 3, [[0], [6, 7, 0], [8, 0]])
    values = torch.randn(3, 3, 4)
    assert torch.equal(batch.at_tokens(values), values[batch.tgt_tokens])


def test_no_mask_without_padding() -> None:
    ids, mask = pad_source([[3, 0], [4, 0]])
    assert mask is None
    assert ids.dtype == torch.int64


def test_no_rows() -> None:
    ids, tokens = pad([])
    assert ids.shape == tokens.shape == (0, 0)


def test_no_causal_mask_where_none_is_needed() -> None:
    assert collate([[5, 0]], [[6, 7, 0]], masked=False).tgt_mask is None


def test_causal_mask_is_true_up_to_itself() -> None:
    assert causal_mask(3).shape == (1, 1, 3, 3)
    assert causal_mask(4)[0, 0].sum().item() == 10

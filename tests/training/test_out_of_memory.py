"""Memory that ran out, as it is told by those who want it, and smaller pieces."""

import numpy as np
import pytest
import torch

from attendo.training.batches import Place
from attendo.training.loader import LoadedUpdate
from attendo.training.out_of_memory import is_out_of_memory, smaller_pieces


def test_what_torch_and_numpy_raise_is_known() -> None:
    with pytest.raises(RuntimeError) as of_torch:
        torch.empty(2**57)
    with pytest.raises(MemoryError) as of_numpy:
        np.empty(2**57)
    assert is_out_of_memory(of_torch.value)
    assert is_out_of_memory(of_numpy.value)
    assert is_out_of_memory(torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"))


def test_other_errors_are_not() -> None:
    with pytest.raises(RuntimeError) as of_shapes:
        torch.zeros(2, 3) @ torch.zeros(2, 3)
    assert not is_out_of_memory(of_shapes.value)
    assert not is_out_of_memory(OSError("not enough memory"))


@pytest.mark.parametrize(
    ("num_pairs", "longest", "before", "after"),
    [
        (10, 20, None, 100),  # 200 padded tokens at once: halved
        (10, 20, 1000, 100),  # a limit that did not bind
        (10, 20, 100, 50),
        (10, 20, 50, 25),  # pieces of 2 pairs become pieces of 1
        (10, 20, 39, None),  # pieces of 1 pair
        (1, 20, None, None),
    ],
)
def test_pieces_are_halved_down_to_a_pair(num_pairs: int, longest: int, before: int | None, after: int | None) -> None:
    loaded = LoadedUpdate(place=Place(batch=1), pieces=(), num_tokens=1, num_pairs=num_pairs, longest=longest)
    assert smaller_pieces(loaded, before) == after

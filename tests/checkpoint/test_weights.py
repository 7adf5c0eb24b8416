"""Averages by hand; files on a full disk."""

import errno
from pathlib import Path

import pytest
import torch
from tests.faults import no_file_above

from attendo.checkpoint.weights import load_tensors, mean_weights, save_tensors
from attendo.errors import ModelError


def test_the_mean_by_hand() -> None:
    parts = [{"w": torch.tensor([1.0, 2.0])}, {"w": torch.tensor([2.0, 4.0])}, {"w": torch.tensor([6.0, 0.0])}]
    assert mean_weights(parts)["w"].tolist() == [3.0, 2.0]


@pytest.mark.parametrize("other", [{}, {"v": torch.zeros(2)}, {"w": torch.zeros(3)}])
def test_weights_of_different_models_have_no_mean(other: dict[str, torch.Tensor]) -> None:
    with pytest.raises(ModelError, match=r"and .*; only checkpoints of one model can be averaged"):
        mean_weights([{"w": torch.zeros(2)}, other])


def test_an_error_of_writing_names_file_and_cause(tmp_path: Path) -> None:
    tensors = {"w": torch.ones(1000)}
    path = tmp_path / "w.safetensors"
    for limit, where, number in ((1000, path, errno.EFBIG), (10**6, tmp_path / "nowhere" / "w", errno.ENOENT)):
        with no_file_above(limit), pytest.raises(OSError, match=r"too large|No such file") as caught:
            save_tensors(tensors, where)
        assert (caught.value.filename, caught.value.errno) == (str(where), number)
    save_tensors({"w": torch.ones(2, 3, requires_grad=True).T}, path)
    assert load_tensors(path)["w"].tolist() == [[1.0, 1.0]] * 3

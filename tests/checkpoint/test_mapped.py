"""Mapped weights; expected values: what safetensors reads."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from attendo.checkpoint.claims import read_header
from attendo.checkpoint.mapped import MappedTensors
from attendo.errors import ModelError

TENSORS = {
    "a": torch.arange(6, dtype=torch.float32).view(2, 3),
    "b": torch.tensor(1.5),
    "c": torch.tensor([[-127, 3, 127]], dtype=torch.int8),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save_file(TENSORS, tmp_path / "x.safetensors")
    return tmp_path / "x.safetensors"


def test_arrays_are_the_tensors_and_cannot_be_written_to(path: Path) -> None:
    found = MappedTensors(path, read_header(path))
    assert set(found) == set(TENSORS)
    assert len(found) == 3
    for name, tensor in TENSORS.items():
        np.testing.assert_array_equal(found[name], tensor.numpy())
        assert found[name].dtype == tensor.numpy().dtype
        assert not found[name].flags.writeable
    assert "d" not in found
    assert found.get("d") is None


def test_a_file_that_is_replaced_stays(path: Path, tmp_path: Path) -> None:
    found = MappedTensors(path, read_header(path))
    save_file({"a": torch.zeros(1)}, tmp_path / "other")
    (tmp_path / "other").replace(path)
    np.testing.assert_array_equal(found["a"], TENSORS["a"].numpy())
    path.unlink()
    np.testing.assert_array_equal(found["c"], TENSORS["c"].numpy())


@pytest.mark.parametrize("kept", [10, 200])
def test_of_a_file_that_was_written_into_nothing_is_given(path: Path, kept: int) -> None:
    found = MappedTensors(path, read_header(path))
    os.truncate(path, kept)
    with pytest.raises(ModelError, match=r"x\.safetensors: was changed while the model was loaded; load the model"):
        found["a"]


def test_files_that_are_none(path: Path, tmp_path: Path) -> None:
    header = read_header(path)
    with pytest.raises(ModelError, match=r"there: not found; the folder is incomplete"):
        MappedTensors(tmp_path / "there", header)
    path.write_bytes(b"")
    with pytest.raises(ModelError, match=r"x\.safetensors: cannot be read \(.*\); copy or write it again"):
        MappedTensors(path, header)
    path.write_bytes(b"12345678")
    with pytest.raises(ModelError, match=r"x\.safetensors: was changed"):
        MappedTensors(path, header)

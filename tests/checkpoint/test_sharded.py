"""Checkpoints of 2, 1 and 4 processes, each gone on from by another number: the run is that of one process."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from tests.checkpoint.sharded_worker import train

from attendo.checkpoint.checksums import verify_folder
from attendo.checkpoint.run_checkpoints import Checkpoints
from attendo.checkpoint.weights import named_weights
from attendo.errors import ModelError
from attendo.training.processes import Processes

WORKER = Path(__file__).with_name("sharded_worker.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, run_together: Callable[..., None]) -> Path:
    """Three steps each of two processes (FSDP2), one, four (FSDP2) and two (DDP)."""
    path = tmp_path_factory.mktemp("checkpoints")
    run_together(2, WORKER, path, "full", 1, 3)
    train(path, "none", 4, 6, Processes())
    run_together(4, WORKER, path, "full", 7, 9)
    run_together(2, WORKER, path, "none", 10, 12)
    return path


def test_any_number_of_processes_goes_on(folder: Path, tmp_path: Path) -> None:
    uninterrupted = tmp_path / "uninterrupted"
    for last in (3, 6, 9, 12):
        train(uninterrupted, "none", last - 2, last, Processes())
    theirs, ours = (Checkpoints(path, keep=5).last_weights(4) for path in (folder, uninterrupted))
    assert len(theirs) == len(ours) == 4
    for found, expected in zip(theirs, ours, strict=True):
        assert found.keys() == expected.keys()
        for name, value in expected.items():
            assert torch.allclose(found[name], value, rtol=1e-5, atol=1e-6), name


def test_one_process_trains_on_from_many(folder: Path, tmp_path: Path) -> None:
    """The last checkpoint is of two processes; one reads it and makes the updates that it would have made."""
    copy = shutil.copytree(folder, tmp_path / "copy")
    model = train(copy, "none", 13, 13, Processes())
    whole = train(tmp_path / "whole", "none", 1, 13, Processes())
    for (name, found), expected in zip(named_weights(model).items(), whole.parameters(), strict=True):
        assert torch.allclose(found, expected, rtol=1e-5, atol=1e-6), name


def test_each_process_writes_its_part_and_the_folder_is_whole(folder: Path) -> None:
    nine = folder / "step-00000009"
    assert verify_folder(nine) == []
    parts = sorted(nine.glob("shard-*-model-00001-of-00002.safetensors"))
    assert [path.name[:11] for path in parts] == ["shard-00001", "shard-00002", "shard-00003", "shard-00004"]
    rows = []
    for part in parts:
        with safe_open(part, framework="pt") as opened:
            rows.append(opened.get_slice("output_weight").get_shape())
    assert rows == [[5, 8], [5, 8], [5, 8], [4, 8]], "19 rows of 8, as torch's chunks are"
    assert not list(folder.glob(".tmp-*"))


@pytest.mark.parametrize("kind", ["00001", "00002"])
def test_a_torn_part_is_told_and_set_aside(folder: Path, tmp_path: Path, kind: str) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    checkpoints = Checkpoints(copy, keep=5)
    part = sorted((copy / "step-00000012").glob(f"shard-*-model-{kind}-*"))[-1]
    size = part.stat().st_size
    part.write_bytes(part.read_bytes()[:-1])
    problem = f"{part}: has {size - 1} bytes, not {size}; it was changed or is torn"
    with pytest.raises(ModelError, match=r"step-00000012/shard-.*; it was changed or is torn"):
        checkpoints.last_weights(4)
    told: list[str] = []
    latest = checkpoints.latest(told.append)
    assert latest is not None
    assert latest.step == 9
    assert told == [f"{problem}; set aside as torn-step-00000012"]
    assert [len(weights) > 0 for weights in checkpoints.last_weights(4)] == [True] * 3


def test_a_missing_part_is_told(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder, tmp_path / "copy")
    for part in (copy / "step-00000012").glob("shard-*"):
        part.unlink()
    told: list[str] = []
    latest = Checkpoints(copy, keep=5).latest(told.append)
    assert latest is not None
    assert latest.step == 9
    assert len(told) == 4, "two processes have two parts each"


def test_disks_that_fail_are_told_by_all_processes(tmp_path: Path, run_together: Callable[..., None]) -> None:
    (tmp_path / "run").mkdir()
    run_together(2, WORKER.with_name("failing_disk_worker.py"), tmp_path / "run")

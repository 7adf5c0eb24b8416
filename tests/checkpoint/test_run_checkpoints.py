"""A run's checkpoints: pruned, averaged, passed over where they are torn."""

from pathlib import Path

import pytest
import torch

from attendo.checkpoint.run_checkpoints import Checkpoints
from attendo.errors import ModelError


def save(checkpoints: Checkpoints, step: int, *, regular: bool = True) -> None:
    checkpoints.save(
        step,
        regular=regular,
        state={"position": {"step": step}},
        weights={"w": torch.full((3,), float(step))},
        training={"adam.exp_avg.w": torch.full((3,), -float(step))},
    )


def test_checkpoints_are_pruned_and_averaged(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    for step in (10, 20, 30, 40, 50):
        save(checkpoints, step)
    assert checkpoints.steps() == [30, 40, 50]
    assert [part["w"][0].item() for part in checkpoints.last_weights(2)] == [40, 50]
    assert [part["w"][0].item() for part in checkpoints.last_weights(2, before=50)] == [30, 40]
    latest = checkpoints.latest()
    assert latest is not None
    assert latest.state == {"position": {"step": 50}}
    assert latest.has_training_state
    weights, training = torch.zeros(3), torch.zeros(3)
    latest.read({"w": weights})
    latest.read({"adam.exp_avg.w": training})
    assert (weights[0].item(), training[0].item()) == (50, -50)
    assert not (tmp_path / "step-00000030" / "training.safetensors").exists(), "two can be gone on from"


def test_an_interruptions_checkpoint_counts_in_no_average_and_goes_with_the_next(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    save(checkpoints, 10)
    save(checkpoints, 13, regular=False)
    latest = checkpoints.latest()
    assert latest is not None
    assert latest.state["position"]["step"] == 13
    assert checkpoints.steps(regular_only=True) == [10]
    save(checkpoints, 20)
    assert checkpoints.steps() == [10, 20]


def test_a_torn_checkpoint_is_passed_over(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    save(checkpoints, 10)
    save(checkpoints, 20)
    torn = tmp_path / "step-00000020" / "weights.safetensors"
    torn.write_bytes(torn.read_bytes()[:-1])
    latest = checkpoints.latest()
    assert latest is not None
    assert latest.state["position"]["step"] == 10
    for file in (tmp_path / "step-00000010").iterdir():
        file.write_bytes(b"")
    with pytest.raises(ModelError, match="no checkpoint is whole"):
        checkpoints.latest()


def test_no_checkpoint_yet(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "none", keep=3).latest() is None


def test_what_is_not_of_the_checkpoint_is_named(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    save(checkpoints, 10)
    latest = checkpoints.latest()
    assert latest is not None
    with pytest.raises(ModelError, match=r"step-00000010: has no v; it is of another model"):
        latest.read({"v": torch.zeros(3)})
    with pytest.raises(ModelError, match=r"step-00000010: w is \(3,\), not \(4,\); it is of another model"):
        latest.read({"w": torch.zeros(4)})
    path = latest.folder / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(ModelError, match=r"step-00000010: cannot be read"):
        latest.read({"w": torch.zeros(3)})


def test_before_the_first_update_there_is_no_training_state(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    checkpoints.save(0, regular=False, state={}, weights={"w": torch.zeros(3)}, training={})
    latest = checkpoints.latest()
    assert latest is not None
    assert not latest.has_training_state


def test_what_a_killed_process_left_goes(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    save(checkpoints, 10)
    (tmp_path / ".tmp-step-00000020").mkdir()
    (tmp_path / ".tmp-step-00000020" / "shard-00001-model-00001-of-00002.safetensors").touch()
    checkpoints.remove_drafts()
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000010"]

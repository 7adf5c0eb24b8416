"""A run's checkpoints: pruned, averaged, set aside where they are torn, whole whatever becomes of the disk."""

import errno
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from tests.faults import killed_at, no_file_above

from attendo.checkpoint.run_checkpoints import Checkpoints
from attendo.errors import ModelError

FILES = ["weights.safetensors", "training.safetensors", "state.json", "checksums.json"]


def save(checkpoints: Checkpoints, *steps: int, regular: bool = True, protected: tuple[int, ...] = ()) -> None:
    for step in steps:
        checkpoints.save(
            step,
            regular=regular,
            state={"position": {"step": step}},
            weights={"w": torch.full((3,), float(step))},
            training={"adam.exp_avg.w": torch.full((3,), -float(step))},
            protected=protected,
        )


def values(checkpoints: Checkpoints, number: int, before: int | None = None) -> list[float]:
    return [part["w"][0].item() for part in checkpoints.last_weights(number, before=before)]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def newest(checkpoints: Checkpoints, told: list[str]) -> int | None:
    found = checkpoints.latest(told.append)
    return None if found is None else found.step


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-2])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


TEARS: list[Callable[[Path], object]] = [
    truncate,
    flip,
    make_folder,
    Path.unlink,
    lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(bytes(path.stat().st_size)),
]


def test_checkpoints_are_pruned_and_averaged(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    save(checkpoints, 10, 20, 30, 40, 50)
    assert checkpoints.steps() == [30, 40, 50]
    assert values(checkpoints, 2) == [40, 50]
    assert values(checkpoints, 2, before=50) == [30, 40]
    assert values(checkpoints, 0) == []
    latest = checkpoints.latest()
    assert latest is not None
    assert (latest.step, latest.state) == (50, {"position": {"step": 50}})
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


def test_the_best_is_not_pruned(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    save(checkpoints, 10, 20, 30, 40, protected=(10,))
    assert checkpoints.steps() == [10, 30, 40]
    assert values(checkpoints, 3) == [10, 30, 40]
    save(checkpoints, 50, protected=(40,))
    assert checkpoints.steps() == [40, 50], "another is the best now"


@pytest.mark.parametrize("tear", TEARS)
@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("regular", [True, False])
def test_a_torn_last_one_is_told_and_set_aside(
    tmp_path: Path, file: str, tear: Callable[[Path], object], regular: bool
) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    save(checkpoints, 10, 20)
    save(checkpoints, 30, regular=regular)
    folder = tmp_path / f"step-00000030{'' if regular else '-interrupted'}"
    tear(folder / file)
    told: list[str] = []
    assert newest(checkpoints, told) == 20
    assert len(told) == 1
    # A changed checksum is one that a file differs from.
    assert told[0].startswith(f"{folder / file}: " if tear is not flip or file != "checksums.json" else f"{folder}/")
    assert told[0].endswith(f"; set aside as torn-{folder.name}")
    assert names(tmp_path) == ["step-00000010", "step-00000020", f"torn-{folder.name}"]
    assert newest(checkpoints, told) == 20
    assert len(told) == 1, "it is told once"
    save(checkpoints, 30)
    assert values(checkpoints, 3) == [10, 20, 30]
    assert newest(checkpoints, told) == 30


def test_an_older_checkpoint_has_weights_alone_and_is_not_gone_on_from(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    save(checkpoints, 10, 20, 30)
    kept = tmp_path / "step-00000010"
    # What a kill between the two steps of `drop_file` leaves: not in the checksums any more, and still there.
    shutil.copy(tmp_path / "step-00000020" / "training.safetensors", kept)
    for step in (20, 30):
        truncate(tmp_path / f"step-000000{step}" / "weights.safetensors")
    for _ in range(2):  # nothing is set aside, so that the user can put right what is torn
        with pytest.raises(ModelError) as caught:
            checkpoints.latest()
        problems = str(caught.value).split("; ")
        assert problems[-1] == (f"{tmp_path}: no intact checkpoint to resume from, start again in another folder")
        assert f"{tmp_path / 'step-00000030' / 'weights.safetensors'}: has" in problems[0]
        assert checkpoints.steps() == [10, 20, 30]


def test_when_all_are_set_aside_or_torn_nothing_begins_anew(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    save(checkpoints, 10, 20)
    flip(tmp_path / "step-00000020" / "weights.safetensors")
    assert newest(checkpoints, []) == 10
    shutil.rmtree(tmp_path / "step-00000010")
    with pytest.raises(ModelError, match="no intact checkpoint to resume from"):
        checkpoints.latest()


def test_a_torn_one_in_the_window_of_the_average_is_left_out(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    save(checkpoints, 10, 20, 30, 40, 50, protected=(10,))
    torn = tmp_path / "step-00000040" / "weights.safetensors"
    flip(torn)
    with pytest.raises(ModelError, match=r"step-00000040/weights.safetensors: differs from its checksum"):
        checkpoints.last_weights(3)
    told: list[str] = []
    assert newest(checkpoints, told) == 50
    assert told == [f"{torn}: differs from its checksum; it was changed or is torn; set aside as torn-step-00000040"]
    assert values(checkpoints, 3) == [30, 50], "the best, from far back, is not averaged in its place"
    save(checkpoints, 60, protected=(10,))
    assert names(tmp_path) == ["step-00000010", "step-00000030", "step-00000050", "step-00000060", "torn-step-00000040"]
    assert values(checkpoints, 2, before=60) == [50]
    save(checkpoints, 70, protected=(10,))
    assert names(tmp_path) == [f"step-000000{step}" for step in (10, 50, 60, 70)], "out of every window, it is gone"


def test_one_that_is_torn_while_a_run_goes_on_is_not_averaged(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    save(checkpoints, 10, 20, 30)
    truncate(tmp_path / "step-00000020" / "weights.safetensors")
    told: list[str] = []
    found = checkpoints.last_weights(3, report=told.append)
    assert [part["w"][0].item() for part in found] == [10, 30]
    assert len(told) == 1
    assert "step-00000020/weights.safetensors: has " in told[0]


def test_torn_checksums_of_an_older_one_do_not_keep_the_next_from_being_saved(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=4)
    save(checkpoints, 10, 20)
    for step, content in ((10, "["), (20, "[]")):
        (tmp_path / f"step-000000{step}" / "checksums.json").write_text(content)
    save(checkpoints, 30, 40)
    told: list[str] = []
    assert newest(checkpoints, told) == 40
    assert names(tmp_path) == ["step-00000030", "step-00000040", "torn-step-00000010", "torn-step-00000020"]
    assert len(told) == 2


def test_one_of_another_model_is_not_averaged(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    checkpoints.save(10, regular=True, state={}, weights={"w": torch.zeros(4)}, training={})
    save(checkpoints, 20)
    with pytest.raises(
        ModelError, match=r"step-00000010: belongs to another model than step-00000020: w is \(4,\) and \(3"
    ):
        checkpoints.last_weights(2)


def test_a_step_that_is_torn_twice_is_set_aside_twice(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    save(checkpoints, 10)
    for value in ("once", "twice"):
        save(checkpoints, 20)
        (tmp_path / "step-00000020" / "state.json").write_text(value)
        assert newest(checkpoints, []) == 10
        assert (tmp_path / "torn-step-00000020" / "state.json").read_text() == value


def test_earlier_ones_and_what_comes_after(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    save(checkpoints, 10, 20, 30)
    save(checkpoints, 35, regular=False)
    truncate(tmp_path / "step-00000030" / "weights.safetensors")
    told: list[str] = []
    earlier = checkpoints.latest(told.append, before=35)
    assert earlier is not None
    assert earlier.step == 20
    assert len(told) == 1
    assert checkpoints.latest(before=20) is None, "that of step 10 has weights alone"
    assert checkpoints.latest(before=10) is None
    (tmp_path / "step-not-ours").mkdir()
    checkpoints.drop_after(10)
    assert names(tmp_path) == ["step-00000010", "step-not-ours"]


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
    assert (latest.step, latest.has_training_state) == (0, False)


def test_what_a_killed_process_left_goes(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=3)
    save(checkpoints, 10)
    (tmp_path / ".tmp-step-00000020").mkdir()
    (tmp_path / ".tmp-step-00000020" / "shard-00001-model-00001-of-00002.safetensors").touch()
    (tmp_path / "step-00000010" / ".tmp-1234-checksums.json").touch()
    checkpoints.remove_drafts()
    assert names(tmp_path) == ["step-00000010"]
    assert names(tmp_path / "step-00000010") == sorted(FILES)


@pytest.mark.parametrize(("limit", "file"), [(300, "weights.safetensors"), (3000, "state.json")])
def test_on_a_full_disk_the_one_before_survives(tmp_path: Path, limit: int, file: str) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    save(checkpoints, 10, 20)
    state, weights = {"position": "p" * 4000}, {"w": torch.ones(100)}
    with no_file_above(limit), pytest.raises(OSError, match="File too large") as caught:
        checkpoints.save(30, regular=True, state=state, weights=weights, training={})
    assert caught.value.filename == str(tmp_path / "step-00000030" / file)
    assert caught.value.errno == errno.EFBIG
    assert names(tmp_path) == ["step-00000010", "step-00000020"], "nothing is pruned, and no draft stays"
    told: list[str] = []
    assert newest(checkpoints, told) == 20
    assert not told


def test_a_run_folder_that_is_gone_is_not_made_again(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    checkpoints = Checkpoints(run / "checkpoints", keep=2)
    save(checkpoints, 10)
    shutil.rmtree(run / "checkpoints")
    save(checkpoints, 20)  # the folder of the checkpoints alone is made again: better one than none
    shutil.rmtree(run)
    with pytest.raises(ModelError, match=r"run: the run folder is gone, so nothing can be saved"):
        save(checkpoints, 30)
    assert not run.exists()


def test_killed_while_it_saves_and_prunes(tmp_path: Path) -> None:
    steps = set()
    for number in range(1000):
        folder = tmp_path / str(number)
        folder.mkdir()
        checkpoints = Checkpoints(folder, keep=2)
        save(checkpoints, 10, 20)
        save(checkpoints, 25, regular=False)
        if not killed_at(number, lambda: save(checkpoints, 30)):  # noqa: B023  # called at once
            break
        told: list[str] = []
        checkpoints.remove_drafts()
        step = newest(checkpoints, told)
        assert step is not None
        steps.add(step)
        assert not told, f"killed at {number}, something is torn"
        assert values(checkpoints, 2) == ([10, 20] if step == 25 else [20, 30])
        assert {path.name for path in folder.rglob("*") if path.is_file()} <= set(FILES), "no draft is left"
        save(checkpoints, 30)
        assert names(folder) == ["step-00000020", "step-00000030"]
    assert number > 30, "there are that many operations at the least"
    assert steps == {25, 30}

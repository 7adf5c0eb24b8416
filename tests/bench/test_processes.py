"""Real processes, with a model that takes no time."""

import os
import sys
from pathlib import Path

import pytest

from attendo.bench.processes import TrainerError, TrainerProcess, copy_trainers
from attendo.bench.trainers.serving import Job, PairBatch

JOB = Job(
    d_model=16,
    d_ff=32,
    num_layers=1,
    num_heads=2,
    vocab_size=40,
    dropout=0.0,
    label_smoothing=0.1,
    dtype="float32",
    threads=1,
    device="cpu",
    seed=1,
    max_len=12,
)
BATCHES = [PairBatch(source=[[5, 6, 0]], target=[[8, 0]]), PairBatch(source=[[9, 0]], target=[[10, 11, 0]])]


def test_a_process_trains_when_asked_to() -> None:
    with TrainerProcess("own", JOB, BATCHES) as process:
        assert process.versions.keys() == {"torch", "attendo"}
        group = process.train([0, 1, 0], fast_products=False)
        assert len(group.losses) == 3
        assert group.seconds > 0
        again = process.train([0], fast_products=True)
        assert again.losses[0] < group.losses[0]


def test_another_environment_needs_no_attendo() -> None:
    # This one's Python stands for it: what it imports as attendo is a copy of the trainers alone.
    with TrainerProcess("torch_transformer", JOB, BATCHES, python=sys.executable) as process:
        assert process.train([0], fast_products=False).losses[0] > 0


def test_the_copy_has_the_trainers_alone(tmp_path: Path) -> None:
    copy_trainers(tmp_path)
    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.py")}
    assert {"attendo/__init__.py", "attendo/bench/__init__.py", "attendo/bench/trainers/serving.py"} <= names
    assert all(name.startswith("attendo/bench/trainers/") or name.endswith("__init__.py") for name in names)


def test_a_peer_that_is_not_there_says_so() -> None:
    with pytest.raises(TrainerError, match=r"^no_such_peer: .*No module named attendo\.bench\.trainers\.no_such_peer"):
        TrainerProcess("no_such_peer", JOB, BATCHES)


def test_a_python_that_is_not_there() -> None:
    with pytest.raises(TrainerError, match=r"own: /nowhere/python cannot be started \(No such file or directory\)"):
        TrainerProcess("own", JOB, BATCHES, python="/nowhere/python")


def test_a_process_that_is_killed() -> None:
    with TrainerProcess("torch_transformer", JOB, BATCHES) as process:
        os.kill(process.pid, 9)
        with pytest.raises(TrainerError, match=r"ended by signal 9 \(9 may be for lack of memory\)"):
            process.train([0], fast_products=False)

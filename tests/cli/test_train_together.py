"""`attendo train` under torchrun: two processes train as one does, an error is told once, what is lost starts again."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from attendo.checkpoint.run_checkpoints import Checkpoints

TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
QUICK = ("model.dropout=0.0", "training.max_steps=20", "training.checkpoint_steps=5", "training.eval_steps=none",
         "training.eval_bleu=false", "training.log_steps=1", "training.peak_learning_rate=0.001")  # fmt: skip
SETTINGS = [part for setting in QUICK for part in ("--set", setting)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the recipe is, and the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def start(*arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [*TORCHRUN, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )


def finish(started: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, err = started.communicate(timeout=600)
    return started.returncode, out, err


def losses(run: Path) -> list[float]:
    records = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return [record["loss"] for record in records if record["kind"] == "train"]


def last_weights(run: Path) -> dict[str, torch.Tensor]:
    (weights,) = Checkpoints(run / "checkpoints", keep=2).last_weights(1)
    return weights


def test_two_processes_train_as_one_does(attendo: Any, recipe_path: Path, folder: Path) -> None:
    status, out, err = finish(start("-m", "attendo", "train", recipe_path, *SETTINGS, "-o", "two", "--json"))
    assert status == 0, err
    assert json.loads(out)["step"] == 20, "one process prints, and once"
    assert err.count("max_steps reached: step 20") == err.count("data: preparing") == 1
    alone = attendo("train", recipe_path, *SETTINGS, "-o", "one")
    assert alone.status == 0, alone.err
    assert losses(folder / "two") == pytest.approx(losses(folder / "one"), rel=1e-4)
    assert len(losses(folder / "two")) == 20
    # The same folder by one process: its checkpoints, and its model.
    more = attendo("train", "--resume", "-o", "two", "--set", "training.max_steps=21")
    assert (more.status, "resuming at step 20" in more.err) == (0, True), more.err
    averaged = attendo("average", "two", "--last", "3", "-o", "averaged")
    assert averaged.status == 0, averaged.err
    assert attendo("info", "two", "--verify").status == 0
    # What is wrong is told once, whoever finds it.
    status, _, err = finish(start("-m", "attendo", "train", recipe_path, *SETTINGS, "-o", "two"))
    assert status != 0
    assert [line for line in err.splitlines() if line.startswith("attendo:")] == [
        "attendo: error: two: holds a run already; continue with --resume -o two, or name another folder"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("sharding", ["none", "full"])
def test_a_killed_process_is_started_again(recipe_path: Path, folder: Path, sharding: str) -> None:
    train = ["train", recipe_path, *SETTINGS, "--set", "model.dropout=0.1", "--set", f"training.sharding={sharding}"]
    killed = Path(__file__).with_name("killed_worker.py")
    status, _, err = finish(start("--max-restarts", "1", killed, folder / "lost/checkpoints", *train, "-o", "lost"))
    assert status == 0, err
    assert "started again by torchrun: going on with lost" in err
    assert "resuming at step " in err
    status, _, err = finish(start("-m", "attendo", *train, "-o", "uninterrupted"))
    assert status == 0, err
    lost, uninterrupted = last_weights(folder / "lost"), last_weights(folder / "uninterrupted")
    assert lost.keys() == uninterrupted.keys()
    for name, value in uninterrupted.items():
        assert torch.equal(lost[name], value), name
    assert losses(folder / "lost") == losses(folder / "uninterrupted")


def test_a_signal_saves_and_ends_all(attendo: Any, recipe_path: Path, folder: Path) -> None:
    started = start("-m", "attendo", "train", recipe_path, *SETTINGS, "--set", "training.max_steps=100000", "-o", "run")
    while not (folder / "run" / "metrics.jsonl").exists() and started.poll() is None:
        time.sleep(0.01)
    os.kill(started.pid, signal.SIGTERM)
    status, _, err = finish(started)
    assert status != 0
    assert err.count("stopping behind this step and saving") == 1
    assert err.count("interrupted: step ") == 1
    (interrupted,) = (folder / "run" / "checkpoints").glob("*-interrupted")
    step = int(interrupted.name.split("-")[1])
    assert len(losses(folder / "run")) == step
    more = attendo("train", "--resume", "-o", "run", "--set", f"training.max_steps={step + 1}")
    assert (more.status, f"resuming at step {step} from" in more.err) == (0, True), more.err

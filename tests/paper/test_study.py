"""Studies of real, tiny runs: one that is interrupted and goes on, one that fails, those that are done."""

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from attendo.cli.main import run as run_command
from attendo.errors import ModelError
from attendo.files import locked
from attendo.paper import study as study_module
from attendo.paper.run_results import RunResult, steps_made
from attendo.paper.study import Study, plan_runs, visible_gpus
from attendo.recipe import Recipe, load_recipe
from attendo.text.prepared import PreparedData
from attendo.workflow.preparation.prepared_data import prepare_if_missing
from attendo.workflow.runs.reporting import Silence

LONG = ["training.max_steps=150", "training.log_steps=5", "training.checkpoint_steps=200", "training.eval_steps=150"]


class Notes:
    """A reporter that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.progress: list[tuple[int, int, str]] = []
        self.results: list[int] = []

    def message(self, text: str) -> None:
        self.lines.append(text)

    def preparing(self, progress: object) -> None:
        raise AssertionError

    def running(self, done: int, total: int, note: str) -> None:
        self.progress.append((done, total, note))

    def finished(self, results: Sequence[RunResult]) -> None:
        self.results.append(len(results))


@pytest.fixture
def recipe(recipe_path: Path) -> Recipe:
    return load_recipe(str(recipe_path))


@pytest.fixture
def prepared(recipe: Recipe, tmp_path: Path) -> PreparedData:
    return prepare_if_missing(recipe, tmp_path / "study" / "prepared", Silence())


def never() -> bool:
    return False


def test_interrupted_failing_and_done_runs(
    recipe: Recipe, recipe_path: Path, prepared: PreparedData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study_module, "_POLL_S", 0.05)
    folder = tmp_path / "study"
    rows = {"short": recipe, "broken": recipe, "long": load_recipe(str(recipe_path), LONG)}
    runs = plan_runs(rows, [2])
    assert [run.name for run in runs] == ["short-seed-2", "broken-seed-2", "long-seed-2"]
    (folder / "runs" / "broken-seed-2").mkdir(parents=True)
    (folder / "runs" / "broken-seed-2" / "checkpoints").write_text("no folder", encoding="utf-8")

    def sit(should_stop: Any) -> tuple[Any, Notes]:
        notes = Notes()
        study = Study(folder, runs, RunResult, lambda run: prepared, jobs=2, threads=1)
        return study.train(notes, should_stop, notes.finished), notes

    # The first session ends when the long run is on its way.
    outcome, notes = sit(lambda: steps_made(folder / "runs" / "long-seed-2") >= 10)
    assert outcome.interrupted
    assert [result.row for result in outcome.results] == ["short"]
    [(name, failure)] = outcome.failures.items()
    assert name == "broken-seed-2"
    assert failure.startswith("broken-seed-2: ")
    assert "checkpoints" in failure
    assert "\n" not in failure
    assert "1 failed" in notes.progress[-1][2]
    long_run = folder / "runs" / "long-seed-2"
    saved = [
        json.loads(path.read_text("utf-8"))["position"]["step"] for path in long_run.glob("checkpoints/*/state.json")
    ]
    assert 10 <= max(saved) < 150, "what ran was saved at once, not at the next checkpoint that was due"
    assert not (long_run / "result.json").exists()

    # What stood in the way of the broken run is gone: the same study finishes all.
    (folder / "runs" / "broken-seed-2" / "checkpoints").unlink()
    outcome, notes = sit(never)
    assert not outcome.interrupted
    assert not outcome.failures
    assert [result.row for result in outcome.results] == ["short", "broken", "long"]
    assert notes.results == [2, 3]
    assert notes.progress[-1][:2] == (162, 162)
    short, broken, long = outcome.results
    assert (short.perplexity, short.bleu) == (broken.perplexity, broken.bleu), "equal recipes and seeds, equal runs"
    assert (short.steps, long.steps, long.seed) == (6, 150, 2)

    # The same recipe by `attendo train`, uninterrupted.
    settings = [part for setting in [*LONG, "training.seed=2"] for part in ("--set", setting)]
    alone = tmp_path / "alone"
    assert (
        run_command(["train", str(recipe_path), "-o", str(alone), "--prepared", str(tmp_path / "data"), *settings]) == 0
    )
    lines = [json.loads(line) for line in (alone / "metrics.jsonl").read_text("utf-8").splitlines()]
    [valid] = [line for line in lines if line["kind"] == "valid"]
    assert (valid["perplexity"], valid["bleu"]) == (long.perplexity, long.bleu)

    # Where all is done, nothing is started.
    monkeypatch.setattr(subprocess, "Popen", None)
    again, notes = sit(never)
    assert again == outcome
    assert not notes.lines


def test_the_seeds_come_one_behind_the_other_and_change_nothing_else(recipe: Recipe) -> None:
    runs = plan_runs({"one": recipe, "two": recipe}, [1, 2])
    assert [run.name for run in runs] == ["one-seed-1", "two-seed-1", "one-seed-2", "two-seed-2"]
    assert [run.recipe.training.seed for run in runs] == [1, 1, 2, 2]
    assert replace(runs[3].recipe, training=recipe.training) == recipe


class Started:
    """A process that never ends by itself."""

    started: list["Started"]

    def __init__(self, command: list[str], *, env: dict[str, str], start_new_session: bool, **rest: object) -> None:
        assert start_new_session, "a terminal's Ctrl-C is for the study, which passes it on once"
        self.command, self.env, self.signals = command, env, list[int]()
        Started.started.append(self)

    def poll(self) -> int | None:
        return None

    def send_signal(self, number: int) -> None:
        self.signals.append(number)

    def kill(self) -> None:
        self.signals.append(signal.SIGKILL)

    def wait(self) -> None:
        pass


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Started]:
    """The processes that a study starts."""
    Started.started = []
    monkeypatch.setattr(subprocess, "Popen", Started)
    monkeypatch.setattr(study_module, "_POLL_S", 0.0)
    return Started.started


def test_a_second_ctrl_c_ends_all_at_once(
    recipe: Recipe, prepared: PreparedData, tmp_path: Path, started: list[Started], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,6")
    asked = iter([False, False, True, True])

    def should_stop() -> bool:
        return next(asked)

    notes = Notes()
    study = Study(
        tmp_path / "study",
        plan_runs({"a": recipe, "b": recipe}, [1, 2]),
        RunResult,
        lambda run: prepared,
        jobs=3,
        threads=5,
    )
    polls = 0

    def interrupt(done: int, total: int, note: str) -> None:
        nonlocal polls
        polls += 1
        if polls == 6:
            raise KeyboardInterrupt

    notes.running = interrupt  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        study.train(notes, should_stop, notes.finished)
    assert [process.signals for process in started] == [[signal.SIGTERM, signal.SIGKILL]] * 3, (
        "stopped once, then ended"
    )
    assert [process.env["CUDA_VISIBLE_DEVICES"] for process in started] == ["4", "6", "4"]
    assert {process.env["OMP_NUM_THREADS"] for process in started} == {"5"}
    assert [Path(process.command[-1]).name for process in started] == ["a-seed-1", "b-seed-1", "a-seed-2"]


def test_gpus_as_the_driver_counts_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    assert visible_gpus() == ["0", "1", "2"]
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    assert visible_gpus() == []


def test_another_study_in_the_folder_is_not_spoilt(
    recipe: Recipe, recipe_path: Path, prepared: PreparedData, tmp_path: Path, started: list[Started]
) -> None:
    folder = tmp_path / "study"
    asked = iter([False, True])
    first = Study(folder, plan_runs({"a": recipe}, [1]), RunResult, lambda run: prepared, jobs=1, threads=1)
    notes = Notes()
    notes.running = lambda done, total, note: os.kill(os.getpid(), signal.SIGINT)  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        first.train(notes, lambda: next(asked), notes.finished)
    other = load_recipe(str(recipe_path), ["training.label_smoothing=0.2"])
    with pytest.raises(ModelError, match=r"a-seed-1: holds a run of another recipe"):
        Study(folder, plan_runs({"a": other}, [1]), RunResult, lambda run: prepared, jobs=1, threads=1)


def test_two_at_one_study(recipe: Recipe, prepared: PreparedData, tmp_path: Path, started: list[Started]) -> None:
    study = Study(tmp_path / "study", plan_runs({"a": recipe}, [1]), RunResult, lambda run: prepared, jobs=1, threads=1)
    with locked(tmp_path / "study" / ".lock"), pytest.raises(ModelError, match="in use by process"):
        study.train(Notes(), never, lambda results: None)
    assert not started

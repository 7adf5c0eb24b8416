"""Run folders: whose a run is, what it began with, and what has changed since."""

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from attendo.errors import DataError, ModelError
from attendo.recipe import Recipe, load_recipe
from attendo.workflow.machine import number_type
from attendo.workflow.preparation.prepare import prepare
from attendo.workflow.runs.run_folder import (
    check_prepared,
    record_changes,
    remember_split,
    remembered_split,
    resume_run,
    run_lock,
    start_run,
    was_started_by,
)


def run_json(folder: Path) -> dict[str, object]:
    content: dict[str, object] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return content


@pytest.fixture
def recipe(recipe_path: Path, tmp_path: Path) -> Recipe:
    """With corpora of its own, `tmp_path / "corpora"`, which a test may change."""
    recipe = load_recipe(str(recipe_path))
    assert recipe.data is not None
    shutil.copytree(recipe.data.folder, tmp_path / "corpora")
    return replace(recipe, data=replace(recipe.data, folder=str(tmp_path / "corpora")))


@pytest.fixture
def prepared(recipe: Recipe, tmp_path: Path) -> Callable[..., Path]:
    """Prepares the recipe's data anew."""

    def again(seed: int = 1) -> Path:
        assert recipe.data is not None
        tokenizer = replace(recipe.tokenizer, seed=seed)
        prepare(recipe.data, tokenizer, tmp_path / "ready", base_folder=tmp_path)
        return tmp_path / "ready"

    return again


def test_a_launch_knows_its_run(recipe_path: Path, tmp_path: Path) -> None:
    recipe = load_recipe(str(recipe_path))
    start_run(recipe, tmp_path / "launched", tmp_path, "job-17")
    start_run(recipe, tmp_path / "alone", tmp_path)
    assert was_started_by(tmp_path / "launched", "job-17")
    assert not was_started_by(tmp_path / "launched", "job-18")
    assert not was_started_by(tmp_path / "alone", "job-17")
    assert not was_started_by(tmp_path / "alone", ""), "launches without a name do not know each other"
    assert not was_started_by(tmp_path / "nowhere", "job-17")
    assert "launch" not in run_json(tmp_path / "alone")
    assert resume_run(tmp_path / "launched", [])[1] == tmp_path
    with pytest.raises(ModelError, match="holds a run already"):
        start_run(recipe, tmp_path / "launched", tmp_path, "job-17")


def test_a_run_keeps_the_number_type_of_the_machine_that_it_begins_on(
    recipe_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    automatic = load_recipe(str(recipe_path), ["training.dtype=auto", "training.device=cpu"])
    monkeypatch.setattr(number_type, "multiplies_bfloat16_fast", lambda: True)
    start_run(automatic, tmp_path / "fast", tmp_path)
    monkeypatch.setattr(number_type, "multiplies_bfloat16_fast", lambda: False)
    start_run(automatic, tmp_path / "other", tmp_path)
    assert resume_run(tmp_path / "fast", [])[0].training.dtype == "bfloat16", "also where it goes on on another"
    assert resume_run(tmp_path / "other", [])[0].training.dtype == "float32"
    assert resume_run(tmp_path / "fast", ["training.dtype=auto"])[0].training.dtype == "float32"


def test_one_process_at_a_time_trains_in_a_folder(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        with run_lock(tmp_path):
            (tmp_path / "has it").touch()
            time.sleep(60)
        os._exit(0)
    try:
        while not (tmp_path / "has it").exists():
            time.sleep(0.001)
        with (
            pytest.raises(ModelError, match=rf": in use by process {child} on .* already; wait until"),
            run_lock(tmp_path),
        ):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    with run_lock(tmp_path):
        pass
    with pytest.raises(BlockingIOError, match="of the block"), run_lock(tmp_path):
        raise BlockingIOError("of the block")
    with pytest.raises(ModelError, match=r"nowhere: no such run folder"), run_lock(tmp_path / "nowhere"):
        pass


def test_data_that_is_prepared_anew_from_the_same_is_no_other(
    recipe: Recipe, prepared: Callable[..., Path], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    start_run(recipe, run, prepared())
    check_prepared(run)
    manifest = (tmp_path / "ready" / "manifest.json").read_bytes()
    shutil.rmtree(tmp_path / "ready")
    with pytest.raises(
        DataError, match=r"ready: the prepared data that .*run trains on is missing or not whole; .* -o "
    ):
        check_prepared(run)
    os.utime(tmp_path / "corpora" / "source.txt")
    prepared()
    assert (tmp_path / "ready" / "manifest.json").read_bytes() != manifest, "the corpus has another time"
    check_prepared(run)


def test_data_that_is_prepared_anew_from_something_else_is_refused(
    recipe: Recipe, prepared: Callable[..., Path], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    start_run(recipe, run, prepared())
    prepared(seed=2)  # a vocabulary learned from other pairs, or the same: it is compared, not its settings
    check_prepared(run)
    for side, line in (("source", "a new one here."), ("target", "wen a")):
        with (tmp_path / "corpora" / f"{side}.txt").open("a") as file:
            file.write(f"{line}\n")
    prepared()
    with pytest.raises(
        DataError, match=r"ready: was prepared anew from other files \(source.txt, target.txt changed\)"
    ):
        check_prepared(run)
    content = run_json(run)
    del content["data"]  # of a run that began before this was written down
    (run / "run.json").write_text(json.dumps(content))
    check_prepared(run)
    (tmp_path / "ready" / "manifest.json").write_text("[]")
    start_run_again = tmp_path / "again"
    with pytest.raises(DataError, match=r"manifest.json: is torn or not a manifest"):
        start_run(recipe, start_run_again, tmp_path / "ready")
    assert not start_run_again.exists()


def test_data_that_is_prepared_anew_with_other_settings_is_refused(
    recipe: Recipe, prepared: Callable[..., Path], tmp_path: Path
) -> None:
    start_run(recipe, tmp_path / "run", prepared())
    assert recipe.data is not None
    prepare(recipe.data, replace(recipe.tokenizer, vocab_size=290), tmp_path / "ready", base_folder=tmp_path)
    with pytest.raises(DataError, match=r"ready: was prepared anew with other settings since .*run began"):
        check_prepared(tmp_path / "run")


def test_what_resume_changed_stays(recipe: Recipe, prepared: Callable[..., Path], tmp_path: Path) -> None:
    run = tmp_path / "run"
    start_run(recipe, run, prepared())
    before = (run / "recipe.toml").read_bytes()
    for step, override in ((4, "training.max_steps=8"), (8, "training.max_steps=8"), (8, "training.patience=3")):
        changed, _ = resume_run(run, [override])
        record_changes(run, changed, [override], step)
    changed, _ = resume_run(run, [])
    assert (changed.training.max_steps, changed.training.patience) == (8, 3)
    assert changed == replace(load_recipe(str(run / "recipe.toml")), folder=changed.folder)
    assert run_json(run)["changes"] == [
        {"step": 4, "set": ["training.max_steps=8"]},
        {"step": 8, "set": ["training.patience=3"]},
    ]
    assert (run / "recipe.toml").read_bytes() != before
    record_changes(run, changed, [], 9)
    assert len(run_json(run)["changes"]) == 2  # type: ignore[arg-type]


def test_a_split_is_remembered(recipe: Recipe, prepared: Callable[..., Path], tmp_path: Path) -> None:
    run = tmp_path / "run"
    start_run(recipe, run, prepared())
    assert remembered_split(run) is None
    remember_split(run, 1200)
    remember_split(run, 600)
    assert remembered_split(run) == 600
    assert resume_run(run, [])[1] == tmp_path / "ready", "the rest is as it was"
    for value in ('"600"', "0", "6.5"):
        (run / "run.json").write_text(f'{{"max_tokens_at_once": {value}}}')
        with pytest.raises(ModelError, match=r"run.json: max_tokens_at_once = .* is no number of tokens"):
            remembered_split(run)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "cannot be read"),
        ("[]", "holds no table"),
        ("{}", "does not say where the run's prepared data is"),
        ('{"prepared": 3}', "does not say where the run's prepared data is"),
        ('{"prepared": "a\\u0000b"}', "does not say where the run's prepared data is"),
        ("[" * 100_000, "nested more than"),
    ],
)
def test_a_torn_run_json(recipe: Recipe, tmp_path: Path, content: str, message: str) -> None:
    start_run(recipe, tmp_path / "run", tmp_path)
    (tmp_path / "run" / "run.json").write_text(content)
    for read in (check_prepared, lambda folder: resume_run(folder, [])):
        with pytest.raises(ModelError, match=rf"run.json: .*{message}"):
            read(tmp_path / "run")

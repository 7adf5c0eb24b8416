"""A drafter from beginning to end: the model's own translations, the recipe, the run, the model with its drafter."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command

from attendo.checkpoint.model_folder import load_model
from attendo.checkpoint.weights import named_weights

SETTINGS = (
    "data.corpora=[{name='own', translations='own.jsonl'}]", "data.valid={source='source.txt', target='target.txt'}",
    "training.max_steps=8", "training.max_tokens=300", "training.warmup_steps=2", "training.cooldown_steps=2",
    "training.checkpoint_steps=2", "training.eval_steps=4", "training.dtype=float32", "model.draft_tokens=3",
)  # fmt: skip


def options(model: Path | str, *more: str) -> list[str]:
    return [part for each in (f"training.init_from={model}", *SETTINGS, *more) for part in ("--set", each)]


@pytest.fixture
def own(attendo: Command, corpus: Any, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a few lines and what a model makes of them."""
    monkeypatch.chdir(tmp_path)
    for name in ("source.txt", "target.txt"):
        lines = (corpus.source.parent / name).read_bytes().splitlines(keepends=True)
        (tmp_path / name).write_bytes(b"".join(lines[:60]))
    told = attendo("translate", model_folder, "source.txt", "--beam-size", 1, "--json", "-o", "own.jsonl")
    assert told.status == 0, told.err
    lines = (tmp_path / "own.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) | {"finished": True} for line in lines]  # random weights never end a sentence
    (tmp_path / "own.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in records), encoding="utf-8")
    return tmp_path


def test_a_model_gets_a_drafter_and_translates_as_before(attendo: Command, own: Path, model_folder: Path) -> None:
    told = attendo("train", "drafting", *options(model_folder, "training.drafter=alone"), "-o", "run")
    assert told.status == 0, told.err
    assert f"training a drafter for {model_folder}, which stays as it is" in told.err
    before, after = load_model(model_folder).transformer, load_model(own / "run" / "model").transformer
    assert (before.config.draft_tokens, after.config.draft_tokens) == (0, 3)
    weights = named_weights(after)
    assert all(weights[name].equal(value) for name, value in named_weights(before).items())
    lines = []
    for model in (model_folder, "run"):
        for more in ([], ["--set", "search.max_batch_sentences=1"], ["--dtype", "int8"]):
            told = attendo("translate", model, "source.txt", "--beam-size", 1, "--no-guards", *more)
            assert told.status == 0, told.err
            lines.append(told.out)
    assert lines[:3] == lines[3:]
    assert lines[0] == lines[1]


def test_a_drafters_run_that_is_interrupted_ends_as_one_that_is_not(
    attendo: Command, own: Path, model_folder: Path
) -> None:
    steady = options(model_folder, "training.cooldown_steps=0")
    assert attendo("train", "drafting", *steady, "-o", "whole").status == 0
    assert attendo("train", "drafting", *steady, "--set", "training.max_steps=4", "-o", "parts").status == 0
    told = attendo("train", "--resume", "-o", "parts", "--set", "training.max_steps=8")
    assert told.status == 0, told.err
    whole, parts = (named_weights(load_model(own / name / "model").transformer) for name in ("whole", "parts"))
    assert all(value.equal(parts[name]) for name, value in whole.items())


def test_a_drafter_is_trained_on_and_left_out_of_fine_tuning(attendo: Command, own: Path, model_folder: Path) -> None:
    assert attendo("train", "drafting", *options(model_folder), "-o", "first").status == 0
    first = named_weights(load_model(own / "first" / "model").transformer)
    told = attendo("train", "drafting", *options("first", "training.max_steps=2"), "-o", "second")
    assert told.status == 0, told.err
    assert "training the drafter of first" in told.err.replace(f"{own}/", "")
    second = named_weights(load_model(own / "second" / "model").transformer)
    assert first.keys() == second.keys()
    told = attendo(
        "train", "drafting", *options("first", "training.max_steps=2", "model.draft_tokens=0"), "-o", "tuned"
    )
    assert told.status == 0, told.err
    assert "its drafter is left out" in told.err
    tuned = load_model(own / "tuned" / "model")
    assert tuned.description.model.draft_tokens == 0
    assert not any(name.startswith("drafter.") for name in named_weights(tuned.transformer))


def test_a_drafter_without_a_model_is_refused(attendo: Command, recipe_path: Path) -> None:
    told = attendo("train", recipe_path, "--set", "model.draft_tokens=4", "--dry-run")
    assert (told.status, told.err.count("\n")) == (1, 1)
    assert (
        "model.draft_tokens = 4: a drafter is trained for a model that there is; name that in training.init" in told.err
    )

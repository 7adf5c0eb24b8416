"""`attendo train` and `attendo demo`: usage, dry run, refusals, and what a whole small run prints."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attendo.cli.signals import StopSignal
from attendo.cli.train import estimate_text
from attendo.workflow.runs.estimate import Estimate

Command = Callable[..., Any]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train"], "name a recipe"),
        (["train", "--resume"], "name the run folder"),
        (["train", "base", "--sets", "x"], "No such option"),
        (["train", "--resume", "-o", "run", "--dry-run"], "--resume continues a run as it is"),
        (["train", "--resume", "-o", "run", "--prepared", "x"], "--resume continues a run as it is"),
    ],
)
def test_wrong_usage(attendo: Command, arguments: list[str], message: str) -> None:
    finished = attendo(*arguments)
    assert finished.status == 2
    assert message in finished.err


def test_a_whole_run(attendo: Command, recipe_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dry = attendo("train", recipe_path, "--dry-run")
    assert dry.status == 0
    assert "not known before the data is prepared" in dry.out
    assert not (tmp_path / "prepared").exists()

    finished = attendo("train", recipe_path, "-o", "a run", "--json")
    assert finished.status == 0, finished.err
    told = json.loads(finished.out)
    assert (told["step"], told["ending"]) == (6, "max_steps reached")
    assert "step 4: validation perplexity" in finished.err
    assert "step 6: validation perplexity" in finished.err, "the last step is validated whatever eval_steps says"

    dry = attendo("train", recipe_path, "--dry-run", "--json")
    assert json.loads(dry.out)["batches_per_epoch"] > 0, "the same recipe finds its prepared data"

    again = attendo("train", recipe_path, "-o", "a run")
    assert again.status == 1
    assert "holds a run already; continue with --resume -o a run" in again.err
    more = attendo("train", "--resume", "-o", "a run", "--set", "training.max_steps=8", "--json")
    assert json.loads(more.out)["step"] == 8
    assert "resuming at step 6" in more.err
    named = attendo("train", "a run", "--resume", "--set", "training.max_steps=9", "--json")
    assert json.loads(named.out)["step"] == 9, "a run folder in the recipe's place is the one to go on with"

    card = (tmp_path / "a run" / "model" / "README.md").read_text(encoding="utf-8")
    assert "| mine | 216 | 216 | none |" in card
    assert "en to de" in card
    assert "validation BLEU (nrefs:1" in card


def test_resume_of_nothing(attendo: Command, tmp_path: Path) -> None:
    finished = attendo("train", "--resume", "-o", tmp_path)
    assert finished.status == 1
    assert "no run to resume" in finished.err


def test_an_estimate_to_read() -> None:
    found = Estimate(
        recipe="r", parameters=1_234_567, shapes=(("output_weight", (10, 4), 1),), vocab_size=10,
        exact_vocabulary=True, state_bytes=2**30, activation_bytes=2**29, batches_per_epoch=100, padding_share=0.031,
        target_tokens_per_update=2000.0, epochs=5.0, target_tokens_per_s=1000.0, hours=100.0, device="cpu", threads=2,
        processor_share=0.9,
    )  # fmt: skip
    text = estimate_text(found)
    for part in ("1,234,567 parameters", "10 x 4", "1.00 GiB", "0.50 GiB", "100 an epoch, 3.1% padding", "4.2 days"):
        assert part in text
    assert "quiet" not in text, "90 hours are not worth a second figure"
    busy = estimate_text(replace(found, hours=4.0, processor_share=0.2))
    assert "4.0 hours at 1,000 target tokens/s" in busy
    assert "on a quiet machine about 48 minutes: other programs take 80% of the processor time" in busy


def test_a_dry_run_names_the_files_that_are_missing(attendo: Command, recipe_path: Path, corpus: Any) -> None:
    missing = ["--set", "data.corpora.mine.target=tarqet.txt", "--set", "data.valid.source=valid.txt"]
    dry = attendo("train", recipe_path, "--dry-run", *missing)
    assert dry.status == 1
    assert "parameters" in dry.out
    assert f"{corpus.source.parent / 'tarqet.txt'}: there is no such file" in dry.err
    assert f"{corpus.source.parent / 'valid.txt'}: there is no such file" in dry.err
    as_json = attendo("train", recipe_path, "--dry-run", "--json", *missing)
    assert (as_json.status, as_json.err) == (0, "")
    assert json.loads(as_json.out)["parameters"] > 0


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_a_dry_run_beside_other_programs(recipe_path: Path) -> None:
    # Three programs of one priority on one core get a third of it each; the machine may be busier than that.
    core = {min(os.sched_getaffinity(0))}
    script = f"""
import os, subprocess, sys
import attendo.workflow.runs.estimate  # with torch, which takes long on a third of a core
from attendo.cli.main import run
os.sched_setaffinity(0, {core})
neighbours = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
try:
    status = run(sys.argv[1:])
finally:
    for process in neighbours:
        process.kill()
        process.wait()
sys.exit(status)
"""
    finished = subprocess.run(
        [sys.executable, "-c", script, "train", recipe_path, "--dry-run", "--json"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    found = json.loads(finished.stdout)
    assert 0.02 < found["processor_share"] < 0.6
    assert found["quiet_hours"] == pytest.approx(found["hours"] * found["processor_share"])
    assert found["threads"] == 1


def test_the_first_signal_asks_and_the_second_ends() -> None:
    before = signal.getsignal(signal.SIGINT)
    with StopSignal() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.number == signal.SIGINT
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_fine_tuning_run(
    attendo: Command, corpus: Any, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number, name in enumerate(("source.txt", "target.txt")):
        lines = (corpus.source, corpus.target)[number].read_bytes().splitlines(keepends=True)
        (tmp_path / name).write_bytes(b"".join(lines[:90]))
        (tmp_path / f"old.{name}").write_bytes(b"".join(lines[100:]))
        (tmp_path / f"valid.{name}").write_bytes(b"".join(lines[90:94]))
    settings = [
        f"training.init_from={model_folder}", "training.max_steps=4", "training.max_tokens=300",
        "training.warmup_steps=2", "training.cooldown_steps=2", "training.eval_steps=4",
    ]  # fmt: skip
    recipe = ["fine-tuning", *(part for setting in settings for part in ("--set", setting))]
    told = attendo("prepare", *recipe)
    assert told.status == 0, told.err
    assert f"vocabulary of 300 pieces, kept from the model {model_folder}" in told.out
    dry = attendo("train", *recipe, "--dry-run").out
    # By hand: 90 pairs are three quarters of an epoch of 120, of which 30 of 116 are old.
    assert f"fine-tunes    {model_folder}" in dry
    assert "an epoch      new           90 pairs,  75.0%, each 1.00 times\n" in dry
    assert "              old           30 pairs,  25.0%, each 0.26 times\n" in dry
    finished = attendo("train", *recipe, "-o", "run", "--json")
    assert finished.status == 0, finished.err
    assert "is prepared already" in finished.err
    assert "step 0: validation perplexity" in finished.err
    assert json.loads(finished.out)["step"] == 4
    refused = attendo("train", *recipe, "--set", "model.d_ff=64", "-o", "other")
    assert (refused.status, refused.err.count("\n")) == (1, 1)
    assert "model.d_ff = 64, but training.init_from keeps the model's" in refused.err
    averaged = attendo("average", "run", "--last", "1", "-o", "averaged")
    assert averaged.status == 0, averaged.err
    config = json.loads((tmp_path / "averaged" / "config.json").read_text(encoding="utf-8"))
    assert config["training"]["init_from"]["model"] == model_folder.name

"""Training that diverges in a real process: it goes back, names the pairs, and a kill at any moment changes nothing."""

import json
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.survival.chains import Chains, Uninterrupted, check_equal
from tests.survival.recipes import MARKED_LINE
from tests.survival.run_state import what_is_whole
from tests.survival.sittings import Fate, start_torchrun

Reference = Callable[..., Uninterrupted]


def named_pairs(skipped: str) -> set[str]:
    return {pair for line in skipped.splitlines() for pair in json.loads(line)["pairs"]}


@pytest.mark.parametrize("fault", ["nan", "spoiled"])
def test_a_run_goes_on_without_the_pairs_at_fault(uninterrupted: Reference, fault: str) -> None:
    found = uninterrupted("marked", 1, fault)
    assert found.told.count("going back to step") > 0
    skipped = found.state.texts["skipped.jsonl"]
    assert f"counted {MARKED_LINE}" in named_pairs(skipped)
    (marked,) = (record for record in map(json.loads, skipped.splitlines()) if "four" in record["source"])
    assert marked["pairs"] == [f"counted {MARKED_LINE}"]
    assert marked["target"].endswith("fu.")


@pytest.mark.parametrize("fault", ["nan", "spoiled"])
def test_kills_around_a_divergence_change_nothing(chains: Chains, uninterrupted: Reference, fault: str) -> None:
    reference, rng = uninterrupted("marked", 1, fault), random.Random(fault)
    for kind in ("time", "operation", "write"):
        fates = [
            Fate.at_random(
                kind, rng, seconds=reference.seconds, operations=reference.operations, file_bytes=reference.file_bytes
            )
            for _ in range(4)
        ]
        chains.follow(reference, fates)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["nan", "spoiled"])
def test_a_kill_before_every_operation_of_a_way_back(chains: Chains, uninterrupted: Reference, fault: str) -> None:
    reference = uninterrupted("marked", 1, fault)
    for operation in range(1, reference.operations + 1):
        chains.follow(reference, [Fate(operation=operation)])


def test_two_processes_go_back_together(uninterrupted: Reference, chains: Chains) -> None:
    reference = uninterrupted("marked", 2, "nan")
    told = [line for line in reference.told.splitlines() if "going back to step" in line]
    assert len(told) == len(set(told)) > 0, "one of them tells, once an epoch"
    assert f"counted {MARKED_LINE}" in named_pairs(reference.state.texts["skipped.jsonl"])
    chains.follow(reference, [Fate(signals=((0.6 * reference.seconds, signal.SIGKILL),))])


def test_a_learning_rate_that_is_too_high(chains: Chains, uninterrupted: Reference, tmp_path: Path) -> None:
    """No fault is put in: this one really diverges, ends with one line, and goes on at another rate."""
    uninterrupted("plain")  # prepares
    run = tmp_path / "run"
    settings = ("training.peak_learning_rate=1", "training.warmup_steps=30", "training.patience=none")
    high = [part for setting in settings for part in ("--set", setting)]
    ended = chains.server.sit(run, "train", "plain.toml", "-o", run, *high, "--set", "training.max_steps=90")
    assert ended.statuses == (1,), ended.told
    assert ended.told.count("going back to step") == 3 + 1, "the last line is for the pairs that it ends with"
    (error,) = (line for line in ended.told.splitlines() if line.startswith("attendo: error:"))
    assert "after going back 3 times" in error
    assert "--set training." in error, "the way out"
    assert what_is_whole(run).checkpoints
    assert not what_is_whole(run).problems
    sane = ("--set", "training.peak_learning_rate=0.01", "--set", "training.max_steps=50")
    more = chains.server.sit(run, "train", "--resume", "-o", run, *sane)
    assert more.statuses == (0,), more.told
    assert "going back" not in more.told
    losses = [json.loads(line)["loss"] for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert losses[-1] < 4, "uniform guesses among 280 pieces cost 5.6 nats"


@pytest.mark.slow
def test_under_torchrun_with_both_killed(chains: Chains, uninterrupted: Reference, tmp_path: Path) -> None:
    """The same divergence with processes that torchrun itself starts, killed behind the checkpoint after it."""
    reference, run = uninterrupted("marked", 2, "nan"), tmp_path / "run"
    program = ("-m", "tests.survival.faults", "nan", "train")
    started = start_torchrun(chains.folder, *program, "marked.toml", "-o", run)
    while started.poll() is None and not list((run / "checkpoints").glob("step-00000012")):
        time.sleep(0.005)
    os.killpg(started.pid, signal.SIGKILL)
    assert "going back to step 8" in started.communicate(timeout=60)[0]
    resumed = start_torchrun(chains.folder, *program, "--resume", "-o", run)
    told, _ = resumed.communicate(timeout=300)
    assert resumed.returncode == 0, told
    check_equal(run, reference)

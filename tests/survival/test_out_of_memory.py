"""Memory that does not hold an update, really bounded as by `ulimit -v`: it is made in smaller pieces."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.survival.chains import Chains, Uninterrupted
from tests.survival.faults import BOUNDS
from tests.survival.sittings import Fate, start_torchrun

Reference = Callable[..., Uninterrupted]
SPLIT = "memory does not hold the update"


def losses(run: Path) -> list[float]:
    lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [record["loss"] for record in map(json.loads, lines) if record["kind"] == "train"]


def test_kills_around_a_split_change_nothing(chains: Chains, uninterrupted: Reference) -> None:
    reference, rng = uninterrupted("plain", 1, "small"), random.Random(1)
    assert reference.told.count(SPLIT) == 1
    assert f"step 1: {SPLIT}" not in reference.told, "updates before it were made at once"
    for kind in ("time", "operation"):
        fates = [
            Fate.at_random(
                kind, rng, seconds=reference.seconds, operations=reference.operations, file_bytes=reference.file_bytes
            )
            for _ in range(4)
        ]
        chains.follow(reference, fates)


@pytest.mark.slow
def test_an_update_that_does_not_fit_is_split(chains: Chains, uninterrupted: Reference, tmp_path: Path) -> None:
    unbounded = losses(uninterrupted("large").run)
    for bound in BOUNDS:  # falling; which one is too little depends on the machine
        run = tmp_path / bound
        ended = chains.server.sit(run, "train", "large.toml", "-o", run, fault=bound)
        if SPLIT in ended.told:
            break
    assert SPLIT in ended.told, "the smallest bound is enough for all at once"
    assert ended.statuses == (0,), ended.told
    assert losses(run) == pytest.approx(unbounded, rel=1e-5), "sums in another order, and no dropout"


@pytest.mark.slow
def test_torchrun_starts_again_with_smaller_pieces(chains: Chains, uninterrupted: Reference, tmp_path: Path) -> None:
    """Processes that train together cannot go on from there: they say so, and the next start takes smaller pieces."""
    unbounded = losses(uninterrupted("large", 2).run)
    for bound in BOUNDS:
        run = tmp_path / bound
        program = ("-m", "tests.survival.faults", bound, "train", "large.toml", "-o", run)
        started = start_torchrun(chains.folder, *program, restarts=8)
        told, _ = started.communicate(timeout=300)
        if SPLIT in told:
            break
    assert started.returncode == 0, told
    assert told.count("attendo: error:") == told.count("started again by torchrun"), "one line a start"
    assert json.loads((run / "run.json").read_bytes())["max_tokens_at_once"] < 20_000
    assert losses(run) == pytest.approx(unbounded, rel=1e-5)

"""What became of the runs of a schedule study: learnt, stuck or diverged, and by how much they differ."""

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from attendo.cli.main import run as run_command
from attendo.paper.schedule.rows import (
    Row,
    RunCurve,
    RunStatus,
    frequency_loss,
    has_diverged,
    largest_rate_difference,
    outcomes,
    run_curve,
)
from attendo.text.prepared import PreparedData

NOT_PUT_RIGHT = {"max_rollbacks": "0", "max_loss_rise": "1e6"}
"""As the shipped recipes of the study have it."""
ROWS = (Row(warmup_steps=100, factor=1.0), Row(warmup_steps=1, factor=1.0), Row(warmup_steps=100, factor=4.0))


def test_fates_and_differences(make_result: Any) -> None:
    results = [
        make_result(ROWS[0].name, 1, 8.0, 30.0),
        make_result(ROWS[0].name, 2, 8.0, 31.0),
        make_result(ROWS[1].name, 1, 16.0, 20.0),
        make_result(ROWS[1].name, 2, 32.0, 10.0),
        make_result(ROWS[2].name, 2, 2000.0, 0.0),
    ]
    found = outcomes(ROWS, results, {ROWS[2].name: [1]}, frequencies=math.log(100))
    assert [outcome.row for outcome in found] == list(ROWS)
    first, without, high = found
    assert first.difference is None
    assert without.difference is not None
    assert without.difference.mean == pytest.approx(1.5 * math.log(2))  # twice and four times the perplexity
    # t of one degree of freedom at 0.975 is 12.706; the two differ by log 2, so that the error is log 2 / 2.
    assert without.difference.half_width == pytest.approx(12.7062 * math.log(2) / 2, rel=1e-4)
    assert high.fates == {1: RunStatus.DIVERGED, 2: RunStatus.STUCK}
    assert high.log_loss is not None
    assert high.log_loss.mean == pytest.approx(math.log(2000))
    assert [one.count(RunStatus.LEARNT) for one in found] == [2, 2, 0]
    assert json.loads(json.dumps(high.to_json()))["fates"] == {"1": "diverged", "2": "no better than word frequencies"}


def test_a_row_of_diverged_runs_alone_has_no_figures() -> None:
    (found,) = outcomes(ROWS, [], {ROWS[1].name: [1, 2]}, frequencies=5.0)
    assert (found.log_loss, found.bleu, found.difference) == (None, None, None)
    assert found.count(RunStatus.DIVERGED) == 2


def write_log(run: Path, *records: dict[str, object]) -> None:
    run.mkdir(exist_ok=True)
    (run / "metrics.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def test_what_counts_as_diverged(tmp_path: Path) -> None:
    assert not has_diverged(tmp_path / "nothing")
    line = {"kind": "train", "step": 5, "loss": 3.0, "log_loss": 3.0, "learning_rate": 0.1}
    valid: dict[str, object] = {"kind": "valid", "step": 5, "loss": 3.0, "perplexity": 20.0, "bleu": 1.0}
    write_log(tmp_path / "well", line, valid)
    assert not has_diverged(tmp_path / "well")
    write_log(tmp_path / "no-number", line, {**valid, "loss": None, "perplexity": None})
    assert has_diverged(tmp_path / "no-number")
    write_log(tmp_path / "given-up", line)
    (tmp_path / "given-up" / "skipped.jsonl").write_text("{}\n", encoding="utf-8")
    assert has_diverged(tmp_path / "given-up")


@pytest.mark.parametrize(("factor", "diverges"), [("1.0", False), ("1e6", True)])
def test_a_real_run_that_diverges(recipe_path: Path, tmp_path: Path, factor: str, diverges: bool) -> None:
    settings = {**NOT_PUT_RIGHT, "learning_rate_factor": factor}
    changes = [part for key, value in settings.items() for part in ("--set", f"training.{key}={value}")]
    run = tmp_path / "run"
    status = run_command(["train", str(recipe_path), "-o", str(run), "--prepared", str(tmp_path / "data"), *changes])
    assert (status == 1) == diverges
    assert has_diverged(run) == diverges


def test_a_runs_log_as_a_curve(tmp_path: Path) -> None:
    lines: list[dict[str, object]] = [
        {"kind": "train", "step": step, "loss": 9.0, "log_loss": loss, "learning_rate": 0.5 / step}
        for step, loss in ((5, 4.0), (10, None), (15, 3.5))
    ]
    write_log(tmp_path / "run", *lines)
    curve = run_curve(tmp_path / "run", "row", 7)
    assert curve == RunCurve(row="row", seed=7, steps=(5, 15), losses=(4.0, 3.5), rates=(0.1, 0.5 / 15))


def test_logged_rates_are_held_against_the_equation() -> None:
    row = Row(warmup_steps=16, factor=2.0)
    rates = (2 * 4 / 64 / 8, 2 / 4 / 8, 2 / 5 / 8)  # d_model 64: steps 4, 16 and 25, all roots whole
    curve = RunCurve(row=row.name, seed=1, steps=(4, 16, 25), losses=(1.0,) * 3, rates=rates)
    assert largest_rate_difference([curve], [row], 64) < 1e-15
    wrong = RunCurve(row=row.name, seed=1, steps=(16,), losses=(1.0,), rates=(1.01 * rates[1],))
    assert largest_rate_difference([wrong], [row], 64) == pytest.approx(0.01)


class Sentences(list[list[int]]):
    """What `PairShards` is here."""

    def target(self, index: int) -> list[int]:
        return self[index]


def test_word_frequencies_by_hand() -> None:
    # Of 4 tokens: 0 twice, 1 twice, 2 once, 3 never; with 1 more each, 3, 3, 2 and 1 of 9.
    prepared = SimpleNamespace(
        target_tokenizer=SimpleNamespace(vocab_size=4),
        corpora={"one": Sentences([[1, 0], [1, 2]]), "two": Sentences([[0]])},
        valid=Sentences([[0], [3, 2]]),
    )
    expected = -(math.log(3 / 9) + math.log(1 / 9) + math.log(2 / 9)) / 3
    assert frequency_loss(cast(PreparedData, prepared)) == pytest.approx(expected)

"""`attendo reproduce table2`: its forecast, what it refuses; and, slowly, a whole study with its page."""

import json
from pathlib import Path
from typing import Any

import pytest

from attendo.recipe import load_recipe
from attendo.workflow.runs.estimate import estimate


@pytest.mark.usefixtures("quick_estimates")
def test_a_forecast_needs_no_corpus(attendo: Any, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    finished = attendo(
        "reproduce", "table2", "--scale", "small", "--data", tmp_path, "--seeds", 4, "--dry-run", "-o", folder, "--json"
    )
    assert finished.status == 0
    forecast = json.loads(finished.out)
    [row] = forecast["rows"]
    assert row["row"] == "en-de base"
    # By hand: a vocabulary of 4,000; an encoder's layer of 4 d^2 + 2 d d_ff + d_ff + d and two norms of 2 d; a
    # decoder's with 8 d^2 and three norms.
    d, ff = 128, 512
    layers = 3 * (12 * d * d + 2 * (2 * d * ff + ff + d) + 10 * d)
    assert row["parameters"] == 4000 * d + layers
    assert forecast["hours"] == pytest.approx(4 * row["hours"])
    assert not folder.exists()


def test_the_papers_scale_is_told_with_todays_gpus(
    attendo: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Big's made-up updates would take this test minutes.
    small = estimate(load_recipe("table2/tiny"), None)
    monkeypatch.setattr("attendo.paper.forecast.estimate", lambda recipe, prepared: small)
    finished = attendo("reproduce", "table2", "--scale", "paper", "--seeds", 1, "--dry-run", "-o", tmp_path / "study")
    assert finished.status == 0
    lines = [line.split() for line in finished.out.splitlines()]
    rows = {(words[0], words[1]): words for words in lines if words and words[0] in ("en-de", "en-fr")}
    assert set(rows) == {(pair, row) for pair in ("en-de", "en-fr") for row in ("base", "big")}
    hours = [words for words in lines if words[:2] == ["en-de", "base"]][-1]
    # 6 FLOPs for 63.0 million weights and 2.5e9 tokens, some more for attention; 35% of the 989.4e12 of an H100.
    assert float(hours[2]) == pytest.approx(9.5e17, rel=0.03)
    assert float(hours[6]) == pytest.approx(float(hours[2]) / (0.35 * 989.4e12) / 3600, rel=0.01)


def test_runs_are_counted_for_table2_alone(attendo: Any, tmp_path: Path) -> None:
    finished = attendo("reproduce", "table3", "--run", tmp_path, "--dry-run")
    assert finished.status == 2
    assert "--run" in finished.err


def test_a_run_that_is_none_ends_it_before_anything_is_made(attendo: Any, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    finished = attendo("reproduce", "table2", "--scale", "tiny", "--run", tmp_path / "nowhere", "-o", folder)
    assert finished.status == 1
    assert "nowhere" in finished.err
    assert not folder.exists()


@pytest.mark.slow
def test_a_whole_study(attendo: Any, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    command = ("reproduce", "table2", "--scale", "tiny", "--seeds", 2, "--jobs", 2, "-o", folder, "--json")
    finished = attendo(*command)
    assert finished.status == 0, finished.err
    found = json.loads(finished.out)
    assert [(row["model"], row["kind"]) for row in found["rows"]] == [
        ("en-de base", "last"), ("en-de base", "average"), ("en-de base", "ensemble"), ("en-de", "shipped"),
        ("de-en", "shipped"),
    ]  # fmt: skip
    last, average, ensemble, *_ = found["rows"]
    costs = found["costs"]["en-de"]
    assert last["counted"] == average["counted"] == pytest.approx(sum(cost["counted"] for cost in costs) / 2)
    assert ensemble["estimated"] == pytest.approx(sum(cost["estimated"] for cost in costs))
    assert json.loads((folder / "result.json").read_text("utf-8")) == found
    assert (folder / "index.html").stat().st_size > (folder / "cost.png").stat().st_size
    # A second time nothing is trained or translated; a run's cost is told besides.
    before = {path: path.stat().st_mtime_ns for path in (folder / "outputs").iterdir()}
    run = folder / "en-de" / "runs" / "base-seed-1"
    again = attendo(*command, "--run", f"{run}=8xP100")
    assert again.status == 0, again.err
    assert {path: path.stat().st_mtime_ns for path in (folder / "outputs").iterdir()} == before
    [given] = json.loads(again.out)["costs"]["given"]
    assert given["estimated"] == pytest.approx(given["seconds"] * 8 * 9.5e12)
    assert given["counted"] == pytest.approx(costs[0]["counted"])

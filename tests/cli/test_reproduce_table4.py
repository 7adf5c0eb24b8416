"""`attendo reproduce table4`: its forecast, parsers from elsewhere; and, slowly, a whole study with its page."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.tiny_parser import random_parser, trees


@pytest.mark.usefixtures("quick_estimates")
def test_a_forecast_needs_no_treebank(attendo: Any, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    finished = attendo("reproduce", "table4", "--scale", "tiny", "--seeds", 2, "--dry-run", "-o", folder, "--json")
    assert finished.status == 0, finished.err
    forecast = json.loads(finished.out)
    assert [row["row"] for row in forecast["rows"]] == [
        "invented", "invented-gold-tags", "invented-top-down", "invented-bottom-up", "invented-self-trained"
    ]  # fmt: skip
    assert forecast["hours"] == pytest.approx(2 * sum(row["hours"] for row in forecast["rows"]))
    assert not folder.exists()


def test_parsers_from_elsewhere_are_tested_and_none_is_trained(
    attendo: Any, parser_folder: Path, tmp_path: Path
) -> None:
    data, folder = tmp_path / "data", tmp_path / "study"
    (data / "craft").mkdir(parents=True)
    gold = trees(6, seed=31)
    (data / "craft" / "dev.ptb").write_text("".join(f"( {tree} )\n" for tree in gold))
    (data / "craft" / "train.ptb").write_text("( (S (NN a)) )\n")
    command = ("reproduce", "table4", "--data", data, "--run", f"mine={parser_folder}", "-o", folder, "--json")
    finished = attendo(*command)
    assert finished.status == 0, finished.err
    found = json.loads(finished.out)
    [row] = found["rows"]
    assert (row["row"], row["test"], found["runs"]) == ("mine", "craft", [])
    alone = json.loads(attendo("evaluate", parser_folder, "--trees", data / "craft" / "dev.ptb", "--json").out)
    assert row["f1"]["mean"] == pytest.approx(alone["f1"], abs=1e-3)
    assert row["evalb"] == pytest.approx(alone["all"]["bracketing_fmeasure"], abs=1e-3)
    [page] = [(folder / "index.html").read_text(encoding="utf-8")]
    assert "Parsers that were trained elsewhere" in page
    assert f"--run mine={parser_folder}" in page
    # A second time nothing is parsed.
    kept = (folder / "tested" / "mine.craft.json").stat().st_mtime_ns
    assert attendo(*command).status == 0
    assert (folder / "tested" / "mine.craft.json").stat().st_mtime_ns == kept


def test_parsers_of_one_name_are_seeds_and_an_ensemble(attendo: Any, parser_folder: Path, tmp_path: Path) -> None:
    data, folder = tmp_path / "data", tmp_path / "study"
    (data / "craft").mkdir(parents=True)
    gold = data / "craft" / "dev.ptb"
    gold.write_text("".join(f"( {tree} )\n" for tree in trees(6, seed=31)))
    models = [parser_folder, random_parser(tmp_path / "second", 'order = "in-order"', seed=2)]
    named = [part for model in models for part in ("--run", f"mine={model}")]
    finished = attendo("reproduce", "table4", "--data", data, *named, "-o", folder, "--json")
    assert finished.status == 0, finished.err
    alone, together = json.loads(finished.out)["rows"]
    assert [(row["row"], row["ensemble"], row["f1"]["seeds"]) for row in (alone, together)] == [
        ("mine", False, 2), ("mine", True, 1),
    ]  # fmt: skip

    def f1(*options: object) -> float:
        told = attendo("evaluate", *options, "--trees", gold, "--json")
        assert told.status == 0, told.err
        return float(json.loads(told.out)["f1"])

    assert alone["f1"]["mean"] == pytest.approx((f1(models[0]) + f1(models[1])) / 2, abs=1e-3)
    assert together["f1"]["mean"] == pytest.approx(f1(models[0], "--ensemble", models[1]), abs=1e-3)


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        (["a/b=MODEL"], "call it by letters"),
        (["x=MODEL", "x=MODEL"], "twice as x"),
        (["MODEL", "MODEL"], "name them"),
        (["nowhere"], "nowhere"),
    ],
)
def test_parsers_that_cannot_be_meant(
    attendo: Any, parser_folder: Path, tmp_path: Path, runs: list[str], told: str
) -> None:
    (tmp_path / "craft").mkdir()
    (tmp_path / "craft" / "dev.ptb").write_text("( (S (NN a)) )\n")
    named = [part for run in runs for part in ("--run", run.replace("MODEL", str(parser_folder)))]
    finished = attendo("reproduce", "table4", "--data", tmp_path, *named, "-o", tmp_path / "study")
    assert finished.status == 1
    assert told in finished.err


@pytest.mark.slow
def test_a_whole_study(attendo: Any, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    command = ("reproduce", "table4", "--scale", "tiny", "--seeds", 2, "--jobs", 2, "-o", folder, "--json")
    finished = attendo(*command)
    assert finished.status == 0, finished.err
    found = json.loads(finished.out)
    assert [(row["row"], row["ensemble"]) for row in found["rows"]] == [
        ("invented", False), ("invented", True), ("invented-gold-tags", False), ("invented-gold-tags", True),
        ("invented-top-down", False), ("invented-top-down", True), ("invented-bottom-up", False),
        ("invented-bottom-up", True), ("invented-self-trained", False),
    ]  # fmt: skip
    assert {one["row"] for one in found["changes"]} == {
        "invented-gold-tags", "invented-top-down", "invented-bottom-up", "invented-self-trained"
    }  # fmt: skip
    assert len(found["runs"]) == 10
    assert json.loads((folder / "result.json").read_text("utf-8")) == found
    assert (folder / "automatic" / "invented-self-trained-seed-2.trees").is_file()
    # A second time nothing is trained or parsed.
    times = {path: path.stat().st_mtime_ns for part in ("runs", "tested") for path in (folder / part).rglob("*.json")}
    assert json.loads(attendo(*command).out) == found
    assert {path: path.stat().st_mtime_ns for path in times} == times

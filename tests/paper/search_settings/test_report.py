"""Choices, steps and the page of made-up searches, by hand."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from attendo.evaluation.significance import compare_outputs
from attendo.paper.experiment import StudyRequest
from attendo.paper.report import Picture
from attendo.paper.search_settings.decoding import DecodedSet
from attendo.paper.search_settings.report import StudyFacts, search_settings_report
from attendo.paper.search_settings.results import (
    Results,
    SeedResults,
    added,
    at_the_edge,
    candidates,
    pairs_to_test,
    significances,
    taken_away,
)
from attendo.paper.search_settings.rows import GREEDY, GRIDS, PAPER, Grid, Sentences, SetName, Setting, recipe

GRID = GRIDS["tiny"]
TEST = Sentences(
    name="test", sources=("a", "b", "c", "d"), references=("das ist so ein Tag", "ja doch", "nein nein", "gut")
)
FACTS = StudyFacts(
    recipe=recipe("tiny", Path("/nowhere")),
    grid=GRID,
    sets={"dev": Sentences(name="valid", sources=TEST.sources, references=TEST.references), "test": TEST},
    failures=("model-seed-4: no room",),
)
ORDER = StudyRequest(
    scale="tiny", folder=Path("s"), seeds=2, jobs=1, data=None, command="attendo reproduce search-settings --scale tiny"
)

Bleu = Callable[[SetName, Setting, int], float]


def decoded(setting: Setting, bleu: float, *, outputs: tuple[str, ...] = TEST.references) -> DecodedSet:
    return DecodedSet(
        setting=setting,
        outputs=outputs,
        bleu=bleu,
        bleu_signature="nrefs:1|tok:13a",
        length_ratio=0.9 + setting.alpha / 10,
        tokens=12.5,
        log_prob=-10.0 - setting.alpha,
        log_probs=(-9.0, -10.0, -11.0, -10.0),
        unfinished=int(setting.offset == 0),
        seconds=2.0,
        processor_s=0.004 * setting.beam,
        kernel="native float32",
    )


def seed_results(run: Any, bleu: Bleu) -> SeedResults:
    sets: tuple[SetName, ...] = ("dev", "test")
    return SeedResults(
        run=run,
        sets={
            which: {setting: decoded(setting, bleu(which, setting, run.seed)) for setting in GRID.settings(which)}
            for which in sets
        },
        reference_log_probs=(-9.5, -9.5, -9.5, -9.5),
    )


def usual(which: SetName, setting: Setting, seed: int) -> float:
    """Dev is best at beam 2 and alpha 1.2 of the average, test at beam 4 and alpha 0 of the last checkpoint."""
    special = {
        "dev": Setting(average=5, beam=2, alpha=1.2),
        "test": Setting(average=1, beam=4, alpha=0.0),
    }
    height = 2.0 if setting == special[which] else 0.0
    return 20 + seed + height + 0.5 * (setting.average == 5) + 0.25 * (setting.beam > 1) + 0.125 * (setting.alpha > 0)


@pytest.fixture
def results(make_result: Any) -> Results:
    return Results(seeds=tuple(seed_results(make_result("model", seed, 9.0, 20.0), usual) for seed in (1, 2)))


def test_the_choice_is_devs_alone(results: Results) -> None:
    choice = results.best("dev", candidates(GRID))
    assert choice == Setting(average=5, beam=2, alpha=1.2)
    assert results.best("test", candidates(GRID)) == Setting(average=1, beam=4, alpha=0.0)
    found = results.bleu("test", choice)
    assert found is not None
    assert found.mean == pytest.approx(21.5 + 0.5 + 0.25 + 0.125)


def test_of_equals_the_cheaper_is_chosen(make_result: Any) -> None:
    flat = Results(seeds=(seed_results(make_result("model", 1, 9.0, 20.0), lambda which, setting, seed: 20.0),))
    chosen = flat.best("dev", candidates(GRID))
    assert chosen is not None
    assert (chosen.beam, chosen.average) == (1, 1)


def test_a_setting_of_fewer_seeds_is_not_chosen(results: Results) -> None:
    first, second = results.seeds
    best = Setting(average=5, beam=2, alpha=1.2)
    fewer = {setting: each for setting, each in second.sets["dev"].items() if setting != best}
    partly = Results(seeds=(first, replace(second, sets={"dev": fewer, "test": {}})))
    assert partly.best("dev", candidates(GRID)) not in (None, best)
    assert Results(seeds=()).best("dev", candidates(GRID)) is None


def test_each_step_changes_one_thing_and_they_add_up(results: Results) -> None:
    steps = added(GRID)
    assert steps[0].before == Setting(average=1, beam=1, alpha=0.6)
    assert steps[-1].after == PAPER
    for one, following in pairwise(steps):
        assert one.after == following.before
    gains = [results.gain("dev", step.before, step.after) for step in steps]
    assert [gain.mean for gain in gains if gain] == pytest.approx([0.25 - 0.125, 0.125, 0.5])
    for step in taken_away(GRID):
        assert step.after == PAPER
        assert step.before != PAPER
    gain = results.gain("test", PAPER, replace(PAPER, average=1))
    assert gain is not None
    assert gain.mean == pytest.approx(-0.5)
    assert gain.half_width == pytest.approx(0.0, abs=1e-9), "paired by seed"
    assert results.gain("test", PAPER, replace(PAPER, offset=0)) is None


def test_tests_are_made_once_and_are_those_of_compare(make_result: Any, tmp_path: Path) -> None:
    outputs = {
        PAPER: TEST.references,
        GREEDY: ("das ist so ein Tag", "ja doch", "nein", "gut gut"),
        replace(PAPER, average=1): ("das ist so ein Tag", "ja", "nein nein", "gut"),
    }
    seed = SeedResults(
        run=make_result("model", 7, 9.0, 20.0),
        sets={"dev": {}, "test": {s: decoded(s, 1.0, outputs=each) for s, each in outputs.items()}},
        reference_log_probs=(),
    )
    found = significances(Results(seeds=(seed,)), PAPER, TEST, "de", tmp_path)
    assert [(each.before, each.after, each.seed) for each in found] == [
        (GREEDY, PAPER, 7), (replace(PAPER, average=1), PAPER, 7)
    ]  # fmt: skip
    compared = compare_outputs(outputs[GREEDY], outputs[PAPER], TEST.references, target_language="de")
    bleu = next(each for each in compared.metrics if each.metric == "bleu")
    assert found[0].difference == pytest.approx(bleu.b.score - bleu.a.score)
    assert found[0].difference > 0
    assert (found[0].p_bootstrap, found[0].p_randomized) == (bleu.bootstrap.p_value, bleu.randomization.p_value)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")}
    assert len(times) == 2
    assert significances(Results(seeds=(seed,)), PAPER, TEST, "de", tmp_path) == found
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")} == times


def test_a_choice_at_the_edge_of_the_grid_is_told() -> None:
    grid = GRIDS["small"]
    assert at_the_edge(PAPER, grid) == ()
    assert at_the_edge(replace(PAPER, alpha=1.2), grid) == ("alpha",)
    assert at_the_edge(Setting(average=10, beam=16, alpha=0.0), grid) == ("beam", "average")
    assert at_the_edge(GREEDY, Grid(beams=(1, 4), alphas=(0.0, 0.6), averages=(1, 5, 10), offsets=())) == ()


def test_a_choice_of_its_own_is_tested_too() -> None:
    other = Setting(average=5, beam=2, alpha=1.2)
    assert pairs_to_test(other)[2:] == ((GREEDY, other), (PAPER, other))
    assert pairs_to_test(GREEDY) == ((GREEDY, PAPER), (replace(PAPER, average=1), PAPER), (PAPER, GREEDY))
    assert pairs_to_test(None) == pairs_to_test(PAPER)


def test_the_page(results: Results) -> None:
    choice = results.best("dev", candidates(GRID))
    report = search_settings_report(ORDER, FACTS, results, choice, ())
    text, html, markdown = report.to_text(), report.to_html(), report.to_markdown()
    figures = [
        "21.62 ± 6.35",  # greedy with the last checkpoint: 21.625; seeds 1 apart: 12.706 x sqrt(0.5) / sqrt(2)
        "+0.12 ± 0.00", "+0.50 ± 0.00", "22.38 ± 6.35",
        "24.38 ± 6.35",  # dev's best
        "23.75 ± 6.35",  # test's best
        "0.960", "75.0",  # three of four references are above what was found
        "0 of 8", "4.00",  # translations that differ; milliseconds of a beam of 4
    ]  # fmt: skip
    for figure in figures:
        assert figure in text, figure
        assert figure in html, figure
        assert figure in markdown, figure
    plain = " ".join(text.split())
    assert "Failed: model-seed-4: no room" in plain
    assert "in progress" not in plain
    assert "The choice has the largest alpha and average of those that were tried" in plain
    assert ORDER.command in plain
    data = json.loads(json.dumps(report.data, allow_nan=False))
    assert data["choice"] == {"average": 5, "beam": 2, "alpha": 1.2, "offset": 50, "all_of_the_beam": False}
    assert len(data["decoded"]) == 2 * (len(GRID.settings("dev")) + len(GRID.settings("test")))
    pictures = [block for section in report.sections for block in section.blocks if isinstance(block, Picture)]
    assert [picture.name for picture in pictures] == ["bleu-dev.png", "lengths.png", "bleu-test.png", "lines.png"]
    for picture in pictures:
        pixels = np.asarray(Image.open(io.BytesIO(picture.png)).convert("RGB")).reshape(-1, 3)
        assert (pixels == (0xD5, 0x5E, 0x00)).all(axis=1).sum() > 50, picture.name  # the paper's cell, or a line


def test_the_page_of_a_study_in_progress(make_result: Any) -> None:
    seed = SeedResults(
        run=make_result("model", 1, 9.0, 20.0),
        sets={"dev": {PAPER: decoded(PAPER, 21.0)}, "test": {}},
        reference_log_probs=(),
    )
    text = search_settings_report(ORDER, FACTS, Results(seeds=(seed,)), PAPER, ()).to_text()
    assert "in progress" in text
    assert "21.00" in text

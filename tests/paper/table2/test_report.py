"""The page of a made-up study: every figure of it, which cost belongs to which system, and the picture."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from attendo.checkpoint.finding import SHIPPED
from attendo.evaluation.scores import evaluate_output
from attendo.paper.experiment import StudyRequest
from attendo.paper.report import Picture, Report, Table
from attendo.paper.table2.comparison import groups, paired_tests
from attendo.paper.table2.costs import SustainedRate, TrainingCost
from attendo.paper.table2.plan import Direction, Plan, TestSet
from attendo.paper.table2.report import Findings, cost_of, table2_report
from attendo.paper.table2.systems import Kind, System, SystemOutput
from attendo.recipe import load_recipe

ORDER = StudyRequest(
    scale="small", folder=Path("table2"), seeds=2, jobs=1, data=None, command="attendo reproduce table2 --seeds 2"
)
CAPTIONS, NEWS = TestSet(name="captions", prefix=Path("a"), note="of pictures"), TestSet(name="news", prefix=Path("b"))
REFERENCES = tuple(f"Die {number} roten U-Bahnen fahren heute nach Süden ." for number in range(20))


def translated(kind: Kind, seed: int | None, num_wrong: int, test: TestSet = CAPTIONS) -> SystemOutput:
    """A system's output, as many of whose lines as one likes have another word."""
    outputs = [line.replace("roten", "blauen") if n < num_wrong else line for n, line in enumerate(REFERENCES)]
    models = {"ensemble": (Path("one"), Path("two")), "shipped": (SHIPPED / "en-de",)}.get(kind, (Path("one"),))
    row = "en-de" if kind == "shipped" else "base"
    system = System(row=row, kind=kind, seed=seed, models=models, languages=("en", "de"), test=test)
    scores = evaluate_output(outputs, REFERENCES, target_language="de", paper=True, num_resamples=20)
    return SystemOutput(
        system=system, outputs=tuple(outputs), references=REFERENCES, scores=scores, kernel="kernel", seconds=1.0
    )


@pytest.fixture(scope="module")
def translations() -> list[SystemOutput]:
    return [
        translated("last", 1, 16),
        translated("last", 2, 14),
        translated("average", 1, 12),
        translated("average", 2, 10),
        translated("ensemble", None, 1),
        translated("shipped", None, 18, NEWS),
    ]


@pytest.fixture
def findings(translations: list[SystemOutput], make_result: Any) -> Findings:
    sustained = SustainedRate(flops=1e11, what="1 processor thread: 0.100 TFLOPS, measured here")
    costs = tuple(
        TrainingCost(run=f"base-seed-{seed}", seconds=600.0, devices=1, sustained=sustained, counted=1.5e13 * seed)
        for seed in (1, 2)
    )
    given = TrainingCost(run="other", seconds=3600.0, devices=8, sustained=named(), counted=1e17)
    direction = Direction(name="en-de", recipes={"base": load_recipe("table2/small")}, test=CAPTIONS)
    return Findings(
        plan=Plan(directions=(direction,), shipped_tests=(NEWS,), missing_tests=(replace(NEWS, name="old news"),)),
        groups=groups(translations),
        tests=paired_tests(translations),
        results={"en-de": tuple(make_result("base", seed, 7.0, 30.0) for seed in (1, 2))},
        costs={"en-de": {"base": costs}},
        given=(given,),
        failures=("en-de, base-seed-3: no room",),
    )


def named() -> SustainedRate:
    return SustainedRate(flops=9.5e12, what="P100: the paper's 9.5 TFLOPS")


def test_costs_of_systems(findings: Findings) -> None:
    costs = {group.kind: cost_of(group, findings) for group in findings.groups}
    # A run is 600 s at 1e11; counted are 1.5e13 and 3e13.
    assert costs["last"] == costs["average"]
    assert costs["last"].estimated == pytest.approx(6e13)
    assert costs["last"].counted == pytest.approx(2.25e13)
    assert costs["ensemble"].estimated == pytest.approx(12e13)
    assert costs["ensemble"].counted == pytest.approx(4.5e13)
    # The shipped model: 9,500 updates of 5,000 tokens, 6 FLOPs a weight and token and a little attention. A source
    # token meets 5 layers of 4 d^2 + 2 d d_ff, a target token 2 of 8 d^2 + 2 d d_ff, and the vocabulary.
    d, ff = 384, 1536
    met = 5 * (4 * d * d + 2 * d * ff) + 2 * (8 * d * d + 2 * d * ff) + 12000 * d
    assert costs["shipped"].at_most
    assert costs["shipped"].estimated is None
    assert costs["shipped"].counted == pytest.approx(6 * met * 9500 * 5000, rel=0.03)


def test_every_figure_is_on_the_page(findings: Findings, translations: list[SystemOutput]) -> None:
    report = table2_report(ORDER, findings)
    text, html, markdown = report.to_text(), report.to_html(), report.to_markdown()
    scores = [figure.score for one in translations for figure in (one.scores.bleu, one.scores.paper) if figure]
    figures = [
        *(f"{score:.2f}" for score in scores),
        "6.00e+13", "1.20e+14", "2.25e+13", "4.50e+13",  # estimates, counts
        "25%", "50%",  # of each run
        "2.74e+17", "37%",  # eight P100 for an hour, of which 1e17 are 36.5%
        "23.75", "39.92", "1.1e21", "28.4", "41.8",  # as printed
        "2.30e19" if "2.30e19" in text else "2.3e19", "3.04e18",
        "11/12 9/11 7/10 5/9",
    ]  # fmt: skip
    for figure in figures:
        assert figure in text, figure
        assert figure in html, figure
        assert figure in markdown, figure
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Table):
                assert {len(row) for row in block.rows} == {len(block.columns)}, block.caption


def test_it_says_what_figures_are_of(findings: Findings) -> None:
    text = " ".join(table2_report(ORDER, findings).to_text().split())
    assert "None of our figures is comparable with the paper's" in text
    assert "captions: of pictures" in text
    assert "Missing, and therefore left out: old news" in text
    assert "Failed: en-de, base-seed-3: no room" in text
    assert "are done" not in text
    assert (
        "The study is incomplete: 2 of 3 runs are done." in table2_report(replace(ORDER, seeds=3), findings).to_text()
    )
    assert "at most 5.2" in text  # of the shipped model
    assert "split:atat" in text
    assert "tok:13a" in text
    assert ORDER.command in text


def test_gains_are_paired_by_seed_and_tested_over_sentences(
    findings: Findings, translations: list[SystemOutput]
) -> None:
    assert [(test.a.told, test.b.told) for test in findings.tests] == [
        ("en-de base, seed 1, last", "en-de base, seed 1, average"),
        ("en-de base, seed 2, last", "en-de base, seed 2, average"),
        ("en-de base, seed 1, average", "en-de base, ensemble"),
        ("en-de base, seed 2, average", "en-de base, ensemble"),
    ]
    text = " ".join(table2_report(ORDER, findings).to_text().split())
    bleu = [one.scores.bleu.score for one in translations]
    both = (bleu[2] - bleu[0], bleu[3] - bleu[1])
    half = 12.706 * abs(both[0] - both[1]) / 2  # Student's t of one degree of freedom
    assert f"paired by seed: {sum(both) / 2:+.2f} ± {half:.2f} BLEU" in text
    assert f"against their mean: {bleu[4] - (bleu[2] + bleu[3]) / 2:+.2f} BLEU" in text
    # Nine and eleven of twenty lines put right, and none spoilt: no chance.
    assert "better by both tests (p < 0.05) in 2 of 2 comparisons, worse in 0." in text


def test_the_json_has_all_of_it(findings: Findings) -> None:
    data = json.loads(json.dumps(table2_report(ORDER, findings).data, allow_nan=False))
    assert [(row["kind"], row["test"]) for row in data["rows"]] == [
        ("last", "captions"), ("average", "captions"), ("ensemble", "captions"), ("shipped", "news"),
    ]  # fmt: skip
    assert len(data["systems"]) == 6
    assert {"bleu", "bleu_tokenized", "chrf", "ter"} <= data["systems"][0].keys()
    assert data["costs"]["given"][0]["utilisation"] == pytest.approx(1e17 / (3600 * 8 * 9.5e12))
    assert len(data["results"]["en-de"]) == 2


def test_without_a_trained_run_the_shipped_models_are_shown(
    findings: Findings, translations: list[SystemOutput]
) -> None:
    shipped = replace(
        findings, groups=groups(translations[-1:]), tests=(), results={"en-de": ()}, costs={"en-de": {"base": ()}}
    )
    text = table2_report(ORDER, replace(shipped, given=())).to_text()
    assert "comes with attendo" in text
    assert "What an average" not in text


def _picture(report: Report) -> Picture:
    (found,) = [block for section in report.sections for block in section.blocks if isinstance(block, Picture)]
    return found


def test_the_picture_has_both_sides(findings: Findings) -> None:
    picture = _picture(table2_report(ORDER, findings))
    assert "newstest2014" in picture.alt
    assert "captions, news" in picture.alt
    image = np.asarray(Image.open(io.BytesIO(picture.png)).convert("RGB"))
    left, right = (half.reshape(-1, 3) for half in np.array_split(image, 2, axis=1))
    blue, vermilion, green, purple = (0x00, 0x72, 0xB2), (0xD5, 0x5E, 0x00), (0x00, 0x9E, 0x73), (0xCC, 0x79, 0xA7)
    orange, sky = (0xE6, 0x9F, 0x00), (0x56, 0xB4, 0xE9)
    assert all((left == colour).all(axis=1).sum() > 60 for colour in (blue, vermilion))
    assert all((right == colour).all(axis=1).sum() > 20 for colour in (orange, sky, green, purple))

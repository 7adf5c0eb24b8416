"""The page of a made-up schedule study: every figure of it, and what it says of each schedule."""

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from attendo.paper.experiment import StudyRequest
from attendo.paper.report import Picture, Report, Table
from attendo.paper.rows_study import Findings, MeasuredRun
from attendo.paper.schedule.rows import CURVES, Row, RunCurve, checked, recipes, rows_of
from attendo.paper.schedule.study import SCHEDULE, Checks
from attendo.recipe import load_recipe

ORDER = StudyRequest(
    scale="small",
    folder=Path("schedule"),
    seeds=2,
    jobs=2,
    data=None,
    command="attendo reproduce schedule --scale small --seeds 2",
)
LONG, NONE, HIGH = (
    Row(warmup_steps=200, factor=1.0),
    Row(warmup_steps=1, factor=1.0),
    Row(warmup_steps=1, factor=4.0),
)


@pytest.fixture(scope="module")
def report(make_result: Any) -> Report:
    """Of three schedules: one that learns, one that does worse, one that is stuck once and diverges once."""
    results = [
        make_result(LONG.name, 1, 20.0, 15.0),
        make_result(LONG.name, 2, 20.0, 15.5),
        make_result(NONE.name, 1, 39.9, 8.0),
        make_result(NONE.name, 2, 40.1, 8.1),
        make_result(HIGH.name, 1, 500.0, 0.0),
    ]
    curves = {
        (row.name, seed): RunCurve(
            row=row.name,
            seed=seed,
            steps=(10, 20),
            losses=(6.0 + seed, 5.0),
            # Equation 3 for d_model 128, off by 0.3 of it.
            rates=tuple(
                1.3 * row.factor / math.sqrt(128) * min(step**-0.5, step * row.warmup_steps**-1.5) for step in (10, 20)
            ),
        )
        for row in (LONG, NONE, HIGH)
        for seed in (1, 2)
    }
    found = SCHEDULE.report(
        Findings(
            request=ORDER,
            recipes={"any": load_recipe("schedule/small")},
            begun=Checks(equation=tuple(checked(curve) for curve in CURVES[:2]), frequencies=math.log(300.0)),
            runs=tuple(MeasuredRun(result=each, measured=curves[each.row, each.seed]) for each in results),
            num_runs=18,
            diverged={(HIGH.name, 2): curves[HIGH.name, 2]},
            failures=("warmup-50-factor-1-seed-1: no room",),
        )
    )
    assert found is not None
    return found


def test_every_figure_is_on_the_page(report: Report) -> None:
    text, html, markdown = report.to_text(), report.to_html(), report.to_markdown()
    figures = [
        "6.987712e-04", "4.941059e-04", "4,000",  # Equation 3
        "3e-01",
        "20.00 [20.00, 20.00]", "40.00", "15.2 ± 3.2",  # 12.706 x 0.5 / 2
        "+0.693", "300.0", "500.00",
        f"{1 / math.sqrt(128 * 200):.2e}", f"{4 / math.sqrt(128):.2e}",  # the highest rates
        "2 of 2", "0 of 2",
    ]  # fmt: skip
    for figure in figures:
        assert figure in text, figure
        assert figure in html, figure
        assert figure.replace("[", "\\[").replace("]", "\\]") in markdown, figure
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Table):
                assert all(len(row) == len(block.columns) for row in block.rows)


def test_it_says_what_became_of_each_schedule(report: Report) -> None:
    text = " ".join(report.to_text().split())
    assert "Equation 3 times 1. warm-up 200: perplexity 20.00 [20.00, 20.00]; no warm-up: perplexity 40.00" in text
    assert "], worse." in text
    assert "(of 2 runs 1 no better than word frequencies, 1 diverged), diverged." in text
    assert "The lowest mean is that of warm-up 200 with factor 1." in text
    assert "in progress: 6 of 18 runs" in text
    assert "Failed: warmup-50-factor-1-seed-1: no room" in text
    assert ORDER.command in text


def test_the_json_has_all_of_it(report: Report) -> None:
    data = json.loads(json.dumps(report.data, allow_nan=False))
    assert [row["row"] for row in data["rows"]] == [LONG.name, NONE.name, HIGH.name]
    assert data["rows"][2]["fates"] == {"1": "no better than word frequencies", "2": "diverged"}
    assert data["equation"][0]["peak_step"] == 4000


def test_the_pictures_show_the_warmups(report: Report) -> None:
    pictures = [block for section in report.sections for block in section.blocks if isinstance(block, Picture)]
    assert [picture.name for picture in pictures] == ["equation.png", "losses.png"]
    for picture in pictures:
        pixels = np.asarray(Image.open(io.BytesIO(picture.png)).convert("RGB")).reshape(-1, 3)
        for colour in ((0xD5, 0x5E, 0x00), (0x00, 0x9E, 0x73)):
            assert (pixels == colour).all(axis=1).sum() > 50, picture.name


@pytest.mark.parametrize("scale", ["tiny", "small", "paper"])
def test_rows_differ_in_their_schedule_alone(scale: Any) -> None:
    found = recipes(StudyRequest(scale=scale, folder=Path("x"), seeds=1, jobs=1, data=None, command=""))
    rows = {row.name: row for row in rows_of(scale)}
    assert found.keys() == rows.keys()
    base = load_recipe(f"schedule/{scale}")
    for name, recipe in found.items():
        assert (recipe.training.warmup_steps, recipe.training.learning_rate_factor) == (
            rows[name].warmup_steps,
            rows[name].factor,
        )
        assert (recipe.model, recipe.tokenizer, recipe.search) == (base.model, base.tokenizer, base.search)
        assert recipe.training.max_rollbacks == 0, "what diverges is to be seen"
    assert any(row.factor == 1.0 and row.warmup_steps > 1 for row in rows.values())
    assert any(row.warmup_steps == 1 for row in rows.values())


def test_the_paper_scale_has_the_papers_own_schedule() -> None:
    recipe = recipes(StudyRequest(scale="paper", folder=Path("x"), seeds=1, jobs=1, data=None, command=""))[
        "warmup-4000-factor-1"
    ]
    base = load_recipe("table3/base")
    assert (recipe.model, recipe.tokenizer) == (base.model, base.tokenizer)
    for key in ("max_steps", "max_tokens", "warmup_steps", "learning_rate_factor", "label_smoothing", "adam_beta2"):
        assert getattr(recipe.training, key) == getattr(base.training, key)

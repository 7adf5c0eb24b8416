"""The page of a made-up study: every figure of it, and what it says of how sure they are."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from attendo.paper.experiment import StudyRequest
from attendo.paper.report import Picture, Report, Table
from attendo.paper.rows_study import Findings, MeasuredRun
from attendo.paper.run_results import RunResult
from attendo.paper.table3.study import TABLE3
from attendo.recipe import load_recipe

ORDER = StudyRequest(
    scale="small",
    folder=Path("table3"),
    seeds=3,
    jobs=2,
    data=None,
    command="attendo reproduce table3 --scale small --seeds 3",
)


def report_of(results: Sequence[RunResult], failures: tuple[str, ...] = ()) -> Report:
    """The page of some of 60 runs."""
    found = TABLE3.report(
        Findings(
            request=ORDER,
            recipes={"base": load_recipe("table3/small")},
            begun=None,
            runs=tuple(MeasuredRun(result=result, measured=None) for result in results),
            num_runs=60,
            failures=failures,
        )
    )
    assert found is not None
    return found


@pytest.fixture
def report(make_result: Any) -> Report:
    """Of three rows; the last run of the third is missing."""
    results = [
        *(make_result("base", seed, 7.0 + 0.1 * seed, 32.0 + 0.25 * seed) for seed in (1, 2, 3)),
        *(make_result("a-h1", seed, 7.4 + 0.11 * seed, 31.0 + 0.22 * seed) for seed in (1, 2, 3)),
        *(make_result("c-d1024", seed, 6.5 + 0.13 * seed, 32.0 + 0.75 * seed) for seed in (1, 2)),
    ]
    return report_of(results, failures=("big-seed-1: no room",))


def test_every_figure_is_on_the_page(report: Report) -> None:
    text, html, markdown = report.to_text(), report.to_html(), report.to_markdown()
    figures = [
        "7.20 ± 0.25", "32.50 ± 0.62", "4.92", "25.8",  # 4.303 x 0.1 / sqrt(3), 4.303 x 0.25 / sqrt(3)
        "1.90",  # millions
        "7.62 ± 0.27", "31.44 ± 0.55", "5.29", "24.9",
        "+0.420", "+0.37", "-1.060", "-0.90",
        "7.100", "32.25", "7.510", "31.22", "6.630", "33.50",  # runs
        "63.0", "163.8", "168", "213",  # parameters at full size
        "3,500,123", "4.20e+13", "10.0",  # a run's tokens, FLOPs and minutes
        "1.34",  # hours of all: 8 runs of 600 s, and 3 x 1 + 3 x 2 + 2 x 3 s
        "28,000,984", "3.36e+14",
    ]  # fmt: skip
    for figure in figures:
        assert figure in text, figure
        assert figure in html, figure
        assert figure in markdown, figure
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Table):
                assert all(cell in text for row in block.rows for cell in row)


def test_it_says_how_sure_it_is(report: Report) -> None:
    text = " ".join(report.to_text().split())
    assert "Perplexity: as in the paper: 2 (a-h1, c-d1024)." in text
    assert "BLEU: as in the paper: 1 (a-h1); not significant at this scale: 1 (c-d1024)." in text
    assert "in progress: 8 of 60 runs" in text
    assert "Failed: big-seed-1: no room" in text
    assert "nrefs:1|case:mixed|tok:13a" in text
    assert "a processor, 2 cores" in text
    assert "attendo 0.1.0, torch 2.13.0" in text
    assert ORDER.command in text
    assert "h 1, d_k = d_v 128" in text  # the change as it is here


def test_the_json_has_all_of_it(report: Report) -> None:
    data = json.loads(json.dumps(report.data, allow_nan=False))
    assert [row["row"] for row in data["rows"]] == ["base", "a-h1", "c-d1024"]
    assert data["rows"][1]["bleu_difference"]["verdict"] == "as in the paper"
    assert data["rows"][1]["bleu_difference"]["paper"] == -0.9
    assert len(data["results"]) == 8
    assert (data["runs_done"], data["runs"]) == (8, 60)


def test_the_picture_shows_ours_and_the_papers(report: Report) -> None:
    (picture,) = [block for section in report.sections for block in section.blocks if isinstance(block, Picture)]
    pixels = np.asarray(Image.open(io.BytesIO(picture.png)).convert("RGB")).reshape(-1, 3)
    for colour in ((0x00, 0x72, 0xB2), (0xD5, 0x5E, 0x00)):
        assert (pixels == colour).all(axis=1).sum() > 100


def test_a_first_run_without_the_base_row_is_shown_as_it_is(make_result: Any) -> None:
    text = report_of([make_result("a-h1", 1, 7.5, 31.5)]).to_text()
    assert "nothing to compare yet" in text
    assert "7.50" in text

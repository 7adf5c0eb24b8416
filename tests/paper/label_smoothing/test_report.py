"""The page of a made-up study, and what is measured of a real model once."""

import io
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from attendo.checkpoint.model_folder import load_model
from attendo.cli.main import run as run_command
from attendo.errors import ModelError
from attendo.paper.experiment import StudyRequest
from attendo.paper.label_smoothing import study
from attendo.paper.label_smoothing.study import LABEL_SMOOTHING, MEASURED, DataSizes, Read, measured_run
from attendo.paper.report import Picture, Report
from attendo.paper.rows_study import Findings, MeasuredRun
from attendo.recipe import load_recipe
from attendo.text.prepared import PreparedData
from attendo.workflow.evaluation.token_calibration import Predictions, calibration
from attendo.workflow.preparation.prepared_data import prepare_if_missing
from attendo.workflow.runs.reporting import Silence

ORDER = StudyRequest(
    scale="small",
    folder=Path("study"),
    seeds=3,
    jobs=1,
    data=None,
    command="attendo reproduce label-smoothing --scale small --seeds 3",
)


def report_of(runs: Sequence[Read]) -> Report:
    """The page of some of 12 runs."""
    found = LABEL_SMOOTHING.report(
        Findings(
            request=ORDER,
            recipes={"eps-0.0": load_recipe("label-smoothing/small")},
            begun=DataSizes(vocab_size=4000, valid_pairs=1014),
            runs=tuple(runs),
            num_runs=12,
            failures=("eps-0.3-seed-1: no room",),
        )
    )
    assert found is not None
    return found


def measured(result: Any, accuracy: float, confidence: float) -> Read:
    predictions = Predictions(
        log_prob=np.full(1000, -math.log(result.perplexity)),
        confidence=np.full(1000, confidence),
        is_right=np.arange(1000) < 1000 * accuracy,
        entropy=np.full(1000, 1.5),
    )
    return MeasuredRun(result=result, measured=calibration(predictions))


@pytest.fixture
def report(make_result: Any) -> Report:
    runs = [
        *(measured(make_result("eps-0.0", s, 9.0 + 0.1 * s, 26.0 + 0.25 * s), 0.55, 0.64) for s in (1, 2, 3)),
        *(measured(make_result("eps-0.1", s, 9.5 + 0.11 * s, 26.9 + 0.24 * s), 0.565, 0.53) for s in (1, 2, 3)),
    ]
    return report_of(runs)


def test_every_figure_is_on_the_page(report: Report) -> None:
    text, html, markdown = report.to_text(), report.to_html(), report.to_markdown()
    figures = [
        "9.20 ± 0.25", "26.50 ± 0.62", "4.92", "25.8", "4.67", "25.3",  # 4.303 x 0.1 / sqrt(3)
        "55.00", "56.50", "+1.50", "+0.520", "+0.25", "+0.88", "+0.50",
        "64.00", "53.00", "9.00", "3.50",  # confidence, and its distance from accuracy
        "100.00", "90.00",  # 1 - 0.1 + 0.1 / 4000 is 90.0025%
        "55.0 (100.0)", "9.100", "27.62", "1.500",
    ]  # fmt: skip
    for figure in figures:
        assert figure in text, figure
        assert figure in html, figure
        assert figure.replace("|", "\\|") in markdown, figure
    plain = " ".join(text.split())
    assert "Perplexity: eps_ls 0.1 as in the paper." in plain
    assert "Accuracy: eps_ls 0.1 as in the paper." in plain
    assert "in progress: 6 of 12 runs" in plain
    assert "Failed: eps-0.3-seed-1: no room" in plain
    assert ORDER.command in plain


def test_the_json_has_all_of_it(report: Report) -> None:
    data = json.loads(json.dumps(report.data, allow_nan=False))
    assert [row["epsilon"] for row in data["rows"]] == [0.0, 0.1]
    assert data["rows"][1]["differences"]["bleu"]["verdict"] == "as in the paper"
    assert data["rows"][1]["differences"]["accuracy"]["paper_direction"] == 1
    assert len(data["results"]) == 6
    assert data["results"][0]["calibration"]["accuracy"] == 0.55


def test_the_pictures_show_rows_in_colours_of_their_own(report: Report) -> None:
    pictures = {
        block.name: block for section in report.sections for block in section.blocks if isinstance(block, Picture)
    }
    assert set(pictures) == {"differences.png", "reliability.png"}
    for name, colours in (
        ("differences.png", ((0x00, 0x72, 0xB2), (0xD5, 0x5E, 0x00))),
        ("reliability.png", ((0x00, 0x72, 0xB2), (0xE6, 0x9F, 0x00))),
    ):
        pixels = np.asarray(Image.open(io.BytesIO(pictures[name].png)).convert("RGB")).reshape(-1, 3)
        for colour in colours:
            assert (pixels == colour).all(axis=1).sum() > 50, (name, colour)


def test_a_row_alone_is_shown_as_it_is(make_result: Any) -> None:
    text = report_of([measured(make_result("eps-0.2", 1, 9.8, 27.0), 0.5, 0.4)]).to_text()
    assert "Nothing to compare yet." in text
    assert "9.80" in text


@pytest.fixture
def prepared(recipe_path: Path, tmp_path: Path) -> PreparedData:
    return prepare_if_missing(load_recipe(str(recipe_path)), tmp_path / "data", Silence())


def test_a_run_is_measured_once(
    recipe_path: Path, prepared: PreparedData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["train", str(recipe_path), "-o", str(tmp_path / "run"), "--prepared", str(prepared.folder)]
    assert run_command(command) == 0
    assert prepared.valid is not None
    found = measured_run(tmp_path / "run", prepared)
    # The same perplexity as training's own validation at the end, by another way through the model, though the model
    # that is kept is that of an earlier, better validation.
    lines = (tmp_path / "run" / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    valid = [record for record in map(json.loads, lines) if record["kind"] == "valid"][-1]
    assert found.perplexity == pytest.approx(valid["perplexity"], rel=1e-4)
    assert found.tokens == int(prepared.valid.target_lengths.sum())
    monkeypatch.setattr(study, "load_model", None)
    assert measured_run(tmp_path / "run", prepared) == found
    # What another version has kept is measured anew.
    (tmp_path / "run" / MEASURED).write_text("{}", encoding="utf-8")
    monkeypatch.setattr(study, "load_model", load_model)
    assert measured_run(tmp_path / "run", prepared) == found


def test_a_run_without_a_model_is_told(prepared: PreparedData, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"config\.json"):
        measured_run(tmp_path, prepared)

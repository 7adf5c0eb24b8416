"""The page of a made-up study of lengths: every figure of it, and what it says of who reads which lengths."""

import io
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from PIL import Image

from attendo.evaluation.estimates import estimate
from attendo.model.positions import sinusoids
from attendo.paper.experiment import StudyRequest
from attendo.paper.length_extrapolation.comparison import by_length, by_position
from attendo.paper.length_extrapolation.measures import LengthMeasure, RunMeasures, ShiftMeasure
from attendo.paper.length_extrapolation.rows import ROWS
from attendo.paper.length_extrapolation.study import LENGTH_EXTRAPOLATION, ReadModel, Texts, page_of
from attendo.paper.length_extrapolation.tables import (
    ROUNDING,
    ClosedForm,
    LengthStatistics,
    TableFit,
    Tables,
    by_offset,
    cosines,
)
from attendo.paper.report import Picture, Report, Table
from attendo.paper.rows_study import Findings, MeasuredRun
from attendo.recipe import load_recipe
from attendo.text.prepared import PreparedData

ORDER = StudyRequest(
    scale="small",
    folder=Path("lengths"),
    seeds=3,
    jobs=2,
    data=None,
    command="attendo reproduce length-extrapolation --scale small --seeds 3",
)

# Log-losses of texts of 1, 2 and 6 sentences; 20 tokens a sentence, and 60 the longest trained.
LOSSES: Mapping[str, tuple[float, float, float]] = {
    "sinusoidal-short": (2.0, 1.9, 4.0),
    "learned-short": (2.0, 1.9, 5.0),
    "sinusoidal-all": (2.1, 2.0, 2.0),
    "learned-all": (2.1, 2.0, 2.0),
}
# By position 0 and 100: sinusoids lose one nat, learned positions trained on short texts three.
SHIFTED: Mapping[str, tuple[float, float]] = {
    "sinusoidal-short": (2.0, 3.0),
    "learned-short": (2.0, 5.0),
    "sinusoidal-all": (2.1, 2.1),
    "learned-all": (2.1, 2.1),
}


def measures_of(row: str, seed: int) -> RunMeasures:
    noise = {1: -0.01, 2: 0.0, 3: 0.01}[seed] * (1 if row.endswith("short") else 2)
    lengths = tuple(
        LengthMeasure(
            sentences=sentences,
            texts=12 // sentences,
            source_tokens=18.0 * sentences,
            target_tokens=20.0 * sentences,
            longest=25 * sentences,
            log_loss=loss + noise,
            accuracy=0.5,
            bleu=40 - 5 * loss + seed,
            words=1 / sentences,
        )
        for sentences, loss in zip((1, 2, 6), LOSSES[row], strict=True)
    )
    shifts = tuple(
        ShiftMeasure(first=first, log_loss=loss + noise, accuracy=0.5)
        for first, loss in zip((0, 100), SHIFTED[row], strict=True)
    )
    return RunMeasures(lengths=lengths, shifts=shifts, bleu_signature="nrefs:1|case:mixed|tok:13a")


def tables() -> Tables:
    similarity = cosines(sinusoids(90, 16, "interleaved"))
    fits = (
        TableFit(title="sinusoids", rows=40, by_offset={1: estimate([1e-6]), 2: estimate([2e-6])}),
        TableFit(title="learned, short texts", rows=40, by_offset={1: estimate([0.5, 0.6, 0.7])}),
    )
    maps = {"sinusoids": similarity.numpy(), "learned, short texts": np.eye(90)}
    curves = {"sinusoids": by_offset(similarity)[:40], "learned, short texts": [1.0] + [0.0] * 39}
    return Tables(fits=fits, similarity=maps, curves=curves, shown=90)


@pytest.fixture(scope="module")
def report(make_result: Any) -> Report:
    """Of a study whose last run is missing."""
    runs = [(row.name, seed) for seed in (1, 2, 3) for row in ROWS][:-1]
    trained = LengthStatistics(
        texts=100, mean_target=30.0, usual_source=40, usual_target=45, longest_source=55, longest_target=60
    )
    every = LengthStatistics(
        texts=30, mean_target=90.0, usual_source=150, usual_target=160, longest_source=200, longest_target=210
    )
    texts = Texts(
        short=trained,
        every=every,
        test=(),
        prepared=cast(PreparedData, None),
        closed_forms=(ClosedForm(layout="halves", d_model=128, positions=2048, offsets=1024, largest_error=6.25e-8),),
    )
    findings = Findings(
        request=ORDER,
        recipes={"any": load_recipe("length-extrapolation/small")},
        begun=texts,
        runs=tuple(
            MeasuredRun(
                result=make_result(row, seed, 7.0, 30.0),
                measured=ReadModel(measures=measures_of(row, seed), folder=Path(row)),
            )
            for row, seed in runs
        ),
        num_runs=12,
        failures=("learned-all-seed-3: no room",),
    )
    study = replace(LENGTH_EXTRAPOLATION, page=lambda found: page_of(found, tables()))
    found = study.report(findings)
    assert found is not None
    return found


def test_the_comparison_pairs_runs_by_seed() -> None:
    measures = {row.name: {seed: measures_of(row.name, seed) for seed in (1, 2, 3)} for row in ROWS}
    del measures["learned-short"][2]
    *_, longest = by_length(measures)
    contrast = longest.learned_against_sinusoidal
    assert contrast is not None
    assert contrast.log_loss.count == 2
    assert contrast.log_loss.mean == pytest.approx(1.0)
    assert contrast.verdict == "worse"
    against_all = longest.untrained["sinusoidal"]
    # Differences 2.01, 2.0 and 1.99: t of two degrees of freedom at 0.975 is 4.303, of an error of 0.01 / sqrt(3).
    assert against_all.log_loss.half_width == pytest.approx(4.3027 * 0.01 / math.sqrt(3), rel=1e-4)
    assert against_all.bleu is not None
    assert against_all.bleu.mean == pytest.approx(-10.0)
    within = by_length(measures)[0].untrained["sinusoidal"]
    assert within.verdict == "better"
    first, moved = by_position(measures)
    assert (first.at, moved.at) == (0, 100)
    assert moved.learned_against_sinusoidal is not None
    assert moved.learned_against_sinusoidal.log_loss.mean == pytest.approx(2.0)
    assert moved.learned_against_sinusoidal.bleu is None


def test_a_missing_row_leaves_gaps(make_result: Any) -> None:
    (place, *_) = by_length({"learned-all": {1: measures_of("learned-all", 1)}})
    assert place.learned_against_sinusoidal is None
    assert not place.untrained
    assert place.cell(ROWS[0]) is None


def test_every_figure_is_on_the_page(report: Report) -> None:
    text, html, markdown = report.to_text(), report.to_html(), report.to_markdown()
    figures = [
        f"{math.exp(4.0):.2f}", f"{math.exp(5.0):.2f}", f"{math.exp(2.0):.2f}",
        "+1.000 ± 0.000", "+2.000 ± 0.025",  # learned against sinusoidal, sinusoidal short against all
        "22.0 ± 2.5 (0.17)",  # BLEU at six sentences: 40 - 20 + 2, and 4.303 / sqrt(3)
        "6.25e-08", f"{ROUNDING:.2e}",
        "1.0e-06", "0.60 ± 0.25",
        "3,500,123", "10.0",  # a run's tokens and minutes
    ]  # fmt: skip
    for figure in figures:
        assert figure in text, figure
        assert figure in html, figure
        assert figure in markdown, figure
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Table):
                assert all(len(row) == len(block.columns) for row in block.rows)


def test_it_says_who_reads_which_lengths(report: Report) -> None:
    text = " ".join(report.to_text().split())
    assert "Sinusoidal positions, trained on short texts: from single sentences to texts of 120 target tokens" in text
    assert "2.0 times the longest trained" in text
    assert "no extrapolation here" in text
    assert "on texts longer than all trained ones: worse at 6 (sentences a text)" in text
    assert "behind the trained positions: worse at 100 (position of the first token)" in text
    assert "in progress: 11 of 12 runs" in text
    assert "Failed: learned-all-seed-3: no room" in text
    assert "stay as they were drawn" in text
    assert ORDER.command in text
    assert "nrefs:1|case:mixed|tok:13a" in text


def test_the_json_has_all_of_it(report: Report) -> None:
    data = json.loads(json.dumps(report.data, allow_nan=False))
    assert [place["at"] for place in data["lengths"]] == [1, 2, 6]
    assert data["lengths"][2]["learned_against_sinusoidal"]["log_loss"]["mean"] == pytest.approx(1.0)
    assert data["longest_trained_target"] == 60
    assert (data["runs_done"], data["runs"]) == (11, 12)
    assert data["measures"]["learned-short"]["3"]["lengths"][0]["texts"] == 12


def test_the_pictures_show_both_kinds_of_positions(report: Report) -> None:
    pictures = [block for section in report.sections for block in section.blocks if isinstance(block, Picture)]
    assert [picture.name for picture in pictures] == ["lengths.png", "positions.png", "similarity.png"]
    for picture in pictures:
        pixels = np.asarray(Image.open(io.BytesIO(picture.png)).convert("RGB")).reshape(-1, 3)
        for colour in ((0x00, 0x72, 0xB2), (0xD5, 0x5E, 0x00)):
            assert (pixels == colour).all(axis=1).sum() > 100, picture.name

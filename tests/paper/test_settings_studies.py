"""Lengths and schedules as whole studies: forecasts, what is refused, and, slowly, one that is interrupted."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, get_args

import pytest

from attendo.errors import RecipeError
from attendo.paper.experiment import Experiment, Scale, StudyRequest
from attendo.paper.length_extrapolation.rows import LENGTHS, ROWS, recipes
from attendo.paper.length_extrapolation.study import LENGTH_EXTRAPOLATION
from attendo.paper.report import Table
from attendo.paper.schedule.study import SCHEDULE
from attendo.workflow.runs.reporting import Silence

STUDIES: dict[str, Experiment] = {"length-extrapolation": LENGTH_EXTRAPOLATION, "schedule": SCHEDULE}


class Quiet(Silence):
    """A reporter that says nothing."""

    def running(self, done: int, total: int, note: str) -> None:
        """Says nothing."""


def request(scale: Scale, folder: Path, **changes: Any) -> StudyRequest:
    values: dict[str, Any] = {"seeds": 3, "jobs": 1, "data": None, "command": "attendo reproduce"}
    return StudyRequest(scale=scale, folder=folder, **{**values, **changes})


@pytest.mark.parametrize(("name", "rows"), [("length-extrapolation", 4), ("schedule", 4)])
@pytest.mark.usefixtures("quick_estimates")
def test_a_forecast_trains_nothing(name: str, rows: int, tmp_path: Path) -> None:
    report = STUDIES[name].forecast(request("tiny", tmp_path / "study"), Quiet())
    assert not (tmp_path / "study").exists()
    assert report.data["hours"] > 0
    assert len(report.data["rows"]) == rows
    (table,) = [block for block in report.sections[0].blocks if isinstance(block, Table)]
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert f"{3 * rows} runs" in report.introduction[0]


@pytest.mark.parametrize("name", list(STUDIES))
def test_tiny_has_data_of_its_own(name: str, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="--data: the scale tiny has a phrasebook of its own"):
        STUDIES[name].forecast(request("tiny", tmp_path / "study", data=tmp_path), Quiet())


@pytest.mark.parametrize("scale", get_args(Scale))
def test_rows_differ_in_positions_and_texts_alone(scale: Scale, tmp_path: Path) -> None:
    found = recipes(request(scale, tmp_path))
    assert list(found) == ["sinusoidal-short", "learned-short", "sinusoidal-all", "learned-all"]
    for row in ROWS:
        recipe = found[row.name]
        assert recipe.data is not None
        assert recipe.model.positions == row.positions
        trained = [corpus.name for corpus in recipe.data.corpora if corpus.share is None]
        assert trained == {"short": ["short"], "all": ["short", "all"]}[row.texts]
        assert recipe.training == found["sinusoidal-short"].training
    # The learned tables reach the longest tests, also of pieces several to a word, and most positions that are tried.
    most_words = LENGTHS[scale].trained_words * LENGTHS[scale].all_sentences
    assert found["learned-all"].model.max_positions > 1.5 * most_words
    assert LENGTHS[scale].shifts[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "num_runs", "pictures"),
    [
        ("length-extrapolation", 8, ("lengths.png", "positions.png", "similarity.png")),
        ("schedule", 8, ("equation.png", "losses.png")),
    ],
)
def test_a_whole_study_that_is_interrupted(name: str, num_runs: int, pictures: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "study"
    command = [sys.executable, "-W", "error", "-m", "attendo", "reproduce", name, "--scale", "tiny"]
    command += ["--seeds", "2", "--jobs", "2", "-o", str(folder), "--json"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 300
    while len(list(folder.glob("runs/*/result.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal's Ctrl-C
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "run the same command again to continue" in err
    assert not out
    done = {path: path.stat().st_mtime_ns for path in folder.glob("runs/*/result.json")}
    assert 2 <= len(done) < num_runs

    finished = subprocess.run(command, check=False, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    result = json.loads(finished.stdout)
    assert result == json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert (result["runs_done"], result["runs"], result["failures"]) == (num_runs, num_runs, [])
    assert all(path.stat().st_mtime_ns == time_ns for path, time_ns in done.items()), "what was done was not done again"
    assert all((folder / picture).read_bytes().startswith(b"\x89PNG") for picture in pictures)
    assert "in progress" not in (folder / "index.html").read_text(encoding="utf-8")

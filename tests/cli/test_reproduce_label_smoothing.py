"""`attendo reproduce label-smoothing`: forecast and refusals; and, slowly, a whole study that is interrupted."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.usefixtures("quick_estimates")
def test_a_forecast_trains_nothing(attendo: Any, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    command = ("reproduce", "label-smoothing", "--scale", "tiny", "--seeds", 2, "--dry-run", "-o", folder)
    finished = attendo(*command, "--json")
    assert finished.status == 0, finished.err
    forecast = json.loads(finished.out)
    assert [row["epsilon"] for row in forecast["rows"]] == [0.0, 0.1, 0.2, 0.3]
    assert forecast["hours"] > 0
    assert not folder.exists()
    finished = attendo(*command)
    assert "4 rows, 2 of each: 8 runs" in " ".join(finished.out.split())
    assert "attendo reproduce label-smoothing --scale tiny --seeds 2" in finished.out


def test_tiny_has_data_of_its_own(attendo: Any, tmp_path: Path) -> None:
    command = ("reproduce", "label-smoothing", "--scale", "tiny", "--data", tmp_path, "-o", tmp_path / "study")
    finished = attendo(*command)
    assert finished.status == 1
    assert "--data" in finished.err
    assert not (tmp_path / "study").exists()


def test_missing_corpora_are_told_and_leave_nothing(attendo: Any, tmp_path: Path) -> None:
    finished = attendo("reproduce", "label-smoothing", "--data", tmp_path / "nowhere", "-o", tmp_path / "study")
    assert finished.status == 1
    assert "val.de" in finished.err
    assert not (tmp_path / "study").exists()


@pytest.mark.slow
def test_a_whole_study_that_is_interrupted(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    command = [sys.executable, "-W", "error", "-m", "attendo", "reproduce", "label-smoothing", "--scale", "tiny"]
    command += ["--seeds", "1", "--jobs", "2", "-o", str(folder), "--json"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 600
    while not list(folder.glob("runs/*/calibration.json")) and time.monotonic() < deadline:
        time.sleep(0.2)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal's Ctrl-C
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert not out
    assert "in progress" in (folder / "index.md").read_text(encoding="utf-8")
    done = {path: path.stat().st_mtime_ns for path in folder.glob("runs/*/calibration.json")}
    assert 1 <= len(done) < 4

    finished = subprocess.run(command, check=False, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    result = json.loads(finished.stdout)
    assert result == json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert (result["runs_done"], len(result["rows"]), result["failures"]) == (4, 4, [])
    assert all(path.stat().st_mtime_ns == time_ns for path, time_ns in done.items()), "what was done was not done again"
    for each in result["results"]:  # two ways through the model say the same
        assert each["calibration"]["perplexity"] == pytest.approx(each["perplexity"], rel=1e-3)
        assert 0 < each["calibration"]["accuracy"] < 1
    for name in ("differences.png", "reliability.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")

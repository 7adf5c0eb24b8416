"""`attendo reproduce`: what it lists, forecasts and refuses; and, slowly, a whole study with its pages."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest


def test_alone_it_lists_what_there_is(attendo: Any) -> None:
    finished = attendo("reproduce")
    assert finished.status == 0
    assert any(re.match(r"table3\s+Table 3", line) for line in finished.out.splitlines())


def test_an_unknown_name_is_wrong_usage(attendo: Any) -> None:
    finished = attendo("reproduce", "table33")
    assert finished.status == 2
    assert "table3" in finished.err


@pytest.mark.usefixtures("quick_estimates")
def test_a_forecast_trains_nothing(attendo: Any, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    finished = attendo("reproduce", "table3", "--scale", "tiny", "--seeds", 4, "--dry-run", "-o", folder, "--json")
    assert finished.status == 0
    forecast = json.loads(finished.out)
    assert len(forecast["rows"]) == 20
    rows = {row["row"]: row for row in forecast["rows"]}
    # A layer less is an encoder's 4 x 64^2 + 2 x 64 x 256 + 256 + 64 + 4 x 64 and a decoder's with 8 x 64^2 and 6 x 64.
    layer = 12 * 64**2 + 2 * (2 * 64 * 256 + 256 + 64) + 10 * 64
    assert rows["base"]["parameters"] - rows["c-n4"]["parameters"] == layer
    assert rows["base"]["parameters"] - rows["c-n2"]["parameters"] == 2 * layer
    assert rows["e-learned"]["parameters"] - rows["base"]["parameters"] == 2 * 1024 * 64
    assert forecast["hours"] == pytest.approx(4 * sum(row["hours"] for row in forecast["rows"]))
    assert not folder.exists()


def test_missing_corpora_are_told_and_leave_nothing(attendo: Any, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    finished = attendo("reproduce", "table3", "--data", tmp_path / "nowhere", "-o", folder)
    assert finished.status == 1
    first, *missing = finished.err.splitlines()
    assert first.startswith("attendo: error: ")
    assert [Path(line.partition(":")[0]).name for line in missing] == ["train.en", "train.de", "val.en", "val.de"]
    assert not folder.exists()


def test_tiny_has_data_of_its_own(attendo: Any, tmp_path: Path) -> None:
    finished = attendo("reproduce", "table3", "--scale", "tiny", "--data", tmp_path, "-o", tmp_path / "study")
    assert finished.status == 1
    assert "--data" in finished.err
    assert not (tmp_path / "study").exists()


@pytest.mark.slow
def test_a_whole_study_that_is_interrupted(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    command = [sys.executable, "-W", "error", "-m", "attendo", "reproduce", "table3", "--scale", "tiny"]
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
    assert "in progress" in (folder / "index.md").read_text(encoding="utf-8")
    done = {path: path.stat().st_mtime_ns for path in folder.glob("runs/*/result.json")}
    assert 2 <= len(done) < 40

    finished = subprocess.run(command, check=False, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    result = json.loads(finished.stdout)
    assert result == json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert (result["runs_done"], len(result["rows"]), result["failures"]) == (40, 20, [])
    assert all(path.stat().st_mtime_ns == time_ns for path, time_ns in done.items()), "what was done was not done again"
    assert (folder / "differences.png").read_bytes().startswith(b"\x89PNG")
    assert "in progress" not in (folder / "index.html").read_text(encoding="utf-8")

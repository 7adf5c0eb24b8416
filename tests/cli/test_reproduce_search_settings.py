"""`attendo reproduce search-settings`: forecast and refusals; and, slowly, a whole study that is interrupted."""

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
    command = ("reproduce", "search-settings", "--scale", "tiny", "--seeds", 2, "--dry-run", "-o", folder)
    finished = attendo(*command, "--json")
    assert finished.status == 0, finished.err
    forecast = json.loads(finished.out)
    # Two averages, each with greedy search and with beams of 2 and 4 by three alphas; on dev another limit and stop.
    assert forecast["settings"] == {"dev": 16, "test": 14}
    assert forecast["hours"] > 0
    assert not folder.exists()
    assert "2 runs of 100 updates" in " ".join(attendo(*command).out.split())


def test_tiny_has_data_of_its_own(attendo: Any, tmp_path: Path) -> None:
    command = ("reproduce", "search-settings", "--scale", "tiny", "--data", tmp_path, "-o", tmp_path / "study")
    finished = attendo(*command)
    assert finished.status == 1
    assert "--data" in finished.err
    assert not (tmp_path / "study").exists()


def test_a_missing_test_set_is_told_before_anything_is_trained(attendo: Any, tmp_path: Path) -> None:
    for name in ("train", "val"):
        for language in ("en", "de"):
            (tmp_path / f"{name}.{language}").write_text("a\n", encoding="utf-8")
    finished = attendo("reproduce", "search-settings", "--data", tmp_path, "-o", tmp_path / "study")
    assert finished.status == 1
    assert "test_2016_flickr.en" in finished.err
    assert not (tmp_path / "study").exists()


@pytest.mark.slow
def test_a_whole_study_that_is_interrupted(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    command = [sys.executable, "-W", "error", "-m", "attendo", "reproduce", "search-settings", "--scale", "tiny"]
    command += ["--seeds", "2", "--jobs", "2", "-o", str(folder), "--json"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    deadline = time.monotonic() + 600
    while len(list(folder.glob("decoded/*/*/*.json"))) < 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal's Ctrl-C
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert not out
    assert "in progress" in (folder / "index.md").read_text(encoding="utf-8")
    done = {path: path.stat().st_mtime_ns for path in folder.glob("decoded/*/*/*.json")}
    assert 5 <= len(done) < 60

    finished = subprocess.run(command, check=False, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    result = json.loads(finished.stdout)
    assert result == json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert len(result["decoded"]) == 60
    assert all(path.stat().st_mtime_ns == time_ns for path, time_ns in done.items()), "what was done was not done again"
    bleu = {(each["seed"], each["set"], json.dumps(each["setting"])): each["bleu"] for each in result["decoded"]}
    assert len(bleu) == 60
    choice = result["choice"]
    means = {
        setting: sum(value for (_, which, at), value in bleu.items() if which == "dev" and at == setting) / 2
        for (_, which, setting) in bleu
        if which == "test"  # all that may be chosen
    }
    assert means[json.dumps(choice)] == max(means.values()), "the choice is dev's best"
    for name in ("bleu-dev.png", "bleu-test.png", "lengths.png", "lines.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")

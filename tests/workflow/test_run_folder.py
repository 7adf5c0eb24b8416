"""Run folders: what a launch of torchrun recognises as its own."""

import json
from pathlib import Path

import pytest

from attendo.errors import ModelError
from attendo.recipe import load_recipe
from attendo.workflow.run_folder import resume_run, start_run, was_started_by


def test_a_launch_knows_its_run(recipe_path: Path, tmp_path: Path) -> None:
    recipe = load_recipe(str(recipe_path))
    start_run(recipe, tmp_path / "launched", tmp_path, "job-17")
    start_run(recipe, tmp_path / "alone", tmp_path)
    assert was_started_by(tmp_path / "launched", "job-17")
    assert not was_started_by(tmp_path / "launched", "job-18")
    assert not was_started_by(tmp_path / "alone", "job-17")
    assert not was_started_by(tmp_path / "alone", ""), "launches without a name do not know each other"
    assert not was_started_by(tmp_path / "nowhere", "job-17")
    assert "launch" not in json.loads((tmp_path / "alone" / "run.json").read_text(encoding="utf-8"))
    assert resume_run(tmp_path / "launched", [])[1] == tmp_path
    with pytest.raises(ModelError, match="holds a run already"):
        start_run(recipe, tmp_path / "launched", tmp_path, "job-17")

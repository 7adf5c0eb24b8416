import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.mark.parametrize(("suffix", "start"), [(".html", "<!doctype html"), (".svg", "<?xml"), (".json", "{")])
def test_attention_is_drawn_as_the_name_says(
    attendo: Command, model_folder: Path, tmp_path: Path, suffix: str, start: str
) -> None:
    output = tmp_path / f"map{suffix}"
    finished = attendo("attention", model_folder, "one red dogs", "--target", "sgod der", "-o", output)
    assert (finished.status, finished.err) == (0, f"wrote {output}\n")
    assert output.read_text(encoding="utf-8").lower().startswith(start)


def test_the_models_own_translation_is_taken(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    assert attendo("attention", model_folder, "one red dogs", "-o", tmp_path / "map.json").status == 0
    assert json.loads((tmp_path / "map.json").read_text())["target_pieces"][-1] == "</s>"


def test_other_names_are_refused(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    finished = attendo("attention", model_folder, "one", "-o", tmp_path / "map.png")
    assert finished.status == 1
    assert "map.png: the name must end in one of .html, .svg, .json" in finished.err

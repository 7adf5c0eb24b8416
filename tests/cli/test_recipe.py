from collections.abc import Callable
from pathlib import Path
from typing import Any

from attendo.recipe import load_recipe, shipped_recipes

Command = Callable[..., Any]


def test_the_shipped_recipes_are_listed_with_a_title(attendo: Command) -> None:
    lines = attendo("recipe").out.splitlines()
    assert [line.split()[0] for line in lines] == shipped_recipes()
    assert all(len(line.split()) > 3 for line in lines)


def test_a_recipe_is_printed_to_be_copied(attendo: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(attendo("recipe", "tiny").out)
    assert load_recipe(str(tmp_path / "mine.toml")).model == load_recipe("tiny").model


def test_a_recipe_is_resolved(attendo: Command, tmp_path: Path) -> None:
    finished = attendo("recipe", "tiny", "--set", "model.d_model=64")
    (tmp_path / "all.toml").write_text(finished.out)
    assert attendo("recipe", tmp_path / "all.toml").out == finished.out
    assert load_recipe(str(tmp_path / "all.toml")) == load_recipe("tiny", ["name=tiny", "model.d_model=64"])
    assert "adam_epsilon" in attendo("recipe", "tiny", "--resolved").out


def test_a_wrong_name_is_told_the_nearest(attendo: Command) -> None:
    finished = attendo("recipe", "tny")
    assert finished.status == 1
    assert "did you mean tiny?" in finished.err

from collections.abc import Callable
from pathlib import Path
from typing import Any

from attendo.recipe import load_recipe, shipped_recipes

Command = Callable[..., Any]


def test_all_shipped_recipes_are_listed_with_a_title(attendo: Command) -> None:
    lines = attendo("recipe", "--all").out.splitlines()
    assert [line.split()[0] for line in lines] == shipped_recipes()
    assert all(len(line.split()) > 3 for line in lines)


def test_the_list_begins_with_those_to_start_from_and_has_a_line_a_study(attendo: Command) -> None:
    blocks = [block.splitlines() for block in attendo("recipe").out.split("\n\n")]
    assert [block[0].startswith("# ") for block in blocks] == [True] * 4
    names = [[line.split()[0] for line in block[1:]] for block in blocks]
    assert names[0][0] == "tiny"
    assert {"multi30k-en-de", "tatoeba-en-de", "fine-tuning", "back-translation", "distillation"} <= set(names[0])
    assert names[1] == ["base", "big", "base-en-fr", "big-en-fr"]
    assert names[2][0] == "parsing-tiny"
    alone = [name for name in shipped_recipes() if "/" not in name]
    assert sorted(name for block in names[:3] for name in block) == alone, "each once"
    folders = sorted({name.partition("/")[0] + "/" for name in shipped_recipes() if "/" in name})
    assert names[3] == folders
    (table3,) = (line for line in blocks[3] if line.startswith("table3/"))
    assert "22 recipes trained by `attendo reproduce table3`" in table3  # 20 rows and two smaller scales
    assert sum(len(block) for block in blocks) < 45


def test_a_study_has_a_list_of_its_own(attendo: Command) -> None:
    lines = attendo("recipe", "table3/").out.splitlines()
    assert [line.split()[0] for line in lines] == [name for name in shipped_recipes() if name.startswith("table3/")]
    finished = attendo("recipe", "tiny", "--all")
    assert (finished.status, finished.out) == (2, "")
    assert "leave the name out" in finished.err


def test_info_names_the_recipes_as_shortly(attendo: Command) -> None:
    (line,) = (line for line in attendo("info").out.splitlines() if line.startswith("recipes"))
    assert line.split()[1] == "tiny,"
    assert "table3" not in line
    number = sum("/" in name for name in shipped_recipes())
    assert line.endswith(f"and {number} of the paper's studies (attendo recipe --all)")


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

"""A run folder: made for a recipe, and read again to go on with it.

RUN/recipe.toml     the recipe as resolved          RUN/metrics.jsonl   a line of figures every so many steps
RUN/run.json        prepared data, model tuned      RUN/curves.png      the same as pictures
RUN/checkpoints/    what to go on from              RUN/model/          the best averaged model so far
"""

import json
from pathlib import Path
from typing import Any

from attendo.errors import ModelError
from attendo.files import write_json, write_text
from attendo.recipe import Recipe, load_recipe, to_toml
from attendo.workflow.initial_model import initial_facts


def check_new_run(folder: Path) -> None:
    """Refuses a folder that a new run would spoil.

    Raises:
        ModelError: there is a run already, or the path is a file.
    """
    if (folder / "checkpoints").is_dir() or (folder / "recipe.toml").exists():
        raise ModelError(f"{folder}: holds a run already; go on with --resume -o {folder}, or name another folder")
    if folder.exists() and not folder.is_dir():
        raise ModelError(f"{folder}: is a file; name a folder for the run with -o")


def start_run(recipe: Recipe, folder: Path, prepared: Path, launch: str = "") -> None:
    """Makes a run folder for a recipe.

    Args:
        recipe: as resolved; where it fine-tunes a model, by `workflow.initial_model`.
        folder: the run folder to make.
        prepared: the folder of its prepared data.
        launch: what `was_started_by` may ask for.

    Raises:
        ModelError: there is a run already, or the model to fine-tune cannot be read.
    """
    check_new_run(folder)
    facts = initial_facts(recipe)
    folder.mkdir(parents=True, exist_ok=True)
    facts |= {"launch": launch} if launch else {}
    write_json(folder / "run.json", {"format_version": 1, "prepared": str(prepared.resolve()), **facts})
    write_text(folder / "recipe.toml", to_toml(recipe))


def resume_run(folder: Path, overrides: list[str]) -> tuple[Recipe, Path]:
    """Reads a run folder's recipe and where its prepared data is.

    Raises:
        ModelError: the folder is no run.
    """
    if not (folder / "recipe.toml").is_file() or not (folder / "run.json").is_file():
        raise ModelError(f"{folder}: no run to resume (recipe.toml or run.json is missing); leave out --resume")
    try:
        prepared = Path(_read_run(folder)["prepared"])
    except (KeyError, TypeError) as error:
        raise ModelError(f"{folder / 'run.json'}: cannot be read ({error})") from error
    return load_recipe(str(folder / "recipe.toml"), overrides), prepared


def was_started_by(folder: Path, launch: str) -> bool:
    """Whether there is a run that this very launch of torchrun has started, so that it has to go on with it."""
    if not launch or not (folder / "recipe.toml").is_file():
        return False
    return bool(_read_run(folder).get("launch") == launch)


def origin(folder: Path) -> dict[str, Any]:
    """What a run folder knows of the model it fine-tunes, under `init_from`; empty where it began from scratch.

    Raises:
        ModelError: the folder's run.json cannot be read.
    """
    content = _read_run(folder)
    return {"init_from": content["init_from"]} if "init_from" in content else {}


def _read_run(folder: Path) -> dict[str, Any]:
    path = folder / "run.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: cannot be read ({error})") from error
    if not isinstance(content, dict):
        raise ModelError(f"{path}: cannot be read (it holds no table)")
    return content

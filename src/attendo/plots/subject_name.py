"""Decides whether a name means a model or a recipe, without importing torch, so that a mistyped name fails at once."""

import difflib
from pathlib import Path

from attendo.checkpoint.checksums import CONFIG
from attendo.checkpoint.finding import shipped_models
from attendo.errors import RecipeError
from attendo.recipe import shipped_recipes


def names_model(name: str) -> bool:
    """Returns whether a name means a trained model; otherwise it means a recipe, or a run by its recipe.

    Raises:
        RecipeError: the name means neither.
    """
    path = Path(name)
    is_model = (path / CONFIG).is_file() or (path / "model" / CONFIG).is_file()
    is_recipe = path.is_file() or (path / "recipe.toml").is_file() or name in shipped_recipes()
    if is_model or (not is_recipe and name in shipped_models()):
        return True
    if not is_recipe:
        known = [*shipped_recipes(), *shipped_models()]
        near = difflib.get_close_matches(name.lower(), known, n=1)
        hint = f"; did you mean {near[0]}?" if near else "."
        raise RecipeError(
            f"{name}: neither a recipe nor a model{hint} Give a TOML file, a run or model folder, a shipped recipe "
            f"(see attendo recipe) or a shipped model ({', '.join(shipped_models())})"
        )
    return False

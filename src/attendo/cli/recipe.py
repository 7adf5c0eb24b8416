"""`attendo recipe`: the shipped recipes, to read and to copy."""

from pathlib import Path
from typing import Annotated

import typer

from attendo.cli.options import SetOption


def recipe(
    name: Annotated[
        str | None, typer.Argument(metavar="RECIPE", help="A shipped recipe, or a TOML file or run, which is resolved.")
    ] = None,
    resolved: Annotated[
        bool, typer.Option("--resolved", help="Every key with its value, --set applied, instead of the file itself.")
    ] = False,
    settings: SetOption = None,
) -> None:
    """Lists the shipped recipes; prints one, to copy and edit: attendo recipe tiny > mine.toml."""
    from attendo.recipe import load_recipe, shipped_recipe_text, shipped_recipes, to_toml

    if name is None:
        for shipped in shipped_recipes():
            title = shipped_recipe_text(shipped).splitlines()[0].removeprefix("# ")
            print(f"{shipped:<16} {title}")
    elif resolved or settings or Path(name).exists():
        print(to_toml(load_recipe(name, settings or ())), end="")
    else:
        print(shipped_recipe_text(name), end="")

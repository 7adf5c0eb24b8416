"""`attendo recipe`: lists and prints the shipped recipes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from attendo.cli.options import SetOption


def recipe(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="RECIPE",
            help="A shipped recipe; or a TOML file or run, to print its resolved recipe; or a folder such as table3/, "
            "to list its recipes.",
        ),
    ] = None,
    resolved: Annotated[
        bool,
        typer.Option("--resolved", help="Print every key with its value, after --set, instead of the file itself."),
    ] = False,
    list_all: Annotated[bool, typer.Option("--all", help="List every recipe, including those of the studies.")] = False,
    settings: SetOption = None,
) -> None:
    """Lists the shipped recipes, or prints one to copy and edit: attendo recipe tiny > mine.toml."""
    from attendo.recipe import load_recipe, recipe_groups, shipped_recipe_text, shipped_recipes, to_toml

    if list_all and name is not None:
        raise typer.BadParameter("lists all recipes, so leave the name out", param_hint="--all")
    study = next((group for group in recipe_groups() if name == f"{group.folder}/" and group.folder), None)
    if list_all:
        print(_listed(shipped_recipes()))
    elif name is None:
        print(_overview())
    elif study is not None:
        print(_listed(study.names))
    elif resolved or settings or Path(name).exists():
        print(to_toml(load_recipe(name, settings or ())), end="")
    else:
        print(shipped_recipe_text(name), end="")


def _overview() -> str:
    """Lists the recipes by group, and a line per study; names begin lines, headings begin with #."""
    from attendo.recipe import recipe_groups

    parts = [f"# {group.title}\n{_listed(group.names)}" for group in recipe_groups() if not group.folder]
    studies = [
        f"{group.folder + '/':<28} {len(group.names)} {'recipe' if len(group.names) == 1 else 'recipes'} {group.title}"
        for group in recipe_groups()
        if group.folder
    ]
    heading = "# The paper's studies (attendo recipe table3/ lists those of one, attendo recipe --all every recipe)"
    return "\n\n".join([*parts, "\n".join([heading, *studies])])


def _listed(names: Sequence[str]) -> str:
    """Formats recipes with their titles, one per line."""
    from attendo.recipe import shipped_recipe_text

    return "\n".join(f"{name:<28} {shipped_recipe_text(name).splitlines()[0].removeprefix('# ')}" for name in names)

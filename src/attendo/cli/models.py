"""`attendo models`: versions of a model, one of which is in use."""

import json
from pathlib import Path
from typing import Annotated

import typer

from attendo.cli.options import JsonOption, ModelArgument
from attendo.cli.progress import note
from attendo.errors import ModelError

models = typer.Typer(name="models", help="Versions of a model: add, list, switch.", no_args_is_help=True)

VersionsArgument = Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the versions.")]


@models.command()
def add(folder: VersionsArgument, model: ModelArgument) -> None:
    """Adds a copy of a model as the next version of NAME; the first version is used at once."""
    from attendo.checkpoint.finding import find_model
    from attendo.checkpoint.versions import add_version

    number = add_version(folder, find_model(model))
    note(f"{folder}@{number} is {model}")


@models.command(name="list")
def list_(folder: VersionsArgument, as_json: JsonOption = False) -> None:
    """Lists the versions of NAME, oldest first; a star marks the one in use."""
    from attendo.checkpoint.model_folder import read_description
    from attendo.checkpoint.versions import model_versions

    rows = []
    for version in model_versions(folder):
        learned = read_description(version.folder).training.get("learned")
        facts = learned if isinstance(learned, dict) else {}
        rows.append((version, str(facts.get("ancestor", "")), facts.get("share")))
    if as_json:
        found = [
            {"version": version.number, "current": version.is_current, "ancestor": ancestor, "share": share}
            for version, ancestor, share in rows
        ]
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return
    for version, ancestor, _ in rows:
        origin = f"\tlearned from corrections, ancestor {ancestor}" if ancestor else ""
        print(f"{'*' if version.is_current else ' '} {folder}@{version.number}{origin}")


@models.command()
def use(
    name: Annotated[
        str, typer.Argument(metavar="NAME@VERSION", help="Version to use, as printed by `attendo models list`.")
    ],
) -> None:
    """Switches to a version, newer or older. A running server follows within seconds."""
    from attendo.checkpoint.versions import split_version, use_version

    folder, number = split_version(name)
    if number is None:
        raise ModelError(f"{name}: names no version; write NAME@VERSION, as attendo models list shows it")
    use_version(Path(folder), number)
    note(f"{name} is in use")

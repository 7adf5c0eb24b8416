"""`attendo info`: what a model, a run or this machine is."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from attendo import __version__
from attendo.cli.options import JsonOption
from attendo.cli.progress import note
from attendo.errors import ModelError
from attendo.reading import printable


def info(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="MODEL|RUN", help="A model folder, a run folder or a shipped model; this machine where left out."
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="First compare every file with its size and checksum; of a run also its data's."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Says what a model or run is, its card included, and with --verify whether it is whole.

    Without an argument: this machine, and the recipes and models that come with attendo.
    """
    if verify and name is None:
        raise typer.BadParameter("needs a model or run folder", param_hint="--verify")
    if name is not None and not Path(name).exists():  # a folder may be a run, or torn
        from attendo.checkpoint.finding import find_model

        find_model(name)
    from attendo.workflow import inspect

    if verify and name is not None:  # before anything of it is read
        from attendo.workflow.verification import verify as compare

        result = compare(name)
        for remark in result.remarks:
            note(printable(remark))
        if result.problems:
            raise ModelError(printable("\n".join(result.problems)))
        note(f"whole: {', '.join(map(str, result.checked))}")
    found = inspect.environment(__version__) if name is None else inspect.inspect(name)
    print(json.dumps(asdict(found), indent=2, ensure_ascii=False) if as_json else found.to_text())

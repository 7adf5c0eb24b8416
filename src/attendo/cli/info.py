"""`attendo info`: what a model, a run or this machine is."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from attendo import __version__
from attendo.cli.options import JsonOption
from attendo.cli.progress import note


def info(
    name: Annotated[
        str | None, typer.Argument(metavar="MODEL|RUN", help="A model or run folder; this machine where left out.")
    ] = None,
    verify: Annotated[bool, typer.Option("--verify", help="Compare every file with its checksum.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Says what a model or run is, and with --verify whether it is whole; without an argument, this machine."""
    from attendo.workflow import inspect

    if verify and name is None:
        raise typer.BadParameter("needs a model or run folder", param_hint="--verify")
    found = inspect.environment(__version__) if name is None else inspect.inspect(name)
    if verify and name is not None:
        folders = inspect.verify(name)
        note(f"whole: {', '.join(map(str, folders))}")
    print(json.dumps(asdict(found), indent=2, ensure_ascii=False) if as_json else found.to_text())

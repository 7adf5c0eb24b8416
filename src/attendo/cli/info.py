"""`attendo info`: describes a model, a run or this machine."""

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
            metavar="MODEL|RUN", help="A model folder, a run folder or a shipped model. Default: describe this machine."
        ),
    ] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="First check the size and checksum of every file; for a run, of its data too."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Describes a model or a run, including its model card; --verify checks that its files are intact.

    Without an argument, describes this machine and lists the recipes and models that come with attendo.
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

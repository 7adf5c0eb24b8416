"""`attendo memory`: translation memories made ready for use elsewhere, and looked up."""

import json
from pathlib import Path
from typing import Annotated

import typer

from attendo.cli.memory_use import built_line
from attendo.cli.output import check_file
from attendo.cli.progress import note

memory = typer.Typer(name="memory", help="Translation memories: indexed once, looked up.", no_args_is_help=True)


@memory.command()
def build(
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The index to write, such as product.memory.")],
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="TMX, XLIFF, PO, TSV, CSV, or JSON with an object a line.")
    ],
    *,
    source: Annotated[str, typer.Option("--from", metavar="LANGUAGE", help="The source language, such as en.")],
    target: Annotated[str, typer.Option("--to", metavar="LANGUAGE", help="The target language, such as de.")],
) -> None:
    """Indexes translation memories into one file, which `--memory` and a server's configuration take.

    Without it `attendo translate --memory` makes the same index and keeps it in the cache.
    """
    from attendo.workflow.extras import need_packages

    check_file(output)
    need_packages(["rapidfuzz"], "memory")
    from attendo.memory.building import build_index

    built = build_index(output, files, (source, target))
    note(f"{built_line(built)}; wrote {output}")


@memory.command()
def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is looked up.")],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Translation memories, or indexes of them.")],
    *,
    source: Annotated[str, typer.Option("--from", metavar="LANGUAGE", help="The source language, such as en.")],
    target: Annotated[str, typer.Option("--to", metavar="LANGUAGE", help="The target language, such as de.")],
    threshold: Annotated[int, typer.Option("--threshold", min=50, max=100, help="The least per cent of words.")] = 75,
) -> None:
    """Prints what translation memories have for a text, as JSON; nothing is found where it prints null."""
    from attendo.workflow.extras import need_packages

    need_packages(["rapidfuzz"], "memory")
    from attendo.memory.opening import open_memory

    match = open_memory(files, (source, target), threshold=threshold).match(text)
    print(json.dumps(None if match is None else {**match.as_json(), "text": match.text}, ensure_ascii=False))

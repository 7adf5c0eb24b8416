"""`attendo memory`: indexes translation memories and searches them."""

import json
from pathlib import Path
from typing import Annotated

import typer

from attendo.cli.memory_use import built_line
from attendo.cli.output import check_file
from attendo.cli.progress import note

memory = typer.Typer(name="memory", help="Translation memories: index, search.", no_args_is_help=True)


@memory.command()
def build(
    output: Annotated[Path, typer.Argument(metavar="OUT", help="The index to write, such as product.memory.")],
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Translation memories: TMX, XLIFF, PO, TSV, CSV or JSON lines."),
    ],
    *,
    source: Annotated[str, typer.Option("--from", metavar="LANGUAGE", help="The source language, such as en.")],
    target: Annotated[str, typer.Option("--to", metavar="LANGUAGE", help="The target language, such as de.")],
) -> None:
    """Indexes translation memories into one file, for `--memory` and a server's configuration.

    This is optional: `attendo translate --memory` builds the same index and keeps it in the cache.
    """
    from attendo.workflow.extras import need_packages

    check_file(output)
    need_packages(["rapidfuzz"], "memory")
    from attendo.memory.building import build_index

    built = build_index(output, files, (source, target))
    note(f"{built_line(built)}; wrote {output}")


@memory.command()
def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text to look up.")],
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Translation memories, or their indexes.")],
    *,
    source: Annotated[str, typer.Option("--from", metavar="LANGUAGE", help="The source language, such as en.")],
    target: Annotated[str, typer.Option("--to", metavar="LANGUAGE", help="The target language, such as de.")],
    threshold: Annotated[
        int, typer.Option("--threshold", min=50, max=100, help="Minimum similarity, in per cent of the words.")
    ] = 75,
) -> None:
    """Looks a text up in translation memories and prints the best match as JSON, or null if there is none."""
    from attendo.workflow.extras import need_packages

    need_packages(["rapidfuzz"], "memory")
    from attendo.memory.opening import open_memory

    match = open_memory(files, (source, target), threshold=threshold).match(text)
    print(json.dumps(None if match is None else {**match.as_json(), "text": match.text}, ensure_ascii=False))

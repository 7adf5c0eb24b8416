"""`attendo attention`: every head of every layer, drawn."""

from pathlib import Path
from typing import Annotated

import typer

from attendo.cli.options import ModelArgument
from attendo.cli.progress import note
from attendo.errors import DataError
from attendo.files import write_text

FORMATS = (".html", ".svg", ".json")
"""What the name of the output may end in."""


def attention(
    model: ModelArgument,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The source sentence.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="A page (.html), a picture (.svg) or data (.json).")
    ],
    target: Annotated[
        str | None, typer.Option("--target", help="Its translation; the model's own where left out.")
    ] = None,
) -> None:
    """Draws where every head of every layer looks while the model reads a sentence and its translation."""
    if output.suffix.lower() not in FORMATS:
        raise DataError(f"{output}: the name must end in one of {', '.join(FORMATS)}")

    from attendo.attention_maps.drawing import to_svg
    from attendo.attention_maps.page import to_html
    from attendo.attention_maps.weights import to_json
    from attendo.workflow.translate import load

    weights = load(model).attention(source, target)
    draw = {".html": to_html, ".svg": to_svg, ".json": to_json}[output.suffix.lower()]
    write_text(output, draw(weights))
    note(f"wrote {output}")

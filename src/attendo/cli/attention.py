"""`attendo attention`: draws the attention of every head and layer."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from attendo.cli.option_groups import with_groups
from attendo.cli.options import DeviceOption, ModelArgument, QuietOption
from attendo.cli.output import check_file
from attendo.cli.progress import note, notes
from attendo.errors import DataError
from attendo.files import write_bytes, write_text

FORMATS = (".html", ".svg", ".png", ".json")
"""Endings that the output's name may have."""


class KindName(StrEnum):
    """Kinds of attention; an enumeration, because Typer has no lists of literals."""

    ENCODER = "encoder"
    DECODER = "decoder"
    CROSS = "cross"


StyleName = Literal["maps", "lines"]


@dataclass(frozen=True)
class ViewOptions:
    """The contents of the drawing and its layout."""

    kind: Annotated[
        list[KindName] | None,
        typer.Option(
            "--kind",
            help="Encoder self-attention, decoder self-attention or cross-attention; may be repeated. Default: all.",
        ),
    ] = None
    layer: Annotated[
        list[int] | None,
        typer.Option("--layer", metavar="N", help="Layer to draw; 1 is the lowest; may be repeated. Default: all."),
    ] = None
    head: Annotated[
        list[int] | None,
        typer.Option("--head", metavar="N", help="Head to draw, counted from 1; may be repeated. Default: all."),
    ] = None
    style: Annotated[
        StyleName | None,
        typer.Option(
            "--style",
            help="Heat maps, or lines between two columns of words. Default: maps; lines for .html and with --word.",
        ),
    ] = None
    word: Annotated[
        list[str] | None,
        typer.Option("--word", metavar="WORD", help="Draw only the lines of this word; may be repeated."),
    ] = None


@with_groups(view=ViewOptions)
def attention(
    model: ModelArgument,
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The source sentence.")],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Interactive page (.html), picture (.svg, .png) or data (.json)."
        ),
    ],
    target: Annotated[
        str | None, typer.Option("--target", help="Translation of the sentence. Default: the model's own.")
    ] = None,
    pieces: Annotated[bool, typer.Option("--pieces", help="Show subword pieces instead of words.")] = False,
    *,
    view: ViewOptions,
    device: DeviceOption = "auto",
    quiet: QuietOption = False,
) -> None:
    """Draws the attention of every head and layer over a sentence and its translation."""
    suffix = output.suffix.lower()
    _check_view(view, output)
    check_file(output)
    from attendo.workflow.extras import need_packages
    from attendo.workflow.input_files import check_inputs

    if suffix == ".png":
        need_packages(["matplotlib"], "plot")
    check_inputs(models=[model])
    from attendo.attention_maps.drawing import draw
    from attendo.attention_maps.page import to_html
    from attendo.attention_maps.svg import to_svg
    from attendo.attention_maps.view import View
    from attendo.attention_maps.weights import KINDS, TITLES, to_json
    from attendo.attention_maps.words import joined
    from attendo.workflow.engines.translate import load

    chosen = View(
        kinds=tuple(kind.value for kind in view.kind) if view.kind else KINDS,
        layers=tuple(view.layer or ()),
        heads=tuple(view.head or ()),
        style=view.style or ("lines" if view.word or suffix == ".html" else "maps"),
        words=tuple(view.word or ()),
    )
    weights = load(model, device=device).attention(source, target)
    shown = weights if pieces else joined(weights)
    match suffix:
        case ".html":
            write_text(output, to_html(weights, chosen, shown.unit))
        case ".svg":
            write_text(output, to_svg(draw(shown, chosen)))
        case ".png":
            from attendo.attention_maps.png import fonts_for, to_png

            drawing = draw(shown, chosen)
            write_bytes(output, to_png(drawing))
            if missing := fonts_for(drawing)[1]:
                note(f"no font on this machine has {missing!r}; .svg and .html use the viewer's fonts")
        case _:
            write_text(output, to_json(shown))
    notes(quiet=quiet)(f"wrote {output}")
    if absent := [TITLES[kind].lower() for kind in KINDS if kind not in weights.kinds]:
        note(f"without {', '.join(absent)}: these layers of the model are not attention")


def _check_view(view: ViewOptions, output: Path) -> None:
    """Makes sure that the output's format is known and can show the requested view."""
    suffix = output.suffix.lower()
    if suffix not in FORMATS:
        raise DataError(f"{output}: the name must end in one of {', '.join(FORMATS)}")
    if suffix == ".json" and any(vars(view).values()):
        raise DataError(f"{output}: JSON contains every weight; leave out --kind, --layer, --head, --style and --word")
    if view.word and view.style == "maps":
        raise DataError("--word selects lines, but --style maps draws heat maps; leave out one of them")

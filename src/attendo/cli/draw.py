"""`attendo draw`: pictures of a model or a recipe: architecture, attention, positions, schedule and pieces."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attendo.cli.options import ModelArgument, SetOption
from attendo.cli.output import check_file
from attendo.cli.progress import note
from attendo.errors import DataError
from attendo.files import write_bytes, write_text

if TYPE_CHECKING:
    from attendo.diagrams.shapes import Diagram
    from attendo.diagrams.structure import Structure

DIAGRAM_FORMATS = (".svg", ".png", ".json")
MOST_PIECES = 2000
"""Most pieces of a text that can be drawn."""

draw = typer.Typer(
    name="draw",
    help="Pictures of a model or a recipe: architecture, attention, positions, learning rate, pieces.",
    no_args_is_help=True,
)

SubjectArgument = Annotated[
    str,
    typer.Argument(
        metavar="RECIPE|MODEL", help="A recipe (file or shipped name), a model or run folder, or a shipped model."
    ),
]
DiagramOption = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="FILE", help="Picture (.svg, .png), or its blocks as data (.json)."),
]
ChartOption = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The picture to write (.png, .svg).")]


@draw.command()
def architecture(subject: SubjectArgument, output: DiagramOption, settings: SetOption = None) -> None:
    """Draws Figure 1 for any model, from the operations that it performs."""
    check_file(output)
    from attendo.plots.subject_name import names_model

    names_model(subject)  # a mistyped name is answered before torch is imported
    from attendo.diagrams.architecture import architecture as found
    from attendo.diagrams.architecture_layout import draw_architecture
    from attendo.plots.figure_files import check_name
    from attendo.plots.subject import find_subject

    check_name(output, DIAGRAM_FORMATS)
    named = find_subject(subject, tuple(settings or ()))
    structure = found(named.config, named.src_vocab_size, named.tgt_vocab_size, f"The Transformer: {named.name}")
    _write(output, structure, lambda: draw_architecture(structure))
    note(f"{structure.parameters:,} parameters, of {named.note}")


@draw.command("multi-head")
def multi_head(subject: SubjectArgument, output: DiagramOption, settings: SetOption = None) -> None:
    """Draws Figure 2 for any model: its attention in one head, and in all heads."""
    check_file(output)
    from attendo.plots.subject_name import names_model

    names_model(subject)  # a mistyped name is answered before torch is imported
    from attendo.diagrams.attention import attention_of
    from attendo.diagrams.attention_layout import draw_attention
    from attendo.plots.figure_files import check_name
    from attendo.plots.subject import find_subject

    check_name(output, DIAGRAM_FORMATS)
    named = find_subject(subject, tuple(settings or ()))
    structure = attention_of(named.config, f"Attention: {named.name}")
    _write(output, structure, lambda: draw_attention(structure))


@draw.command()
def positions(
    subject: SubjectArgument,
    output: ChartOption,
    length: Annotated[int, typer.Option("--length", min=2, max=10_000, help="Number of positions.")] = 100,
    settings: SetOption = None,
) -> None:
    """Draws the positional encodings (Section 3.5): sinusoids, or those that a model has learned."""
    check_file(output)
    from attendo.plots.subject_name import names_model

    names_model(subject)  # a mistyped name is answered before torch is imported
    from attendo.plots.figure_files import check_name, write_figure
    from attendo.plots.positions import draw_positions, table_of
    from attendo.plots.subject import find_subject

    check_name(output)
    named = find_subject(subject, tuple(settings or ()))
    table, layout = table_of(named, length), named.config.positions
    title = f"Positional encodings of {named.name}"
    size = f"{length} positions by {table.shape[1]} dimensions ({layout})"
    description = f"A heat map of {size}, and some dimensions as curves."
    write_figure(draw_positions(table, layout, named.name), output, title, description)
    note(f"wrote {output}")


@draw.command()
def schedule(
    recipes: Annotated[
        list[str], typer.Argument(metavar="RECIPE...", help="Recipes (files or shipped names) or run folders.")
    ],
    output: ChartOption,
    max_steps: Annotated[
        int | None, typer.Option("--max-steps", min=2, help="Last step to draw. Default: that of each recipe.")
    ] = None,
    settings: SetOption = None,
) -> None:
    """Draws the learning rate of recipes by step (Section 5.3, Equation 3)."""
    check_file(output)
    from attendo.recipe import load_recipe

    loaded = [load_recipe(each, settings or ()) for each in recipes]
    from attendo.plots.figure_files import check_name, write_figure
    from attendo.plots.schedule import draw_schedules, rates_of
    from attendo.workflow.runs.initial_model import with_initial_model

    check_name(output)
    schedules = [rates_of(with_initial_model(each), max_steps) for each in loaded]
    description = f"Learning rate by step. Highest: {'; '.join(each.text for each in schedules)}."
    write_figure(draw_schedules(schedules), output, "Learning rate", description)
    note(f"wrote {output}")


@draw.command()
def pieces(
    model: ModelArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The text to split.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Picture (.svg, .png). Default: print each id and piece."),
    ] = None,
    target: Annotated[
        bool, typer.Option("--target", help="Use the target vocabulary, for a model with two vocabularies.")
    ] = False,
) -> None:
    """Draws or prints the pieces into which a model's vocabulary splits a text."""
    check_file(output)
    from attendo.checkpoint.finding import find_model

    folder = find_model(model)
    from attendo.diagrams.pieces import as_text, draw_pieces, pieces_of
    from attendo.plots.figure_files import check_name
    from attendo.text.prepared import Vocabulary

    if output is not None:
        check_name(output, (".svg", ".png"))
    vocabulary = Vocabulary.of_model(folder)
    tokenizer = vocabulary.target if target else vocabulary.source
    ids = tokenizer.encode(text)
    if len(ids) > MOST_PIECES:
        raise DataError(f"the text has {len(ids):,} pieces, more than a picture can show ({MOST_PIECES:,}); shorten it")
    found = pieces_of(tokenizer.pieces(ids), ids)
    if output is None:
        print(as_text(found), end="")
        return
    shown = Path(model).resolve().name if Path(model).is_dir() else model
    _write(output, None, lambda: draw_pieces(text, found, shown))


def _write(output: Path, structure: "Structure | None", diagram: "Callable[[], Diagram]") -> None:
    from attendo.diagrams.png import missing_characters, to_png
    from attendo.diagrams.svg import to_svg

    match output.suffix.lower():
        case ".json" if structure is not None:
            write_text(output, json.dumps(structure.to_json(), indent=2, ensure_ascii=False) + "\n")
        case ".svg":
            write_text(output, to_svg(diagram()))
        case _:
            drawing = diagram()
            write_bytes(output, to_png(drawing))
            if missing := missing_characters(drawing):
                note(f"no font on this machine has {missing!r}; .svg uses the viewer's fonts")
    note(f"wrote {output}")

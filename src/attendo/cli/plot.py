"""`attendo plot`: learning curves of runs."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from attendo.cli.output import check_file
from attendo.cli.progress import note


class MeasureName(StrEnum):
    """Curves of a panel; an enumeration, because Typer has no lists of literals."""

    LOSS = "loss"
    PERPLEXITY = "perplexity"
    BLEU = "bleu"
    F1 = "f1"


def plot(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Run folders; runs that are still training are drawn up to now."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The picture to write (.png, .svg).")
    ] = Path("curves.png"),
    by: Annotated[
        Literal["steps", "tokens", "hours"],
        typer.Option("--by", help="Horizontal axis: updates, target tokens, or hours of training."),
    ] = "steps",
    show: Annotated[
        list[MeasureName] | None,
        typer.Option(
            "--show",
            help="Curve to draw: training loss, validation perplexity, BLEU, or F1 of a parser; may be repeated. "
            "Default: all.",
        ),
    ] = None,
) -> None:
    """Draws the learning curves of several runs in one picture, labelled by their folders.

    For pictures of a model or a recipe, see `attendo draw`.
    """
    from attendo.checkpoint.finding import check_run
    from attendo.workflow.extras import need_packages

    check_file(output)
    for run in runs:
        check_run(run)
    need_packages(["matplotlib"], "plot")
    from attendo.plots.figure_files import check_name, write_figure
    from attendo.plots.runs import MEASURES, described, draw_runs, read_runs

    check_name(output)
    histories = read_runs(runs)
    measures = tuple(measure for measure in MEASURES if show and measure in show)
    figure = draw_runs(histories, by, measures)
    for history in histories:
        if skipped := history.metrics.skipped_lines:
            shown = ", ".join(map(str, skipped[:5])) + ("…" if len(skipped) > 5 else "")
            noun = "line" if len(skipped) == 1 else "lines"
            note(f"{history.name}: {len(skipped)} {noun} of metrics.jsonl cannot be read and left out ({noun} {shown})")
    write_figure(
        figure, output, f"Learning curves: {', '.join(run.name for run in histories)}", described(histories, by)
    )
    note(f"wrote {output}")

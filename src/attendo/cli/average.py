"""`attendo average`: averages the last checkpoints of a run."""

from pathlib import Path
from typing import Annotated

import typer

from attendo.cli.options import ForceOption
from attendo.cli.output import check_folder, held_before, note_replaced
from attendo.cli.progress import note


def average(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder.")],
    last: Annotated[int, typer.Option("--last", metavar="N", min=1, help="Number of checkpoints to average.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="The model folder to write.")],
    force: ForceOption = False,
) -> None:
    """Averages the last N checkpoints of a run and writes the result as a model."""
    from attendo.checkpoint.finding import check_run
    from attendo.workflow.extras import need_packages

    need_packages(["torch"], "train")
    check_folder(output)
    check_run(run)
    from attendo.workflow.runs.average import average as average_run

    held = held_before(output, force=force)
    steps = average_run(run, last, output, force=force)
    note_replaced(output, held)
    note(f"wrote {output}: the mean of the checkpoints at steps {', '.join(map(str, steps))}")

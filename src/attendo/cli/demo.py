"""`attendo demo`: train, translate and score a small built-in corpus."""

import json
import signal
import time
from pathlib import Path
from typing import Annotated

import typer

from attendo.cli.kernel_cache import bound_for_training
from attendo.cli.options import ForceIntoOption, JsonOption, QuietOption, SetOption
from attendo.cli.output import check_folder, note_kept
from attendo.cli.progress import clock, note
from attendo.cli.reporter import RunReporter
from attendo.cli.signals import StopSignal


def demo(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="The folder for the data, the run and the report.")
    ] = Path("attendo-demo"),
    settings: SetOption = None,
    force: ForceIntoOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Trains a small Transformer on a built-in phrasebook, translates, scores and draws; takes a few minutes."""
    from attendo.workflow.extras import need_packages

    need_packages(["torch"], "train")
    check_folder(output)
    note_kept(output, force=force)
    bound_for_training()
    from attendo.demo.run import run_demo
    from attendo.training.hooks import Ending

    started = time.monotonic()
    stop = StopSignal()
    with RunReporter(quiet=quiet) as reporter, stop:
        result = run_demo(output, settings or [], reporter, lambda: stop.number is not None, force=force)
    if result.ending is Ending.INTERRUPTED or result.scores is None:
        note(f"interrupted at step {result.position.step}; continue with: attendo demo -o {output}")
        raise typer.Exit(128 + (stop.number or signal.SIGINT))
    if as_json:
        print(json.dumps({"report": str(result.report), **result.scores.to_json()}, indent=2))
        return
    print("Sentences that were never trained on:")
    for sample in result.samples:
        right = " (as in the phrasebook)" if sample.translation == sample.reference else ""
        print(f"\n  {sample.source}\n  {sample.translation}{right}")
        if not right:
            print(f"  phrasebook: {sample.reference}")
    print(f"\n{result.scores.to_text()}")
    print("\nA closed phrasebook: this says how well it was learnt, and nothing about real text.")
    print(f"\n{clock(time.monotonic() - started)} in all. The report, with curves and attention: {result.report}")

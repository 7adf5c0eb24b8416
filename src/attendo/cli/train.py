"""`attendo train`: prepares data that is missing, then trains."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attendo.cli.kernel_cache import bound_for_training
from attendo.cli.option_groups import with_groups
from attendo.cli.options import ForceIntoOption, QuietOption, SetOption
from attendo.cli.output import check_folder, note_kept
from attendo.cli.prepare import resolved_recipe
from attendo.cli.progress import clock, note, notes
from attendo.cli.reporter import RunReporter
from attendo.cli.signals import StopSignal
from attendo.errors import AttendoError

if TYPE_CHECKING:
    from attendo.recipe import Recipe
    from attendo.training.processes import Processes
    from attendo.workflow.runs.estimate import Estimate
    from attendo.workflow.runs.train import RunOutcome


@dataclass(frozen=True)
class ReportOptions:
    """What training prints while it runs and at its end."""

    quiet: QuietOption = False
    as_json: Annotated[bool, typer.Option("--json", help="Print the result, or that of --dry-run, as JSON.")] = False


@with_groups(report=ReportOptions)
def train(
    recipe: Annotated[
        str | None,
        typer.Argument(
            metavar="RECIPE", help="A TOML file, or the name of a shipped recipe; with --resume the run's own is used."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="RUN", help="The run folder. Default: runs/NAME.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the run in the folder, with its own recipe.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print shapes, memory, batches and the expected time without training.")
    ] = False,
    settings: SetOption = None,
    prepared: Annotated[
        Path | None,
        typer.Option(
            "--prepared", metavar="DIR", help="The folder of the prepared data. Default: prepared/NAME-FINGERPRINT."
        ),
    ] = None,
    force: ForceIntoOption = False,
    *,
    report: ReportOptions,
) -> None:
    """Trains a model from a recipe, and prepares the data first if needed. Ctrl-C saves; --resume continues.

    Under torchrun, all processes train one model: torchrun --nproc-per-node 8 -m attendo train RECIPE -o RUN
    """
    bound_for_training()
    from attendo.checkpoint.finding import check_resumable

    status = 0
    from attendo.workflow.extras import need_packages

    need_packages(["torch"], "train")
    with together() as processes:
        if resume:
            if dry_run or prepared:
                raise typer.BadParameter("--resume continues a run as it is: leave out --dry-run and --prepared")
            folder = _run_to_resume(recipe, output)
            check_resumable(folder)
            status = _train(folder, settings or [], processes, report)
        elif recipe is None:
            raise typer.BadParameter("name a recipe (attendo recipe lists the shipped ones), or --resume a run")
        else:
            loaded = resolved_recipe(recipe, settings or ())
            if not dry_run:
                folder = output or Path("runs") / loaded.name
                _start(loaded, folder, prepared, processes, force=force, quiet=report.quiet)
                status = _train(folder, [], processes, report)
            elif processes is None or processes.is_main:
                _dry_run(loaded, prepared, as_json=report.as_json)
    if status:
        raise typer.Exit(status)


@contextmanager
def together() -> Iterator["Processes | None"]:
    """Joins the processes that torchrun started; None if this process is alone.

    Whether one process fails or several, the user sees one error, that of the process that failed first.
    """
    if "WORLD_SIZE" not in os.environ:
        yield None
        return
    from attendo.training.processes import LostProcessError, connected, is_loss_of_process

    with connected() as processes:
        try:
            yield processes
        except (AttendoError, OSError, typer.BadParameter) as error:
            if processes.is_first_to_fail():
                raise
            raise typer.Exit(2 if isinstance(error, typer.BadParameter) else 1) from error
        except (LostProcessError, RuntimeError) as error:
            if not isinstance(error, LostProcessError) and not is_loss_of_process(error):
                raise
            if not processes.is_first_to_fail():
                raise typer.Exit(1) from error
            raise AttendoError(
                f"process {processes.rank + 1} of {processes.size}: another process ended without an error message; "
                "unless torchrun restarts it (--max-restarts), continue with --resume"
            ) from error


def _run_to_resume(recipe: str | None, output: Path | None) -> Path:
    """The run folder that was named: by -o, in the recipe's place, or as the default of a recipe."""
    from attendo.recipe import load_recipe

    if output is not None:
        return output
    if recipe is None:
        raise typer.BadParameter("name the run folder: attendo train --resume -o RUN")
    return Path(recipe) if Path(recipe).is_dir() else Path("runs") / load_recipe(recipe).name


def _start(
    recipe: "Recipe", folder: Path, prepared: Path | None, processes: "Processes | None", *, force: bool, quiet: bool
) -> None:
    """Prepares the data where that is missing, and makes the run folder; among several processes, only the first."""
    from attendo.output_folders import check_begun
    from attendo.workflow.preparation.prepared_data import check_corpora, prepare_if_missing, prepared_folder

    data = prepared or prepared_folder(recipe, Path("prepared"))
    if processes is None:  # missing files are reported before torch is imported, which takes seconds
        check_folder(folder)
        if not data.exists():
            check_corpora(recipe)
    from attendo.workflow.runs.run_folder import check_new_run, start_run, was_started_by

    launch = "" if processes is None else processes.launch

    def start() -> str:
        # A machine that joins later has not counted the restarts; and a launch may have no name.
        is_again = processes is not None and processes.restarts > 0 and (folder / "recipe.toml").is_file()
        if is_again or was_started_by(folder, launch):
            note(f"started again by torchrun: resuming {folder}")
            return ""
        if processes is not None:
            check_folder(folder)
        check_new_run(folder)
        check_begun(folder, "train", ("run.json",), force=force)
        note_kept(folder, force=force)
        with RunReporter(quiet=quiet) as reporter:
            prepare_if_missing(recipe, data, reporter)
        start_run(recipe, folder, data, launch)
        return ""

    if processes is None:
        start()
    else:
        processes.main_first("run", start)


def _train(folder: Path, settings: list[str], processes: "Processes | None", report: ReportOptions) -> int:
    """Trains, reports the outcome, and returns the exit status."""
    from attendo.text.prepared import open_prepared
    from attendo.training.hooks import Ending
    from attendo.workflow.runs.reporting import Silence
    from attendo.workflow.runs.run_folder import check_prepared, record_changes, resume_run, run_lock
    from attendo.workflow.runs.train import TrainingRun

    is_main = processes is None or processes.is_main
    stop = StopSignal(announces=is_main)
    with (
        _with_a_way_on(folder),
        RunReporter(quiet=report.quiet) as shown,
        stop,
        run_lock(folder) if is_main else nullcontext(),
    ):
        loaded, data = resume_run(folder, settings)
        if is_main:
            check_prepared(folder)
        # Shards are read by position without checking their contents, so they have to be the prepared files.
        prepared = open_prepared(data, verify=is_main)
        run = TrainingRun(loaded, folder, prepared, shown if is_main else Silence(), processes)
        if is_main and settings:
            record_changes(folder, loaded, settings, run.position.step)
        outcome = run.train(lambda: stop.number is not None)
    is_interrupted = outcome.ending is Ending.INTERRUPTED
    if is_main:
        _report_outcome(outcome, notes(quiet=report.quiet), as_json=report.as_json)
    return 128 + (stop.number or signal.SIGINT) if is_interrupted else 0


@contextmanager
def _with_a_way_on(folder: Path) -> Iterator[None]:
    """Adds to errors about a full, missing or read-only disk how to resume the run."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise
        raise AttendoError(
            f"{error.filename}: {error.strerror}; the checkpoints written so far are intact; fix the problem and "
            "continue with: "
            f"attendo train --resume -o {folder}"
        ) from error


def _report_outcome(outcome: "RunOutcome", say: Callable[[str], None], *, as_json: bool) -> None:
    from attendo.training.hooks import Ending

    position, folder = outcome.position, outcome.run
    say(f"{outcome.ending.value}: step {position.step:,}, {clock(position.elapsed_s)} in all, saved in {folder}")
    if outcome.ending is Ending.INTERRUPTED:
        note(f"continue with: attendo train --resume -o {folder}")
    elif as_json:
        best = {"score": position.best_score, "step": position.best_step}
        result = {"run": str(folder), "model": str(outcome.model), "step": position.step, "best": best}
        print(json.dumps({**result, "elapsed_s": position.elapsed_s, "ending": outcome.ending.value}, indent=2))
    else:
        say(f"the model is {outcome.model}; {_use(outcome)}")


def _use(outcome: "RunOutcome") -> str:
    """The command that puts a model to use."""
    if outcome.task == "parse":
        return f"parse with: attendo parse {outcome.run} < TEXT > TREES"
    return f"translate with: attendo translate {outcome.run} < SOURCE > TARGET"


def _dry_run(recipe: "Recipe", prepared: Path | None, *, as_json: bool) -> None:
    from dataclasses import asdict

    from attendo.workflow.preparation.prepared_data import check_corpora, open_if_prepared, prepared_folder
    from attendo.workflow.runs.estimate import estimate

    data = None
    if recipe.data is not None and recipe.data.corpora:
        data = open_if_prepared(recipe, prepared or prepared_folder(recipe, Path("prepared")))
    found = estimate(recipe, data)
    print(
        json.dumps({**asdict(found), "quiet_hours": found.quiet_hours}, indent=2) if as_json else estimate_text(found),
        flush=True,
    )
    if data is None and not as_json:  # shapes and time are known without the corpora, but training will need them
        check_corpora(recipe)


def estimate_text(found: "Estimate") -> str:
    """An estimate as a page to read."""
    lines = [
        f"{found.recipe}: {found.parameters:,} parameters",
        "",
        *(f"  {count:>3} x {name:<44} {' x '.join(map(str, shape))}" for name, shape, count in found.shapes),
        "",
        *([f"fine-tunes    {found.init_from}"] if found.init_from else []),
        f"vocabulary    {found.vocab_size:,}" + ("" if found.exact_vocabulary else " (not learned yet)"),
        f"memory        {_gigabytes(found.state_bytes)} for weights, gradients and Adam, "
        f"{_gigabytes(found.activation_bytes)} for a batch",
    ]
    if found.batches_per_epoch is None or found.padding_share is None:
        lines.append("batches       not known before the data is prepared: attendo prepare RECIPE")
        lines.append(f"update        up to {found.target_tokens_per_update:,.0f} target tokens")
    else:
        lines.append(f"batches       {found.batches_per_epoch:,} an epoch, {found.padding_share:.1%} padding")
        lines.append(f"update        {found.target_tokens_per_update:,.0f} target tokens")
        lines.append(f"epochs        {found.epochs:,.1f}")
    lines += _mix_lines(found)
    lines.append(
        f"time          {_duration(found.hours)} at {found.target_tokens_per_s:,.0f} target tokens/s, measured here "
        f"({found.device}, {_threads(found.threads)}), without validation"
    )
    if found.quiet_hours < 0.8 * found.hours:
        lines.append(
            f"              on a quiet machine about {_duration(found.quiet_hours)}: other programs take "
            f"{1 - found.processor_share:.0%} of the processor time that it could use"
        )
    return "\n".join(lines)


def _mix_lines(found: "Estimate") -> list[str]:
    """The composition of an epoch, one line per corpus; empty if there is only one corpus."""
    if len(found.mix) < 2:
        return []
    width = max(len(part.corpus) for part in found.mix)
    labels = ["an epoch", *([""] * (len(found.mix) - 1))]
    return [
        f"{label:<14}{part.corpus:<{width}}  {part.pairs:>11,} pairs, {part.share:6.1%}, each {part.weight:.2f} times"
        + (f", behind {part.source_tag}" if part.source_tag else "")
        for label, part in zip(labels, found.mix, strict=True)
    ]


def _threads(number: int) -> str:
    return "1 thread" if number == 1 else f"{number} threads"


def _gigabytes(size: int) -> str:
    return f"{size / 2**30:.2f} GiB"


def _duration(hours: float) -> str:
    if hours < 1:
        return f"{60 * hours:.0f} minutes"
    return f"{hours:.1f} hours" if hours < 48 else f"{hours / 24:.1f} days"

"""`attendo reproduce`: the paper's tables and figures, compared with the paper's results."""

import json
import shlex
import signal
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Literal, Self

import typer

from attendo.cli.kernel_cache import bound_for_training
from attendo.cli.option_groups import with_groups
from attendo.cli.options import ForceIntoOption, JsonOption, QuietOption
from attendo.cli.output import check_folder, note_kept
from attendo.cli.progress import JobProgress, note, notes
from attendo.cli.reporter import RunReporter
from attendo.cli.signals import StopSignal
from attendo.errors import AttendoError

if TYPE_CHECKING:
    from attendo.paper.experiment import StudyRequest
    from attendo.paper.report import Report
    from attendo.workflow.preparation.prepare import Progress

RESULTS = {
    "table1": "Table 1: what each layer type costs, counted and measured, and how far signals go in it",
    "table2": "Table 2: BLEU by both conventions and training cost, of what is trained here and of what ships",
    "table3": "Table 3: the base model's variations, each row trained with several seeds",
    "table4": "Table 4: parsers of the treebanks at hand, trained from words and from tagged words, in three orders",
    "figure1": "Figure 1: the architecture, drawn from what a model does",
    "figure2": "Figure 2: attention in one head and in all, drawn from what a model does",
    "figure3": "Figure 3: heads that follow long-distance dependencies, counted against chance",
    "figure4": "Figure 4: heads that link an anaphor to its antecedent, counted against chance",
    "figure5": "Figure 5: heads that follow structure; what every head does, and BLEU without it",
    "attention-functions": "Section 3.2.1: scaled, unscaled and additive attention by d_k; quality, speed and memory",
    "label-smoothing": "Section 5.4: what label smoothing does to perplexity, accuracy, BLEU and how sure a model is",
    "search-settings": "Section 6.1: what averaging checkpoints, the beam and the length penalty each bring",
    "length-extrapolation": "Section 3.5: texts longer than those trained on, sinusoidal and learned positions",
    "schedule": "Section 5.3: the learning rate of Equation 3, and what warm-up does",
}
"""The reproducible results, each with a one-line description."""

TAKES_RUNS = ("table2", "table4", "figure3", "figure4", "figure5")
"""The studies that take `--run`."""


@dataclass(frozen=True)
class StudyOptions:
    """Size, place and parts of a study."""

    scale: Annotated[
        Literal["tiny", "small", "paper"],
        typer.Option(
            "--scale", help="Size of the study: tiny takes seconds, small suits a laptop, paper is the full size."
        ),
    ] = "small"
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Folder for the runs, the results and the page. Default: reproduced/NAME-SCALE.",
        ),
    ] = None
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Number of random seeds per row.")] = 3
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", min=1, help="Number of parallel processes. Default: one per CPU core, or per GPU."),
    ] = None
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Folder of the corpora. Default: that of the recipe.")
    ] = None
    runs: Annotated[
        list[str] | None,
        typer.Option(
            "--run",
            metavar="RUN",
            help="For table2: RUN[=NxGPU], a run to include, with the hardware it was trained on, such as 8xP100 "
            "(default: this machine). For table4: NAME=RUN, a trained parser to test instead of training; several "
            "runs of one NAME are its seeds and are also tested as an ensemble. For figures 3 to 5: a model or run to "
            "analyse instead of the shipped models. May be repeated.",
        ),
    ] = None

    def request(self, name: str) -> "StudyRequest":
        """Builds the settings of a study.

        Args:
            name: the result that the study reproduces.
        """
        from attendo.paper.experiment import StudyRequest, usual_jobs

        return StudyRequest(
            scale=self.scale,
            folder=self.output or Path("reproduced") / f"{name}-{self.scale}",
            seeds=self.seeds,
            jobs=self.jobs or usual_jobs(),
            data=self.data,
            command=self.command(name),
            runs=tuple(self.runs or ()),
        )

    def command(self, name: str) -> str:
        """Returns the command that repeats the study, without its folder and number of processes."""
        folder = ["--data", str(self.data)] if self.data is not None else []
        further = [part for run in self.runs or () for part in ("--run", run)]
        size = ["--scale", self.scale, "--seeds", str(self.seeds)]
        return shlex.join(["attendo", "reproduce", name, *size, *folder, *further])


@with_groups(study=StudyOptions)
def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="What to reproduce. Default: list everything that can be reproduced."),
    ] = None,
    *,
    study: StudyOptions,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print rows, parameters and the expected time without training.")
    ] = False,
    force: ForceIntoOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Reproduces a table, figure or study of the paper, and compares the results with the paper's on a page.

    Ctrl-C saves; run the same command again to continue. The page is DIR/index.html, and DIR/index.md.
    """
    if name is None:
        for known, title in RESULTS.items():
            print(f"{known:<22} {title}")
        return
    if name not in RESULTS:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(RESULTS)}", param_hint="NAME")
    from attendo.workflow.extras import need_packages

    need_packages(["torch"], "train")
    if study.runs and name not in TAKES_RUNS:
        raise typer.BadParameter(f"is for {', '.join(TAKES_RUNS)}; {name} takes no runs", param_hint="--run")
    bound_for_training()
    from attendo.paper.studies import EXPERIMENTS
    from attendo.paper.study_folder import own_folder

    request, experiment = study.request(name), EXPERIMENTS[name]
    if dry_run:
        with _Reporter("rows", quiet=quiet) as reporter:
            _print(experiment.forecast(request, reporter), as_json=as_json)
        return
    check_folder(request.folder)
    note_kept(request.folder, force=force)
    stop = StopSignal()
    with (
        own_folder(request.folder, name, study.scale, force=force),
        _Reporter(experiment.unit, quiet=quiet) as reporter,
        stop,
    ):
        outcome = experiment.reproduce(request, reporter, lambda: stop.number is not None)
    if outcome.report is not None:
        if not outcome.interrupted:
            _print(outcome.report, as_json=as_json)
        notes(quiet=quiet)(f"the page: {request.folder / 'index.html'}")
    if outcome.interrupted:
        note(f"interrupted, everything is saved in {request.folder}; run the same command again to continue")
        raise typer.Exit(128 + (stop.number or signal.SIGINT))
    if outcome.failures:
        listed = "\n".join(outcome.failures)
        raise AttendoError(f"{len(outcome.failures)} runs failed; run the same command to try them again:\n{listed}")


def _print(report: "Report", *, as_json: bool) -> None:
    print(json.dumps(report.data, indent=2, ensure_ascii=False) if as_json else report.to_text(), flush=True)


class _Reporter:
    """Shows the progress of an experiment on standard error.

    Args:
        unit: the noun for the experiment's parts.
        quiet: show no progress.
    """

    def __init__(self, unit: str, *, quiet: bool) -> None:
        self._unit, self._quiet = unit, quiet
        self._run = RunReporter(quiet=quiet)
        self._bar: JobProgress | None = None

    def message(self, text: str) -> None:
        """A line to read."""
        if self._bar is None:
            note(text)
        else:
            self._bar.say(text)

    def preparing(self, progress: "Progress") -> None:
        """Updates the progress of the data preparation."""
        self._run.preparing(progress)

    def running(self, done: int, total: int, note: str) -> None:
        """Updates the number of finished parts and the current part."""
        if self._bar is None:
            self._run.__exit__(None, None, None)
            self._bar = JobProgress("running", self._unit, total, first=done, every_s=60, quiet=self._quiet)
            self._bar.__enter__()
        self._bar.update(done, note=note)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._run.__exit__(kind, error, traceback)
        if self._bar is not None:
            self._bar.__exit__(kind, error, traceback)

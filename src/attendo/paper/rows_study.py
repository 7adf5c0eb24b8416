"""The way into every study of rows: its data, runs and folders."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from attendo.paper.experiment import Order, Reporter
from attendo.paper.run_results import RunResult
from attendo.paper.study import Run, Study, Translators, plan_runs
from attendo.recipe import Recipe
from attendo.text.prepared import PreparedData
from attendo.threads import usable_cores
from attendo.workflow.preparation import prepare_if_missing
from attendo.workflow.prepare import Progress


@dataclass(frozen=True, kw_only=True)
class RowsStudy:
    """A study that can be trained, and where its runs are."""

    study: Study[RunResult]
    runs: tuple[Run, ...]
    prepared: PreparedData
    """The data of all of them."""
    threads: int
    """Processor threads of each run."""
    folders: Mapping[tuple[str, int], Path]
    """The run folders, by row and seed."""


def threads_of(order: Order) -> int:
    """Processor threads of each run."""
    return max(1, usable_cores() // order.jobs)


def open_study(order: Order, rows: Mapping[str, Recipe], reporter: Reporter) -> RowsStudy:
    """Prepares the data of rows where that is missing, and plans their runs in `order.folder`.

    Args:
        order: how the study is wanted.
        rows: recipes by the rows' names, at least one, all with the same data.
        reporter: who is told.

    Raises:
        AttendoError: the corpora are missing, or the folder holds another study.
        OSError: the folder cannot be written to.
    """
    prepared = prepare_if_missing(next(iter(rows.values())), order.folder / "prepared", reporter)
    runs, threads = plan_runs(rows, range(1, order.seeds + 1)), threads_of(order)
    study = Study(order.folder, runs, Translators(prepared), jobs=order.jobs, threads=threads)
    folders = {(run.row, run.seed): study.run_folder(run) for run in runs}
    return RowsStudy(study=study, runs=runs, prepared=prepared, threads=threads, folders=folders)


class PartReporter:
    """Tells a reporter of one study as a part of several.

    Args:
        reporter: of all of them.
        before: updates of the studies before this one.
        total: updates of all of them.
    """

    def __init__(self, reporter: Reporter, before: int, total: int) -> None:
        self._reporter, self._before, self._total = reporter, before, total

    def message(self, text: str) -> None:
        """A line to read."""
        self._reporter.message(text)

    def preparing(self, progress: Progress) -> None:
        """How far the preparation of data is."""
        self._reporter.preparing(progress)

    def running(self, done: int, total: int, note: str) -> None:
        """How many updates of this part are made."""
        self._reporter.running(self._before + done, self._total, note)

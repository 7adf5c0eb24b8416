"""The driver of every study of rows: recipes by seeds, trained, measured, compared and written up.

A study is a `RowsStudy`: a frozen description of its rows, of what is measured and of what its page says.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from attendo.paper.experiment import Order, Outcome, Reporter, ShouldStop, Stopped
from attendo.paper.forecast import Forecast, forecast_page
from attendo.paper.page_parts import (
    head_data,
    how_to_repeat,
    order_values,
    scale_note,
    signatures_of,
    still_open,
    totals,
)
from attendo.paper.page_text import page_text
from attendo.paper.phrasebook_texts import write_if_tiny
from attendo.paper.report import Report, write_report
from attendo.paper.run_results import RunResult
from attendo.paper.study import Run, Study, plan_runs
from attendo.recipe import Recipe
from attendo.text.prepared import PreparedData
from attendo.threads import usable_cores
from attendo.workflow.preparation.prepare import Progress
from attendo.workflow.preparation.prepared_data import prepare_if_missing

BegunT = TypeVar("BegunT")
MeasuredT = TypeVar("MeasuredT")


@dataclass(frozen=True, kw_only=True)
class OpenStudy:
    """A study that can be trained, and where its runs are."""

    study: Study[RunResult]
    runs: tuple[Run, ...]
    prepared: PreparedData
    """The data of all of them."""
    threads: int
    """Processor threads of each run."""
    folders: Mapping[tuple[str, int], Path]
    """The run folders, by row and seed."""


@dataclass(frozen=True, kw_only=True)
class Sitting:
    """A study at work: how it is wanted, what is open, who is told and who may stop it."""

    order: Order
    opened: OpenStudy
    reporter: Reporter
    should_stop: ShouldStop

    def folder(self, run: Run) -> Path:
        """The folder of a run."""
        return self.opened.folders[run.row, run.seed]


@dataclass(frozen=True, kw_only=True)
class MeasuredRun(Generic[MeasuredT]):
    """A run that is done, and what was measured of its model afterwards."""

    result: RunResult
    measured: MeasuredT


@dataclass(frozen=True, kw_only=True)
class Findings(Generic[BegunT, MeasuredT]):
    """What a study has come to so far."""

    order: Order
    recipes: Mapping[str, Recipe]
    """By row."""
    begun: BegunT
    """What was measured before the training."""
    runs: tuple[MeasuredRun[MeasuredT], ...]
    """Those that are done, in the study's order."""
    num_runs: int
    """The number of runs when all are done."""
    diverged: Mapping[tuple[str, int], MeasuredT] = field(default_factory=dict)
    """What was measured of runs whose failure is a result, by row and seed."""
    failures: tuple[str, ...] = ()

    @property
    def results(self) -> tuple[RunResult, ...]:
        """The results of the runs that are done."""
        return tuple(run.result for run in self.runs)

    @property
    def num_ended(self) -> int:
        """The number of runs that ended with a result, diverged ones included."""
        return len(self.runs) + len(self.diverged)

    @property
    def any_recipe(self) -> Recipe:
        """The first row's recipe, for what all rows have in common."""
        return next(iter(self.recipes.values()))


@dataclass(frozen=True, kw_only=True)
class Page:
    """What a study says of its findings, between what every page has."""

    values: Mapping[str, object]
    """What fills the study's text, beside `order_values` and `totals`."""
    data: Mapping[str, Any]
    """All figures, for `result.json`."""
    bleu: str = ""
    """Whose BLEU it is, a sentence; empty for sacreBLEU's of the runs' validation."""


def nothing(*given: object) -> None:
    """Measures nothing: for studies without figures beside those of their runs."""


def no_result(run: Path) -> bool:
    """Denies that a failed run is a result: for studies in which every failure is one."""
    return False


@dataclass(frozen=True, kw_only=True)
class RowsStudy(Generic[BegunT, MeasuredT]):
    """The description of a study of rows."""

    name: str
    """As the command has it, such as `label-smoothing`."""
    title: str
    """Of the page."""
    short_title: str
    """Of the forecast."""
    subject: str
    """What runs of the scale `tiny` say nothing about."""
    text: str
    """The file with the words of the page, for `page_text`."""
    recipes: Callable[[Order], Mapping[str, Recipe]]
    """The rows' recipes by name, all with the same data."""
    expect: Callable[[Order, Reporter], Forecast]
    """What the study will take."""
    begin: Callable[[Sitting], BegunT | Stopped]
    """Measures what needs no run, before the training."""
    measure: Callable[[Sitting, BegunT, Run], MeasuredT | Stopped]
    """Measures a run that has ended, or reads what is kept of it."""
    page: Callable[[Findings[BegunT, MeasuredT]], Page | None]
    """Makes the page; None where there is nothing to say yet."""
    write_texts: Callable[[Order], None] = write_if_tiny
    """Writes the corpora that are the study's own."""
    is_result: Callable[[Path], bool] = no_result
    """Whether the failure of a run, by its folder, is a result."""
    unit: str = "updates"
    """What the progress is counted in."""

    def reproduce(self, order: Order, reporter: Reporter, should_stop: ShouldStop) -> Outcome:
        """Trains and measures what is not done yet in `order.folder`; writes the page whenever a run is done.

        Raises:
            AttendoError: the corpora are missing, or the folder holds another study.
            OSError: the folder cannot be written to.
        """
        recipes = self.recipes(order)
        self.write_texts(order)
        opened = open_study(order, recipes, reporter)
        sitting = Sitting(order=order, opened=opened, reporter=reporter, should_stop=should_stop)
        begun = self.begin(sitting)
        if isinstance(begun, Stopped):
            return Outcome(report=None, interrupted=True)
        pages = _Pages(self, sitting, recipes, begun)
        ended = opened.study.train(reporter, should_stop, pages.write)
        failed = dict(ended.failures)
        diverged = [run for run in opened.runs if run.name in failed and self.is_result(sitting.folder(run))]
        for run in diverged:
            del failed[run.name]
        failures = tuple(failed.values())
        report = pages.write(ended.results, diverged, failures)
        is_left = ended.interrupted or pages.num_measured < len(ended.results) + len(diverged)
        return Outcome(report=report, interrupted=is_left, failures=failures)

    def forecast(self, order: Order, reporter: Reporter) -> Report:
        """What the study comes to, and the time that a few updates on this machine let expect.

        Raises:
            RecipeError: a model is more than this machine's memory holds.
        """
        return forecast_page(order, self.name, self.short_title, self.expect(order, reporter))

    def report(self, found: Findings[BegunT, MeasuredT]) -> Report | None:
        """The page of what is done so far; None where there is nothing to say yet."""
        page = self.page(found)
        if page is None:
            return None
        values = {**order_values(found.order, found.any_recipe), **totals(found.results), **page.values}
        words = page_text(self.text).fill(**values)
        bleu = page.bleu or f"BLEU is sacreBLEU's: {signatures_of(found.results)}"
        return Report(
            title=self.title,
            introduction=(
                *words.introduction,
                *scale_note(found.order, self.subject),
                *still_open(found.num_ended, found.num_runs, found.failures),
            ),
            sections=(*words.sections, how_to_repeat(found.order, found.results, bleu)),
            data={
                **head_data(found.order, self.name),
                "runs_done": found.num_ended,
                "runs": found.num_runs,
                "failures": list(found.failures),
                **page.data,
            },
        )


class _Pages(Generic[BegunT, MeasuredT]):
    """Measures runs as they are done, and writes the page of those that are measured.

    Args:
        study: what it is of.
        sitting: the study at work.
        recipes: of the rows.
        begun: what was measured before the training.
    """

    def __init__(
        self, study: RowsStudy[BegunT, MeasuredT], sitting: Sitting, recipes: Mapping[str, Recipe], begun: BegunT
    ) -> None:
        self._study, self._sitting, self._recipes, self._begun = study, sitting, recipes, begun
        self._runs = {(run.row, run.seed): run for run in sitting.opened.runs}
        self._measured: dict[tuple[str, int], MeasuredT] = {}

    @property
    def num_measured(self) -> int:
        """The number of runs that are measured."""
        return len(self._measured)

    def write(
        self, results: Sequence[RunResult], diverged: Sequence[Run] = (), failures: tuple[str, ...] = ()
    ) -> Report | None:
        """Measures what is not measured yet and writes the page; None where there is nothing to say yet."""
        for run in (*(self._runs[result.row, result.seed] for result in results), *diverged):
            if (run.row, run.seed) not in self._measured:
                found = self._study.measure(self._sitting, self._begun, run)
                if not isinstance(found, Stopped):
                    self._measured[run.row, run.seed] = found
        report = self._study.report(
            Findings(
                order=self._sitting.order,
                recipes=self._recipes,
                begun=self._begun,
                runs=tuple(
                    MeasuredRun(result=result, measured=self._measured[result.row, result.seed])
                    for result in results
                    if (result.row, result.seed) in self._measured
                ),
                num_runs=len(self._runs),
                diverged={(run.row, run.seed): self._measured[run.row, run.seed] for run in diverged},
                failures=failures,
            )
        )
        if report is not None:
            write_report(self._sitting.order.folder, report)
        return report


def threads_of(order: Order) -> int:
    """Processor threads of each run."""
    return max(1, usable_cores() // order.jobs)


def open_study(order: Order, rows: Mapping[str, Recipe], reporter: Reporter) -> OpenStudy:
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
    study = Study(order.folder, runs, RunResult, lambda run: prepared, jobs=order.jobs, threads=threads)
    folders = {(run.row, run.seed): study.run_folder(run) for run in runs}
    return OpenStudy(study=study, runs=runs, prepared=prepared, threads=threads, folders=folders)


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

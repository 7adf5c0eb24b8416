"""The driver of every study of rows: trains each row's recipe with several seeds, measures the runs, writes the page.

A study is a `RowsStudy`: a frozen description of its rows, its measurements and its page.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from attendo.paper.experiment import Outcome, Reporter, ShouldStop, Stopped, StudyRequest
from attendo.paper.forecast import Forecast, forecast_page
from attendo.paper.page_parts import (
    head_data,
    how_to_repeat,
    request_values,
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
    """A study that is ready to train, with its data and run folders."""

    study: Study[RunResult]
    runs: tuple[Run, ...]
    prepared: PreparedData
    """Data of all runs."""
    threads: int
    """Number of processor threads of each run."""
    folders: Mapping[tuple[str, int], Path]
    """Run folders, by row and seed."""


@dataclass(frozen=True, kw_only=True)
class StudySession:
    """A session of a study: its options, the opened study, the reporter and the stop condition."""

    request: StudyRequest
    opened: OpenStudy
    reporter: Reporter
    should_stop: ShouldStop

    def folder(self, run: Run) -> Path:
        """Returns the folder of a run."""
        return self.opened.folders[run.row, run.seed]


@dataclass(frozen=True, kw_only=True)
class MeasuredRun(Generic[MeasuredT]):
    """A finished run, and the measurements of its model after training."""

    result: RunResult
    measured: MeasuredT


@dataclass(frozen=True, kw_only=True)
class Findings(Generic[BegunT, MeasuredT]):
    """The results of a study so far."""

    request: StudyRequest
    recipes: Mapping[str, Recipe]
    """Recipes by row."""
    begun: BegunT
    """Measurements made before the training."""
    runs: tuple[MeasuredRun[MeasuredT], ...]
    """Finished runs, in the study's order."""
    num_runs: int
    """Number of all runs, finished or not."""
    diverged: Mapping[tuple[str, int], MeasuredT] = field(default_factory=dict)
    """Measurements of the runs whose failure is a result, by row and seed."""
    failures: tuple[str, ...] = ()
    """Error messages of the other runs that failed, one each."""

    @property
    def results(self) -> tuple[RunResult, ...]:
        """The results of the finished runs."""
        return tuple(run.result for run in self.runs)

    @property
    def num_ended(self) -> int:
        """The number of runs that ended with a result, including diverged ones."""
        return len(self.runs) + len(self.diverged)

    @property
    def any_recipe(self) -> Recipe:
        """The first row's recipe, for settings that all rows share."""
        return next(iter(self.recipes.values()))


@dataclass(frozen=True, kw_only=True)
class Page:
    """The parts of a page that are specific to a study."""

    values: Mapping[str, object]
    """Values for the study's text, in addition to `order_values` and `totals`."""
    data: Mapping[str, Any]
    """All figures, for `result.json`."""
    bleu: str = ""
    """Sentence that states which BLEU it is; empty for sacreBLEU's from the runs' validation."""


def nothing(*given: object) -> None:
    """Measures nothing, for studies that need no figures beyond those of their runs."""


def no_result(run: Path) -> bool:
    """Returns False, for studies in which a failed run is never a result."""
    return False


@dataclass(frozen=True, kw_only=True)
class RowsStudy(Generic[BegunT, MeasuredT]):
    """The description of a study of rows."""

    name: str
    """Name in the command, such as `label-smoothing`."""
    title: str
    """Title of the page."""
    short_title: str
    """Title of the forecast."""
    subject: str
    """The question that runs of the scale `tiny` cannot answer."""
    text: str
    """File with the text of the page, for `page_text`."""
    recipes: Callable[[StudyRequest], Mapping[str, Recipe]]
    """Returns the rows' recipes by name, all with the same data."""
    expect: Callable[[StudyRequest, Reporter], Forecast]
    """Returns the forecast of the study."""
    begin: Callable[[StudySession], BegunT | Stopped]
    """Makes the measurements that need no run, before the training."""
    measure: Callable[[StudySession, BegunT, Run], MeasuredT | Stopped]
    """Measures a run that has ended, or reads its kept measurements."""
    page: Callable[[Findings[BegunT, MeasuredT]], Page | None]
    """Returns the page; None if there is nothing to report yet."""
    write_texts: Callable[[StudyRequest], None] = write_if_tiny
    """Writes the corpora that the study generates itself."""
    is_result: Callable[[Path], bool] = no_result
    """Returns whether the failure of the run in a folder is a result."""
    unit: str = "updates"
    """The unit that the progress is counted in."""

    def reproduce(self, request: StudyRequest, reporter: Reporter, should_stop: ShouldStop) -> Outcome:
        """Trains and measures everything not done yet in `request.folder`; writes the page after each finished run.

        Raises:
            AttendoError: the corpora are missing, or the folder holds another study.
            OSError: the folder cannot be written to.
        """
        recipes = self.recipes(request)
        self.write_texts(request)
        opened = open_study(request, recipes, reporter)
        session = StudySession(request=request, opened=opened, reporter=reporter, should_stop=should_stop)
        begun = self.begin(session)
        if isinstance(begun, Stopped):
            return Outcome(report=None, interrupted=True)
        pages = _Pages(self, session, recipes, begun)
        ended = opened.study.train(reporter, should_stop, pages.write)
        failed = dict(ended.failures)
        diverged = [run for run in opened.runs if run.name in failed and self.is_result(session.folder(run))]
        for run in diverged:
            del failed[run.name]
        failures = tuple(failed.values())
        report = pages.write(ended.results, diverged, failures)
        is_incomplete = ended.interrupted or pages.num_measured < len(ended.results) + len(diverged)
        return Outcome(report=report, interrupted=is_incomplete, failures=failures)

    def forecast(self, request: StudyRequest, reporter: Reporter) -> Report:
        """Returns the size of the study and the time to expect, from a few updates on this machine.

        Raises:
            RecipeError: a model does not fit in this machine's memory.
        """
        return forecast_page(request, self.name, self.short_title, self.expect(request, reporter))

    def report(self, findings: Findings[BegunT, MeasuredT]) -> Report | None:
        """Returns the page of the results so far; None if there is nothing to report yet."""
        page = self.page(findings)
        if page is None:
            return None
        values = {**request_values(findings.request, findings.any_recipe), **totals(findings.results), **page.values}
        words = page_text(self.text).fill(**values)
        bleu = page.bleu or f"BLEU is sacreBLEU's: {signatures_of(findings.results)}"
        return Report(
            title=self.title,
            introduction=(
                *words.introduction,
                *scale_note(findings.request, self.subject),
                *still_open(findings.num_ended, findings.num_runs, findings.failures),
            ),
            sections=(*words.sections, how_to_repeat(findings.request, findings.results, bleu)),
            data={
                **head_data(findings.request, self.name),
                "runs_done": findings.num_ended,
                "runs": findings.num_runs,
                "failures": list(findings.failures),
                **page.data,
            },
        )


class _Pages(Generic[BegunT, MeasuredT]):
    """Measures runs as they finish, and writes the page of the measured ones.

    Args:
        study: the study.
        session: the session of the study.
        recipes: recipes of the rows.
        begun: measurements made before the training.
    """

    def __init__(
        self, study: RowsStudy[BegunT, MeasuredT], session: StudySession, recipes: Mapping[str, Recipe], begun: BegunT
    ) -> None:
        self._study, self._session, self._recipes, self._begun = study, session, recipes, begun
        self._runs = {(run.row, run.seed): run for run in session.opened.runs}
        self._measured: dict[tuple[str, int], MeasuredT] = {}

    @property
    def num_measured(self) -> int:
        """The number of measured runs."""
        return len(self._measured)

    def write(
        self, results: Sequence[RunResult], diverged: Sequence[Run] = (), failures: tuple[str, ...] = ()
    ) -> Report | None:
        """Measures the runs that are not measured yet and writes the page; None if there is nothing to report yet."""
        for run in (*(self._runs[result.row, result.seed] for result in results), *diverged):
            if (run.row, run.seed) not in self._measured:
                measured = self._study.measure(self._session, self._begun, run)
                if not isinstance(measured, Stopped):
                    self._measured[run.row, run.seed] = measured
        report = self._study.report(
            Findings(
                request=self._session.request,
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
            write_report(self._session.request.folder, report)
        return report


def threads_of(request: StudyRequest) -> int:
    """The number of processor threads of each run."""
    return max(1, usable_cores() // request.jobs)


def open_study(request: StudyRequest, rows: Mapping[str, Recipe], reporter: Reporter) -> OpenStudy:
    """Prepares the rows' data if it is missing, and plans their runs in `request.folder`.

    Args:
        request: options of the study.
        rows: recipes by the rows' names, at least one, all with the same data.
        reporter: receives the progress.

    Raises:
        AttendoError: the corpora are missing, or the folder holds another study.
        OSError: the folder cannot be written to.
    """
    prepared = prepare_if_missing(next(iter(rows.values())), request.folder / "prepared", reporter)
    runs, threads = plan_runs(rows, range(1, request.seeds + 1)), threads_of(request)
    study = Study(request.folder, runs, RunResult, lambda run: prepared, jobs=request.jobs, threads=threads)
    folders = {(run.row, run.seed): study.run_folder(run) for run in runs}
    return OpenStudy(study=study, runs=runs, prepared=prepared, threads=threads, folders=folders)


class PartReporter:
    """Reports one study's progress as a part of that of several studies.

    Args:
        reporter: reporter of all the studies.
        before: number of updates of the studies before this one.
        total: number of updates of all the studies.
    """

    def __init__(self, reporter: Reporter, before: int, total: int) -> None:
        self._reporter, self._before, self._total = reporter, before, total

    def message(self, text: str) -> None:
        """Shows a line of text."""
        self._reporter.message(text)

    def preparing(self, progress: Progress) -> None:
        """Reports the progress of the data preparation."""
        self._reporter.preparing(progress)

    def running(self, done: int, total: int, note: str) -> None:
        """Reports the number of finished updates of this part; `total` is replaced by that of all the studies."""
        self._reporter.running(self._before + done, self._total, note)

"""`attendo reproduce length-extrapolation`: sinusoidal and learned positions, trained on short texts and on all."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace

from attendo.files import write_json
from attendo.paper.experiment import Order, Outcome, Reporter, Scale
from attendo.paper.forecast import ROWS_CAPTION, all_hours, forecast_report, forecast_rows, prepared_so_far, total_text
from attendo.paper.length_extrapolation.comparison import Measures
from attendo.paper.length_extrapolation.measures import MEASURES, RunMeasures, kept_measures, measure
from attendo.paper.length_extrapolation.offsets import LAYOUTS, ClosedForm, closed_form
from attendo.paper.length_extrapolation.report import StudyFacts, length_extrapolation_report
from attendo.paper.length_extrapolation.rows import (
    ROWS,
    base_recipe,
    lengths_of,
    recipes,
    shifts_of,
    texts_folder,
)
from attendo.paper.length_extrapolation.tables import Tables, tables, trained
from attendo.paper.length_extrapolation.texts import ALL, SHORT, Pair, read_test, write_texts
from attendo.paper.phrasebook_texts import write_if_tiny
from attendo.paper.report import Report, Table, write_report
from attendo.paper.rows_study import RowsStudy, open_study
from attendo.paper.run_results import RunResult
from attendo.paper.study import Run
from attendo.recipe import Recipe

UNIT = "updates"
"""Of its progress."""

_CLOSED_FORMS = {"tiny": (32, 256), "small": (128, 2048), "paper": (512, 4096)}
"""d_model, and how many positions and offsets the closed form is checked for."""


def reproduce(order: Order, reporter: Reporter, should_stop: Callable[[], bool]) -> Outcome:
    """Trains and measures what is not done yet in `order.folder`, and writes the page, anew whenever a run is done.

    Args:
        order: how it is wanted.
        reporter: who is told.
        should_stop: asked twice a second; what runs is saved then.

    Raises:
        AttendoError: the corpora are missing, or the folder holds another study.
        OSError: the folder cannot be written to.
    """
    rows, base = recipes(order), base_recipe(order)
    write_if_tiny(order)
    write_texts(base, lengths_of(order.scale), texts_folder(order))
    opened = open_study(order, rows, reporter)
    facts = StudyFacts(
        base=base,
        num_runs=len(opened.runs),
        short=trained(opened.prepared, SHORT),
        every=trained(opened.prepared, ALL),
        closed_forms=_closed_forms(order.scale),
    )
    page = _Page(order, opened, read_test(base, texts_folder(order)))

    def look(results: Sequence[RunResult]) -> None:
        page.write(facts, results, reporter, should_stop)

    found = opened.study.train(reporter, should_stop, look)
    failures = found.told_failures
    report = page.write(replace(facts, failures=failures), found.results, reporter, should_stop)
    is_left = found.interrupted or page.num_measured < len(found.results)
    return Outcome(report=report, interrupted=is_left, failures=failures)


def forecast(order: Order, reporter: Reporter) -> Report:
    """What the study comes to: rows, parameters, and the time that a few updates of each on this machine let expect.

    Raises:
        RecipeError: a model is more than this machine's memory holds.
    """
    rows = recipes(order)
    prepared = prepared_so_far(order, rows[ROWS[0].name])
    plans = forecast_rows(rows, prepared, reporter)
    lengths = lengths_of(order.scale)
    total = (
        f"{total_text(order, plans)}; then each model reads and translates {lengths.test_sentences} sentences in "
        f"texts of {', '.join(map(str, lengths.tested))}, and reads them at {len(shifts_of(order.scale))} positions."
    )
    table = Table(
        caption=ROWS_CAPTION,
        columns=("row", "positions", "texts", "updates", "params", "hours"),
        rows=tuple(
            (
                row.name,
                row.kind,
                f"1 to {lengths.trained_sentences if row.texts == SHORT else lengths.all_sentences} sentences",
                plan.updates,
                *plan.cost_cells,
            )
            for row, plan in zip(ROWS, plans, strict=True)
        ),
        words=3,
    )
    return forecast_report(
        order,
        "Lengths beyond training",
        total,
        (table,),
        {
            "result": "length-extrapolation",
            "hours": all_hours(order, plans),
            "rows": [plan.to_json() for plan in plans],
        },
    )


class _Page:
    """Measures the models of runs as they are done, and writes the page of those that are measured."""

    def __init__(self, order: Order, opened: RowsStudy, test: list[Pair]) -> None:
        self._order, self._opened, self._test = order, opened, test
        self._runs = {(run.row, run.seed): run for run in opened.runs}
        self._found: dict[tuple[str, int], RunMeasures] = {}

    @property
    def num_measured(self) -> int:
        """Runs whose models are measured."""
        return len(self._found)

    def write(
        self, facts: StudyFacts, results: Sequence[RunResult], reporter: Reporter, should_stop: Callable[[], bool]
    ) -> Report | None:
        """Measures what is not measured yet and writes the page; None where there is nothing to say yet."""
        for result in results:
            if (result.row, result.seed) not in self._found and not should_stop():
                self._measure(self._runs[result.row, result.seed], reporter, should_stop)
        done = [result for result in results if (result.row, result.seed) in self._found]
        if not done:
            return None
        report = length_extrapolation_report(self._order, facts, done, self._measures(), self._tables(facts.base))
        write_report(self._order.folder, report)
        return report

    def _measure(self, run: Run, reporter: Reporter, should_stop: Callable[[], bool]) -> None:
        folder, threads = self._opened.folders[run.row, run.seed], self._opened.threads
        scale, search = self._order.scale, run.recipe.search
        lengths, shifts = lengths_of(scale).tested, shifts_of(scale)
        found = kept_measures(folder)
        if found is None or tuple(one.sentences for one in found.lengths) != lengths:
            reporter.message(f"{run.name}: reading texts of all lengths")
            found = measure(folder / "model", self._test, lengths, shifts, search, should_stop, threads=threads)
            if found is None:
                return
            write_json(folder / MEASURES, asdict(found))
        self._found[run.row, run.seed] = found

    def _measures(self) -> Measures:
        return {
            row.name: {seed: found for (name, seed), found in self._found.items() if name == row.name} for row in ROWS
        }

    def _tables(self, base: Recipe) -> Tables:
        models = {
            row.name: [self._opened.folders[name, seed] / "model" for name, seed in self._found if name == row.name]
            for row in ROWS
        }
        return tables(models, base.model.d_model, self._opened.prepared)


def _closed_forms(scale: Scale) -> tuple[ClosedForm, ...]:
    d_model, positions = _CLOSED_FORMS[scale]
    return tuple(closed_form(layout, d_model, positions, positions) for layout in LAYOUTS)

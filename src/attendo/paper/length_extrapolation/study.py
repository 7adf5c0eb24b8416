"""`attendo reproduce length-extrapolation`: sinusoidal and learned positions, trained on short texts and on all."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace

from attendo.bench.machine import usable_cores
from attendo.files import write_json
from attendo.paper.experiment import Order, Outcome, Reporter, Scale
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
from attendo.paper.phrasebook_texts import write_phrasebook
from attendo.paper.report import Paragraph, Report, Section, Shell, Table, write_report
from attendo.paper.run_results import RunResult
from attendo.paper.study import Run, Study, plan_runs
from attendo.recipe import Recipe
from attendo.text.prepared import PreparedData
from attendo.workflow.estimate import estimate
from attendo.workflow.preparation import open_if_prepared, prepare_if_missing

_PHRASEBOOK = {"train": 3000, "valid": 100, "test": 10}
"""Pairs of the tiny scale; the test pairs are left alone."""
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
    if order.scale == "tiny":
        write_phrasebook(order.folder / "phrasebook", **_PHRASEBOOK)
    write_texts(base, lengths_of(order.scale), texts_folder(order))
    prepared = prepare_if_missing(rows[ROWS[0].name], order.folder / "prepared", reporter)
    runs = plan_runs(rows, range(1, order.seeds + 1))
    threads = max(1, usable_cores() // order.jobs)
    study = Study(order.folder, runs, prepared, jobs=order.jobs, threads=threads)
    facts = StudyFacts(
        base=base,
        num_runs=len(runs),
        short=trained(prepared, SHORT),
        every=trained(prepared, ALL),
        closed_forms=_closed_forms(order.scale),
    )
    page = _Page(order, study, runs, prepared, read_test(base, texts_folder(order)), threads)

    def look(results: Sequence[RunResult]) -> None:
        page.write(facts, results, reporter, should_stop)

    found = study.train(reporter, should_stop, look)
    failures = tuple(f"{failure.run}: {failure.what}" for failure in found.failures)
    report = page.write(replace(facts, failures=failures), found.results, reporter, should_stop)
    is_left = found.interrupted or page.num_measured < len(found.results)
    return Outcome(report=report, interrupted=is_left, failures=failures)


def forecast(order: Order, reporter: Reporter) -> Report:
    """What the study comes to: rows, parameters, and the time that a few updates of each on this machine let expect.

    Raises:
        RecipeError: a model is more than this machine's memory holds.
    """
    rows = recipes(order)
    prepared = open_if_prepared(rows[ROWS[0].name], order.folder / "prepared")
    plans = []
    for number, row in enumerate(ROWS):
        reporter.running(number, len(ROWS), row.name)
        recipe = rows[row.name]
        plans.append((row, recipe, estimate(recipe, prepared)))
    hours = order.seeds * sum(found.hours for _, _, found in plans)
    lengths = lengths_of(order.scale)
    total = (
        f"{len(plans)} rows, {order.seeds} of each: {order.seeds * len(plans)} runs, {_hours(hours)} hours on this "
        f"machine ({plans[0][2].device}, threads: {plans[0][2].threads}), without validation, one by one; then each "
        f"model reads and translates {lengths.test_sentences} sentences in texts of "
        f"{', '.join(map(str, lengths.tested))}, and reads them at {len(shifts_of(order.scale))} positions."
    )
    table = Table(
        caption="A run of each row; parameters in millions, hours as measured by a few updates here",
        columns=("row", "positions", "texts", "updates", "params", "hours"),
        rows=tuple(
            (
                row.name,
                row.kind,
                f"1 to {lengths.trained_sentences if row.texts == SHORT else lengths.all_sentences} sentences",
                f"{recipe.training.max_steps:,}",
                f"{found.parameters / 1e6:.2f}",
                _hours(found.hours),
            )
            for row, recipe, found in plans
        ),
        words=3,
    )
    return Report(
        title=f"Lengths beyond training at the scale '{order.scale}', in {order.folder}",
        introduction=(total,),
        sections=(Section(title="Rows", blocks=(table, Paragraph(text="To start:"), Shell(lines=(order.command,)))),),
        data={
            "result": "length-extrapolation",
            "scale": order.scale,
            "seeds": order.seeds,
            "hours": hours,
            "rows": [
                {
                    "row": row.name,
                    "recipe": recipe.name,
                    "max_steps": recipe.training.max_steps,
                    "parameters": found.parameters,
                    "hours": found.hours,
                }
                for row, recipe, found in plans
            ],
        },
    )


class _Page:
    """Measures the models of runs as they are done, and writes the page of those that are measured."""

    def __init__(
        self,
        order: Order,
        study: Study,
        runs: Sequence[Run],
        prepared: PreparedData,
        test: list[Pair],
        threads: int,
    ) -> None:
        self._order, self._study, self._prepared, self._test, self._threads = order, study, prepared, test, threads
        self._runs = {(run.row, run.seed): run for run in runs}
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
        folder = self._study.run_folder(run)
        scale, search = self._order.scale, run.recipe.search
        lengths, shifts = lengths_of(scale).tested, shifts_of(scale)
        found = kept_measures(folder)
        if found is None or tuple(one.sentences for one in found.lengths) != lengths:
            reporter.message(f"{run.name}: reading texts of all lengths")
            found = measure(folder / "model", self._test, lengths, shifts, search, should_stop, threads=self._threads)
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
            row.name: [
                self._study.run_folder(self._runs[name, seed]) / "model"
                for name, seed in self._found
                if name == row.name
            ]
            for row in ROWS
        }
        return tables(models, base.model.d_model, self._prepared)


def _closed_forms(scale: Scale) -> tuple[ClosedForm, ...]:
    d_model, positions = _CLOSED_FORMS[scale]
    return tuple(closed_form(layout, d_model, positions, positions) for layout in LAYOUTS)


def _hours(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.3f}"

"""`attendo reproduce table3`: every row with several seeds, at one of three scales."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from attendo.bench.machine import usable_cores
from attendo.demo.phrasebook import split
from attendo.errors import RecipeError
from attendo.files import write_text
from attendo.paper.experiment import Order, Outcome, Reporter
from attendo.paper.report import Paragraph, Report, Section, Shell, Table, write_report
from attendo.paper.run_results import RunResult
from attendo.paper.study import Study, plan_runs
from attendo.paper.table3.report import StudyFacts, table3_report
from attendo.paper.table3.rows import BASE, ROWS, Row, described, full_size, scaled_down
from attendo.recipe import Recipe
from attendo.workflow.estimate import Estimate, estimate
from attendo.workflow.preparation import open_if_prepared, prepare_if_missing

_PHRASEBOOK = {"train": 3000, "valid": 100, "test": 10}
"""Pairs of the tiny scale; the test pairs are left alone."""


def reproduce(order: Order, reporter: Reporter, should_stop: Callable[[], bool]) -> Outcome:
    """Trains what is not done yet of the study in `order.folder`, and writes the page, anew whenever a run is done.

    Args:
        order: how it is wanted.
        reporter: who is told.
        should_stop: asked twice a second; what runs is saved then.

    Raises:
        AttendoError: the corpora are missing, or the folder holds another study.
        OSError: the folder cannot be written to.
    """
    recipes = _recipes(order)
    if order.scale == "tiny":
        _write_phrasebook(order.folder / "phrasebook")
    base = recipes[BASE.name]
    prepared = prepare_if_missing(base, order.folder / "prepared", reporter)
    runs = plan_runs(recipes, range(1, order.seeds + 1))
    threads = max(1, usable_cores() // order.jobs)
    study = Study(order.folder, runs, prepared, jobs=order.jobs, threads=threads)
    facts = StudyFacts(base=base, num_runs=len(runs))

    def write(results: Sequence[RunResult]) -> None:
        write_report(order.folder, table3_report(order, facts, results))

    found = study.train(reporter, should_stop, write)
    failures = tuple(f"{failure.run}: {failure.what}" for failure in found.failures)
    facts = StudyFacts(base=base, num_runs=len(runs), failures=failures)
    report = table3_report(order, facts, found.results) if found.results else None
    if report is not None:
        write_report(order.folder, report)
    return Outcome(report=report, interrupted=found.interrupted, failures=failures)


def forecast(order: Order, reporter: Reporter) -> Report:
    """What the study comes to: rows, parameters, and the time that a few updates of each on this machine let expect.

    Raises:
        RecipeError: a model is more than this machine's memory holds.
    """
    recipes = _recipes(order)
    base = recipes[BASE.name]
    there = order.scale != "tiny" or (order.folder / "phrasebook").is_dir()
    prepared = open_if_prepared(base, order.folder / "prepared") if there else None
    plans = []
    for number, row in enumerate(ROWS):
        reporter.running(number, len(ROWS), row.name)
        recipe = recipes[row.name]
        plans.append(_Plan(row=row, recipe=recipe, found=estimate(recipe, prepared)))
    hours = order.seeds * sum(plan.found.hours for plan in plans)
    total = (
        f"{len(plans)} rows, {order.seeds} of each: {order.seeds * len(plans)} runs, {_hours(hours)} hours on this "
        f"machine ({plans[0].found.device}, threads: {plans[0].found.threads}), without validation, one by one."
    )
    scaled_base = None if order.scale == "paper" else base
    table = Table(
        caption="A run of each row; parameters in millions, hours as measured by a few updates here",
        columns=("row", "change", *(("change here",) if scaled_base else ()), "recipe", "updates", "params", "hours"),
        rows=tuple(plan.cells(scaled_base) for plan in plans),
        words=4 if scaled_base else 3,
    )
    return Report(
        title=f"Table 3 at the scale '{order.scale}', in {order.folder}",
        introduction=(total,),
        sections=(Section(title="Rows", blocks=(table, Paragraph(text="To start:"), Shell(lines=(order.command,)))),),
        data={
            "table": "table3",
            "scale": order.scale,
            "seeds": order.seeds,
            "hours": hours,
            "rows": [plan.to_json() for plan in plans],
        },
    )


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """A row and what a run of it takes."""

    row: Row
    recipe: Recipe
    found: Estimate

    def cells(self, base: Recipe | None) -> tuple[str, ...]:
        return (
            self.row.name,
            described(self.row),
            *([described(self.row, base)] if base else []),
            self.recipe.name,
            f"{self.recipe.training.max_steps:,}",
            f"{self.found.parameters / 1e6:.2f}",
            _hours(self.found.hours),
        )

    def to_json(self) -> dict[str, object]:
        return {
            "row": self.row.name,
            "recipe": self.recipe.name,
            "max_steps": self.recipe.training.max_steps,
            "parameters": self.found.parameters,
            "hours": self.found.hours,
        }


def _hours(hours: float) -> str:
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.3f}"


def _recipes(order: Order) -> dict[str, Recipe]:
    """The recipes by the rows' names."""
    overrides = [f"data.folder={order.data.resolve()}"] if order.data is not None else []
    if order.scale == "paper":
        return {row.name: full_size(row, overrides) for row in ROWS}
    if order.scale == "tiny":
        if order.data is not None:
            raise RecipeError("--data: the scale tiny has a phrasebook of its own; leave it out, or take --scale small")
        overrides = [f"data.folder={(order.folder / 'phrasebook').resolve()}"]
    return {row.name: scaled_down(row, order.scale, overrides) for row in ROWS}


def _write_phrasebook(folder: Path) -> None:
    if (folder / "valid.de").is_file():
        return
    pairs = split(1, _PHRASEBOOK["train"], _PHRASEBOOK["valid"], _PHRASEBOOK["test"])
    for name, part in (("train", pairs.train), ("valid", pairs.valid)):
        write_text(folder / f"{name}.en", "".join(pair.source + "\n" for pair in part))
        write_text(folder / f"{name}.de", "".join(pair.target + "\n" for pair in part))

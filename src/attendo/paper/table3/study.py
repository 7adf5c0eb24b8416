"""`attendo reproduce table3`: every row with several seeds, at one of three scales."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from attendo.paper.experiment import Order, Outcome, Reporter
from attendo.paper.phrasebook_texts import corpora_folder, taken_from, write_if_tiny
from attendo.paper.report import Paragraph, Report, Section, Shell, Table, write_report
from attendo.paper.rows_study import hours_text, open_study, prepared_so_far
from attendo.paper.run_results import RunResult
from attendo.paper.table3.report import StudyFacts, table3_report
from attendo.paper.table3.rows import BASE, ROWS, Row, described, full_size, scaled_down
from attendo.recipe import Recipe
from attendo.workflow.estimate import Estimate, estimate

UNIT = "updates"
"""Of its progress."""


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
    write_if_tiny(order)
    opened = open_study(order, recipes, reporter)
    facts = StudyFacts(base=recipes[BASE.name], num_runs=len(opened.runs))

    def write(results: Sequence[RunResult]) -> None:
        write_report(order.folder, table3_report(order, facts, results))

    found = opened.study.train(reporter, should_stop, write)
    failures = found.told_failures
    facts = replace(facts, failures=failures)
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
    prepared = prepared_so_far(order, base)
    plans = []
    for number, row in enumerate(ROWS):
        reporter.running(number, len(ROWS), row.name)
        recipe = recipes[row.name]
        plans.append(_Plan(row=row, recipe=recipe, found=estimate(recipe, prepared)))
    hours = order.seeds * sum(plan.found.hours for plan in plans)
    total = (
        f"{len(plans)} rows, {order.seeds} of each: {order.seeds * len(plans)} runs, {hours_text(hours)} hours on this "
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
            hours_text(self.found.hours),
        )

    def to_json(self) -> dict[str, object]:
        return {
            "row": self.row.name,
            "recipe": self.recipe.name,
            "max_steps": self.recipe.training.max_steps,
            "parameters": self.found.parameters,
            "hours": self.found.hours,
        }


def _recipes(order: Order) -> dict[str, Recipe]:
    """The recipes by the rows' names."""
    overrides = taken_from(corpora_folder(order))
    if order.scale == "paper":
        return {row.name: full_size(row, overrides) for row in ROWS}
    return {row.name: scaled_down(row, order.scale, overrides) for row in ROWS}

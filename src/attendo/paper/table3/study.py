"""`attendo reproduce table3`: every row with several seeds, at one of three scales."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from attendo.paper.experiment import Order, Outcome, Reporter
from attendo.paper.forecast import (
    ROWS_CAPTION,
    RowForecast,
    all_hours,
    forecast_report,
    forecast_rows,
    prepared_so_far,
    total_text,
)
from attendo.paper.phrasebook_texts import corpora_folder, taken_from, write_if_tiny
from attendo.paper.report import Report, Table, write_report
from attendo.paper.rows_study import open_study
from attendo.paper.run_results import RunResult
from attendo.paper.table3.report import StudyFacts, table3_report
from attendo.paper.table3.rows import BASE, ROWS, Row, described, full_size, scaled_down
from attendo.recipe import Recipe

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
    plans = forecast_rows(recipes, prepared, reporter)
    scaled_base = None if order.scale == "paper" else base
    table = Table(
        caption=ROWS_CAPTION,
        columns=("row", "change", *(("change here",) if scaled_base else ()), "recipe", "updates", "params", "hours"),
        rows=tuple(_cells(row, plan, scaled_base) for row, plan in zip(ROWS, plans, strict=True)),
        words=4 if scaled_base else 3,
    )
    return forecast_report(
        order,
        "Table 3",
        f"{total_text(order, plans)}.",
        (table,),
        {
            "table": "table3",
            "hours": all_hours(order, plans),
            "rows": [plan.to_json() for plan in plans],
        },
    )


def _cells(row: Row, plan: RowForecast, base: Recipe | None) -> tuple[str, ...]:
    here = (described(row, base),) if base else ()
    return row.name, described(row), *here, plan.recipe.name, plan.updates, *plan.cost_cells


def _recipes(order: Order) -> dict[str, Recipe]:
    """The recipes by the rows' names."""
    overrides = taken_from(corpora_folder(order))
    if order.scale == "paper":
        return {row.name: full_size(row, overrides) for row in ROWS}
    return {row.name: scaled_down(row, order.scale, overrides) for row in ROWS}

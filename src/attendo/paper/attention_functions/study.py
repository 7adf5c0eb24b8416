"""`attendo reproduce attention-functions`: the footnote's variance, rows of function and d_k, speed and memory."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from attendo.bench.machine import this_machine
from attendo.files import write_json
from attendo.paper.attention_functions.comparison import MeasuredRun
from attendo.paper.attention_functions.cost import SETTINGS, Cost, measure_cost
from attendo.paper.attention_functions.heads import heads_of_run
from attendo.paper.attention_functions.report import StudyFacts, attention_functions_report
from attendo.paper.attention_functions.rows import SHORT, recipes
from attendo.paper.attention_functions.variance import Products, Softmax, measure_products, measure_softmax
from attendo.paper.experiment import Order, Outcome, Reporter, Scale
from attendo.paper.forecast import ROWS_CAPTION, all_hours, forecast_report, forecast_rows, prepared_so_far, total_text
from attendo.paper.phrasebook_texts import write_if_tiny
from attendo.paper.report import Report, Table, write_report
from attendo.paper.rows_study import open_study
from attendo.paper.run_results import RunResult
from attendo.workflow.device import choose_device

UNIT = "updates"
"""Of its progress."""

MEASURED = "functions.json"
"""What was measured of the functions themselves, in the study's folder."""


@dataclass(frozen=True, kw_only=True)
class _Measured:
    scale: Scale
    products: tuple[Products, ...]
    softmax: tuple[Softmax, ...]
    costs: tuple[Cost, ...]
    machine: str


_KEPT = TypeAdapter(_Measured)


def reproduce(order: Order, reporter: Reporter, should_stop: Callable[[], bool]) -> Outcome:
    """Measures and trains what is not done yet in `order.folder`; writes the page, anew whenever a run is done.

    Args:
        order: how it is wanted.
        reporter: who is told.
        should_stop: asked twice a second; what runs is saved then.

    Raises:
        AttendoError: the corpora are missing, or the folder holds another study.
        OSError: the folder cannot be written to.
    """
    rows = recipes(order)
    any_recipe = next(iter(rows.values()))
    write_if_tiny(order)
    opened = open_study(order, {row.name: recipe for row, recipe in rows.items()}, reporter)
    by_name = {row.name: row for row in rows}
    measured = _measured(order, reporter, should_stop)
    if measured is None:
        return Outcome(report=None, interrupted=True)
    facts = StudyFacts(
        recipe=any_recipe,
        num_runs=len(opened.runs),
        products=measured.products,
        softmax=measured.softmax,
        costs=measured.costs,
        machine=measured.machine,
    )

    def report(facts: StudyFacts, results: Sequence[RunResult]) -> Report:
        done = [
            MeasuredRun(
                row=by_name[result.row],
                result=result,
                heads=heads_of_run(opened.folders[result.row, result.seed], result.seed, opened.prepared),
            )
            for result in results
        ]
        made = attention_functions_report(order, facts, done)
        write_report(order.folder, made)
        return made

    def finished(results: Sequence[RunResult]) -> None:
        report(facts, results)

    found = opened.study.train(reporter, should_stop, finished)
    failures = found.told_failures
    made = report(replace(facts, failures=failures), found.results)
    return Outcome(report=made, interrupted=found.interrupted, failures=failures)


def forecast(order: Order, reporter: Reporter) -> Report:
    """What the study comes to: rows, parameters, and the time that a few updates of each on this machine let expect.

    Raises:
        RecipeError: a model is more than this machine's memory holds.
    """
    rows = recipes(order)
    prepared = prepared_so_far(order, next(iter(rows.values())))
    plans = forecast_rows({row.name: recipe for row, recipe in rows.items()}, prepared, reporter)
    total = (
        f"{total_text(order, plans)}. Before them the variance of q·k, and time and memory of the functions alone, "
        "take a minute or so at the scales tiny and small."
    )
    table = Table(
        caption=ROWS_CAPTION,
        columns=("row", "function", "recipe", "d_k", "updates", "params", "hours"),
        rows=tuple(
            (
                row.name,
                SHORT[row.function],
                plan.recipe.name,
                str(row.d_k),
                plan.updates,
                *plan.cost_cells,
            )
            for row, plan in zip(rows, plans, strict=True)
        ),
        words=3,
    )
    return forecast_report(
        order,
        "Attention functions",
        total,
        (table,),
        {
            "result": "attention-functions",
            "hours": all_hours(order, plans),
            "rows": [
                {**plan.to_json(), "function": row.function, "d_k": row.d_k}
                for row, plan in zip(rows, plans, strict=True)
            ],
        },
    )


def _measured(order: Order, reporter: Reporter, should_stop: Callable[[], bool]) -> _Measured | None:
    """What is measured of the functions themselves: read where it is there, None where it was stopped."""
    path = order.folder / MEASURED
    if (kept := _read(path)) is not None and kept.scale == order.scale:
        return kept
    device = choose_device("auto")
    reporter.message("the variance of q·k, and the softmax")
    products, softmax = measure_products(order.scale), measure_softmax(order.scale)
    costs = []
    for setting in SETTINGS[order.scale]:
        if should_stop():
            return None
        reporter.message(f"time and memory with n {setting.n}, d_k {setting.d_k}")
        costs.append(measure_cost(order.scale, setting, device))
    measured = _Measured(
        scale=order.scale, products=products, softmax=softmax, costs=tuple(costs), machine=this_machine().to_text()
    )
    write_json(path, asdict(measured))
    return measured


def _read(path: Path) -> _Measured | None:
    try:
        return _KEPT.validate_json(path.read_bytes())
    except (OSError, ValidationError):  # not measured yet, or by another version
        return None

"""`attendo reproduce table2`: BLEU and cost, ours beside the paper's, at one of three scales."""

from collections.abc import Callable
from functools import partial

from attendo.paper.cost import SUSTAINED_SHARE, TODAYS_GPUS
from attendo.paper.experiment import Order, Outcome, Reporter
from attendo.paper.forecast import (
    ROWS_CAPTION,
    RowForecast,
    all_hours,
    forecast_report,
    forecast_rows,
    hours_text,
    total_text,
)
from attendo.paper.phrasebook_texts import write_if_tiny
from attendo.paper.report import Report, Table, write_report
from attendo.paper.rows_study import threads_of
from attendo.paper.table2.comparison import groups, paired_tests
from attendo.paper.table2.cost_report import FULL_SIZE_LENGTH, hours_on
from attendo.paper.table2.costs import TrainingCost, folder_cost, full_size_flops, measure, study_cost
from attendo.paper.table2.plan import TEST_PAIRS, make_plan, recipes_of
from attendo.paper.table2.report import Findings, table2_report
from attendo.paper.table2.systems import translate
from attendo.paper.table2.training import Trained, own_systems, shipped_systems, train
from attendo.recipe import Recipe

UNIT = "updates"
"""Of its progress."""

_RESAMPLES = 1000


def reproduce(order: Order, reporter: Reporter, should_stop: Callable[[], bool]) -> Outcome:
    """Trains what is not done yet of the study in `order.folder`, translates the test sets, and writes the page.

    Args:
        order: how it is wanted.
        reporter: who is told.
        should_stop: asked twice a second; what runs is saved then.

    Raises:
        AttendoError: corpora or a test set are missing, the folder holds another study, or one of `order.runs` is no
            run.
        OSError: the folder cannot be written to.
    """
    plan = make_plan(order)
    measured = partial(measure, order.folder, threads=threads_of(order))
    given = tuple(folder_cost(argument, measured) for argument in order.runs)
    write_if_tiny(order, test=TEST_PAIRS)
    trained: list[Trained] = []
    for direction in plan.directions:
        trained.append(train(order, plan, direction, reporter, should_stop))
        if trained[-1].interrupted:
            return Outcome(report=None, interrupted=True, failures=trained[-1].failures)
        measured(next(iter(direction.recipes.values())))
    failures = tuple(failure for one in trained for failure in one.failures)
    systems = [system for one in trained for system in own_systems(order, one)]
    translations = []
    for system in (*systems, *shipped_systems(plan.shipped_tests)):
        found = translate(system, order.folder / "outputs", _RESAMPLES, reporter, should_stop)
        if found is None:
            return Outcome(report=None, interrupted=True, failures=failures)
        translations.append(found)
    if not translations:
        return Outcome(report=None, failures=failures)
    report = table2_report(
        order,
        Findings(
            plan=plan,
            groups=groups(translations),
            tests=paired_tests(translations),
            results={one.direction.name: one.results for one in trained},
            costs={one.direction.name: _costs(order, one) for one in trained},
            given=given,
            failures=failures,
        ),
    )
    write_report(order.folder, report)
    return Outcome(report=report, failures=failures)


def forecast(order: Order, reporter: Reporter) -> Report:
    """What the study comes to: its runs, the time that a few updates of each let expect here, and on the GPUs of today.

    Raises:
        RecipeError: a model is more than this machine's memory holds.
    """
    recipes = [
        (f"{direction} {row}", recipe) for direction, rows in recipes_of(order).items() for row, recipe in rows.items()
    ]
    plans = forecast_rows(dict(recipes), None, reporter)
    total = (
        f"{total_text(order, plans)}. Of each run the last update's model and the average of its last checkpoints "
        "translate the test set, and an ensemble of a row's averages; then the models that come with attendo."
    )
    table = Table(
        caption=ROWS_CAPTION,
        columns=("row", "recipe", "updates", "tokens an update", "averaged", "params", "hours"),
        rows=tuple(_forecast_cells(plan) for plan in plans),
        words=2,
    )
    elsewhere = (_elsewhere(recipes),) if order.scale == "paper" else ()
    return forecast_report(
        order,
        "Table 2",
        total,
        (table, *elsewhere),
        {
            "table": "table2",
            "hours": all_hours(order, plans),
            "rows": [{**plan.to_json(), "flops": full_size_flops(plan.recipe, FULL_SIZE_LENGTH)} for plan in plans],
        },
    )


def _costs(order: Order, trained: Trained) -> dict[str, tuple[TrainingCost, ...]]:
    """What the runs of a direction took, by row."""
    return {
        row: tuple(
            study_cost(order.folder, f"{row}-seed-{result.seed}", result, recipe.training.dtype)
            for result in trained.results
            if result.row == row
        )
        for row, recipe in trained.direction.recipes.items()
    }


def _forecast_cells(plan: RowForecast) -> tuple[str, ...]:
    training = plan.recipe.training
    return (
        plan.name,
        plan.recipe.name,
        plan.updates,
        f"{training.max_tokens:,}",
        str(training.average_last),
        *plan.cost_cells,
    )


def _elsewhere(recipes: list[tuple[str, Recipe]]) -> Table:
    """Hours on one GPU of each kind, by the assumption of `cost.SUSTAINED_SHARE`."""
    rows = []
    for name, recipe in recipes:
        flops = full_size_flops(recipe, FULL_SIZE_LENGTH)
        rows.append((name, f"{flops:.2e}", *(hours_text(hours_on(gpu, flops)) for gpu in TODAYS_GPUS)))
    return Table(
        caption=f"Arithmetic, no measurement: hours on one GPU that sustains {SUSTAINED_SHARE:.0%} of its data sheet",
        columns=("row", "FLOPs", *(gpu.name for gpu in TODAYS_GPUS)),
        rows=tuple(rows),
        words=1,
    )

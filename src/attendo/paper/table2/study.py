"""`attendo reproduce table2`: BLEU and training cost of our systems beside the paper's, at one of three scales.

Each row is trained with several seeds. The systems are the last update and the average of each run, the ensemble of
each row's averages, and the shipped models.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from attendo.checkpoint.finding import SHIPPED
from attendo.paper.experiment import Outcome, OwnExperiment, Reporter, StudyRequest
from attendo.paper.forecast import forecast_of_rows, forecast_page, forecast_rows, hours_text
from attendo.paper.phrasebook_texts import write_if_tiny
from attendo.paper.report import Report, Table, write_report
from attendo.paper.rows_study import PartReporter, open_study, threads_of
from attendo.paper.run_results import RunResult
from attendo.paper.study import Run, plan_runs
from attendo.paper.table2.comparison import groups, paired_tests
from attendo.paper.table2.costs import (
    SUSTAINED_SHARE,
    TODAYS_GPUS,
    TrainingCost,
    folder_cost,
    full_size_flops,
    measure,
    study_cost,
)
from attendo.paper.table2.plan import TEST_PAIRS, Direction, Plan, TestSet, make_plan, recipes_of
from attendo.paper.table2.report import Findings, table2_report
from attendo.paper.table2.systems import Kind, System, translate
from attendo.paper.table2.tables import FULL_SIZE_LENGTH, hours_on
from attendo.recipe import Recipe
from attendo.workflow.machine.number_type import with_number_type
from attendo.workflow.runs.average import average

SHIPPED_DIRECTIONS = ("en-de", "de-en")
"""Directions of the models that come with the package."""

_RESAMPLES = 1000


@dataclass(frozen=True, kw_only=True)
class DirectionRuns:
    """The outcome of training one direction."""

    direction: Direction
    results: tuple[RunResult, ...]
    failures: tuple[str, ...]
    interrupted: bool


def reproduce(request: StudyRequest, reporter: Reporter, should_stop: Callable[[], bool]) -> Outcome:
    """Trains the unfinished runs of the study in `request.folder`, translates the test sets, and writes the page.

    Raises:
        AttendoError: corpora or a test set are missing, the folder holds another study, or one of `request.runs` is not
            a run.
        OSError: the folder cannot be written to.
    """
    plan = make_plan(request)
    measured = partial(measure, request.folder, threads=threads_of(request))
    given = tuple(folder_cost(argument, measured) for argument in request.runs)
    write_if_tiny(request, test=TEST_PAIRS)
    trained: list[DirectionRuns] = []
    for direction in plan.directions:
        trained.append(train(request, plan, direction, reporter, should_stop))
        if trained[-1].interrupted:
            return Outcome(report=None, interrupted=True, failures=trained[-1].failures)
        measured(next(iter(direction.recipes.values())))
    failures = tuple(failure for outcome in trained for failure in outcome.failures)
    systems = [system for outcome in trained for system in own_systems(request, outcome)]
    translations = []
    for system in (*systems, *shipped_systems(plan.shipped_tests)):
        translated = translate(system, request.folder / "outputs", _RESAMPLES, reporter, should_stop)
        if translated is None:
            return Outcome(report=None, interrupted=True, failures=failures)
        translations.append(translated)
    if not translations:
        return Outcome(report=None, failures=failures)
    report = table2_report(
        request,
        Findings(
            plan=plan,
            groups=groups(translations),
            tests=paired_tests(translations),
            results={outcome.direction.name: outcome.results for outcome in trained},
            costs={outcome.direction.name: _costs(request, outcome) for outcome in trained},
            given=given,
            failures=failures,
        ),
    )
    write_report(request.folder, report)
    return Outcome(report=report, failures=failures)


def forecast(request: StudyRequest, reporter: Reporter) -> Report:
    """The forecast: runs and hours, estimated from a few updates of each here, and at the scale `paper` for other GPUs.

    Raises:
        RecipeError: a model does not fit into this machine's memory.
    """
    recipes = {
        f"{direction} {row}": recipe for direction, rows in recipes_of(request).items() for row, recipe in rows.items()
    }
    expected = forecast_of_rows(
        request,
        forecast_rows(recipes, None, reporter),
        "table2/page.md",
        row_data=lambda plan: {"flops": full_size_flops(plan.recipe, FULL_SIZE_LENGTH)},
    )
    gpu_hours = (_gpu_hours(recipes),) if request.scale == "paper" else ()
    return forecast_page(request, "table2", "Table 2", replace(expected, blocks=(*expected.blocks, *gpu_hours)))


def _costs(request: StudyRequest, trained: DirectionRuns) -> dict[str, tuple[TrainingCost, ...]]:
    """The training costs of a direction's runs, by row."""
    return {
        row: tuple(
            study_cost(request.folder, f"{row}-seed-{result.seed}", result, with_number_type(recipe).training.dtype)
            for result in trained.results
            if result.row == row
        )
        for row, recipe in trained.direction.recipes.items()
    }


def _gpu_hours(recipes: Mapping[str, Recipe]) -> Table:
    """Hours of each recipe on one GPU of each kind, by the assumption of `costs.SUSTAINED_SHARE`."""
    rows = []
    for name, recipe in recipes.items():
        flops = full_size_flops(recipe, FULL_SIZE_LENGTH)
        rows.append((name, f"{flops:.2e}", *(hours_text(hours_on(gpu, flops)) for gpu in TODAYS_GPUS)))
    return Table(
        caption=f"Arithmetic, no measurement: hours on one GPU that sustains {SUSTAINED_SHARE:.0%} of its data sheet",
        columns=("row", "FLOPs", *(gpu.name for gpu in TODAYS_GPUS)),
        rows=tuple(rows),
        words=1,
    )


# --- training ---------------------------------------------------------------------------------------------------------


def train(
    request: StudyRequest, plan: Plan, direction: Direction, reporter: Reporter, should_stop: Callable[[], bool]
) -> DirectionRuns:
    """Trains the unfinished runs of a direction, below `request.folder`, and averages the checkpoints of finished ones.

    Args:
        request: options of the study.
        plan: plan of all directions, for the progress.
        direction: direction to train.
        reporter: receives messages and the progress.
        should_stop: asked twice a second; once it returns True, running trainings are saved and stopped.

    Raises:
        AttendoError: the corpora are missing, or the folder holds another study.
        OSError: the folder cannot be written to.
    """
    opened = open_study(replace(request, folder=request.folder / direction.name), direction.recipes, reporter)
    before = sum(_updates(request, other) for other in plan.directions[: plan.directions.index(direction)])
    part = PartReporter(reporter, before, sum(_updates(request, other) for other in plan.directions))
    outcome = opened.study.train(part, should_stop, lambda results: None)
    if not outcome.interrupted:
        done = {(result.row, result.seed) for result in outcome.results}
        for run in opened.runs:
            if (run.row, run.seed) in done:
                _average(opened.folders[run.row, run.seed], model_folders(request, direction, run), run.recipe)
    return DirectionRuns(
        direction=direction,
        results=outcome.results,
        failures=tuple(f"{direction.name}, {failure}" for failure in outcome.failures.values()),
        interrupted=outcome.interrupted,
    )


def runs_of(request: StudyRequest, direction: Direction) -> tuple[Run, ...]:
    """The runs of a direction, one for each row and seed."""
    return plan_runs(direction.recipes, range(1, request.seeds + 1))


def model_folders(request: StudyRequest, direction: Direction, run: Run) -> tuple[Path, Path]:
    """The folders of the model of a run's last update and of the average of its last checkpoints."""
    folder = request.folder / direction.name / "models"
    return folder / f"{run.name}-last", folder / f"{run.name}-average"


def own_systems(request: StudyRequest, trained: DirectionRuns) -> tuple[System, ...]:
    """The systems of a direction: the last update and the average of each run, and the ensemble of each row's averages.

    Args:
        request: options of the study.
        trained: outcome of the training; failed runs are skipped, and an ensemble needs at least two runs.
    """
    direction = trained.direction
    systems: list[System] = []
    for row in direction.recipes:
        done = {result.seed for result in trained.results if result.row == row}
        runs = [run for run in runs_of(request, direction) if run.row == row and run.seed in done]
        averages = []
        for run in runs:
            last, mean = model_folders(request, direction, run)
            averages.append(mean)
            both: tuple[tuple[Kind, Path], ...] = (("last", last), ("average", mean))
            for kind, model in both:
                systems.append(_system(direction, row, kind, run.seed, (model,)))
        if len(averages) > 1:
            systems.append(_system(direction, row, "ensemble", None, tuple(averages)))
    return tuple(systems)


def shipped_systems(tests: Sequence[TestSet]) -> tuple[System, ...]:
    """The models that come with the package, each with every test set that exists in its languages."""
    systems = []
    for name in SHIPPED_DIRECTIONS:
        source, target = name.split("-")
        systems += [
            System(row=name, kind="shipped", seed=None, models=(SHIPPED / name,), languages=(source, target), test=test)
            for test in tests
            if test.has(source, target)
        ]
    return tuple(systems)


def _system(direction: Direction, row: str, kind: Kind, seed: int | None, models: tuple[Path, ...]) -> System:
    return System(row=row, kind=kind, seed=seed, models=models, languages=direction.languages, test=direction.test)


def _average(run: Path, models: tuple[Path, Path], recipe: Recipe) -> None:
    last, mean = models
    average(run, 1, last)
    average(run, recipe.training.average_last, mean)


def _updates(request: StudyRequest, direction: Direction) -> int:
    return request.seeds * sum(recipe.training.max_steps for recipe in direction.recipes.values())


TABLE2 = OwnExperiment(unit="updates", reproduce=reproduce, forecast=forecast)

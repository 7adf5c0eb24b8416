"""What Table 2's counterparts are made of: rows trained with several seeds, averages, ensembles, shipped models."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from attendo.checkpoint.finding import SHIPPED
from attendo.paper.experiment import Order, Reporter
from attendo.paper.rows_study import PartReporter, open_study
from attendo.paper.run_results import RunResult
from attendo.paper.study import Run, plan_runs
from attendo.paper.table2.plan import Direction, Plan, TestSet
from attendo.paper.table2.systems import Kind, System
from attendo.recipe import Recipe
from attendo.text.prepared import PreparedData
from attendo.workflow.average import average

SHIPPED_DIRECTIONS = ("en-de", "de-en")
"""The models that come with the package."""


@dataclass(frozen=True, kw_only=True)
class Trained:
    """What came of the training of one direction."""

    direction: Direction
    prepared: PreparedData
    results: tuple[RunResult, ...]
    failures: tuple[str, ...]
    interrupted: bool


def train(
    order: Order, plan: Plan, direction: Direction, reporter: Reporter, should_stop: Callable[[], bool]
) -> Trained:
    """Trains what is not done yet of a direction, below `order.folder`, and averages the checkpoints of what is.

    Args:
        order: how it is wanted.
        plan: of all directions, for the progress.
        direction: what to train.
        reporter: who is told.
        should_stop: asked twice a second; what runs is saved then.

    Raises:
        AttendoError: the corpora are missing, or the folder holds another study.
        OSError: the folder cannot be written to.
    """
    opened = open_study(replace(order, folder=order.folder / direction.name), direction.recipes, reporter)
    before = sum(_updates(order, one) for one in plan.directions[: plan.directions.index(direction)])
    part = PartReporter(reporter, before, sum(_updates(order, one) for one in plan.directions))
    found = opened.study.train(part, should_stop, lambda results: None)
    if not found.interrupted:
        done = {(result.row, result.seed) for result in found.results}
        for run in opened.runs:
            if (run.row, run.seed) in done:
                _average(opened.folders[run.row, run.seed], model_folders(order, direction, run), run.recipe)
    return Trained(
        direction=direction,
        prepared=opened.prepared,
        results=found.results,
        failures=tuple(f"{direction.name}, {failure.to_text()}" for failure in found.failures),
        interrupted=found.interrupted,
    )


def runs_of(order: Order, direction: Direction) -> tuple[Run, ...]:
    """The runs of a direction, a row and seed each."""
    return plan_runs(direction.recipes, range(1, order.seeds + 1))


def model_folders(order: Order, direction: Direction, run: Run) -> tuple[Path, Path]:
    """Where the model of a run's last update is, and that of the average of its last checkpoints."""
    folder = order.folder / direction.name / "models"
    return folder / f"{run.name}-last", folder / f"{run.name}-average"


def own_systems(order: Order, trained: Trained) -> tuple[System, ...]:
    """The systems that a direction's runs make: of each run the last update's and the average, of each row one of all.

    Args:
        order: how it is wanted.
        trained: the runs; those that failed are left out, and an ensemble is of two and more.
    """
    direction = trained.direction
    found: list[System] = []
    for row in direction.recipes:
        done = {result.seed for result in trained.results if result.row == row}
        runs = [run for run in runs_of(order, direction) if run.row == row and run.seed in done]
        averages = []
        for run in runs:
            last, mean = model_folders(order, direction, run)
            averages.append(mean)
            both: tuple[tuple[Kind, Path], ...] = (("last", last), ("average", mean))
            for kind, model in both:
                found.append(_system(direction, row, kind, run.seed, (model,)))
        if len(averages) > 1:
            found.append(_system(direction, row, "ensemble", None, tuple(averages)))
    return tuple(found)


def shipped_systems(tests: Sequence[TestSet]) -> tuple[System, ...]:
    """The models that come with the package, each on each test set that is there in its languages."""
    found = []
    for name in SHIPPED_DIRECTIONS:
        source, target = name.split("-")
        found += [
            System(row=name, kind="shipped", seed=None, models=(SHIPPED / name,), languages=(source, target), test=test)
            for test in tests
            if test.has(source, target)
        ]
    return tuple(found)


def _system(direction: Direction, row: str, kind: Kind, seed: int | None, models: tuple[Path, ...]) -> System:
    return System(row=row, kind=kind, seed=seed, models=models, languages=direction.languages, test=direction.test)


def _average(run: Path, models: tuple[Path, Path], recipe: Recipe) -> None:
    last, mean = models
    average(run, 1, last)
    average(run, recipe.training.average_last, mean)


def _updates(order: Order, direction: Direction) -> int:
    return order.seeds * sum(recipe.training.max_steps for recipe in direction.recipes.values())

"""`attendo reproduce table4`: parsers of the treebanks at hand, ours beside the paper's, at one of three scales."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attendo.checkpoint.finding import find_model
from attendo.errors import DataError
from attendo.paper.experiment import Order, Outcome, OwnExperiment, Reporter
from attendo.paper.forecast import RECIPE, ROW, UPDATES, RowForecast, forecast_of_rows, forecast_page, forecast_rows
from attendo.paper.report import Report, write_report
from attendo.paper.table4.evaluation import System, TestResult, evaluate_system
from attendo.paper.table4.report import Findings, table4_report
from attendo.paper.table4.rows import Bank, Plan, make_plan, recipes_of, write_invented
from attendo.paper.table4.training import Trained, train
from attendo.parsing.tree import Tree
from attendo.text.prepared import Vocabulary
from attendo.workflow.evaluation.evaluate_parser import read_gold
from attendo.workflow.preparation.prepared_data import open_if_prepared
from attendo.workflow.runs.validation import spread


def reproduce(order: Order, reporter: Reporter, should_stop: Callable[[], bool]) -> Outcome:
    """Trains what is not done yet of the study in `order.folder`, parses the test sets, and writes the page.

    Args:
        order: how it is wanted; with `runs`, nothing is trained, and these parsers are tested.
        reporter: who is told.
        should_stop: asked now and then; what runs is saved then.

    Raises:
        AttendoError: no treebank is there, the folder holds another study, or one of `order.runs` is no parser.
        OSError: the folder cannot be written to.
    """
    if order.scale == "tiny" and order.data is None:
        write_invented(order.folder / "invented", train=300, valid=20, test=30, raw=120)
    plan = make_plan(order)
    for line in plan.missing:
        reporter.message(line)
    if order.runs:
        systems, trained = _given(order.runs), None
    else:
        trained = train(order, plan, reporter, should_stop)
        if trained.interrupted:
            return Outcome(report=None, interrupted=True, failures=trained.failures)
        systems = _trained_systems(order, plan, trained)
    failures = trained.failures if trained else ()
    trees = {bank.name: _trees(plan, bank) for bank in plan.banks}
    by_name = {row.name: row for row in plan.rows}
    results: list[TestResult] = []
    for system in systems:
        for bank in plan.tests_of(by_name.get(system.row)):
            found = evaluate_system(system, bank, trees[bank.name], order.folder / "tested", should_stop)
            if found is None:
                return Outcome(report=None, interrupted=True, failures=failures)
            reporter.message(found.to_text())
            results.append(found)
    if not results:
        return Outcome(report=None, failures=failures)
    report = table4_report(order, Findings(plan=plan, trained=trained, tested=tuple(results), failures=failures))
    write_report(order.folder, report)
    return Outcome(report=report, failures=failures)


def forecast(order: Order, reporter: Reporter) -> Report:
    """What the study comes to: rows, parameters, and the time that a few updates of each on this machine let expect.

    Raises:
        RecipeError: a model is more than this machine's memory holds.
    """
    plans: list[RowForecast] = []
    for name, recipe in recipes_of(order).items():
        is_there = not (order.scale == "tiny" and not (order.folder / "invented").is_dir())
        prepared = open_if_prepared(recipe, order.folder / "prepared" / name) if is_there else None
        plans.extend(forecast_rows({name: recipe}, prepared, reporter))
    found = forecast_of_rows(
        order,
        plans,
        (ROW, RECIPE, ("order", _order_of), UPDATES),
        ". Rows whose treebanks are not there are left out; then every parser parses the "
        "test sets, and so does an ensemble of a row's seeds.",
        words=3,
    )
    return forecast_page(order, "table4", "Table 4", found)


def _order_of(plan: RowForecast) -> str:
    parsing = plan.recipe.parsing
    assert parsing is not None
    return parsing.order


def _trained_systems(order: Order, plan: Plan, trained: Trained) -> list[System]:
    """The parsers of the runs that are done, and ensembles."""
    done = {(result.row, result.seed) for result in trained.results}
    found: list[System] = []
    for row in plan.rows:
        seeds = [seed for seed in range(1, order.seeds + 1) if (row.name, seed) in done]
        found += _systems(row.name, {seed: trained.folders[row.name, seed] / "model" for seed in seeds})
    return found


def _given(runs: Sequence[str]) -> list[System]:
    """The parsers that were named, NAME=MODEL or MODEL; those of one name are seeds of it."""
    models: dict[str, list[Path]] = {}
    for text in runs:
        name, equals, model = text.partition("=")
        folder = find_model(model if equals else text)
        row = name if equals else _own_name(folder)
        if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,60}", row):
            raise DataError(f"--run {text}: call it by letters, digits, - and _, as in --run first=MODEL")
        of_row = models.setdefault(row, [])
        if of_row and not equals:
            raise DataError(f"--run: two parsers are called {row}; name them, as in --run first=MODEL")
        if folder.resolve() in (other.resolve() for other in of_row):
            raise DataError(f"--run {text}: this parser is named twice as {row}; leave one out")
        of_row.append(folder)
    found: list[System] = []
    for row, folders in models.items():
        if len(folders) > 1:
            found += _systems(row, dict(enumerate(folders, start=1)))
        else:
            found.append(System(row=row, seed=None, models=tuple(folders)))
    return found


def _systems(row: str, models: Mapping[int, Path]) -> list[System]:
    """A row's parsers by seed, and where there are several with one vocabulary, an ensemble of them."""
    found = [System(row=row, seed=seed, models=(model,)) for seed, model in models.items()]
    # Self-trained ones have each a vocabulary of their own.
    if len(models) > 1 and len({Vocabulary.of_model(model).checksums for model in models.values()}) == 1:
        found.append(System(row=row, seed=None, models=tuple(models.values())))
    return found


def _own_name(folder: Path) -> str:
    """What a model is called: the name of its folder, or of its run's."""
    path = folder.resolve()
    return path.parent.name if path.name == "model" else path.name


def _trees(plan: Plan, bank: Bank) -> tuple[Tree, ...]:
    trees = read_gold(str(plan.root / bank.folder / bank.test)).trees
    return tuple(trees[index] for index in spread(len(trees), bank.most or len(trees)))


TABLE4 = OwnExperiment(unit="updates", reproduce=reproduce, forecast=forecast)

"""`attendo reproduce table4`: trains and tests parsers on the available treebanks, next to the paper's results."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from attendo.checkpoint.finding import find_model
from attendo.errors import DataError
from attendo.paper.experiment import Outcome, OwnExperiment, Reporter, StudyRequest
from attendo.paper.forecast import RowForecast, forecast_of_rows, forecast_page, forecast_rows
from attendo.paper.report import Report, write_report
from attendo.paper.rows_study import PartReporter, threads_of
from attendo.paper.run_results import ParserRunResult
from attendo.paper.study import Run, Study, plan_runs
from attendo.paper.table4.evaluation import System, TestResult, evaluate_system
from attendo.paper.table4.report import Findings, ParserRuns, table4_report
from attendo.paper.table4.rows import (
    SELF_TRAINED_SHARE,
    Bank,
    Plan,
    Row,
    make_plan,
    recipes_of,
    self_trained,
    write_invented,
)
from attendo.parsing.sentences import Sentence
from attendo.parsing.tree import Tree
from attendo.text.prepared import PreparedData, Vocabulary
from attendo.workflow.confident_trees import ConfidentTrees
from attendo.workflow.engines.parse_input import read_lines_of
from attendo.workflow.engines.translate import load
from attendo.workflow.evaluation.evaluate_parser import read_gold
from attendo.workflow.extras import need_packages
from attendo.workflow.preparation.prepared_data import open_if_prepared, prepare_if_missing
from attendo.workflow.runs.validation import spread


def reproduce(request: StudyRequest, reporter: Reporter, should_stop: Callable[[], bool]) -> Outcome:
    """Trains the unfinished runs of the study in `request.folder`, parses the test sets, and writes the page.

    Args:
        request: options of the study; with `runs`, nothing is trained, and these parsers are tested.
        reporter: receives messages and the progress.
        should_stop: asked now and then; once it returns True, running trainings are saved and stopped.

    Raises:
        AttendoError: no treebank exists, the folder holds another study, or one of `request.runs` is not a parser.
        OSError: the folder cannot be written to.
    """
    if request.scale == "tiny" and request.data is None:
        write_invented(request.folder / "invented", train=300, valid=20, test=30, raw=120)
    plan = make_plan(request)
    for line in plan.missing:
        reporter.message(line)
    if request.runs:
        systems, trained = _named_systems(request.runs), None
    else:
        trained = train(request, plan, reporter, should_stop)
        if trained.interrupted:
            return Outcome(report=None, interrupted=True, failures=trained.failures)
        systems = _trained_systems(request, plan, trained)
    failures = trained.failures if trained else ()
    trees = {bank.name: _trees(plan, bank) for bank in plan.banks}
    by_name = {row.name: row for row in plan.rows}
    results: list[TestResult] = []
    for system in systems:
        for bank in plan.tests_of(by_name.get(system.row)):
            result = evaluate_system(system, bank, trees[bank.name], request.folder / "tested", should_stop)
            if result is None:
                return Outcome(report=None, interrupted=True, failures=failures)
            reporter.message(result.to_text())
            results.append(result)
    if not results:
        return Outcome(report=None, failures=failures)
    report = table4_report(request, Findings(plan=plan, trained=trained, tested=tuple(results), failures=failures))
    write_report(request.folder, report)
    return Outcome(report=report, failures=failures)


def forecast(request: StudyRequest, reporter: Reporter) -> Report:
    """The forecast: rows, parameters, and hours estimated from a few updates of each row on this machine.

    Raises:
        RecipeError: a model does not fit into this machine's memory.
    """
    plans: list[RowForecast] = []
    for name, recipe in recipes_of(request).items():
        is_there = not (request.scale == "tiny" and not (request.folder / "invented").is_dir())
        prepared = open_if_prepared(recipe, request.folder / "prepared" / name) if is_there else None
        plans.extend(forecast_rows({name: recipe}, prepared, reporter))
    expected = forecast_of_rows(request, plans, "table4/page.md")
    return forecast_page(request, "table4", "Table 4", expected)


def _trained_systems(request: StudyRequest, plan: Plan, trained: ParserRuns) -> list[System]:
    """The parsers of the finished runs, and the ensembles of each row's seeds."""
    done = {(result.row, result.seed) for result in trained.results}
    systems: list[System] = []
    for row in plan.rows:
        seeds = [seed for seed in range(1, request.seeds + 1) if (row.name, seed) in done]
        systems += _systems(row.name, {seed: trained.folders[row.name, seed] / "model" for seed in seeds})
    return systems


def _named_systems(runs: Sequence[str]) -> list[System]:
    """The parsers that `--run` names, as NAME=MODEL or MODEL; several of one name count as seeds of one row."""
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
    systems: list[System] = []
    for row, folders in models.items():
        if len(folders) > 1:
            systems += _systems(row, dict(enumerate(folders, start=1)))
        else:
            systems.append(System(row=row, seed=None, models=tuple(folders)))
    return systems


def _systems(row: str, models: Mapping[int, Path]) -> list[System]:
    """A row's parsers by seed and, if there are several with the same vocabulary, their ensemble."""
    systems = [System(row=row, seed=seed, models=(model,)) for seed, model in models.items()]
    # Each self-trained parser has a vocabulary of its own.
    if len(models) > 1 and len({Vocabulary.of_model(model).checksums for model in models.values()}) == 1:
        systems.append(System(row=row, seed=None, models=tuple(models.values())))
    return systems


def _own_name(folder: Path) -> str:
    """A model's name: that of its folder or, within a run, of the run folder."""
    path = folder.resolve()
    return path.parent.name if path.name == "model" else path.name


def _trees(plan: Plan, bank: Bank) -> tuple[Tree, ...]:
    trees = read_gold(str(plan.root / bank.folder / bank.test)).trees
    return tuple(trees[index] for index in spread(len(trees), bank.most or len(trees)))


# --- training ---------------------------------------------------------------------------------------------------------


def train(request: StudyRequest, plan: Plan, reporter: Reporter, should_stop: Callable[[], bool]) -> ParserRuns:
    """Trains the unfinished runs, those that learn from treebanks alone before the self-trained ones.

    Args:
        request: options of the study.
        plan: plan with the rows.
        reporter: receives messages and the progress.
        should_stop: asked twice a second; once it returns True, running trainings are saved and stopped.

    Raises:
        AttendoError: the corpora are missing, or the folder holds another study.
        OSError: the folder cannot be written to.
    """
    seeds = range(1, request.seeds + 1)
    plain = {row.name: plan.recipes[row.name] for row in plan.rows if row.raw is None}
    first_runs = plan_runs(plain, seeds)
    data = {name: prepare_if_missing(recipe, _prepared(request, name), reporter) for name, recipe in plain.items()}
    updates, all_updates = (
        request.seeds * sum(recipe.training.max_steps for recipe in recipes.values())
        for recipes in (plain, plan.recipes)
    )
    part = PartReporter(reporter, 0, all_updates)
    first_outcome = _train(request, first_runs, {run.name: data[run.row] for run in first_runs}, part, should_stop)
    if first_outcome.interrupted:
        return first_outcome
    second_runs: list[Run] = []
    prepared: dict[str, PreparedData] = {}
    kept: dict[str, str] = {}
    for row in plan.rows:
        for seed in seeds if row.raw is not None else ():
            if (row.against or "", seed) not in {(result.row, result.seed) for result in first_outcome.results}:
                continue  # the teacher has failed, which is reported
            trees = request.folder / "automatic" / f"{row.name}-seed-{seed}.trees"
            if not trees.is_file():
                teacher = first_outcome.folders[row.against or "", seed]
                if not _write_automatic(plan, row, teacher, trees, reporter, should_stop):
                    return replace(first_outcome, interrupted=True)
            [run] = plan_runs({row.name: self_trained(plan.recipes[row.name], trees)}, [seed])
            second_runs.append(run)
            prepared[run.name] = prepare_if_missing(run.recipe, _prepared(request, run.name), reporter)
            kept[run.name] = trees.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# ")
    if not second_runs:
        return first_outcome
    part = PartReporter(reporter, updates, all_updates)
    second_outcome = _train(request, second_runs, prepared, part, should_stop)
    return ParserRuns(
        results=(*first_outcome.results, *second_outcome.results),
        folders={**first_outcome.folders, **second_outcome.folders},
        failures=(*first_outcome.failures, *second_outcome.failures),
        interrupted=second_outcome.interrupted,
        kept=kept,
    )


def _train(
    request: StudyRequest,
    runs: Sequence[Run],
    data: Mapping[str, PreparedData],
    reporter: Reporter,
    should_stop: Callable[[], bool],
) -> ParserRuns:
    threads = threads_of(request)
    study = Study(request.folder, runs, ParserRunResult, lambda run: data[run.name], jobs=request.jobs, threads=threads)
    outcome = study.train(reporter, should_stop, lambda results: None)
    return ParserRuns(
        results=outcome.results,
        folders={(run.row, run.seed): study.run_folder(run) for run in runs},
        failures=tuple(outcome.failures.values()),
        interrupted=outcome.interrupted,
        kept={},
    )


def _prepared(request: StudyRequest, name: str) -> Path:
    return request.folder / "prepared" / name


def _write_automatic(
    plan: Plan, row: Row, teacher: Path, output: Path, reporter: Reporter, should_stop: Callable[[], bool]
) -> bool:
    """Parses raw text, and writes the trees that the parser is most confident of; False if it was stopped."""
    assert row.raw is not None
    if row.raw.kind == "text":
        need_packages(("nltk",), "parse")
    reporter.message(f"{row.name}: {teacher.name} parses up to {row.raw.most:,} sentences of {row.raw.path}")
    engine = load(teacher, search={"beam_size": 1})
    with ConfidentTrees(output, SELF_TRAINED_SHARE) as trees:
        sentences = islice(_distinct_sentences(read_lines_of(row.raw.kind, plan.root / row.raw.path)), row.raw.most)
        for number, parse in enumerate(engine.stream_parses(sentences), start=1):
            if should_stop():
                return False
            trees.add(parse, number)
        reporter.message(f"{row.name}: {trees.write()}")
    return True


def _distinct_sentences(sentences: Iterator[Sentence | DataError]) -> Iterator[Sentence]:
    """Distinct sentences; those without words and lines that cannot be read are skipped."""
    seen: set[tuple[str, ...]] = set()
    for sentence in sentences:
        if isinstance(sentence, Sentence) and sentence.words and (words := tuple(sentence.words)) not in seen:
            seen.add(words)
            yield sentence


TABLE4 = OwnExperiment(unit="updates", reproduce=reproduce, forecast=forecast)

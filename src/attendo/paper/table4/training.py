"""The parsers of a Table 4 study: rows with several seeds, then those that learn from the trees of these."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from attendo.errors import DataError
from attendo.paper.experiment import Order, Reporter
from attendo.paper.rows_study import PartReporter, threads_of
from attendo.paper.run_results import ParserRunResult
from attendo.paper.study import Run, Study
from attendo.paper.table4.rows import SELF_TRAINED_SHARE, Plan, Row, self_trained
from attendo.parsing.sentences import Sentence
from attendo.recipe import Recipe
from attendo.text.prepared import PreparedData
from attendo.workflow.confident_trees import ConfidentTrees
from attendo.workflow.engines.parse_input import read_lines_of
from attendo.workflow.engines.translate import load
from attendo.workflow.extras import need_packages
from attendo.workflow.preparation.prepared_data import prepare_if_missing


@dataclass(frozen=True, kw_only=True)
class Trained:
    """What came of the training."""

    results: tuple[ParserRunResult, ...]
    folders: Mapping[tuple[str, int], Path]
    """The run folders, by row and seed."""
    failures: tuple[str, ...]
    interrupted: bool
    kept: Mapping[str, str]
    """Of self-trained runs, what was kept of the automatic trees, a line each."""


def train(order: Order, plan: Plan, reporter: Reporter, should_stop: Callable[[], bool]) -> Trained:
    """Trains what is not done yet, first what learns from treebanks alone.

    Args:
        order: how it is wanted.
        plan: the rows.
        reporter: who is told.
        should_stop: asked twice a second; what runs is saved then.

    Raises:
        AttendoError: the corpora are missing, or the folder holds another study.
        OSError: the folder cannot be written to.
    """
    seeds = range(1, order.seeds + 1)
    first = [_run(plan, row, seed) for seed in seeds for row in plan.rows if row.raw is None]
    data = {
        row.name: prepare_if_missing(plan.recipes[row.name], _prepared(order, row.name), reporter)
        for row in plan.rows
        if row.raw is None
    }
    updates, all_updates = _updates(first), order.seeds * sum(_steps(recipe) for recipe in plan.recipes.values())
    part = PartReporter(reporter, 0, all_updates)
    found = _train(order, first, {run.name: data[run.row] for run in first}, part, should_stop)
    if found.interrupted:
        return found
    second: list[Run] = []
    prepared: dict[str, PreparedData] = {}
    kept: dict[str, str] = {}
    for row in plan.rows:
        for seed in seeds if row.raw is not None else ():
            if (row.against or "", seed) not in {(result.row, result.seed) for result in found.results}:
                continue  # the first parser has failed, which is told
            trees = order.folder / "automatic" / f"{row.name}-seed-{seed}.trees"
            if not trees.is_file():
                teacher = found.folders[row.against or "", seed]
                if not _write_automatic(plan, row, teacher, trees, reporter, should_stop):
                    return replace(found, interrupted=True)
            run = _run(plan, row, seed)
            run = replace(run, recipe=self_trained(run.recipe, trees))
            second.append(run)
            prepared[run.name] = prepare_if_missing(run.recipe, _prepared(order, run.name), reporter)
            kept[run.name] = trees.read_text(encoding="utf-8").split("\n", 1)[0].removeprefix("# ")
    if not second:
        return found
    part = PartReporter(reporter, updates, all_updates)
    later = _train(order, second, prepared, part, should_stop)
    return Trained(
        results=(*found.results, *later.results),
        folders={**found.folders, **later.folders},
        failures=(*found.failures, *later.failures),
        interrupted=later.interrupted,
        kept=kept,
    )


def _train(
    order: Order,
    runs: Sequence[Run],
    data: Mapping[str, PreparedData],
    reporter: Reporter,
    should_stop: Callable[[], bool],
) -> Trained:
    threads = threads_of(order)
    study = Study(order.folder, runs, ParserRunResult, lambda run: data[run.name], jobs=order.jobs, threads=threads)
    found = study.train(reporter, should_stop, lambda results: None)
    return Trained(
        results=found.results,
        folders={(run.row, run.seed): study.run_folder(run) for run in runs},
        failures=found.told_failures,
        interrupted=found.interrupted,
        kept={},
    )


def _updates(runs: Sequence[Run]) -> int:
    return sum(_steps(run.recipe) for run in runs)


def _steps(recipe: Recipe) -> int:
    return recipe.training.max_steps


def _run(plan: Plan, row: Row, seed: int) -> Run:
    recipe = plan.recipes[row.name]
    return Run(row=row.name, seed=seed, recipe=replace(recipe, training=replace(recipe.training, seed=seed)))


def _prepared(order: Order, name: str) -> Path:
    return order.folder / "prepared" / name


def _write_automatic(
    plan: Plan, row: Row, teacher: Path, output: Path, reporter: Reporter, should_stop: Callable[[], bool]
) -> bool:
    """Has a parser make trees of raw text, and writes the surest; False where it was to stop."""
    assert row.raw is not None
    if row.raw.kind == "text":
        need_packages(("nltk",), "parse")
    reporter.message(f"{row.name}: {teacher.name} parses up to {row.raw.most:,} sentences of {row.raw.path}")
    engine = load(teacher, search={"beam_size": 1})
    with ConfidentTrees(output, SELF_TRAINED_SHARE) as trees:
        given = islice(_different(read_lines_of(row.raw.kind, plan.root / row.raw.path)), row.raw.most)
        for number, parse in enumerate(engine.stream_parses(given), start=1):
            if should_stop():
                return False
            trees.add(parse, number)
        reporter.message(f"{row.name}: {trees.write()}")
    return True


def _different(sentences: Iterator[Sentence | DataError]) -> Iterator[Sentence]:
    """Sentences, each once; what has no words, or cannot be read, is left out."""
    seen: set[tuple[str, ...]] = set()
    for sentence in sentences:
        if isinstance(sentence, Sentence) and sentence.words and (words := tuple(sentence.words)) not in seen:
            seen.add(words)
            yield sentence

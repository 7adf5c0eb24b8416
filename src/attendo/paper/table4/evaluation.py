"""Parsers on treebanks, for Table 4: figures kept on disk, and how they compare, beside the table as printed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from attendo.checkpoint.checksums import WEIGHTS
from attendo.files import sha256
from attendo.paper.declared import declared
from attendo.paper.statistics import Estimate, estimate
from attendo.paper.study_folder import keep, kept
from attendo.paper.table4.rows import Bank, Row
from attendo.parsing.evalb.parameters import BUILT_IN
from attendo.parsing.tree import Tree
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.translate import load
from attendo.workflow.evaluation.evaluate_parser import ParserEvaluation, ParserInput, evaluate_parser
from attendo.workflow.runs.validation import spread

# --- parsers on a treebank --------------------------------------------------------------------------------------------

UNCONSTRAINED = 500
"""Sentences of a test set that are parsed once more with nothing forbidden, for the share of malformed outputs."""


@dataclass(frozen=True, kw_only=True)
class System:
    """A parser: a run's model, or several as an ensemble."""

    row: str
    seed: int | None
    """None of an ensemble, and of a parser from elsewhere."""
    models: tuple[Path, ...]

    @property
    def name(self) -> str:
        """That of its files."""
        if self.seed is not None:
            return f"{self.row}-seed-{self.seed}"
        return f"{self.row}-ensemble" if len(self.models) > 1 else self.row


@dataclass(frozen=True, kw_only=True)
class LabelFigures:
    """One label's figures in percent, every sentence counted."""

    label: str
    gold: int
    recall: float
    precision: float
    f1: float


@dataclass(frozen=True, kw_only=True)
class TestResult:
    """What a parser is worth on a treebank; figures in percent."""

    __test__ = False  # for pytest: no class of tests

    system: str
    row: str
    seed: int | None
    test: str
    parameters: str
    """By which of EVALB's built-in ones."""
    weights: tuple[str, ...]
    """SHA-256 of the models', so that others of the same name are not taken for them."""
    given: ParserInput
    order: str
    beam_size: int
    length_penalty: float
    sentences: int
    f1: float
    """Every sentence counted, a failed one as recall 0."""
    recall: float
    precision: float
    evalb: float
    """EVALB's F, which leaves failed sentences out."""
    evalb_short: float
    """Of sentences of up to 40 words."""
    failed: int
    """Sentences that EVALB leaves out."""
    complete: float
    tagging: float
    malformed: float
    """The share of outputs that are no tree, with nothing forbidden, of the first ones."""
    f1_unconstrained: float
    """Of these, mended."""
    f1_constrained: float
    """Of the same sentences, with nothing but trees allowed."""
    num_unconstrained: int
    sentences_per_s: float
    kernel: str
    labels: tuple[LabelFigures, ...]
    """The most frequent first."""

    def to_text(self) -> str:
        """A line."""
        return f"{self.system} on {self.test}: F1 {self.f1:.2f}, {self.sentences_per_s:.1f} sentences/s"


_KEPT = TypeAdapter(TestResult)


class StoppedError(Exception):
    """The user wants to stop."""


def evaluate_system(
    system: System, bank: Bank, trees: tuple[Tree, ...], folder: Path, should_stop: Callable[[], bool]
) -> TestResult | None:
    """Parses a test set, unless that is done.

    Args:
        system: the parser.
        bank: the treebank.
        trees: to test on.
        folder: where results are kept.
        should_stop: asked behind each sentence.

    Returns:
        The figures; None where it was to stop.

    Raises:
        ModelError: a model is missing or torn, or no parser, or they make no ensemble.
    """
    path, parameters = folder / f"{system.name}.{bank.name}.json", BUILT_IN[bank.parameters]
    weights = tuple(sha256(model / WEIGHTS) for model in system.models)
    known = kept(path, _KEPT)
    if (
        known is not None
        and known.weights == weights
        and (known.sentences, known.parameters) == (len(trees), bank.parameters)
    ):
        return known

    def told(done: int) -> None:
        if should_stop():
            raise StoppedError

    some = [trees[index] for index in spread(len(trees), UNCONSTRAINED)]
    constrained, unconstrained = (
        load(system.models[0], ensemble=system.models[1:], parsing={"constrained": only_trees})
        for only_trees in (True, False)
    )
    try:
        found = evaluate_parser(constrained, trees, parameters, progress=told)
        free = evaluate_parser(unconstrained, some, parameters, progress=told)
        held = found if len(some) == len(trees) else evaluate_parser(constrained, some, parameters, progress=told)
    except StoppedError:
        return None
    result = _result(system, bank, weights, constrained, found, free, held)
    keep(path, result)
    return result


def _result(
    system: System,
    bank: Bank,
    weights: tuple[str, ...],
    engine: Engine,
    found: ParserEvaluation,
    free: ParserEvaluation,
    held: ParserEvaluation,
) -> TestResult:
    every, summary = found.scores.every_sentence, found.scores.summary
    figures = dict(every.figures())
    parsing = engine.description.parsing
    assert parsing is not None, "it has parsed"
    one = partial(round, ndigits=4)
    return TestResult(
        system=system.name,
        row=system.row,
        seed=system.seed,
        test=bank.name,
        parameters=bank.parameters,
        weights=weights,
        given=found.given,
        order=parsing.order,
        beam_size=engine.search.beam_size,
        length_penalty=engine.search.length_penalty,
        sentences=len(found.parses),
        f1=one(every.f1),
        recall=one(every.recall),
        precision=one(every.precision),
        evalb=one(_number(summary.all.f_measure)),
        evalb_short=one(_number(summary.short.f_measure)),
        failed=every.num_failed,
        complete=one(figures["Complete match"]),
        tagging=one(figures["Tagging accuracy"]),
        malformed=free.malformed,
        f1_unconstrained=one(free.f1),
        f1_constrained=one(held.f1),
        num_unconstrained=len(free.parses),
        sentences_per_s=one(found.sentences_per_s),
        kernel=found.kernel,
        labels=tuple(
            LabelFigures(
                label=label.label,
                gold=label.gold,
                recall=one(label.recall),
                precision=one(label.precision),
                f1=one(label.f1),
            )
            for label in every.labels()
            if label.gold
        ),
    )


def _number(value: float) -> float:
    """EVALB's NaN where nothing matches, as 0."""
    return value if value == value else 0.0


# --- the table as printed, and ours beside it -------------------------------------------------------------------------

Training = Literal["WSJ only, discriminative", "semi-supervised", "multi-task", "generative"]


@dataclass(frozen=True, kw_only=True)
class PrintedRow:
    """A row of the paper's table."""

    parser: str
    training: Training
    f1: float
    is_transformer: bool = False


PRINTED: tuple[PrintedRow, ...] = declared("table4/printed.toml", "rows", tuple[PrintedRow, ...])
"""In the paper's order."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A row on a test set."""

    row: str
    test: str
    is_ensemble: bool
    members: tuple[TestResult, ...]
    """One a seed; of an ensemble, or a parser from elsewhere, one."""

    @property
    def f1(self) -> Estimate:
        """Every sentence counted."""
        return estimate([one.f1 for one in self.members])

    @property
    def name(self) -> str:
        """The row's, and whether it is an ensemble."""
        return f"{self.row}, ensemble" if self.is_ensemble else self.row

    @property
    def reads(self) -> str:
        """What the parser is given."""
        return {"words": "words alone", "gold-tags": "words and gold tags"}[self.members[0].given]

    @property
    def mean(self) -> Mapping[str, float]:
        """Of figures, by their fields."""
        keys = (*_MEANS, "f1_unconstrained", "f1_constrained")
        return {key: estimate([getattr(one, key) for one in self.members]).mean for key in keys}

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        return {
            "row": self.row,
            "test": self.test,
            "ensemble": self.is_ensemble,
            "f1": self.f1.to_json(),
            **{key: self.mean[key] for key in _MEANS},
        }


_MEANS = (
    *("evalb", "evalb_short", "recall", "precision", "failed", "complete", "tagging", "malformed", "sentences_per_s"),
)


@dataclass(frozen=True, kw_only=True)
class Change:
    """What a row's change brings on a test set, paired by seed."""

    row: Row
    test: str
    difference: Estimate

    @property
    def verdict(self) -> str:
        """What the interval says."""
        if self.difference.half_width is None:
            return "one seed: significance unknown"
        return {0: "not significant", 1: "helps", -1: "harms"}[self.difference.sign]

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        return {
            "row": self.row.name,
            "against": self.row.against,
            "test": self.test,
            "difference": self.difference.to_json(),
            "verdict": self.verdict,
        }


def cells(tested: Sequence[TestResult]) -> tuple[Cell, ...]:
    """Results of the same row and test set together, in the order in which they come."""
    groups: dict[tuple[str, str, bool], list[TestResult]] = {}
    for one in tested:
        groups.setdefault((one.row, one.test, len(one.weights) > 1), []).append(one)
    return tuple(
        Cell(row=row, test=test, is_ensemble=is_ensemble, members=tuple(members))
        for (row, test, is_ensemble), members in groups.items()
    )


def changes(rows: Sequence[Row], tested: Sequence[TestResult]) -> tuple[Change, ...]:
    """What the change of each row that has one brings, on every test set that both were tested on."""
    by_place: dict[tuple[str | None, str], dict[int | None, float]] = {}
    for one in tested:
        if len(one.weights) == 1:
            by_place.setdefault((one.row, one.test), {})[one.seed] = one.f1
    found = []
    for row in rows:
        for test in dict.fromkeys(one.test for one in tested) if row.against else ():
            ours, others = by_place.get((row.name, test), {}), by_place.get((row.against, test), {})
            if differences := [f1 - others[seed] for seed, f1 in ours.items() if seed in others]:
                found.append(Change(row=row, test=test, difference=estimate(differences)))
    return tuple(found)

"""Evaluation of parsers on treebanks for Table 4: results kept on disk, their comparison, and the table as printed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from attendo.checkpoint.checksums import WEIGHTS
from attendo.evaluation.estimates import Estimate, estimate
from attendo.files import sha256
from attendo.paper.declared import declared
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
"""Largest number of test sentences that are also parsed without constraints, for the share of malformed outputs."""


@dataclass(frozen=True, kw_only=True)
class System:
    """A parser: a run's model, or several as an ensemble."""

    row: str
    seed: int | None
    """Seed of the training; None for an ensemble. For a parser that `--run` names, None, or its number if several have
    the same name."""
    models: tuple[Path, ...]

    @property
    def name(self) -> str:
        """The name of the parser and of its files."""
        if self.seed is not None:
            return f"{self.row}-seed-{self.seed}"
        return f"{self.row}-ensemble" if len(self.models) > 1 else self.row


@dataclass(frozen=True, kw_only=True)
class LabelFigures:
    """One label's scores in percent, with every sentence counted."""

    label: str
    gold: int
    """Number of brackets in the gold trees."""
    recall: float
    precision: float
    f1: float


@dataclass(frozen=True, kw_only=True)
class TestResult:
    """The results of a parser on a treebank; scores are in percent."""

    __test__ = False  # not a test class for pytest

    system: str
    row: str
    seed: int | None
    test: str
    parameters: str
    """Name of the built-in EVALB parameters."""
    weights: tuple[str, ...]
    """SHA-256 of each model's weights, by which results of other models of the same name are recognised."""
    given: ParserInput
    order: str
    beam_size: int
    length_penalty: float
    sentences: int
    f1: float
    """F1 with every sentence counted, a failed one as recall 0."""
    recall: float
    precision: float
    evalb: float
    """EVALB's F1, which skips failed sentences."""
    evalb_short: float
    """EVALB's F1 on sentences of up to 40 words."""
    failed: int
    """Number of sentences that EVALB cannot compare and therefore skips."""
    complete: float
    tagging: float
    malformed: float
    """Share, from 0 to 1, of outputs that are not trees when nothing is forbidden, in a sample spread evenly."""
    f1_unconstrained: float
    """F1 of these outputs, repaired."""
    f1_constrained: float
    """F1 on the same sentences when only trees are allowed."""
    num_unconstrained: int
    """Number of sentences in this sample."""
    sentences_per_s: float
    kernel: str
    labels: tuple[LabelFigures, ...]
    """Scores by label, the most frequent label first."""

    def to_text(self) -> str:
        """A summary in one line."""
        return f"{self.system} on {self.test}: F1 {self.f1:.2f}, {self.sentences_per_s:.1f} sentences/s"


_KEPT = TypeAdapter(TestResult)


class StoppedError(Exception):
    """Raised when the user wants to stop."""


def evaluate_system(
    system: System, bank: Bank, trees: tuple[Tree, ...], folder: Path, should_stop: Callable[[], bool]
) -> TestResult | None:
    """Evaluates a parser on a test set, unless the result is kept already.

    Args:
        system: the parser.
        bank: the treebank.
        trees: trees to test on.
        folder: folder where results are kept.
        should_stop: asked after each sentence.

    Returns:
        The result; None if it was stopped.

    Raises:
        ModelError: a model is missing, damaged or not a parser, or the models cannot form an ensemble.
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

    def check_stop(done: int) -> None:
        if should_stop():
            raise StoppedError

    sample = [trees[index] for index in spread(len(trees), UNCONSTRAINED)]
    constrained, unconstrained = (
        load(system.models[0], ensemble=system.models[1:], parsing={"constrained": only_trees})
        for only_trees in (True, False)
    )
    try:
        full = evaluate_parser(constrained, trees, parameters, progress=check_stop)
        free_sample = evaluate_parser(unconstrained, sample, parameters, progress=check_stop)
        constrained_sample = (
            full if len(sample) == len(trees) else evaluate_parser(constrained, sample, parameters, progress=check_stop)
        )
    except StoppedError:
        return None
    result = _result(system, bank, weights, constrained, full, free_sample, constrained_sample)
    keep(path, result)
    return result


def _result(
    system: System,
    bank: Bank,
    weights: tuple[str, ...],
    engine: Engine,
    full: ParserEvaluation,
    free_sample: ParserEvaluation,
    constrained_sample: ParserEvaluation,
) -> TestResult:
    every, summary = full.scores.every_sentence, full.scores.summary
    figures = dict(every.figures())
    parsing = engine.description.parsing
    assert parsing is not None, "it has parsed"
    rounded = partial(round, ndigits=4)
    return TestResult(
        system=system.name,
        row=system.row,
        seed=system.seed,
        test=bank.name,
        parameters=bank.parameters,
        weights=weights,
        given=full.given,
        order=parsing.order,
        beam_size=engine.search.beam_size,
        length_penalty=engine.search.length_penalty,
        sentences=len(full.parses),
        f1=rounded(every.f1),
        recall=rounded(every.recall),
        precision=rounded(every.precision),
        evalb=rounded(_number(summary.all.f_measure)),
        evalb_short=rounded(_number(summary.short.f_measure)),
        failed=every.num_failed,
        complete=rounded(figures["Complete match"]),
        tagging=rounded(figures["Tagging accuracy"]),
        malformed=free_sample.malformed,
        f1_unconstrained=rounded(free_sample.f1),
        f1_constrained=rounded(constrained_sample.f1),
        num_unconstrained=len(free_sample.parses),
        sentences_per_s=rounded(full.sentences_per_s),
        kernel=full.kernel,
        labels=tuple(
            LabelFigures(
                label=label.label,
                gold=label.gold,
                recall=rounded(label.recall),
                precision=rounded(label.precision),
                f1=rounded(label.f1),
            )
            for label in every.labels()
            if label.gold
        ),
    )


def _number(value: float) -> float:
    """EVALB's figure, with 0 for the NaN that it gives if nothing matches."""
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
"""The rows of the paper's table, in its order."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The results of a row, or of its ensemble, on a test set."""

    row: str
    test: str
    is_ensemble: bool
    members: tuple[TestResult, ...]
    """Results, one per seed; exactly one for an ensemble."""

    @property
    def f1(self) -> Estimate:
        """Mean F1 over the seeds, with every sentence counted."""
        return estimate([member.f1 for member in self.members])

    @property
    def name(self) -> str:
        """The row's name, followed by `, ensemble` for an ensemble."""
        return f"{self.row}, ensemble" if self.is_ensemble else self.row

    @property
    def reads(self) -> str:
        """The parser's input in words."""
        return {"words": "words alone", "gold-tags": "words and gold tags"}[self.members[0].given]

    @property
    def mean(self) -> Mapping[str, float]:
        """Means over the seeds, by field of `TestResult`."""
        keys = (*_MEANS, "f1_unconstrained", "f1_constrained")
        return {key: estimate([getattr(member, key) for member in self.members]).mean for key in keys}

    def to_json(self) -> dict[str, Any]:
        """F1 and the means of other figures, for `result.json`."""
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
    """The effect of a row's change on a test set: the difference in F1, paired by seed."""

    row: Row
    test: str
    difference: Estimate

    @property
    def verdict(self) -> str:
        """Whether the change helps or harms significantly, in words."""
        if self.difference.half_width is None:
            return "one seed: significance unknown"
        return {0: "not significant", 1: "helps", -1: "harms"}[self.difference.sign]

    def to_json(self) -> dict[str, Any]:
        """The row, its baseline, the difference and the verdict, for `result.json`."""
        return {
            "row": self.row.name,
            "against": self.row.against,
            "test": self.test,
            "difference": self.difference.to_json(),
            "verdict": self.verdict,
        }


def cells(tested: Sequence[TestResult]) -> tuple[Cell, ...]:
    """Groups results by row, test set and whether they are an ensemble's, in the order of first appearance."""
    groups: dict[tuple[str, str, bool], list[TestResult]] = {}
    for result in tested:
        groups.setdefault((result.row, result.test, len(result.weights) > 1), []).append(result)
    return tuple(
        Cell(row=row, test=test, is_ensemble=is_ensemble, members=tuple(members))
        for (row, test, is_ensemble), members in groups.items()
    )


def changes(rows: Sequence[Row], tested: Sequence[TestResult]) -> tuple[Change, ...]:
    """The effect of each row's change, on every test set that both the row and its baseline were tested on."""
    f1_by_seed: dict[tuple[str | None, str], dict[int | None, float]] = {}
    for result in tested:
        if len(result.weights) == 1:
            f1_by_seed.setdefault((result.row, result.test), {})[result.seed] = result.f1
    effects = []
    for row in rows:
        for test in dict.fromkeys(result.test for result in tested) if row.against else ():
            ours, others = f1_by_seed.get((row.name, test), {}), f1_by_seed.get((row.against, test), {})
            if differences := [f1 - others[seed] for seed, f1 in ours.items() if seed in others]:
                effects.append(Change(row=row, test=test, difference=estimate(differences)))
    return tuple(effects)

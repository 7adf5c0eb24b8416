"""A parser on a treebank, for Table 4: figures that are kept, so that nothing is parsed twice."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter

from attendo.checkpoint.checksums import WEIGHTS
from attendo.files import sha256
from attendo.paper.kept import keep, kept
from attendo.paper.table4.rows import Bank
from attendo.parsing.evalb_parameters import BUILT_IN
from attendo.parsing.tree import Tree
from attendo.workflow.engine import Engine
from attendo.workflow.evaluate_parser import ParserEvaluation, ParserInput, evaluate_parser
from attendo.workflow.translate import load
from attendo.workflow.validation import spread

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

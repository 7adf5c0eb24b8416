"""Compares a parser's trees with a treebank's: EVALB's scores, and the reasons why some sentences have none."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from attendo.parsing.evalb.brackets import SentenceScore
from attendo.parsing.evalb.files import Evaluation, evaluate
from attendo.parsing.evalb.parameters import COLLINS, EvalbParameters
from attendo.parsing.tree import Tree
from attendo.workflow.engines.parse import Parse

_NO_LIMIT = 1 << 30


def score_parses(
    gold: Sequence[Tree],
    parses: Sequence[Parse],
    parameters: EvalbParameters = COLLINS,
    on_score: Callable[[SentenceScore], None] | None = None,
) -> Evaluation:
    """Compares trees by EVALB's rules, however many sentences fail.

    Args:
        gold: the treebank's.
        parses: the parses of the same sentences.
        parameters: the rules of counting.
        on_score: called with each sentence's score.
    """
    lines = [(str(tree), tree_line(parse)) for tree, parse in zip(gold, parses, strict=True)]
    return evaluate(lines, replace(parameters, max_error=_NO_LIMIT), on_score)


def tree_line(parse: Parse) -> str:
    """A parse's best tree on a line; empty if there is none."""
    return str(parse.tree) if parse.n_best else ""

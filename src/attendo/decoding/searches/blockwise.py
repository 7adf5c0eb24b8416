"""Greedy search in fewer steps: the model verifies a drafter's proposals in one passage (Stern et al., 2018).

A proposal is kept if greedy search would have taken exactly this token; the first wrong proposal and all after it are
dropped. So the hypothesis equals that of greedy search token by token; on the native kernels, where a position's bits
do not depend on others, its log-probabilities are equal too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules, constraints_of
from attendo.decoding.searches.choices import check_numbers
from attendo.decoding.searches.hypothesis import Hypothesis, scored
from attendo.decoding.step import DraftingStep, WrittenSentence, can_write
from attendo.decoding.watch import UNWATCHED, Cancelled, Watch


@dataclass(frozen=True, kw_only=True)
class BlockwiseResult:
    """The result for a sentence."""

    hypothesis: Hypothesis
    """Greedy search's."""
    steps: int
    """Passages through the decoder; greedy search has one for each token and one for `</s>`."""


def keeps_to_length(rules: Rules, config: SearchConfig) -> bool:
    """Whether a sentence has no rule but a maximum length: other rules must be checked token by token."""
    return not (rules.min_len or rules.has_forced or constraints_of(rules, config))


def blockwise_search(
    step: DraftingStep, rules: Rules, *, eos_id: int, config: SearchConfig, watch: Watch = UNWATCHED
) -> BlockwiseResult:
    """Repeatedly takes the most probable token, several per step where the drafter is right.

    Args:
        step: a new step with one sentence, of a model with a drafter.
        rules: rules for which `keeps_to_length` is true.
        eos_id: the id of `</s>`.
        config: its length penalty is for the score only.
        watch: over the sentence.

    Raises:
        Cancelled: the sentence is cancelled.
        ModelError: a log-probability is not a number.
    """

    def between() -> None:
        if watch.cancelled():
            raise Cancelled

    written = (step.write if can_write(step) else partial(_written, step))(rules.max_len, eos_id, between)
    check_numbers(np.array(written.log_probs))
    alpha = config.length_penalty
    hypothesis = scored(written.ids, written.log_probs, finished=written.finished, alpha=alpha)
    return BlockwiseResult(hypothesis=hypothesis, steps=written.passages)


def _written(step: DraftingStep, max_len: int, eos_id: int, between: Callable[[], object]) -> WrittenSentence:
    block = step.block([step.start_id, *step.draft(step.start_id)][: max_len + 1], eos_id)
    ids, log_probs = block.ids[:-1], list(block.log_probs)
    steps = 1
    while block.ids[-1] != eos_id and len(ids) < max_len:
        between()
        token = block.ids[-1]
        block = step.block([token, *block.proposed][: max_len - len(ids)], eos_id)
        ids += [token, *block.ids[:-1]]
        log_probs += block.log_probs
        steps += 1
    finished = block.ids[-1] == eos_id
    if not finished:
        log_probs[-1] = float(block.last.of(np.full((1, 1), eos_id))[0, 0])
    return WrittenSentence(ids=ids, log_probs=log_probs, finished=finished, passages=steps)

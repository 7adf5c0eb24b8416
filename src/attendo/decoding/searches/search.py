"""The searches as one function: greedy and beam search, and sampling, over anything that gives next tokens.

A hypothesis' score is its log-probability over Wu et al.'s (2016, Equation 14) length penalty. Both count `</s>`.
A search is exact about its own rule: a sentence is left as soon as nothing open can reach its n best, never before,
and what else is in the batch changes nothing.
"""

from collections.abc import Sequence

from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.searches.beam import beam_search
from attendo.decoding.searches.greedy import greedy_search
from attendo.decoding.searches.hypothesis import Hypothesis
from attendo.decoding.searches.sampling import sample
from attendo.decoding.step import Step
from attendo.decoding.watch import UNWATCHED, Watch


def search(
    step: Step, rules: Sequence[Rules], *, eos_id: int, config: SearchConfig, watch: Watch = UNWATCHED
) -> list[list[Hypothesis]]:
    """Searches as the settings say: sampling, or greedy search for a beam of 1, or beam search; see there.

    Args:
        step: at its start, with one row a sentence.
        rules: of each sentence.
        eos_id: the id of `</s>`.
        config: the settings.
        watch: over the sentences; asked once behind each step.

    Returns:
        For each sentence its hypotheses, best first; at least one, and none for a sentence that is cancelled.

    Raises:
        ModelError: a log-probability is not a number.
    """
    if config.sampling:
        return sample(step, rules, eos_id=eos_id, config=config, watch=watch)
    # What is forced to occur needs the banks of a beam, if only of one hypothesis.
    if config.beam_size == 1 and not any(each.has_forced for each in rules):
        return greedy_search(step, rules, eos_id=eos_id, config=config, watch=watch)
    return beam_search(step, rules, eos_id=eos_id, config=config, watch=watch)

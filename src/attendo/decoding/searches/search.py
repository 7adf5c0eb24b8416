"""The searches behind one function: greedy search, beam search and sampling, over any step.

A hypothesis' score is its log-probability over Wu et al.'s (2016, Equation 14) length penalty. Both count `</s>`. A
search follows its rule exactly: a sentence is finished as soon as no open hypothesis can reach its n best, never
before, and independently of the rest of the batch.
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
    """Searches by sampling, by greedy search for a beam of 1, or by beam search, according to the settings.

    Args:
        step: a new step with one row per sentence.
        rules: the rules of each sentence.
        eos_id: the id of `</s>`.
        config: the settings.
        watch: the watch over the sentences; called once after each step.

    Returns:
        For each sentence its hypotheses, best first; at least one, but none for a cancelled sentence.

    Raises:
        ModelError: a log-probability is not a number.
    """
    if config.sampling:
        return sample(step, rules, eos_id=eos_id, config=config, watch=watch)
    # Forced tokens need the banks of a beam, even with a single hypothesis.
    if config.beam_size == 1 and not any(each.has_forced for each in rules):
        return greedy_search(step, rules, eos_id=eos_id, config=config, watch=watch)
    return beam_search(step, rules, eos_id=eos_id, config=config, watch=watch)

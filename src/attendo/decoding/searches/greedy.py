"""Greedy search: the most probable token, again and again."""

from collections.abc import Sequence

import numpy as np

from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.searches.choices import Guard, best_tokens, eos_log_probs
from attendo.decoding.searches.hypothesis import GrowingHypotheses, Hypothesis
from attendo.decoding.step import Step
from attendo.decoding.watch import UNWATCHED, Watch


def greedy_search(
    step: Step, rules: Sequence[Rules], *, eos_id: int, config: SearchConfig, watch: Watch = UNWATCHED
) -> list[list[Hypothesis]]:
    """Takes the most probable token that the rules permit.

    Args:
        step: a new step with one row per sentence.
        rules: of each sentence, without forced sequences: these are for `beam_search` with a beam of 1.
        eos_id: the id of `</s>`.
        config: its length penalty is for the score only.
        watch: over the sentences.

    Returns:
        A hypothesis for each sentence, none for a cancelled one. Where no token is permitted it ends there, unfinished.

    Raises:
        ModelError: a log-probability is not a number.
    """
    found: list[list[Hypothesis]] = [[] for _ in rules]
    if not rules:
        return found
    guard, written = Guard(rules, eos_id, config), GrowingHypotheses(len(rules))
    sentences = np.arange(len(rules))
    next_tokens = step.start()
    while True:
        permitted = guard.permitted(sentences, written.ids)
        best_values, best_ids = best_tokens(next_tokens, 1, permitted)
        values, tokens = best_values.ravel(), best_ids.ravel()
        chosen = ended = tokens == eos_id
        at_limit = guard.max_lens[sentences] == written.length
        if permitted is not None or at_limit.any():
            chosen = chosen & ~np.isneginf(values)
            ended = chosen | at_limit | np.isneginf(values)
            if not chosen[ended].all():
                values = np.where(ended, eos_log_probs(next_tokens, len(values), eos_id), values)
        for row in ended.nonzero()[0].tolist():
            found[int(sentences[row])] = [
                written.hypothesis(row, float(values[row]), finished=bool(chosen[row]), alpha=config.length_penalty)
            ]
        leaving = ended
        if cancelled := watch.cancelled():
            leaving = ended | np.isin(sentences, list(cancelled))
        if leaving.any():
            rows = (~leaving).nonzero()[0]
            if not len(rows):
                return found
            sentences, values, tokens = sentences[rows], values[rows], tokens[rows]
            written.select(rows)
            guard.select(rows)
            step.select(rows[:, None])
        written.append(tokens, values)
        next_tokens = step.advance(tokens)

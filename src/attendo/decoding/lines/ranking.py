"""Chooses among the candidates that beam search has found: by a larger length penalty, and by a reverse model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from attendo.decoding.lines.reverse import ReverseModel
from attendo.decoding.lines.tasks import Task
from attendo.decoding.lines.translation import Candidate
from attendo.decoding.searches.hypothesis import length_penalty


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The order of a search's candidates that differs from the search's own.

    A translation can be divided into pieces in several ways, which are hypotheses of their own to the search. Its
    probability is their sum; of candidates with the same text the first keeps its place, and the others come last.
    """

    length_penalty: float
    """Exponent of the length penalty; as an exponent of the search it would make that seek long translations."""
    n_best: int
    """Number of candidates to keep."""
    reverse: ReverseModel | None
    """Adds its scores; None for none."""

    def ranked(self, tasks: Sequence[Task]) -> list[Task]:
        """Tasks with their best candidates; unfinished ones come last.

        Args:
            tasks: the tasks, with all candidates of a search.
        """
        several = [task for task in tasks if len(task.candidates) > 1]
        reverse: dict[tuple[str, str], float] = {}
        if self.reverse is not None and several:
            pairs = list(dict.fromkeys((each.text, task.part.read) for task in several for each in task.candidates))
            scores = self.reverse.scores(pairs, self.length_penalty, between=several[0].line.between_steps)
            reverse = dict(zip(pairs, scores, strict=True))
        return [self._ranked(task, reverse) if len(task.candidates) > 1 else task for task in tasks]

    def _ranked(self, task: Task, reverse: Mapping[tuple[str, str], float]) -> Task:
        firsts: dict[str, Candidate] = {}
        log_probs: dict[str, float] = {}
        for each in task.candidates:
            if firsts.setdefault(each.text, each) is each:
                log_probs[each.text] = each.log_prob
            else:
                log_probs[each.text] = float(np.logaddexp(log_probs[each.text], each.log_prob))

        def rank(candidate: Candidate) -> tuple[bool, bool, float]:
            first = firsts[candidate.text]
            score = log_probs[candidate.text] / length_penalty(len(first.token_log_probs), self.length_penalty)
            score += reverse.get((candidate.text, task.part.read), 0.0)
            return candidate is not first, not candidate.finished, -score

        return replace(task, candidates=tuple(sorted(task.candidates, key=rank)[: self.n_best]))

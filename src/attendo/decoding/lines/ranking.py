"""Chooses among the candidates that beam search has found: by a larger length penalty, and by a reverse model."""

from collections.abc import Callable, Sequence
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
        reverse = self._reverse_scores(tasks)
        return [self._ranked(task, reverse) if len(task.candidates) > 1 else task for task in tasks]

    def _ranked(self, task: Task, reverse: Callable[[str, str], float]) -> Task:
        texts: dict[str, list[Candidate]] = {}
        for candidate in task.candidates:
            texts.setdefault(candidate.text, []).append(candidate)

        def rank(candidate: Candidate) -> tuple[bool, bool, float]:
            same = texts[candidate.text]
            log_prob = float(np.logaddexp.reduce([each.log_prob for each in same]))
            score = log_prob / length_penalty(len(same[0].token_log_probs), self.length_penalty)
            return candidate is not same[0], not candidate.finished, -score - reverse(candidate.text, task.part.read)

        return replace(task, candidates=tuple(sorted(task.candidates, key=rank)[: self.n_best]))

    def _reverse_scores(self, tasks: Sequence[Task]) -> Callable[[str, str], float]:
        """The reverse model's score of a candidate and its source; 0 without a reverse model."""
        if self.reverse is None:
            return lambda text, source: 0.0
        pairs = {
            (candidate.text, task.part.read)
            for task in tasks
            if len(task.candidates) > 1
            for candidate in task.candidates
        }
        ordered = sorted(pairs)
        scores = self.reverse.scores(ordered, between=tasks[0].line.between_steps) if ordered else []
        found = dict(zip(ordered, scores, strict=True))
        return lambda text, source: found[text, source]

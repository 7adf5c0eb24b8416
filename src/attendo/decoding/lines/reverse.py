"""Ranks the candidates of a search also by how probable a model of the opposite direction finds their source.

Yee et al. (2019, "Simple and Effective Noisy Channel Modeling for Neural Machine Translation"): a translation that
leaves something out is often more probable than a complete one, but it does not make its source probable.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from attendo.decoding.lines.tasks import Task
from attendo.decoding.scoring import PairScore
from attendo.decoding.searches.hypothesis import length_penalty


@dataclass(frozen=True, kw_only=True)
class ReverseModel:
    """A model of the opposite direction, which helps to choose among candidates."""

    score_pairs: Callable[..., list[PairScore]]
    """`Translator.score_pairs` of a translator of the opposite direction."""
    length_penalty: float
    """Exponent of the length penalty of these scores."""
    weight: float
    """Weight of these scores beside those of the search, above 0."""

    def scores(self, pairs: Sequence[tuple[str, str]], *, between: Callable[[], object] = lambda: None) -> list[float]:
        """Returns the weighted scores of sources, given their translations.

        Args:
            pairs: translations, each with its source.
            between: called between two steps of the computation; an exception from it ends the computation.
        """
        return [
            self.weight * score.log_prob / length_penalty(score.num_tokens, self.length_penalty)
            for score in self.score_pairs(pairs, between=between)
        ]

    def ranked(self, tasks: Sequence[Task], *, n_best: int) -> list[Task]:
        """Tasks with their `n_best` candidates by the sum of both scores; unfinished candidates come last.

        Args:
            tasks: the tasks, with all candidates of a search.
            n_best: number of candidates to keep.
        """
        pairs = {
            (candidate.text, task.part.read): 0.0
            for task in tasks
            if len(task.candidates) > 1
            for candidate in task.candidates
        }
        if not pairs:
            return list(tasks)
        found = dict(zip(pairs, self.scores(list(pairs), between=tasks[0].line.between_steps), strict=True))

        def ranked(task: Task) -> Task:
            if len(task.candidates) <= 1:
                return task
            best = sorted(
                task.candidates, key=lambda each: (not each.finished, -each.score - found[each.text, task.part.read])
            )
            return replace(task, candidates=tuple(best[:n_best]))

        return [ranked(task) for task in tasks]

"""How probable a model of the opposite direction finds the source of a translation.

Yee et al. (2019, "Simple and Effective Noisy Channel Modeling for Neural Machine Translation"): a translation that
leaves something out is often more probable than a complete one, but it does not make its source probable.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from attendo.decoding.scoring import PairScore
from attendo.decoding.searches.hypothesis import length_penalty


class ScorePairs(Protocol):
    """Scores given translations; see `Translator.score_pairs`."""

    def __call__(self, pairs: Sequence[tuple[str, str]], *, between: Callable[[], object]) -> list[PairScore]:
        """The score of each pair."""


@dataclass(frozen=True, kw_only=True)
class ReverseModel:
    """A model of the opposite direction, which helps to choose among candidates."""

    score_pairs: ScorePairs
    """`Translator.score_pairs` of a translator of the opposite direction."""
    weight: float
    """Weight of these scores beside those of the search, above 0."""

    def scores(
        self, pairs: Sequence[tuple[str, str]], alpha: float, *, between: Callable[[], object] = lambda: None
    ) -> list[float]:
        """Returns the weighted scores of sources, given their translations.

        Args:
            pairs: translations, each with its source.
            alpha: exponent of the length penalty.
            between: called between two steps of the computation; an exception from it ends the computation.
        """
        return [
            self.weight * score.log_prob / length_penalty(score.num_tokens, alpha)
            for score in self.score_pairs(pairs, between=between)
        ]

"""How much of the fine-tuned weights a new model takes, chosen on text that the gate does not judge by."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

MAX_RISE = 0.01
"""Relative rise of the general text's perplexity that is allowed; docs/learning.md has rounds by it and by 0.2 %."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A share with what its model makes of the text that is kept aside for the choice."""

    share: float
    corrections: float
    """Perplexity of the corrections, by tokens."""
    general: float
    """Perplexity of the general text, by tokens."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The shares that were tried, and the one that was taken."""

    before: Candidate
    """The model as it was: share 0."""
    candidates: tuple[Candidate, ...]
    chosen: Candidate


def choose_share(shares: Sequence[float], candidate: Callable[[float], Candidate]) -> Selection:
    """Takes the share that expects the corrections most, of those that expect the general text hardly less.

    Perplexity tells shares apart on a few hundred pairs, where BLEU is mostly chance. Where all expect the general text
    less, the one that does least so is taken, and the gate has the last word.

    Args:
        shares: to choose from.
        candidate: measures the model of a share, 0 for the model as it was.
    """
    before = candidate(0.0)
    candidates = tuple(map(candidate, sorted(shares, reverse=True)))
    harmless = [found for found in candidates if found.general <= before.general * (1.0 + MAX_RISE)]
    if harmless:
        chosen = min(harmless, key=lambda found: found.corrections)
    else:
        chosen = min(candidates, key=lambda found: found.general)
    return Selection(before=before, candidates=candidates, chosen=chosen)

"""Chooses the share of the fine-tuned weights in a new model, on text that the gate does not judge by."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

MAX_RISE = 0.01
"""Largest relative rise of the general text's perplexity; docs/learning.md compares it with a limit of 0.2 %."""


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A share with its model's perplexities on the text reserved for the choice."""

    share: float
    corrections: float
    """Perplexity per token on the corrections."""
    general: float
    """Perplexity per token on the general text."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The shares that were tried, and the chosen one."""

    before: Candidate
    """The model before learning: share 0."""
    candidates: tuple[Candidate, ...]
    chosen: Candidate


def choose_share(shares: Sequence[float], candidate: Callable[[float], Candidate]) -> Selection:
    """Chooses the share with the lowest perplexity on the corrections that hardly raises it on the general text.

    Perplexity shows differences between shares on a few hundred pairs, where those in BLEU are mostly chance. If every
    share raises the perplexity on the general text by more than `MAX_RISE`, the one with the lowest is chosen, and the
    gate decides.

    Args:
        shares: the shares to choose from.
        candidate: measures the model of a share; 0 is the model before learning.
    """
    before = candidate(0.0)
    candidates = tuple(map(candidate, sorted(shares, reverse=True)))
    harmless = [option for option in candidates if option.general <= before.general * (1.0 + MAX_RISE)]
    if harmless:
        chosen = min(harmless, key=lambda option: option.corrections)
    else:
        chosen = min(candidates, key=lambda option: option.general)
    return Selection(before=before, candidates=candidates, chosen=chosen)

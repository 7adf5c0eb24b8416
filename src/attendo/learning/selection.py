"""How much of the fine-tuned weights a new model takes, chosen on text that the gate does not judge by."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attendo.evaluation.scores import corpus_bleu

MAX_LOSS = 0.25
"""BLEU that the general part may lose where a share is chosen: half of what the gate allows."""


@dataclass(frozen=True, kw_only=True)
class SelectionOutputs:
    """Translations of the two texts to choose by."""

    corrections: Sequence[str]
    general: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A share with the scores of its model."""

    share: float
    corrections: float
    """BLEU on the corrections that are kept aside for the choice."""
    general: float
    """BLEU on the general set's part for the choice."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The shares that were tried, and the one that was taken."""

    before: Candidate
    """The model as it was: share 0."""
    candidates: tuple[Candidate, ...]
    chosen: Candidate


def choose_share(
    shares: Sequence[float],
    references: SelectionOutputs,
    outputs: Callable[[float], SelectionOutputs],
    target_language: str,
) -> Selection:
    """Takes the share that gains most on corrections, of those that lose little general text.

    Where all lose more than `MAX_LOSS`, the one that loses least is taken, and the gate has the last word.

    Args:
        shares: to choose from.
        references: what the two texts should be translated as.
        outputs: translates both by the models of a share, 0 for the model as it was.
        target_language: code, for BLEU's tokeniser.
    """

    def candidate(share: float) -> Candidate:
        found = outputs(share)
        pairs = ((found.corrections, references.corrections), (found.general, references.general))
        scores = [corpus_bleu(texts, right, target_language=target_language).score for texts, right in pairs]
        return Candidate(share=share, corrections=scores[0], general=scores[1])

    before = candidate(0.0)
    candidates = tuple(map(candidate, sorted(shares, reverse=True)))
    harmless = [found for found in candidates if found.general >= before.general - MAX_LOSS]
    if harmless:
        chosen = max(harmless, key=lambda found: found.corrections)
    else:
        chosen = max(candidates, key=lambda found: found.general)
    return Selection(before=before, candidates=candidates, chosen=chosen)

"""How often a model prefers a reference to a copy of it with one error."""

from collections.abc import Callable, Sequence

from attendo.decoding.scoring import PairScore
from attendo.decoding.searches.hypothesis import length_penalty
from attendo.evaluation.contrastive import KINDS, Contrast, ContrastivePair, contrastive_pairs, preferences
from attendo.workflow.engines.engine import Engine

MOST_PAIRS = 2000
"""Pairs of a kind at most, the first of the test set."""


def pairs_for(engine: Engine, sources: Sequence[str], references: Sequence[str]) -> list[ContrastivePair]:
    """Makes the pairs of a test set for the languages of a model, by kind.

    Raises:
        DataError: the sides differ in their number of lines.
    """
    pairs = list(
        contrastive_pairs(
            sources, references, source_language=engine.source_language, target_language=engine.target_language
        )
    )
    return [pair for kind in KINDS for pair in [each for each in pairs if each.kind == kind][:MOST_PAIRS]]


def measure_contrast(
    engine: Engine, pairs: Sequence[ContrastivePair], *, progress: Callable[[int, int], None] | None = None
) -> Contrast:
    """Scores both translations of each pair, and counts how often the right one is preferred.

    Args:
        engine: the model; its final length penalty and its reverse model are part of its preference.
        pairs: the pairs.
        progress: called with the numbers of scored and of all translations.
    """
    texts = [(pair.source, text) for pair in pairs for text in (pair.right, pair.wrong)]
    scores = []
    for score in engine.score(texts):
        scores.append(score)
        if progress:
            progress(len(scores), len(texts))
    alpha = engine.search.final_length_penalty
    ranked = _ranked(scores, alpha)
    if (reverse := engine.reverse_model(engine.search)) is not None:
        back = reverse.scores([(text, source) for source, text in texts], alpha)
        ranked = [sum(both) for both in zip(ranked, back, strict=True)]
    preferred, more_probable = (
        preferences(pairs, by_score[0::2], by_score[1::2]) for by_score in (ranked, _ranked(scores, 0.0))
    )
    return Contrast(preferred=preferred, more_probable=more_probable)


def _ranked(scores: Sequence[PairScore], alpha: float) -> list[float]:
    """The scores by which beam search with a length penalty of alpha ranks translations."""
    return [score.log_prob / length_penalty(score.num_tokens, alpha) for score in scores]

"""Learns from translated sentences with references how sure to be of others: logistic regression on six figures."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attendo.errors import DataError
from attendo.evaluation.confidence import Confidence, Weighted, features, length_ratio
from attendo.evaluation.reliability import Floats

if TYPE_CHECKING:
    from sacrebleu.metrics.chrf import CHRF

LEAST_SENTENCES, LEAST_OF_A_KIND = 100, 10
NUM_FOLDS = 10
_RIDGE = 0.1
"""Of the weights, so that a handful of sentences that are easily told apart give no infinite one."""
_ROUNDS = 100
_SMALL = 1e-10


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A sentence, its translation and whether that came close."""

    source: str
    """The sentence."""
    text: str
    """The model's translation."""
    token_log_probs: tuple[float, ...]
    """Log-probabilities of its tokens, `</s>` included; at least one."""
    close: bool
    """Whether it came close to a reference."""
    weight: float = 1.0
    """Weight of the sentence in learning; larger for the sentences of a small test set beside a large one."""


def chrf() -> "CHRF":
    """The metric that says how close a sentence is: chrF2 with sacreBLEU's defaults (Popović, 2015)."""
    from sacrebleu.metrics.chrf import CHRF

    return CHRF()


def is_close(metric: "CHRF", text: str, references: Sequence[str], close: float) -> bool:
    """Whether a text comes close to one of its references.

    Args:
        metric: the metric of `chrf()`.
        text: a translation.
        references: human translations of the same sentence.
        close: the least chrF2, 0 to 100.
    """
    return any(metric.sentence_score(text, [reference]).score >= close for reference in references)


def people_agree(metric: "CHRF", references: Sequence[Sequence[str]], close: float) -> tuple[int, float]:
    """Measures how often one person's translation is close to another's, for comparison with a model's figures.

    Args:
        metric: the metric of `chrf()`.
        references: the human translations of each sentence; two that differ are drawn if there are several.
        close: the least chrF2.

    Returns:
        The sentences that have two translations of different wording, and the share of them whose two are close.
    """
    generator = random.Random(1)
    pairs = [
        generator.choice(list(permutations(different, 2)))
        for each in references
        if len(different := sorted(set(each))) > 1
    ]
    near = sum(is_close(metric, one, [other], close) for one, other in pairs)
    return len(pairs), near / len(pairs) if pairs else 0.0


def fit(judged: Sequence[Judged]) -> Confidence:
    """Learns from sentences.

    Args:
        judged: 100 at least, of which 10 at least came close and 10 did not.

    Raises:
        DataError: there are too few, or too few of a kind.
    """
    _check(judged)
    return _learned(judged)


def equally_weighted(sets: Sequence[Sequence[Judged]]) -> list[Judged]:
    """The sentences of several test sets, weighted so that each set counts as much as another.

    Args:
        sets: none empty.
    """
    total = sum(map(len, sets))
    return [replace(one, weight=total / (len(sets) * len(each))) for each in sets for one in each]


def held_out(judged: Sequence[Judged]) -> list[float]:
    """Returns the confidence of each sentence, learned from the others by ten-fold cross-validation.

    Args:
        judged: as for `fit`, without repeated sources.

    Raises:
        DataError: as for `fit`.
    """
    _check(judged)
    places = list(range(len(judged)))
    random.Random(1).shuffle(places)
    confidences = [0.0] * len(judged)
    for fold in range(NUM_FOLDS):
        mine = places[fold::NUM_FOLDS]
        others = sorted(set(places).difference(mine))
        learned = _learned([judged[place] for place in others])
        for place in mine:
            confidences[place] = confidence_of(learned, judged[place])
    return confidences


def _check(judged: Sequence[Judged]) -> None:
    num_close = sum(one.close for one in judged)
    if len(judged) < LEAST_SENTENCES:
        raise DataError(f"{len(judged)} different sentences are too few to learn from; take {LEAST_SENTENCES} or more")
    if not LEAST_OF_A_KIND <= num_close <= len(judged) - LEAST_OF_A_KIND:
        raise DataError(
            f"{num_close} of {len(judged)} translations are close to their references, which are too few or too many "
            "to learn from; check that "
            "the files belong together, or take another --close"
        )


def _learned(judged: Sequence[Judged]) -> Confidence:
    shares = np.array([one.weight for one in judged], dtype=np.float64)
    log_ratio = float(np.average([length_ratio(one.source, one.text) for one in judged], weights=shares))
    figures = np.array(
        [features(one.source, one.text, one.token_log_probs, log_ratio) for one in judged], dtype=np.float64
    )
    means = np.average(figures, axis=0, weights=shares)
    scales = np.maximum(np.sqrt(np.average((figures - means) ** 2, axis=0, weights=shares)), 1e-6)
    outcomes = np.array([one.close for one in judged], dtype=np.float64)
    *weights, bias = _logistic((figures - means) / scales, outcomes, shares).tolist()
    weighted = [
        Weighted(mean=mean, scale=scale, weight=weight)
        for mean, scale, weight in zip(means.tolist(), scales.tolist(), weights, strict=True)
    ]
    return Confidence(
        bias=bias,
        log_ratio=log_ratio,
        surprise=weighted[0],
        shortness=weighted[1],
        total_surprise=weighted[2],
        length=weighted[3],
        squared_length=weighted[4],
        scaled_shortness=weighted[5],
    )


def confidence_of(learned: Confidence, one: Judged) -> float:
    """The confidence of a sentence's translation."""
    return learned.of(one.source, one.text, one.token_log_probs)


def token_probability(one: Judged) -> float:
    """Returns the geometric mean of the tokens' probabilities, which is often taken for a confidence."""
    return float(np.exp(np.mean(one.token_log_probs)))


def _logistic(figures: Floats, outcomes: Floats, shares: Floats) -> NDArray[np.float64]:
    """Weights, and the bias behind them, of most likelihood with a small ridge: Newton's method on a convex function.

    Args:
        figures: `(sentences, figures)`, each of mean 0 and deviation 1.
        outcomes: `(sentences,)`, 1 or 0 each.
        shares: `(sentences,)`, how much each counts; 1 on the average.
    """
    inputs = np.column_stack([figures, np.ones(len(figures))])
    ridge = np.diag([_RIDGE] * figures.shape[1] + [0.0])
    weights = np.zeros(inputs.shape[1])
    for _ in range(_ROUNDS):
        probabilities = 1 / (1 + np.exp(-np.clip(inputs @ weights, -500, 500)))
        slope = inputs.T @ (shares * (probabilities - outcomes)) + ridge @ weights
        curvature = (inputs * (shares * probabilities * (1 - probabilities))[:, None]).T @ inputs + ridge
        step = np.linalg.solve(curvature + _SMALL * np.eye(len(weights)), slope)
        weights = weights - step
        if np.abs(step).max() < _SMALL:
            break
    return weights

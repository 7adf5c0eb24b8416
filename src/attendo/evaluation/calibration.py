"""Learns the confidence of translations from sentences with references, by logistic regression on eight features."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from attendo.errors import DataError
from attendo.evaluation.confidence import Confidence, FeatureWeight, features, length_ratio
from attendo.evaluation.reliability import Floats

if TYPE_CHECKING:
    from sacrebleu.metrics.chrf import CHRF

NO_WORDS: Mapping[str, float] = {}
LEAST_SENTENCES, LEAST_OF_A_KIND = 100, 10
NUM_FOLDS = 10
_RIDGE = 0.1
"""Strength of the ridge penalty on the weights, which keeps them finite if the sentences are perfectly separable."""
_ROUNDS = 100
_SMALL = 1e-10


@dataclass(frozen=True, kw_only=True)
class JudgedTranslation:
    """A sentence, its translation and whether the translation came close to a reference."""

    source: str
    """The sentence."""
    text: str
    """The model's translation."""
    token_log_probs: tuple[float, ...]
    """Log-probabilities of the translation's tokens, `</s>` included; at least one."""
    close: bool
    """Whether the translation came close to a reference."""
    weight: float = 1.0
    """Weight of the sentence in learning; larger in a small test set that is used with a large one."""


def chrf() -> "CHRF":
    """Returns the metric of closeness: chrF2 with sacreBLEU's defaults (Popović, 2015)."""
    from sacrebleu.metrics.chrf import CHRF

    return CHRF()


def is_close(metric: "CHRF", text: str, references: Sequence[str], close: float) -> bool:
    """Returns whether a text comes close to one of its references.

    Args:
        metric: the metric of `chrf()`.
        text: a translation.
        references: human translations of the same sentence.
        close: the minimum chrF2, 0 to 100.
    """
    return any(metric.sentence_score(text, [reference]).score >= close for reference in references)


def people_agree(metric: "CHRF", references: Sequence[Sequence[str]], close: float) -> tuple[int, float]:
    """Measures how often one person's translation is close to another's, for comparison with a model's figures.

    Args:
        metric: the metric of `chrf()`.
        references: the human translations of each sentence; two that differ are drawn if there are several.
        close: the minimum chrF2, 0 to 100.

    Returns:
        The number of sentences with two translations of different wording, and the share of them whose two are close.
    """
    generator = random.Random(1)
    pairs = [
        generator.choice(list(permutations(different, 2)))
        for texts in references
        if len(different := sorted(set(texts))) > 1
    ]
    near = sum(is_close(metric, first, [second], close) for first, second in pairs)
    return len(pairs), near / len(pairs) if pairs else 0.0


def fit(judged: Sequence[JudgedTranslation], familiar_words: Mapping[str, float] = NO_WORDS) -> Confidence:
    """Learns a confidence from judged sentences.

    Args:
        judged: at least 100 sentences, of which at least 10 came close and at least 10 did not.
        familiar_words: the words of the text that the model knows best, if there are such.

    Raises:
        DataError: there are too few sentences, or too few of either kind.
    """
    _check(judged)
    return _learned(judged, familiar_words)


def weighted(
    sets: Sequence[Sequence[JudgedTranslation]], weights: Sequence[float] | None = None
) -> list[JudgedTranslation]:
    """Returns the sentences of several test sets, weighted so that sets count by their weights, whatever their size.

    Args:
        sets: the test sets, none of them empty.
        weights: the weight of each set, above 0; None for equal ones.
    """
    weights = [1.0] * len(sets) if weights is None else weights
    mean = sum(map(len, sets)) / sum(weights)
    return [
        replace(sentence, weight=mean * weight / len(test_set))
        for test_set, weight in zip(sets, weights, strict=True)
        for sentence in test_set
    ]


def held_out(judged: Sequence[JudgedTranslation], familiar_words: Mapping[str, float] = NO_WORDS) -> list[float]:
    """Returns the confidence of each sentence, learned from the others by ten-fold cross-validation.

    Args:
        judged: at least 100 sentences without repeated sources, of which at least 10 came close and at least 10 did
            not.
        familiar_words: as for `fit`.

    Raises:
        DataError: there are too few sentences, or too few of either kind.
    """
    _check(judged)
    places = list(range(len(judged)))
    random.Random(1).shuffle(places)
    confidences = [0.0] * len(judged)
    for fold in range(NUM_FOLDS):
        held_places = places[fold::NUM_FOLDS]
        others = sorted(set(places).difference(held_places))
        learned = _learned([judged[place] for place in others], familiar_words)
        for place in held_places:
            confidences[place] = confidence_of(learned, judged[place])
    return confidences


def _check(judged: Sequence[JudgedTranslation]) -> None:
    num_close = sum(sentence.close for sentence in judged)
    if len(judged) < LEAST_SENTENCES:
        raise DataError(f"{len(judged)} different sentences are too few to learn from; take {LEAST_SENTENCES} or more")
    if not LEAST_OF_A_KIND <= num_close <= len(judged) - LEAST_OF_A_KIND:
        raise DataError(
            f"{num_close} of {len(judged)} translations are close to their references, which are too few or too many "
            "to learn from; check that "
            "the files belong together, or take another --close"
        )


def _learned(judged: Sequence[JudgedTranslation], familiar_words: Mapping[str, float]) -> Confidence:
    shares = np.array([sentence.weight for sentence in judged], dtype=np.float64)
    log_ratio = float(np.average([length_ratio(sentence.source, sentence.text) for sentence in judged], weights=shares))
    figures = np.array(
        [
            features(sentence.source, sentence.text, sentence.token_log_probs, log_ratio, familiar_words)
            for sentence in judged
        ],
        dtype=np.float64,
    )
    means = np.average(figures, axis=0, weights=shares)
    scales = np.maximum(np.sqrt(np.average((figures - means) ** 2, axis=0, weights=shares)), 1e-6)
    outcomes = np.array([sentence.close for sentence in judged], dtype=np.float64)
    *weights, bias = _logistic((figures - means) / scales, outcomes, shares).tolist()
    learned = [
        FeatureWeight(mean=mean, scale=scale, weight=weight)
        for mean, scale, weight in zip(means.tolist(), scales.tolist(), weights, strict=True)
    ]
    return Confidence(
        bias=bias,
        log_ratio=log_ratio,
        surprise=learned[0],
        shortness=learned[1],
        total_surprise=learned[2],
        length=learned[3],
        squared_length=learned[4],
        scaled_shortness=learned[5],
        familiarity=learned[6],
        familiar_surprise=learned[7],
        familiar_words=familiar_words,
    )


def confidence_of(learned: Confidence, one: JudgedTranslation) -> float:
    """Returns the confidence of a sentence's translation."""
    return learned.of(one.source, one.text, one.token_log_probs)


def token_probability(one: JudgedTranslation) -> float:
    """Returns the geometric mean of the tokens' probabilities, which is often used as a confidence."""
    return float(np.exp(np.mean(one.token_log_probs)))


def _logistic(figures: Floats, outcomes: Floats, shares: Floats) -> NDArray[np.float64]:
    """Returns the weights, followed by the bias, of maximum likelihood with a small ridge, by Newton's method.

    Args:
        figures: features `(sentences, features)`, each with mean 0 and standard deviation 1.
        outcomes: `(sentences,)`, 1 or 0 each.
        shares: weights of the sentences `(sentences,)`, with mean 1.
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

"""Confidence of a translation: the calibrated probability that it is close to a human translation.

A model's own probabilities are not calibrated: it may be sure of a wrong translation. But close translations can be
distinguished by how much their tokens surprised the model, on average and in total, by the length of the source, by
how much shorter than usual the translation is, and by how familiar the words of the source are. `calibration` learns
this from sentences with references, and this module applies it to new ones.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from attendo.decoding.guards.verbatim import verbatim
from attendo.decoding.lines.translation import Candidate, Translation
from attendo.evaluation.familiarity import familiarity
from attendo.text.common_words import evident_language

CLOSE = 50.0
"""chrF2 from which a translation of a sentence counts as close; docs/serving-page.md explains the choice."""
JUNK = 0.1
"""Upper limit of the confidence if the source is not a sentence of the source language."""
_GIVEN_BACK = frozenset(("verbatim", "scripts"))
"""The guards that return lines unchanged if they are not sentences of the source language."""
_FEW_LETTERS = 5
"""Added to both lengths, so that the ratios of very short texts are not too extreme."""


@dataclass(frozen=True, kw_only=True)
class FeatureWeight:
    """The normalisation and weight of a feature."""

    mean: float
    """Mean of the feature over the sentences that were learned from."""
    scale: float
    """Standard deviation of the feature over these sentences, above 0."""
    weight: float
    """Change of the probability's logit per standard deviation."""

    def __call__(self, value: float) -> float:
        """Returns the contribution of a value to the logit."""
        return self.weight * (value - self.mean) / self.scale


_UNUSED = FeatureWeight(mean=0.0, scale=1.0, weight=0.0)
"""Default of a feature that calibrations of earlier versions lack; it contributes 0."""


@dataclass(frozen=True, kw_only=True)
class Confidence:
    """A calibrated confidence, learned from sentences with references for one model and one kind of search."""

    bias: float
    """Logit of a translation with mean features."""
    log_ratio: float
    """Mean of `length_ratio` over the sentences that were learned from."""
    surprise: FeatureWeight
    """Normalisation and weight of `surprise`."""
    shortness: FeatureWeight
    """Normalisation and weight of `shortness`."""
    total_surprise: FeatureWeight = _UNUSED
    """Normalisation and weight of `total_surprise`."""
    length: FeatureWeight = _UNUSED
    """Normalisation and weight of `length`."""
    squared_length: FeatureWeight = _UNUSED
    """Normalisation and weight of the square of `length`."""
    scaled_shortness: FeatureWeight = _UNUSED
    """Normalisation and weight of `shortness` times the root of the length of the source."""
    familiarity: FeatureWeight = _UNUSED
    """Normalisation and weight of `familiarity`."""
    familiar_surprise: FeatureWeight = _UNUSED
    """Normalisation and weight of `familiarity` times `total_surprise`."""
    familiar_words: Mapping[str, float] = field(default_factory=dict)
    """The words that tell the text that the model knows best from other text; see `familiarity.familiar_words`."""
    source_language: str = ""
    """ISO 639-1 code of the source language; empty if the language of texts is not checked."""

    def __call__(self, translation: Translation, candidate: Candidate) -> float | None:
        """Returns the probability that a candidate comes close to a human translation.

        Args:
            translation: the line and its candidates.
            candidate: one of the candidates.

        Returns:
            A probability from 0 to 1. None for candidates other than the best, which the calibration did not learn
            from, and for text that the model did not write: white space, or text that needs no translation, such as a
            number. For junk, which is text that is not language or in another language, at most `JUNK`, even if it was
            only returned unchanged.
        """
        if candidate != translation.n_best[0]:
            return None
        if not candidate.token_log_probs:
            return 0.0 if _GIVEN_BACK.intersection(translation.guards) else None
        probability = self.of(translation.source, candidate.text, candidate.token_log_probs)
        return min(probability, JUNK) if is_junk(translation.source, self.source_language) else probability

    def of(self, source: str, text: str, token_log_probs: Sequence[float]) -> float:
        """Returns the probability that a text comes close to a human translation.

        Args:
            source: the sentence.
            text: the translation of the sentence.
            token_log_probs: natural logarithms of the probabilities of its tokens, `</s>` included; at least one.
        """
        weighted = (
            self.surprise,
            self.shortness,
            self.total_surprise,
            self.length,
            self.squared_length,
            self.scaled_shortness,
            self.familiarity,
            self.familiar_surprise,
        )
        values = features(source, text, token_log_probs, self.log_ratio, self.familiar_words)
        logit = self.bias + sum(weigh(value) for weigh, value in zip(weighted, values, strict=True))
        # Written so that neither exponential overflows.
        return 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))


def is_junk(source: str, language: str) -> bool:
    """Returns whether a source is mostly not language, or evidently not in the model's source language.

    Args:
        source: the text.
        language: the expected language as an ISO 639-1 code; empty for no check.
    """
    if 2 * sum(stretch.end - stretch.start for stretch in verbatim(source)) > len(source.strip()):
        return True
    return bool(language) and evident_language(source) not in (None, language)


def surprise(token_log_probs: Sequence[float]) -> float:
    """Returns how much the tokens surprised the model on average; 0 for not at all.

    It is the square root of the mean negative log-probability, in which the logit is nearly linear.
    """
    return math.sqrt(max(0.0, -sum(token_log_probs) / len(token_log_probs)))


def length_ratio(source: str, text: str) -> float:
    """Returns the logarithm of the ratio of a text's length to its source's, in characters."""
    return math.log((len(text) + _FEW_LETTERS) / (len(source) + _FEW_LETTERS))


def shortness(source: str, text: str, log_ratio: float) -> float:
    """Returns how much shorter a text is than its source suggests, as a logarithm; 0 if it is not shorter."""
    return max(0.0, log_ratio - length_ratio(source, text))


def total_surprise(token_log_probs: Sequence[float]) -> float:
    """Returns how much the tokens surprised the model in total: the square root of the negative log-probability."""
    return math.sqrt(max(0.0, -sum(token_log_probs)))


def length(source: str) -> float:
    """Returns the logarithm of the length of a source in characters."""
    return math.log(len(source) + _FEW_LETTERS)


def features(
    source: str, text: str, token_log_probs: Sequence[float], log_ratio: float, familiar_words: Mapping[str, float]
) -> tuple[float, ...]:
    """Returns the features of a translation, in the order of the fields of `Confidence`.

    Args:
        source: the sentence.
        text: the translation of the sentence.
        token_log_probs: natural logarithms of the probabilities of its tokens, `</s>` included; at least one.
        log_ratio: the mean of `length_ratio` over such translations.
        familiar_words: the words of familiar text, or none.

    Returns:
        Eight numbers: surprise; shortness; total surprise; length; its square, since a longer sentence comes close more
        often at the same surprise, until it is so long that it has many errors; shortness times the root of the number
        of characters, which expresses it in units of its deviation: in a short sentence a few letters mean little;
        familiarity; and that times total surprise, because a surprise in familiar text costs less.
    """
    long, short, total = length(source), shortness(source, text, log_ratio), total_surprise(token_log_probs)
    deviations = short * math.sqrt(len(source) + _FEW_LETTERS)
    familiar = familiarity(source, familiar_words)
    return surprise(token_log_probs), short, total, long, long**2, deviations, familiar, familiar * total

"""Confidence of a translation: the calibrated probability that it is close to a human translation.

A model's own probabilities are no such number: it may be sure of what is wrong. But how much its own tokens surprised
it, on average and in all, how long the source is, and how much shorter than usual the translation is, tell close
translations from others; `calibration` learns how well from sentences with references, and this module applies it to
new ones.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from attendo.decoding.guards.verbatim import verbatim
from attendo.decoding.lines.translation import Candidate, Translation
from attendo.text.common_words import evident_language

CLOSE = 50.0
"""chrF2 of a sentence from which it counts as close; docs/serving-page.md says what was looked at to choose it."""
JUNK = 0.1
"""The most confidence in the translation of what is no sentence of the source language."""
_GIVEN_BACK = frozenset(("verbatim", "scripts"))
"""The guards that give back what they take for no sentence of the source language."""
_FEW_LETTERS = 5
"""Added to both lengths, or those of single words would say too much."""


@dataclass(frozen=True, kw_only=True)
class Weighted:
    """A figure of a translation and how much it counts for."""

    mean: float
    """Of the sentences that it was learned from."""
    scale: float
    """Its standard deviation there, above 0."""
    weight: float
    """What one standard deviation more adds to the logit of the probability."""

    def __call__(self, value: float) -> float:
        """What a value adds to the logit."""
        return self.weight * (value - self.mean) / self.scale


_UNUSED = Weighted(mean=0.0, scale=1.0, weight=0.0)
"""A feature that calibrations of earlier versions do not have."""


@dataclass(frozen=True, kw_only=True)
class Confidence:
    """A calibrated confidence, learned from sentences with references for one model and one kind of search."""

    bias: float
    """The logit of a translation that is like the mean of those."""
    log_ratio: float
    """Their mean of the logarithm of how many times longer, in characters, a translation is than its source."""
    surprise: Weighted
    """Normalisation and weight of `surprise`."""
    shortness: Weighted
    """Normalisation and weight of `shortness`."""
    total_surprise: Weighted = _UNUSED
    """Normalisation and weight of `total_surprise`."""
    length: Weighted = _UNUSED
    """Normalisation and weight of `length`."""
    squared_length: Weighted = _UNUSED
    """Normalisation and weight of the square of `length`."""
    scaled_shortness: Weighted = _UNUSED
    """Normalisation and weight of `shortness` times the root of the length of the source."""
    source_language: str = ""
    """ISO 639-1 code of the source language; empty if the language of texts is not checked."""

    def __call__(self, translation: Translation, candidate: Candidate) -> float | None:
        """The probability that a candidate comes close to what a person would write.

        Args:
            translation: the line and its candidates.
            candidate: one of them.

        Returns:
            From 0 to 1. None for another candidate than the best, of which this was not learned, and for one of which
            the model has written nothing: white space, or what needs no translation, such as a number. Junk has
            `JUNK` at most, even where it is only given back: text that is no language, and text of another language.
        """
        if candidate != translation.n_best[0]:
            return None
        if not candidate.token_log_probs:
            return 0.0 if _GIVEN_BACK.intersection(translation.guards) else None
        sure = self.of(translation.source, candidate.text, candidate.token_log_probs)
        return min(sure, JUNK) if is_junk(translation.source, self.source_language) else sure

    def of(self, source: str, text: str, token_log_probs: Sequence[float]) -> float:
        """The same of what a translation consists of.

        Args:
            source: the sentence.
            text: the translation of the sentence.
            token_log_probs: natural logarithms of the probabilities of its tokens, `</s>` included; one at least.
        """
        weighted = (
            self.surprise,
            self.shortness,
            self.total_surprise,
            self.length,
            self.squared_length,
            self.scaled_shortness,
        )
        values = features(source, text, token_log_probs, self.log_ratio)
        logit = self.bias + sum(weigh(value) for weigh, value in zip(weighted, values, strict=True))
        # Written so that neither exponential overflows.
        return 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))


def is_junk(source: str, language: str) -> bool:
    """Whether a source is mostly not language, or evidently not in the model's source language.

    Args:
        source: the text.
        language: the expected language as an ISO 639-1 code; empty for no check.
    """
    if 2 * sum(stretch.end - stretch.start for stretch in verbatim(source)) > len(source.strip()):
        return True
    return bool(language) and evident_language(source) not in (None, language)


def surprise(token_log_probs: Sequence[float]) -> float:
    """Returns how much the tokens surprised the model on average; 0 for not at all.

    The square root of the mean negative log-probability: against it the logit is nearly a straight line.
    """
    return math.sqrt(max(0.0, -sum(token_log_probs) / len(token_log_probs)))


def length_ratio(source: str, text: str) -> float:
    """The logarithm of how many times longer, in characters, a text is than its source."""
    return math.log((len(text) + _FEW_LETTERS) / (len(source) + _FEW_LETTERS))


def shortness(source: str, text: str, log_ratio: float) -> float:
    """Returns by how much a text is shorter than its source suggests, 0 if it is not: something may be missing."""
    return max(0.0, log_ratio - length_ratio(source, text))


def total_surprise(token_log_probs: Sequence[float]) -> float:
    """Returns how much the tokens surprised the model in all: the square root of the negative log-probability."""
    return math.sqrt(max(0.0, -sum(token_log_probs)))


def length(source: str) -> float:
    """Returns the logarithm of the length of a source in characters."""
    return math.log(len(source) + _FEW_LETTERS)


def features(
    source: str, text: str, token_log_probs: Sequence[float], log_ratio: float
) -> tuple[float, float, float, float, float, float]:
    """Returns what the confidence is learned from, in the order of the fields of `Confidence`.

    Args:
        source: the sentence.
        text: the translation of the sentence.
        token_log_probs: natural logarithms of the probabilities of its tokens, `</s>` included; one at least.
        log_ratio: the mean of `length_ratio` of such translations.

    Returns:
        Surprise; shortness; total surprise; length; its square, since a longer sentence comes close more often at the
        same surprise, up to where its errors are many; and shortness in units of its deviation, which falls with the
        root of the number of characters: four letters less than usual mean nothing in a short sentence.
    """
    long, short = length(source), shortness(source, text, log_ratio)
    deviations = short * math.sqrt(len(source) + _FEW_LETTERS)
    return surprise(token_log_probs), short, total_surprise(token_log_probs), long, long**2, deviations

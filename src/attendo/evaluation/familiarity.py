"""How much a text resembles the text that a model knows best, word by word.

A model that has read the documentation of a product translates more of it better than its probabilities show: the same
words come again. That is known before any translation, from the words alone.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

_WORD = re.compile(r"[^\W\d_]+")
_MILLION = 1e6
_RAREST = 50.0
"""Occurrences per million words, in both kinds of text together, of the rarest words that count."""
_SMOOTHING = 20.0
"""Occurrences per million words that are added on both sides, so that rare words say little."""
_DIGITS = 2


def familiar_words(familiar: Iterable[str], others: Sequence[Iterable[str]]) -> dict[str, float]:
    """Learns which words tell the text that a model knows best from its other text.

    Args:
        familiar: lines of the text that the model knows best, in the source language.
        others: lines of other text that it was trained on, which all count equally.

    Returns:
        For each word that is not rare, in small letters, the logarithm of how much more frequent it is in the familiar
        text; below 0 if it is less frequent.
    """
    rates, other_rates = _rates([familiar]), _rates(others)
    return {
        word: round(math.log((rates[word] + _SMOOTHING) / (other_rates[word] + _SMOOTHING)), _DIGITS)
        for word in sorted({*rates, *other_rates})
        if rates[word] + other_rates[word] >= _RAREST
    }


def familiarity(source: str, words: Mapping[str, float]) -> float:
    """Returns how much a text resembles the text that a model knows best: 0 if not more than other text.

    Args:
        source: the text.
        words: the result of `familiar_words`; without any, the familiarity of all text is 0.
    """
    if not words:
        return 0.0
    known = [words.get(word, 0.0) for word in _words(source)]
    return max(0.0, sum(known) / len(known)) if known else 0.0


def _rates(texts: Sequence[Iterable[str]]) -> defaultdict[str, float]:
    """The occurrences per million words of each word, the mean over some texts."""
    rates: defaultdict[str, float] = defaultdict(float)
    for lines in texts:
        counts = Counter(word for line in lines for word in _words(line))
        share = _MILLION / (max(1, counts.total()) * len(texts))
        for word, count in counts.items():
            rates[word] += count * share
    return rates


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]

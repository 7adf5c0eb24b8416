"""Recognises texts in languages that are not served, by script or, for Latin script, by a whole sentence.

A text classified as another language is not translated, so a false alarm costs more than a miss: statistics are trusted
only for sentences, and only if they leave little doubt.
"""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from unicodedata import name

from attendo.serving.languages.names import is_language

_LANGUAGES_OF = {
    "CYRILLIC": "ru uk bg be sr mk kk ky mn tg tt",
    "CJK": "zh zt ja ko",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "HANGUL": "ko",
    "ARABIC": "ar fa ur ps ug ku",
    "HEBREW": "he yi",
    "GREEK": "el",
    "ARMENIAN": "hy",
    "GEORGIAN": "ka",
    "DEVANAGARI": "hi mr ne",
    "BENGALI": "bn",
    "GUJARATI": "gu",
    "GURMUKHI": "pa",
    "ORIYA": "or",
    "TAMIL": "ta",
    "TELUGU": "te",
    "KANNADA": "kn",
    "MALAYALAM": "ml",
    "SINHALA": "si",
    "THAI": "th",
    "LAO": "lo",
    "KHMER": "km",
    "MYANMAR": "my",
    "ETHIOPIC": "am",
}
"""Languages by script (the first word of its characters' names), the most frequent language first."""
_FIRST_OF_SCRIPTS = "\u0370"
"""The first character of any of these scripts; below are Latin letters alone."""
_LEAST_LETTERS = 2
"""Minimum number of letters of a script for a text to count as written in it: a single one may be a symbol, such as
Ω."""
LEAST_WORDS = 4
"""Minimum number of words, by `words_to_judge`, before the language is estimated statistically."""
_LEAST_MARGIN = 14.0
"""Minimum margin in nats of another language over all served ones."""
_NO_WORD = re.compile(r"[\d_@/\\<>={}()\[\]$#%*+~^|]|[a-z][A-Z]|\.\w")
"""Characters of identifiers, paths, placeholders, tags and formulas that do not occur in words."""
_EDGES = ".,;:!?\"'«»„“”‘’‚…-–—"


def words_to_judge(text: str) -> list[str]:
    """Extracts the words that show a text's language.

    Identifiers, paths, placeholders and numbers are not among them, nor are names and titles where most words have a
    capital: these may come from any language.
    """
    tokens = (token.strip(_EDGES) for token in text.split())
    words = [token for token in tokens if any(map(str.isalpha, token)) and not _NO_WORD.search(token)]
    small = [word for word in words if not word[0].isupper()]
    return small if 0 < 2 * len(small) < len(words) else words


def unserved_by_script(text: str, served: Sequence[str]) -> tuple[str, ...]:
    """Lists the possible languages of a text most of whose letters are in a script that no served language uses.

    Args:
        text: a text of any length.
        served: ISO 639-1 codes.

    Returns:
        Codes, the most frequent language first; empty if the script belongs to a served language.
    """
    if not text or max(text) < _FIRST_OF_SCRIPTS:
        return ()
    letters: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if character.isalpha():
            letters[_script(character)] += count
    foreign = Counter(
        {
            script: count
            for script, count in letters.items()
            if script in _LANGUAGES_OF and not set(_LANGUAGES_OF[script].split()) & set(served)
        }
    )
    if foreign.total() < _LEAST_LETTERS or 2 * foreign.total() <= letters.total():
        return ()
    # Japanese is distinguished from Chinese by its kana, however few.
    for script in ("HIRAGANA", "KATAKANA", "HANGUL"):
        if script in foreign:
            return tuple(_LANGUAGES_OF[script].split())
    return tuple(_LANGUAGES_OF[foreign.most_common(1)[0][0]].split())


def unserved_by_statistics(log_shares: Mapping[str, float], served: Sequence[str]) -> tuple[str, float] | None:
    """The language of a sentence that is clearly in none of the served ones, and its probability.

    Args:
        log_shares: the log-probability of each language by a library's statistics, in nats, by its code.
        served: ISO 639-1 codes.

    Returns:
        Its code and a confidence between 0 and 1; None for a text that may be in a served language.
    """
    if not set(served) <= set(log_shares):
        return None
    others = [code for code in log_shares if code not in served and is_language(code)]
    best = max(others, key=lambda code: log_shares[code])
    margin = log_shares[best] - max(log_shares[code] for code in served)
    if margin < _LEAST_MARGIN:
        return None
    return best, 1 / (1 + math.exp(-margin))


@lru_cache(maxsize=10_000)
def _script(letter: str) -> str:
    return "LATIN" if letter.isascii() else name(letter, "").partition(" ")[0]

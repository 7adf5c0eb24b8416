"""Numbers written as words: small ones that stand for digits, and whether a text has any."""

import re
from collections import Counter
from functools import cache

CARDINALS = {
    "en": (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty"
    ),
    "de": (
        "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
        "siebzehn achtzehn neunzehn zwanzig"
    ),
    "fr": (
        "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize "
        "dix-sept dix-huit dix-neuf vingt"
    ),
    "es": (
        "cero un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis "
        "diecisiete dieciocho diecinueve veinte"
    ),
}
"""The words for 0 to 20, by ISO 639-1 code."""

_ORDINALS = {
    "en": "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
    "de": "nullte erste zweite dritte vierte fünfte sechste sieb achte neunte zehnte elfte zwölfte",
    "fr": "zér premi second troisième quatrième cinquième sixième septième huitième neuvième dixième onzième douzième",
}
_NUMBER_WORDS = {
    language: [tuple(enumerate(names[language].split())) for names in (CARDINALS, _ORDINALS) if language in names]
    for language in CARDINALS
}
"""Small numbers as their words begin in a language."""
_WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")

# Beginnings of words for a number, a part of one or a time of day; articles are excluded.
_BEGINNINGS = {
    "en": (
        "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
        "seventeen|eighteen|nineteen|(?:twen|thir|for|fif|six|seven|eigh|nine)t(?:y|ie)|hundred|thousand|million|"
        "billion|trillion|dozen|half|halv|quarter|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|"
        "twelfth|once|twice|double|triple|couple|pair|decade|centur|noon|midnight|both|single"
    ),
    "de": (
        "null|eins|einmal|zwei|zwo|drei|vier|fünf|sech|sieb|acht|neun|zehn|elf|zwölf|zwanzig|\\w+zehn|\\w+[zß]ig|hundert|"
        "tausend|million|milliard|billion|dutzend|halb|hälfte|viertel|erst|dritt|doppelt|dreifach|paar|jahrzehnt|"
        "jahrhundert|mittag|mitternacht|beid|einzig"
    ),
    "fr": (
        "zéro|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize|vingt|trente|"
        "quarante|cinquante|soixante|cent|mille|million|milliard|douzaine|dizaine|demi|moitié|quart|premi|second|"
        "tiers|midi|minuit|siècle|décenni|double|triple|paire|fois"
    ),
}
_LARGE = {
    "en": {"hundred": "100", "thousand": "1000", "million": "1000000"},
    "de": {"hundert": "100", "tausend": "1000", "million": "1000000", "millionen": "1000000"},
    "fr": {"cent": "100", "mille": "1000", "million": "1000000"},
}


def small_numbers(text: str, language: str) -> Counter[str]:
    """Counts the words for the numbers 0 to 20, 100, 1000 and 1000000 in a text, whatever their endings.

    Args:
        text: a text in the language.
        language: its ISO 639-1 code; only the languages of `CARDINALS` have known words.

    Returns:
        Counts by the number's digits.
    """
    found: Counter[str] = Counter()
    words = _WORDS.findall(text.casefold())
    for names in _NUMBER_WORDS.get(language, ()):
        for number, name in names:
            found[str(number)] += sum(
                word == name or (len(word) <= len(name) + 3 and word.startswith(name)) for word in words
            )
    large = _LARGE.get(language, {})
    found.update(large[word] for word in words if word in large)
    return found


def has_number_word(text: str, language: str) -> bool:
    """Whether a text has a word from which a translation may make digits, such as dozen or half.

    Args:
        text: a text in the language.
        language: its ISO 639-1 code; for a language without known words, the answer is True.
    """
    return language not in _BEGINNINGS or _number_word(language).search(text.casefold()) is not None


@cache
def _number_word(language: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{_BEGINNINGS[language]})")

"""Days, months and small numbers in words that a translation must not lose.

*Could we meet on Tuesday at 3:30 pm?* without its Tuesday reads well and is wrong.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from attendo.decoding.guards.number_words import CARDINALS

_DAYS = {
    "en": "monday tuesday wednesday thursday friday saturday sunday",
    "de": "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche",
}
_RELATIVE_DAYS = {
    "en": ("today", "tomorrow", "yesterday"),
    "de": ("heute", "morgen", "gestern"),
    "fr": ("aujourd'hui", "demain", "hier"),
}
_MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
}
_FIRST, _LAST = 2, 12
"""The numbers that count. *One* is also an article, and larger numbers are mostly digits."""

_DAY_ENDINGS = {
    "en": "s?",
    "de": "(?:e?s|e|en|(?:s?(?:abend|morgen|mittag|vormittag|nachmittag|nacht)s?))?",
    "fr": "s?",
}
_OTHER_DAYS = {"de": {"sonnabend": "samstag"}}
_RELATIVE_PATTERN = {
    "en": "(?i:today|tomorrow|yesterday)",
    "de": r"(?i:heute|gestern)|(?<!heute )(?<!gestern )(?<!guten )(?<!jeden )(?<!am )(?<!den )morgen",
    "fr": "(?i:aujourd['’]hui|demain|hier)",
}
"""German *morgen* is the next day in small letters, and not after *heute*."""
_CASED_MONTHS = {"en": ("March", "May", "August"), "fr": ("mars",)}
"""Months that are other words in other letters."""
# English names of months that are words, too, where they are months: beside a day or a year, or after such a word.
_BEFORE_MONTH = re.compile(
    r"(?:\b(?:in|of|last|next|until|till|by|since|this|every|early|late|mid|from|to|and|or|before|after|during|through|"
    r"between|around)|\d(?:st|nd|rd|th)?|,)[ \u00a0-]$",
    re.IGNORECASE,
)
_BEHIND_MONTH = re.compile(r"(?:'s)? \d")
_AMBIGUOUS_MONTHS = ("March", "May")
# What makes a number another one: half past three is *halb vier*, and *soixante et onze* is 71.
_NOT_NUMBERS = {
    "en": re.compile(r"\b(?:half(?: past)?|(?:hundred|thousand)(?: and)?) $", re.IGNORECASE),
    "de": re.compile(r"\b(?:halb|viertel|dreiviertel|in|außer|gib|gebt|nimm) $", re.IGNORECASE),
    "fr": re.compile(r"\b(?:cents?|mille|(?:vingt|trente|quarante|cinquante|soixante) et) $", re.IGNORECASE),
}
_NOT_BEHIND = {"en": "", "de": "", "fr": "(?!-)"}
_NO_NUMBERS = {"fr": ("neuf",)}
"""Words that mostly mean something else: *neuf* is also new."""
_A_WEEK = re.compile(r"(?:acht Tagen?|huit jours)\b", re.IGNORECASE)
_LONGEST_BEFORE = 20

_START = r"(?:(?<!\w)|(?<=und)|(?<=hundert)|(?<=tausend)|(?<=\d))"
"""The start of a word, or of the part of a German number."""
_RELATIVE_SHOWN = {
    "en": ("today|tonight|this|nowadays|now|day", "tomorrow|next day", "yesterday|last night|day before"),
    "de": ("heut|jetzt|dies|tag", "morgen|morgig|nächste", "gest|vortag|letzte"),
    "fr": ("aujourd|ce(?!\\w)|cette|jour|actuel|maintenant|présent", "demain|lendemain", "hier|veille|dernière"),
}
# How a translation shows a number: the beginnings of the words that may stand for it.
_SHOWN = {
    "en": (
        "two|both|second|pair|couple|twice|double|twin|half|halv|dupl|either|neither|other|each|dual",
        "three|thir|thrice|tripl|treble|trio",
        "four|fort|quarter|quad",
        "five|fif",
        "six",
        "seven|sept",
        "eight",
        "nine|ninth",
        "ten|teen|decade",
        "eleven",
        "twel|dozen|noon|midnight",
    ),
    "de": (
        "zwei|zwo|beid|paar|doppel|halb|hälfte|zwilling|jed|ander|verdoppel",
        "drei|dritt|trio",
        "vier",
        "fünf",
        "sech",
        "sieb",
        "acht",
        "neun",
        "zehn|jahrzehnt|dekade",
        "elf",
        "zwölf|dutzend|mittag|mitternacht",
    ),
    "fr": (
        "deux|second|pair|couple|doubl|demi|moitié|jum|autre|chaque|tous|toutes|quinz",
        "trois|trio|tripl|tiers|trent",
        "quatr|quart|quarant",
        "cinq",
        "six|soixant",
        "sept",
        "huit",
        "neuf|neuv|nonant",
        "dix|dizaine|décenni",
        "onz",
        "douz|midi|minuit",
    ),
}
# The same hours after noon: *at six* may be *à dix-huit heures*.
_AFTER_NOON = {
    "de": (
        "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn", "zwanzig", "einundzwanzig",
        "zweiundzwanzig", "dreiundzwanzig", "vierundzwanzig",
    ),
    "fr": (
        "quatorze", "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf", "vingt", "vingt et une", "vingt-deux",
        "vingt-trois", "vingt-quatre",
    ),
}  # fmt: skip
_MORE_FORMS = {("en", 2): ("both",), ("de", 2): ("beide", "beiden")}
"""Other words that a search may write for a number."""


@dataclass(frozen=True, slots=True)
class SpelledValue:
    """A day, a month or a number of a text, in words."""

    text: str
    """The word as written."""
    kind: str
    """day, relative (*today* and its like), month or number."""
    number: int
    """The number; of days and months from 0."""

    @property
    def may_stand_alone(self) -> bool:
        """Whether it may stand behind its sentence without further words, as in *Nous partons mardi*."""
        return self.kind in ("day", "relative")

    def forms(self, language: str) -> tuple[str, ...]:
        """The words of a language that a search may write for it."""
        if self.kind == "number":
            return (CARDINALS[language].split()[self.number], *_MORE_FORMS.get((language, self.number), ()))
        if self.kind == "relative":
            return (_RELATIVE_DAYS[language][self.number],)
        name = (_DAYS if self.kind == "day" else _MONTHS)[language].split()[self.number]
        if self.kind == "month" or language == "fr":
            return (name,)
        return (name.capitalize(), f"{name.capitalize()}s", *([f"{name}s"] if language == "de" else []))

    def is_lost(self, source: str, target: str, language: str) -> bool:
        """Whether a translation does not show it in any form.

        Args:
            source: the text.
            target: its translation.
            language: the translation's, as an ISO 639-1 code.
        """
        written = target.casefold()
        if self.text.casefold() in written or _shown(language, self.kind, self.number).search(written):
            return False
        return self.may_stand_alone or not _new_digits(source, target)


def spelled_values(text: str, language: str) -> list[SpelledValue]:
    """Finds the days, the months and the numbers from two to twelve in words.

    Args:
        text: a text in the language.
        language: its ISO 639-1 code; in others than English, French and German nothing is found.
    """
    return list(_found(text, language)) if language in _DAYS else []


def lost_spelled(source: str, target: str, languages: tuple[str, str]) -> list[SpelledValue]:
    """The days, months and numbers in words that a translation does not show, each once however often it occurs.

    Args:
        source: the text.
        target: its translation.
        languages: both languages as ISO 639-1 codes; for others than English, French and German nothing is lost.
    """
    if languages[1] not in _DAYS:
        return []
    # Each is looked for in the whole translation, so a text of nothing but *two* must not look for it a thousand times.
    different = dict.fromkeys(spelled_values(source, languages[0]))
    return [value for value in different if value.is_lost(source, target, languages[1])]


def _found(text: str, language: str) -> Iterator[SpelledValue]:
    places = _places(language)
    beginning = len(text) - len(text.lstrip())
    for match in _words(language).finditer(text):
        kind = match.lastgroup or ""
        word = match[kind]
        before = text[max(0, match.start() - _LONGEST_BEFORE) : match.start()]
        if kind == "number":
            is_name = word != word.casefold() and match.start() > beginning
            if is_name or _NOT_NUMBERS[language].search(before) or _A_WEEK.match(text, match.start()):
                continue
        if word in _AMBIGUOUS_MONTHS and not (_BEFORE_MONTH.search(before) or _BEHIND_MONTH.match(text, match.end())):
            continue
        yield SpelledValue(word, kind, places[kind][word.casefold().replace("’", "'")])


@cache
def _places(language: str) -> dict[str, dict[str, int]]:
    """The numbers of the words of each kind."""
    numbers = CARDINALS[language].split()
    days = {name: place for place, name in enumerate(_DAYS[language].split())}
    days |= {other: days[name] for other, name in _OTHER_DAYS.get(language, {}).items()}
    return {
        "day": days,
        "relative": {name: place for place, name in enumerate(_RELATIVE_DAYS[language])},
        "month": {name.casefold(): place for place, name in enumerate(_MONTHS[language].split())},
        "number": {numbers[number]: number for number in range(_FIRST, _LAST + 1)},
    }


@cache
def _words(language: str) -> re.Pattern[str]:
    places = _places(language)
    days, cased = "|".join(places["day"]), _CASED_MONTHS.get(language, ())
    months = "|".join([f"(?i:{'|'.join(name for name in _MONTHS[language].split() if name not in cased)})", *cased])
    numbers = "|".join(word for word in places["number"] if word not in _NO_NUMBERS.get(language, ()))
    return re.compile(
        rf"(?<![\w-])(?:(?P<day>(?i:{days}))(?i:{_DAY_ENDINGS[language]})|(?P<relative>{_RELATIVE_PATTERN[language]})"
        rf"|(?P<month>{months})"
        rf"|(?P<number>(?i:{numbers})){_NOT_BEHIND[language]})(?!\w)"
    )


@cache
def _shown(language: str, kind: str, number: int) -> re.Pattern[str]:
    """Finds what shows a word in a translation, in small letters."""
    if kind == "number":
        late = [_AFTER_NOON[language][number - _FIRST]] if language in _AFTER_NOON else []
        return re.compile(f"{_START}(?:{'|'.join([_SHOWN[language][number - _FIRST], *late])})")
    if kind == "relative":
        return re.compile(f"{_START}(?:{_RELATIVE_SHOWN[language][number]})")
    names = "|".join(name for name, place in _places(language)[kind].items() if place == number)
    if language == "de":  # Ostermontag, Karfreitag, Oktoberfest
        return re.compile(names if kind == "day" else f"{_START}(?:{names})")
    return re.compile(rf"{_START}(?:{names})s?(?!\w)")


def _new_digits(source: str, target: str) -> bool:
    """Whether a translation has a number in digits that its source does not have."""
    return not set(re.findall(r"\d+", target)) <= set(re.findall(r"\d+", source))

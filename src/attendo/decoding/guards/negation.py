"""Negations that a translation must not lose or invent: a *not* more or less, and a sentence says the opposite."""

import re
from dataclasses import dataclass
from functools import cache

# Negations whose translation is rarely positive; not tags (*isn't it?*), and not *I don't care*, *es ist mir egal*.
_NEGATED = {
    "en": (
        r"n['’]t(?! (?:care|mind|help|wait|forget|hesitate|miss|stop)\b)(?! (?:i|you|he|she|it|we|they|there)\b)",
        r"(?<!\w)(?<!or )(?:not|cannot|never|nobody|nothing|neither)"
        r"(?! (?:mind|but|care|help|wait|forget|hesitate|only)\b)",
    ),
    "de": (
        r"(?<!\w)(?<!oder )nicht(?!(?: wahr)?\?| (?:nur|vergessen|zuletzt)\b)",
        r"(?<!\w)(?:nichts(?! als\b)|nie|niemals|niemand(?:em|en)?|kein(?:e|en|em|er|es)?(?! problem)|weder)",
    ),
    "fr": (
        r"(?<!\w)(?:ne |n['’])(?!est-ce pas|importe|oubli|hésit|arrêt|cess|manqu)[^.!?;:]{2,30}"
        r"(?<!\w)(?:pas(?! (?:que|seulement|mal)\b)|rien|jamais|aucune?|personne)",
        r"(?<!\w)(?:suis|es|est|ai|as|a|sais|sait|veux|veut|peux|peut|fais|fait) pas(?! (?:que|seulement|mal)\b)",
    ),
}
# What shows a negation in a translation: negations, and words that say the same without one.
_SHOWN = {
    "en": (
        r"n['’]t(?!\w)",
        r"(?<!\w)(?:no|not|none|nor|neither|never|nobody|nothing|nowhere|without|cannot|non-?\w+)(?!\w)",
        r"(?<!\w)(?:hardly|barely|only|just|except|instead|rather|unless|until|wrong|off|out|away|far|free|safe)(?!\w)",
        r"(?<!\w)(?:ever|bad|badly|dumb|few|little|other|keep|keeps|kept|den(?:y|ie[sd]))(?!\w)",
        r"(?<!\w)(?:fail|lack|miss|refus|reject|prevent|avoid|stop|exclud|omit|ignor|dis|un(?!der|ti|it|io|iv|iq|if|le))",
        r"(?<!\w)in(?:val|corr|compl|vis|acc|act|cap|comp|suff|sec|app|diff|sens)|(?<!\w)im(?:poss|pat|pol|perf)",
        r"\wless(?!\w)",
    ),
    "de": (
        r"nicht|(?<!\w)(?:nie|kein|nirgend|weder|ohne|nein|noch|nur|erst|kaum|egal|gleichgültig|schlecht|falsch|fehl)",
        r"(?<!\w)(?:sonst|statt|außer|verhinder|vermeid|verbot|verbiet|verweiger|weiger|ablehn|abgelehnt|scheiter)",
        r"(?<!\w)(?:gescheiter|miss|un(?!d\b|s\b|ser|ter|t\b))|\w{3}(?<!kosten)los(?:e[nmrs]?)?(?!\w)|wenig|anders|höchstens",
    ),
    "fr": (
        r"(?<!\w)(?:ne|ni|pas|mal)(?!\w)|(?<!\w)n['’]",
        r"(?<!\w)(?:non|jamais|rien|aucun|personne|sans|null?e? part|seul|sauf|plutôt|peu(?!\w)|moins|rarement|sinon)",
        r"(?<!\w)(?:échou|échec|manqu|évit|empêch|refus|interdi|ignor|égal|mauvais|faux|différen|imposs|dés)",
        r"(?<!\w)in(?:val|corr|compl|vis|acc|act|cap|comp|suff|app|con|dén|diff|ut|trouv)",
    ),
}
_FORMS = {
    "en": (
        "not", "no", "never", "nobody", "nothing", "none", "neither", "cannot", "can't", "don't", "doesn't", "didn't",
        "isn't", "wasn't", "aren't", "won't", "hasn't", "haven't",
    ),
    "de": ("nicht", "kein", "keine", "keinen", "keinem", "keiner", "nie", "niemals", "niemand", "nichts", "weder"),
    "fr": ("pas", "rien", "jamais", "aucun", "aucune", "personne"),
}  # fmt: skip
_WITHOUT = {"en": ("without", "nor"), "de": ("ohne",), "fr": ("sans", "ne", "n'")}
"""Words that negate beside others, or only a part of a sentence."""


@dataclass(frozen=True, slots=True)
class Negation:
    """The negation of a text."""

    text: str
    """The words."""

    def forms(self, language: str) -> tuple[str, ...]:
        """The words of a language that a search may write for it."""
        return _FORMS[language]


def negations(language: str) -> tuple[str, ...]:
    """The words that negate in a language, also as first words; none for others than English, French and German."""
    words = (*_FORMS.get(language, ()), *_WITHOUT.get(language, ()))
    return (*words, *(word.capitalize() for word in words))


def invented_negation(source: str, target: str, languages: tuple[str, str]) -> list[Negation]:
    """Returns the negation of a translation if its source shows none; for the arguments see `lost_negation`."""
    return lost_negation(target, source, (languages[1], languages[0]))


def lost_negation(source: str, target: str, languages: tuple[str, str]) -> list[Negation]:
    """Returns the negation of a text if its translation shows none.

    Args:
        source: the text.
        target: its translation.
        languages: both languages as ISO 639-1 codes; for others than English, French and German nothing is lost.
    """
    if languages[0] not in _NEGATED or languages[1] not in _SHOWN:
        return []
    found = _negated(languages[0]).search(source)
    return [Negation(found[0].strip())] if found is not None and not _shown(languages[1]).search(target) else []


@cache
def _negated(language: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{'|'.join(_NEGATED[language])})(?!\w)", re.IGNORECASE)


@cache
def _shown(language: str) -> re.Pattern[str]:
    return re.compile("|".join(_SHOWN[language]), re.IGNORECASE)

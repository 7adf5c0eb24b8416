"""German inflection for the phrasebook: noun phrases in four cases, finite verbs in six persons.

Agreement is computed by rules and closed tables, never typed by hand into a sentence.
"""

import re
from typing import Literal

from attendo.synthetic.english import Person
from attendo.synthetic.words import Adjective, Noun, Verb

Case = Literal["nominative", "accusative", "dative", "genitive"]

# Columns of every table: masculine, feminine, neuter, plural.
_COLUMN = {"m": 0, "f": 1, "n": 2}
_PLURAL = 3

_DEFINITE: dict[Case, tuple[str, str, str, str]] = {
    "nominative": ("der", "die", "das", "die"),
    "accusative": ("den", "die", "das", "die"),
    "dative": ("dem", "der", "dem", "den"),
    "genitive": ("des", "der", "des", "der"),
}
_DIES_ENDING: dict[Case, tuple[str, str, str, str]] = {
    "nominative": ("er", "e", "es", "e"),
    "accusative": ("en", "e", "es", "e"),
    "dative": ("em", "er", "em", "en"),
    "genitive": ("es", "er", "es", "er"),
}
_EIN_ENDING: dict[Case, tuple[str, str, str, str]] = {
    "nominative": ("", "e", "", "e"),
    "accusative": ("en", "e", "", "e"),
    "dative": ("em", "er", "em", "en"),
    "genitive": ("es", "er", "es", "er"),
}
_STRONG: dict[Case, tuple[str, str, str, str]] = {
    "nominative": ("er", "e", "es", "e"),
    "accusative": ("en", "e", "es", "e"),
    "dative": ("em", "er", "em", "en"),
    "genitive": ("en", "er", "en", "er"),
}
_WEAK: dict[Case, tuple[str, str, str, str]] = {
    "nominative": ("e", "e", "e", "en"),
    "accusative": ("en", "e", "e", "en"),
    "dative": ("en", "en", "en", "en"),
    "genitive": ("en", "en", "en", "en"),
}
_MIXED: dict[Case, tuple[str, str, str, str]] = {
    "nominative": ("er", "e", "es", "en"),
    "accusative": ("en", "e", "es", "en"),
    "dative": ("en", "en", "en", "en"),
    "genitive": ("en", "en", "en", "en"),
}

_GENITIVES = {"Bus": "Busses", "Chef": "Chefs", "Sturm": "Sturms"}
"""Genitives that neither take -es after one syllable nor -s after more."""

_CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("an", "dem"): "am",
    ("an", "das"): "ans",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("von", "dem"): "vom",
    ("bei", "dem"): "beim",
}

_IRREGULAR: dict[str, dict[Person, str]] = {
    "sein": {"1s": "bin", "2s": "bist", "3s": "ist", "1p": "sind", "2p": "seid", "3p": "sind"},
    "haben": {"1s": "habe", "2s": "hast", "3s": "hat", "1p": "haben", "2p": "habt", "3p": "haben"},
    "werden": {"1s": "werde", "2s": "wirst", "3s": "wird", "1p": "werden", "2p": "werdet", "3p": "werden"},
    "können": {"1s": "kann", "2s": "kannst", "3s": "kann", "1p": "können", "2p": "könnt", "3p": "können"},
    "müssen": {"1s": "muss", "2s": "musst", "3s": "muss", "1p": "müssen", "2p": "müsst", "3p": "müssen"},
    "wollen": {"1s": "will", "2s": "willst", "3s": "will", "1p": "wollen", "2p": "wollt", "3p": "wollen"},
    "sollen": {"1s": "soll", "2s": "sollst", "3s": "soll", "1p": "sollen", "2p": "sollt", "3p": "sollen"},
    "sollten": {"1s": "sollte", "2s": "solltest", "3s": "sollte", "1p": "sollten", "2p": "solltet", "3p": "sollten"},
    "dürfen": {"1s": "darf", "2s": "darfst", "3s": "darf", "1p": "dürfen", "2p": "dürft", "3p": "dürfen"},
    "mögen": {"1s": "mag", "2s": "magst", "3s": "mag", "1p": "mögen", "2p": "mögt", "3p": "mögen"},
    "möchten": {"1s": "möchte", "2s": "möchtest", "3s": "möchte", "1p": "möchten", "2p": "möchtet", "3p": "möchten"},
    "wissen": {"1s": "weiß", "2s": "weißt", "3s": "weiß", "1p": "wissen", "2p": "wisst", "3p": "wissen"},
}
_PAST_STEMS = {
    "haben": "hatte",
    "können": "konnte",
    "müssen": "musste",
    "wollen": "wollte",
    "sollen": "sollte",
    "dürfen": "durfte",
}
_PAST_ENDINGS: dict[Person, str] = {"1s": "", "2s": "st", "3s": "", "1p": "n", "2p": "t", "3p": "n"}
_WAR: dict[Person, str] = {"1s": "war", "2s": "warst", "3s": "war", "1p": "waren", "2p": "wart", "3p": "waren"}


def _column(noun: Noun, plural: bool) -> int:
    return _PLURAL if plural else _COLUMN[noun.gender]


def decline_noun(noun: Noun, case: Case, *, plural: bool = False) -> str:
    """Returns the bare noun in a case: Mann, Mannes, den Männer-n, den Kollege-n."""
    if plural:
        takes_n = case == "dative" and not noun.de_plural.endswith(("n", "s"))
        return noun.de_plural + ("n" if takes_n else "")
    if noun.weak:
        return noun.de if case == "nominative" else noun.de_plural
    if case != "genitive" or noun.gender == "f":
        return noun.de
    one_syllable = len(re.findall(r"[aeiouyäöü]+", noun.de.lower())) == 1
    hissing = noun.de.endswith(("s", "ß", "x", "z", "sch", "st"))
    return _GENITIVES.get(
        noun.de, noun.de + ("es" if (one_syllable and noun.de[-1] not in "aeiou") or hissing else "s")
    )


def decline_determiner(determiner: str, noun: Noun, case: Case, *, plural: bool = False) -> str:
    """Declines a determiner given in the masculine nominative: der, dieser, ein, kein, mein ...; empty stays empty."""
    column = _column(noun, plural)
    if not determiner or (determiner == "ein" and plural):
        return ""
    if determiner == "der":
        return _DEFINITE[case][column]
    if determiner in ("dieser", "jeder"):
        return determiner[:-2] + _DIES_ENDING[case][column]
    ending = _EIN_ENDING[case][column]
    return ("eur" if determiner == "euer" and ending else determiner) + ending


def decline_adjective(adjective: Adjective, determiner: str, noun: Noun, case: Case, *, plural: bool = False) -> str:
    """Declines an adjective with the endings that the determiner requires: weak, mixed or strong."""
    if not determiner or (determiner == "ein" and plural):
        table = _STRONG
    elif determiner in ("der", "dieser", "jeder"):
        table = _WEAK
    else:
        table = _MIXED
    return adjective.stem + table[case][_column(noun, plural)]


def noun_phrase(
    determiner: str, noun: Noun, case: Case, *, adjective: Adjective | None = None, plural: bool = False
) -> str:
    """Returns determiner, adjective and noun in agreement: dem alten Mann."""
    words = [decline_determiner(determiner, noun, case, plural=plural)]
    if adjective is not None:
        words.append(decline_adjective(adjective, determiner, noun, case, plural=plural))
    words.append(decline_noun(noun, case, plural=plural))
    return " ".join(filter(None, words))


def relative_pronoun(noun: Noun, case: Literal["nominative", "accusative"], *, plural: bool = False) -> str:
    """Returns the relative pronoun of a noun; in these two cases it has the form of the article."""
    return _DEFINITE[case][_column(noun, plural)]


def prepositional(preposition: str, phrase: str) -> str:
    """Returns preposition and noun phrase, contracted as in German: zum Bahnhof, ins Kino, auf den Markt."""
    article, _, rest = phrase.partition(" ")
    contracted = _CONTRACTIONS.get((preposition, article))
    return f"{contracted} {rest}" if contracted else f"{preposition} {phrase}"


def _stem(infinitive: str) -> str:
    return infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]


def conjugate(infinitive: str, er_form: str, person: Person) -> str:
    """Returns the present tense of a verb without its separable prefix; stem changes are taken from the er-form."""
    if infinitive in _IRREGULAR:
        return _IRREGULAR[infinitive][person]
    stem = _stem(infinitive)
    if person == "1s":
        return (stem[:-2] + "l" if infinitive.endswith("eln") else stem) + "e"
    if person == "2s":
        if er_form in ("hält", "tritt"):
            return er_form + "st"
        return er_form if er_form[:-1].endswith(("s", "ß", "x", "z")) else er_form[:-1] + "st"
    if person == "3s":
        return er_form
    if person == "2p":
        needs_e = stem.endswith(("t", "d")) or re.search(r"(ch|[^aeiouäöühlrmn])[mn]$", stem) is not None
        return stem + ("et" if needs_e else "t")
    return infinitive


def present(verb: Verb, person: Person) -> str:
    """Returns the present tense without the separable prefix: (ich) stehe, (er) nimmt."""
    return conjugate(verb.de, verb.er_form, person)


def simple_past(infinitive: str, person: Person) -> str:
    """Returns the simple past of sein, haben and the modals; for other verbs the phrasebook uses the Perfekt.

    Raises:
        KeyError: the verb is none of these.
    """
    if infinitive == "sein":
        return _WAR[person]
    return _PAST_STEMS[infinitive] + _PAST_ENDINGS[person]


def auxiliary(infinitive: str, person: Person) -> str:
    """Returns the present of sein, haben, werden and the modals, including the subjunctives möchten and sollten."""
    return _IRREGULAR[infinitive][person]


def zu_infinitive(verb: Verb) -> str:
    """Returns the infinitive with zu, inside a separable verb: zu lesen, aufzustehen, spazieren zu gehen."""
    if verb.prefix.endswith(" "):
        return f"{verb.prefix}zu {verb.de}"
    return f"{verb.prefix}zu{verb.de}" if verb.prefix else f"zu {verb.de}"

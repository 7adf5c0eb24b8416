"""Inflected forms of a word or phrase, by the endings of its language."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice, product

from attendo.terms.inflection_rules import INFLECTIONS, Inflection, Rule

MAX_FORMS = 64
"""Maximum number of forms of a term; a phrase may have more, of which the first are used."""
_WORD = re.compile(r"\w+(?:-\w+)*|[^\w]+")
_UMLAUTS = {"a": "ä", "o": "ö", "u": "ü", "A": "Ä", "O": "Ö", "U": "Ü"}
_VOWEL = re.compile(r"(?i:(au)|([aou]))(?=[^aeiouäöü]*$)")
_MIN_STEM = 2
_MIN_WORD = 3


def forms_of(text: str, language: str, *, is_verb: bool = False) -> tuple[str, ...]:
    """Returns the forms of a word or phrase.

    Args:
        text: the word or phrase in the dictionary's form.
        language: an ISO 639-1 code; of a language without rules the text is its only form.
        is_verb: whether it is a verb, if its spelling does not show that.

    Returns:
        At most `MAX_FORMS` forms, the text itself first.
    """
    inflection = INFLECTIONS.get(language)
    if inflection is None:
        return (text,)
    tokens = _WORD.findall(text)
    heads = _inflected_places(tokens, inflection)
    if not heads:
        return (text,)
    choices = [
        _word_forms(token, inflection, is_verb=is_verb, is_last=place == heads[-1]) if place in heads else (token,)
        for place, token in enumerate(tokens)
    ]
    forms = dict.fromkeys("".join(chosen) for chosen in islice(product(*choices), 16 * MAX_FORMS))
    return tuple(islice(forms, MAX_FORMS))


def is_infinitive(text: str, language: str) -> bool:
    """Whether a single word is an infinitive by its spelling: German ones are written small and end in -en or -n."""
    return language == "de" and " " not in text and text[:1].islower() and text.endswith(("en", "ern", "eln"))


def _inflected_places(tokens: Sequence[str], inflection: Inflection) -> list[int]:
    """Returns the positions of the words that are inflected."""
    words = [place for place, token in enumerate(tokens) if token[:1].isalpha()]
    for number, place in enumerate(words):
        if number and tokens[place] in inflection.head_first:
            words = words[:number]
            break
    return words if inflection.all_inflected else words[-1:]


def _word_forms(word: str, inflection: Inflection, *, is_verb: bool, is_last: bool) -> tuple[str, ...]:
    if word.isupper() and len(word) > 1:  # an abbreviation: APIs, des PDFs
        return word, f"{word}s"
    if inflection.capital_nouns:
        if word[:1].isupper():
            # In hyphenated words such as Microsoft-Konto the last part is inflected.
            return _with(word, inflection.nouns)
        if is_last and (is_verb or is_infinitive(word, "de")):
            return tuple(dict.fromkeys((*_with(word, inflection.verbs), *_participles(word, inflection))))
        return _with(word, inflection.adjectives)
    if is_verb:
        return _with(word, inflection.verbs)
    return _with(word, inflection.nouns if is_last or not inflection.adjectives else inflection.adjectives)


def _with(word: str, rules: Iterable[Rule]) -> tuple[str, ...]:
    """Returns a word and its forms by the rules with the longest matching ending."""
    small = word.lower()
    fitting = [
        (len(ending), rule)
        for rule in rules
        for ending in rule.endings
        if small.endswith(ending)
        and len(word) >= len(ending) + (len(ending) < _MIN_WORD)
        and len(word) - rule.cut >= _MIN_STEM
    ]
    longest = max((length for length, _ in fitting), default=0)
    forms = [word]
    for length, rule in fitting:
        if length == longest:
            stem = word[: len(word) - rule.cut]
            forms += [stem + added for added in rule.added]
            if rule.umlaut and (changed := _umlauted(stem)) != stem:
                forms += [changed + added for added in rule.added if added not in ("s", "es")]
    return tuple(dict.fromkeys(forms))


def _umlauted(stem: str) -> str:
    """Returns a stem with an umlaut in its last vowel: Band, Bänd; Haus, Häus; Apfel, Äpfel."""
    ending = re.search("e[lrn]$", stem)
    end = ending.start() if ending else len(stem)
    found = _VOWEL.search(stem[:end])
    if found is None:
        return stem
    return stem[: found.start()] + _UMLAUTS[stem[found.start()]] + stem[found.start() + 1 :]


def _participles(infinitive: str, inflection: Inflection) -> list[str]:
    """Returns participles and `zu` infinitives: geladen, heruntergeladen, herunterzuladen, installiert, verwendet."""
    prefix = max((each for each in inflection.prefixes if infinitive.startswith(each)), key=len, default="")
    verb = infinitive[len(prefix) :]
    stem = verb[: len(verb) - (2 if verb.endswith("en") else 1)]
    if len(stem) < _MIN_STEM:
        return []
    is_unmarked = verb.endswith("ieren") or (not prefix and verb.startswith(inflection.unmarked))
    participles = [prefix + ("" if is_unmarked else "ge") + stem + last for last in _participle_endings(stem)]
    infinitives = [f"{prefix}zu{verb}"] if prefix else []
    return [
        *participles,
        *infinitives,
        *(each + added for each in participles for added in ("e", "en", "er", "es", "em")),
    ]


def _participle_endings(stem: str) -> tuple[str, ...]:
    return ("et", "en") if stem.endswith(("t", "d", "n", "m")) else ("t", "en")

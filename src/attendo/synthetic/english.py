"""English inflection for the phrasebook: plurals, verb forms, articles (British spelling).

Rules with the exceptions that the phrasebook's lexicon needs; this is not a general morphology.
"""

from typing import Literal

Person = Literal["1s", "2s", "3s", "1p", "2p", "3p"]

_VOWELS = "aeiou"
_DOUBLING = frozenset({"forget", "get", "put", "shop", "stop", "swim", "travel"})
"""Verbs whose last consonant doubles before -ing and -ed."""


def plural(noun: str) -> str:
    """Returns the regular plural; irregular ones are in the lexicon."""
    if noun.endswith(("s", "x", "ch", "sh", "z")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in _VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


def with_article(words: str) -> str:
    """Puts "a" or "an" before the words, by sound: an umbrella, a university."""
    first = words.lower()
    sounds_like_vowel = first[0] in _VOWELS and not first.startswith(("uni", "eu", "one", "use"))
    return f"an {words}" if sounds_like_vowel or first.startswith("hour") else f"a {words}"


def _on_head(verb: str, head: str) -> str:
    """Replaces the head of a verb with particle by an inflected one: pick up, picks up."""
    _, space, particle = verb.partition(" ")
    return head + space + particle


def third_person(verb: str) -> str:
    """Returns the third person singular of the simple present: goes, tries, picks up."""
    head = verb.partition(" ")[0]
    if head in ("be", "have"):
        return _on_head(verb, {"be": "is", "have": "has"}[head])
    if head.endswith(("s", "x", "ch", "sh", "o")):
        return _on_head(verb, head + "es")
    if head.endswith("y") and head[-2] not in _VOWELS:
        return _on_head(verb, head[:-1] + "ies")
    return _on_head(verb, head + "s")


def ing_form(verb: str) -> str:
    """Returns the present participle: making, swimming, picking up."""
    head = verb.partition(" ")[0]
    if head in _DOUBLING:
        return _on_head(verb, head + head[-1] + "ing")
    if head.endswith("ie"):
        return _on_head(verb, head[:-2] + "ying")
    if head.endswith("e") and not head.endswith(("ee", "be")):
        return _on_head(verb, head[:-1] + "ing")
    return _on_head(verb, head + "ing")


def ed_form(verb: str) -> str:
    """Returns the regular simple past and past participle; irregular ones are in the lexicon."""
    head = verb.partition(" ")[0]
    if head in _DOUBLING:
        return _on_head(verb, head + head[-1] + "ed")
    if head.endswith("e"):
        return _on_head(verb, head + "d")
    if head.endswith("y") and head[-2] not in _VOWELS:
        return _on_head(verb, head[:-1] + "ied")
    return _on_head(verb, head + "ed")


def be(person: Person) -> str:
    """Returns the simple present of "be"."""
    return {"1s": "am", "3s": "is"}.get(person, "are")


def was(person: Person) -> str:
    """Returns the simple past of "be"."""
    return "was" if person in ("1s", "3s") else "were"


def have(person: Person) -> str:
    """Returns the simple present of "have"."""
    return "has" if person == "3s" else "have"


def do(person: Person) -> str:
    """Returns the simple present of the auxiliary "do"."""
    return "does" if person == "3s" else "do"

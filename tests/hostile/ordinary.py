"""Ordinary sentences, drawn: what the cost of hostile text is measured by."""

from collections.abc import Mapping
from random import Random

_ENGLISH = (
    ("My brother", "The old man", "Our neighbour", "The young teacher", "Her daughter", "A tired woman", "The boy"),
    (" reads", " buys", " finds", " shows us", " carries", " is looking for", " has forgotten", " wants to sell"),
    (" a book", " two red apples", " the newspaper", " his first bicycle", " a small dog", " some bread", " the key"),
    (" in the garden", " at the station", " behind the house", " near the river", " in a quiet street", ""),
    (" every morning", " on Sundays", " after dinner", " before it rains", " because nobody helps him", ""),
)
_GERMAN = (
    ("Mein Bruder", "Der alte Mann", "Unser Nachbar", "Die junge Lehrerin", "Ihre Tochter", "Eine Frau", "Der Junge"),
    (" liest", " kauft", " findet", " zeigt uns", " trägt", " sucht", " vergisst", " verkauft"),
    (" jeden Morgen", " am Sonntag", " nach dem Essen", " vor der Schule", " heute Abend", ""),
    (" ein Buch", " zwei rote Äpfel", " die Zeitung", " das erste Fahrrad", " einen kleinen Hund", " den Schlüssel"),
    (" im Garten", " am Bahnhof", " hinter dem Haus", " am Fluss", " in einer ruhigen Straße", ""),
)
_PARTS: Mapping[str, tuple[tuple[str, ...], ...]] = {"en": _ENGLISH, "de": _GERMAN}


def sentence(random: Random, language: str = "en") -> str:
    """A sentence of English or German."""
    return "".join(random.choice(parts) for parts in _PARTS[language]) + "."


def sentences(random: Random, size: int, language: str = "en") -> str:
    """Sentences of about so many characters together, in one line."""
    found: list[str] = []
    length = 0
    while length < size:
        found.append(sentence(random, language))
        length += len(found[-1]) + 1
    return " ".join(found)

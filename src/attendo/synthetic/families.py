"""The actions in the phrasebook: families of verbs with the objects that suit them, read from `families.toml`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from attendo.synthetic import german, lexicon
from attendo.synthetic.words import Adjective, Noun, Phrase, Verb, verbs

BARE = Phrase("", "")


@dataclass(frozen=True, kw_only=True)
class Family:
    """Verbs that take the same kinds of objects, and the uses that make sense for them."""

    verbs: tuple[Verb, ...]
    uses: str
    """The uses of the family, a letter each:

    h habit, o how often, n going on or arranged, e past event, w wish or plan, p pleasure, d duty, r request,
    x request not to, l what one likes doing, s what one goes shopping for.
    """
    nouns: tuple[Noun, ...] = ()
    adjectives: tuple[Adjective, ...] = ()
    determiners: str = "a"
    """Possible determiners, a letter each: a (indefinite), t (the), s (this), m (subject's possessive), 0 (none)."""
    case: german.Case = "accusative"
    preposition: Phrase = BARE
    """Preposition of the object: wait for/auf."""
    complements: tuple[Phrase, ...] = ()
    """Fixed complements in place of a noun: to the cinema/ins Kino; an empty one for a verb alone."""
    brief: bool = False
    """Whether the action takes a moment only: nobody opens a window next month."""
    weight: int = 1
    """Relative frequency of the family."""


def _family(row: Mapping[str, Any]) -> Family:
    """Reads a family from a table of the file; without nouns and complements its verbs stand alone."""
    tables = {"verbs", "nouns", "adjectives", "preposition", "complements"}
    complements = lexicon.phrases(row.get("complements", ""))
    return Family(
        verbs=verbs(row["verbs"]),
        nouns=lexicon.nouns(row.get("nouns", "")),
        adjectives=lexicon.adjectives(row.get("adjectives", "")),
        preposition=lexicon.phrases(row["preposition"])[0] if "preposition" in row else BARE,
        complements=complements if complements or "nouns" in row else (BARE,),
        **{key: value for key, value in row.items() if key not in tables},
    )


_FAMILIES = lexicon.read_data("families.toml")
OBJECT_FAMILIES = tuple(map(_family, _FAMILIES["objects"]))
"""Families of verbs that take an object."""
ACTIVITY_FAMILIES = tuple(map(_family, _FAMILIES["activities"]))
"""Families of verbs with a fixed complement or none: going, playing, learning."""

"""What people do in the phrasebook: families of verbs with the objects that suit them, read from `families.toml`."""

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
    """What it can be said about, a letter each:

    h habit, o how often, n going on or arranged, e past event, w wish or plan, p pleasure, d duty, r request,
    x request not to, l what one likes doing, s what one goes shopping for.
    """
    nouns: tuple[Noun, ...] = ()
    adjectives: tuple[Adjective, ...] = ()
    determiners: str = "a"
    """a (indefinite), t (the), s (this), m (the subject's own), 0 (none)."""
    case: german.Case = "accusative"
    preposition: Phrase = BARE
    """Before the object: wait for/auf."""
    complements: tuple[Phrase, ...] = ()
    """Fixed complements in place of a noun: to the cinema/ins Kino; a bare one for a verb alone."""
    brief: bool = False
    """Done in a moment: nobody opens a window next month."""
    weight: int = 1
    """How often it is drawn against the others."""


def _family(row: Mapping[str, Any]) -> Family:
    """A family as the file has it; one without nouns and complements is of verbs that stand alone."""
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
"""What people do with things and to each other."""
ACTIVITY_FAMILIES = tuple(map(_family, _FAMILIES["activities"]))
"""Going, playing, learning: verbs with a fixed complement, or alone."""

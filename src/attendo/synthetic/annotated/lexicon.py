"""The words of the sentences, in two halves that share none: heads are chosen on one and scored on the other.

The words are in `lexicon.toml`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from attendo.synthetic.lexicon import read_data
from attendo.synthetic.words import Adjective, Noun, Phrase, Verb, adjectives, nouns, phrases, verbs


@dataclass(frozen=True, kw_only=True)
class ParticleVerb:
    """A particle verb in both languages, with the nouns that can be its object."""

    en: str
    en_particle: str
    de: str
    de_particle: str
    objects: tuple[Noun, ...]


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """The words of one half of the sentences."""

    men: tuple[Noun, ...]
    women: tuple[Noun, ...]
    things: tuple[Noun, ...]
    places: tuple[Noun, ...]
    adjectives: tuple[Adjective, ...]
    """Adjectives that describe things."""
    particle_verbs: tuple[ParticleVerb, ...]
    made: tuple[tuple[Noun, Noun, Phrase], ...]
    """A cause, the noun it affects and the resulting quality: the music made the evening pleasant."""
    deeds: tuple[Verb, ...]
    """Actions on a thing; their German perfect is formed with *haben*."""
    states: tuple[Phrase, ...]
    """States of a thing, such as *very expensive*."""
    moods: tuple[Phrase, ...]
    """States of a person, such as *tired*."""
    plural_owners: tuple[Noun, ...]
    animals: tuple[Noun, ...]
    belongings: tuple[Noun, ...]
    times: tuple[Phrase, ...]
    """Expressions of time that begin a sentence; in German the verb follows them."""
    days: tuple[Phrase, ...]
    """Adverbs of time in a relative clause, such as *recently*."""
    openings: tuple[Phrase, ...]
    """Clauses that precede a sentence without changing its word order."""
    tails: tuple[Phrase, ...]
    """Clauses that follow a sentence."""


_READERS: Mapping[str, Callable[[str], tuple[Any, ...]]] = {
    "nouns": nouns,
    "adjectives": adjectives,
    "verbs": verbs,
    "phrases": phrases,
}


def lexicon(*, held_out: bool) -> Lexicon:
    """Reads one half of the words."""
    tables = read_data("annotated/lexicon.toml")
    words = {name: read(table) for kind, read in _READERS.items() for name, table in tables[kind].items()}
    words["particle_verbs"] = tuple(map(_particle_verb, tables["lines"]["particle_verbs"].strip().splitlines()))
    words["made"] = tuple(map(_effect, tables["lines"]["made"].strip().splitlines()))
    return Lexicon(**{name: entries[held_out::2] for name, entries in words.items()})


def _particle_verb(line: str) -> ParticleVerb:
    both, objects = line.split(":")
    (en, en_particle), (de, de_particle) = (side.split() for side in both.split("="))
    return ParticleVerb(
        en=en,
        en_particle=en_particle,
        de=de,
        de_particle=de_particle,
        objects=nouns(objects.replace("; ", "\n")),
    )


def _effect(line: str) -> tuple[Noun, Noun, Phrase]:
    cause, affected, quality = line.split(";")
    [cause_noun], [affected_noun] = nouns(cause), nouns(affected)
    return cause_noun, affected_noun, phrases(quality)[0]

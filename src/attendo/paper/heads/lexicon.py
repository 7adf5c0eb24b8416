"""The words of the sentences, in two halves that share none: heads are chosen on one and scored on the other.

The words are in `lexicon.toml`.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from attendo.synthetic.words import Adjective, Noun, Phrase, Verb, adjectives, nouns, phrases, verbs


@dataclass(frozen=True, kw_only=True)
class ParticleVerb:
    """A verb with its particle far behind it, in both languages, and what it is done to."""

    en: str
    en_particle: str
    de: str
    de_particle: str
    objects: tuple[Noun, ...]


@dataclass(frozen=True, kw_only=True)
class Lexicon:
    """What one half of the sentences is made of."""

    men: tuple[Noun, ...]
    women: tuple[Noun, ...]
    things: tuple[Noun, ...]
    places: tuple[Noun, ...]
    adjectives: tuple[Adjective, ...]
    """Of things."""
    particle_verbs: tuple[ParticleVerb, ...]
    made: tuple[tuple[Noun, Noun, Phrase], ...]
    """What made what how."""
    deeds: tuple[Verb, ...]
    """What can be done to a thing, told by *haben*."""
    states: tuple[Phrase, ...]
    """Of a thing: very expensive, in the cupboard."""
    moods: tuple[Phrase, ...]
    """Of a person."""
    plural_owners: tuple[Noun, ...]
    animals: tuple[Noun, ...]
    belongings: tuple[Noun, ...]
    times: tuple[Phrase, ...]
    """Before a sentence."""
    days: tuple[Phrase, ...]
    openings: tuple[Phrase, ...]
    """Before one that is left as it is."""
    tails: tuple[Phrase, ...]
    """Behind a sentence."""


_READERS: Mapping[str, Callable[[str], tuple[Any, ...]]] = {
    "nouns": nouns,
    "adjectives": adjectives,
    "verbs": verbs,
    "phrases": phrases,
}


def lexicon(*, held_out: bool) -> Lexicon:
    """One half of the words."""
    tables = tomllib.loads(files("attendo.paper.heads").joinpath("lexicon.toml").read_text(encoding="utf-8"))
    words = {name: read(table) for kind, read in _READERS.items() for name, table in tables[kind].items()}
    words["particle_verbs"] = tuple(map(_particle_verb, tables["lines"]["particle_verbs"].strip().splitlines()))
    words["made"] = tuple(map(_made, tables["lines"]["made"].strip().splitlines()))
    return Lexicon(**{name: each[held_out::2] for name, each in words.items()})


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


def _made(line: str) -> tuple[Noun, Noun, Phrase]:
    cause, what, how = line.split(";")
    [made_by], [made] = nouns(cause), nouns(what)
    return made_by, made, phrases(how)[0]

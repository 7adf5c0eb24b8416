"""People, places and lines of letters in several languages, to replace those that corpora repeat.

A corpus may know two people and one city. A model trained on it does not know that *Müller* can be a name. The tables
are in `proper_names.toml`; no corpus went into them.
"""

import random
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from attendo.text.made_up import name

Forms = tuple[str, str]
"""A name in the source's language and in the target's."""

TITLES = (
    "Mr", "Mrs", "Ms", "Dr", "Prof", "Mme", "Mlle", "Herr", "Herrn", "Frau", "Monsieur", "Madame", "Mademoiselle"
)  # fmt: skip
"""Titles before a name, except French's *M.*, which is one only because of its point."""
BEHIND_TITLE = re.compile(rf"(?<![\w-])(?:M\.|(?:{'|'.join(TITLES)})\.?)[ \u00a0]$")
"""Pattern of the end of a text that a name follows."""

_WORD = re.compile(r"(?<![\w-])[^\W\d_]+(?![\w-])")
_SLOT = re.compile(r"\{((\w+?)\d?)\}")
_SIBILANTS = ("s", "ß", "x", "z", "ce")
_VOWELS = "aeiouàâäéèêëîïôöûü"
_MADE_UP = 0.2
_WITH_TITLE, _WITH_FAMILY = 0.15, 0.5


@dataclass(frozen=True, kw_only=True)
class ProperNames:
    """The tables for a pair of languages."""

    languages: tuple[str, str]
    males: Mapping[str, Forms]
    """Given names, by their form in the source's language."""
    females: Mapping[str, Forms]
    families: Mapping[str, Forms]
    titles: tuple[Forms, Forms]
    """The titles of men and of women."""
    places: Mapping[str, Forms]
    letters: tuple[Forms, ...]
    """Lines with names in braces."""

    def known(self, form: str) -> list[Forms]:
        """The possible forms of a source-language name in both languages: those of the tables, or the same in both."""
        kinds = (self.males, self.females, self.places, self.families)
        return list(dict.fromkeys(forms for kind in kinds if form in kind for forms in (kind[form], (form, form))))


@lru_cache(maxsize=1)
def _read() -> dict[str, Any]:
    return tomllib.loads(files("attendo.text").joinpath("proper_names.toml").read_text(encoding="utf-8"))


def known_languages() -> tuple[str, ...]:
    """The languages of the tables, as codes of two letters."""
    return tuple(_read()["languages"])


@lru_cache(maxsize=1)
def given_names() -> frozenset[str]:
    """Given names that are the same in all languages of the tables."""
    people = _read()["people"]
    return frozenset(people["male"].split() + people["female"].split()) - set(
        re.findall(r"\w+", people["female_forms"])
    )


def has_names(language: str) -> bool:
    """Whether the tables have a language, by its code, as `de` or `de-AT`."""
    return _primary(language) in known_languages()


def _primary(language: str) -> str:
    return language.split("-")[0].lower()


@lru_cache(maxsize=4)
def proper_names(source_language: str, target_language: str) -> ProperNames:
    """The tables for a pair of languages.

    Raises:
        ValueError: the tables lack one of them.
    """
    tables, languages = _read(), (_primary(source_language), _primary(target_language))
    if unknown := [language for language in languages if not has_names(language)]:
        raise ValueError(f"no table of names has {' or '.join(unknown)}; there are {', '.join(known_languages())}")
    columns = [tables["languages"].index(language) for language in languages]

    def rows(table: str) -> list[Forms]:
        cells = ([cell.strip() for cell in line.split(" | ")] for line in table.strip().splitlines())
        return [(row[columns[0]], row[columns[1]]) for row in cells]

    def by_source(alike: str, others: str = "") -> dict[str, Forms]:
        return {forms[0]: forms for forms in [*((word, word) for word in alike.split()), *rows(others)]}

    people, places = tables["people"], tables["places"]
    return ProperNames(
        languages=languages,
        males=by_source(people["male"]),
        females=by_source(people["female"], people["female_forms"]),
        families=by_source(people["family"]),
        titles=(rows(tables["titles"]["male"])[0], rows(tables["titles"]["female"])[0]),
        places=by_source(places["same"], places["forms"]),
        letters=tuple(rows(tables["letters"]["lines"])),
    )


def with_other_names(source: str, target: str, names: ProperNames, rng: random.Random) -> Forms:
    """The pair with other people and cities in place of those that occur equally often on both sides.

    German's genitive follows (*Toms* becomes *Agnes’*), and so does French elision (*de Tom*, *d’Alice*).
    """
    for word in dict.fromkeys(_WORD.findall(source)):
        for old in (forms for form in _nominatives(word, names.languages[0]) for forms in names.known(form)):
            sides = list(zip((source, target), old, names.languages, strict=True))
            found = [_occurrences(*side) for side in sides]
            if found[0] and len(found[0]) == len(found[1]):
                new = _another(old, sides, found, names, rng)
                source, target = (_renamed(*side, form) for side, form in zip(sides, new, strict=True))
                break
    return source, target


def letter_line(names: ProperNames, rng: random.Random) -> Forms:
    """A salutation, a closing or an introduction, with names."""
    line = rng.choice(names.letters)
    drawn = {slot: _drawn(kind, names, rng) for slot, kind in _SLOT.findall(line[0])}
    return _filled(line, drawn, 0, names), _filled(line, drawn, 1, names)


def _filled(line: Forms, drawn: Mapping[str, Forms], side: int, names: ProperNames) -> str:
    return _elided(_SLOT.sub(lambda slot: drawn[slot[1]][side], line[side]), names.languages[side])


def _drawn(kind: str, names: ProperNames, rng: random.Random) -> Forms:
    """A name of a kind: `male`, `female`, `person` with a family's name, `family`, `place`."""
    match kind:
        case "place":
            return rng.choice(list(names.places.values()))
        case "family":
            return _from(names.families, rng)
        case "person":
            return _joined(_drawn(rng.choice(("male", "female")), names, rng), _drawn("family", names, rng))
        case _:
            return _from(names.males if kind == "male" else names.females, rng)


def _from(table: Mapping[str, Forms], rng: random.Random) -> Forms:
    """A name of a table, or occasionally an invented one."""
    if rng.random() < _MADE_UP:
        made_up = name(rng)
        return made_up, made_up
    return rng.choice(list(table.values()))


def _another(
    old: Forms,
    sides: list[tuple[str, str, str]],
    found: list[list[re.Match[str]]],
    names: ProperNames,
    rng: random.Random,
) -> Forms:
    """Another name of the same kind; of a person also with the family's name, or by that and a title."""
    if old[0] in names.places:
        return _drawn("place", names, rng)
    places = ((text, match.start()) for (text, _, _), matches in zip(sides, found, strict=True) for match in matches)
    if old[0] in names.families or any(BEHIND_TITLE.search(text[:start]) for text, start in places):
        return _drawn("family", names, rng)
    kind = "male" if old[0] in names.males else "female"
    way = rng.random()
    if way < _WITH_TITLE and _may_have_title(kind, sides, found):
        return _joined(names.titles[kind == "female"], _drawn("family", names, rng))
    given = _drawn(kind, names, rng)
    return _joined(given, _drawn("family", names, rng)) if way < _WITH_FAMILY else given


def _may_have_title(kind: str, sides: list[tuple[str, str, str]], found: list[list[re.Match[str]]]) -> bool:
    """Whether a title fits everywhere: not in an address, and a man's in German only in the nominative."""
    for (text, form, language), matches in zip(sides, found, strict=True):
        for match in matches:
            if text[match.end() : match.end() + 1] == "," or text[: match.start()].endswith(", ") or match[0] != form:
                return False
            if kind == "male" and language == "de" and match.start():
                return False
    return True


def _joined(first: Forms, second: Forms) -> Forms:
    return f"{first[0]} {second[0]}", f"{first[1]} {second[1]}"


def _nominatives(word: str, language: str) -> tuple[str, ...]:
    """The possible base forms of a word: in German, a name has an s in the genitive."""
    return (word, word[:-1]) if language == "de" and word.endswith("s") else (word,)


def _occurrences(text: str, form: str, language: str) -> list[re.Match[str]]:
    return [word for word in _WORD.finditer(text) if form in _nominatives(word[0], language)]


def _renamed(text: str, form: str, language: str, new: str) -> str:
    """The text with another name for `form`, in the same case."""

    def renamed(word: re.Match[str]) -> str:
        if form not in _nominatives(word[0], language):
            return word[0]
        return new if word[0] == form else _genitive(new)

    return _elided(_WORD.sub(renamed, text), language, new)


def _genitive(german: str) -> str:
    return german + ("’" if german.endswith(_SIBILANTS) else "s")


def _elided(text: str, language: str, name: str = "") -> str:
    """French text with *d’* and *qu’* before a vowel, *de* and *que* before a consonant; before `name`, if given.

    H and Y are left unchanged, since they depend on the word.
    """
    if language != "fr":
        return text
    behind = re.escape(name)
    text = re.sub(rf"\b([Dd]|[Qq]u)e (?={behind})(?=[{_VOWELS}{_VOWELS.upper()}])", r"\1'", text)
    return re.sub(rf"\b([Dd]|[Qq]u)['’](?={behind})(?=[^\Why{_VOWELS}HY{_VOWELS.upper()}\d_])", r"\1e ", text)

"""The phrasebook's vocabulary in semantic classes: things that can be eaten, worn, read, visited.

The classes keep the templates from making absurd sentences. Their words are in `lexicon.toml`.
"""

import tomllib
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from attendo.synthetic import words
from attendo.synthetic.words import Adjective, Noun, Phrase


def read_data(name: str) -> dict[str, Any]:
    """Reads one of the phrasebook's TOML files.

    Args:
        name: name of the file.
    """
    return tomllib.loads(files("attendo.synthetic").joinpath(name).read_text(encoding="utf-8"))


_TABLES: Mapping[str, Mapping[str, str]] = read_data("lexicon.toml")


def _expanded(kind: str, table: str) -> str:
    """Replaces the names of classes in a table by the words of these classes."""
    return "\n".join(
        _expanded(kind, _TABLES[kind][line.strip()[1:]]) if line.strip().startswith("@") else line
        for line in table.splitlines()
    )


def nouns(table: str) -> tuple[Noun, ...]:
    """Reads a table of nouns, in which `@CLASS` stands for the nouns of a class."""
    return words.nouns(_expanded("nouns", table))


def adjectives(table: str) -> tuple[Adjective, ...]:
    """Reads a table of adjectives, in which `@CLASS` stands for the adjectives of a class."""
    return words.adjectives(_expanded("adjectives", table))


def phrases(table: str) -> tuple[Phrase, ...]:
    """Reads a table of phrases, in which `@CLASS` stands for the phrases of a class."""
    return words.phrases(_expanded("phrases", table))


SNACKS = nouns("@snacks")
DISHES = nouns("@dishes")
MARKET_GOODS = nouns("@market_goods")
GROCERIES = nouns("@groceries")
WEIGHED = nouns("@weighed")
DRINKS = nouns("@drinks")
GLASS_DRINKS = nouns("@glass_drinks")
CUP_DRINKS = nouns("@cup_drinks")
CONTAINERS = nouns("@containers")
GARMENTS = nouns("@garments")
CLOTHES = nouns("@clothes")
WOMENS_CLOTHES = nouns("@womens_clothes")
BELONGINGS = nouns("@belongings")
PAPERS = nouns("@papers")
LITERATURE = nouns("@literature")
RELATIVES = nouns("@relatives")
ACQUAINTANCES = nouns("@acquaintances")
PEOPLE = nouns("@people")
BODY_PARTS = nouns("@body_parts")
EVENTS = nouns("@events")
JOYS = nouns("@joys")
NOISES = nouns("@noises")
RENTALS = nouns("@rentals")
SIGHTS = nouns("@sights")
TOWN_PLACES = nouns("@town_places")
VEHICLES = nouns("@vehicles")
FURNITURE = nouns("@furniture")
HOTEL_FITTINGS = nouns("@hotel_fittings")
COLOURS = adjectives("@colours")
SIZES = adjectives("@sizes")
AGES = adjectives("@ages")
CONDITIONS = adjectives("@conditions")
FRESH = adjectives("@fresh")
PRICES = adjectives("@prices")
LITERATURE_QUALITIES = adjectives("@literature_qualities")
GROCERY_QUALITIES = adjectives("@grocery_qualities")
PEOPLE_QUALITIES = adjectives("@people_qualities")
JOY_QUALITIES = adjectives("@joy_qualities")
BUILDING_QUALITIES = adjectives("@building_qualities")
LANGUAGES = phrases("@languages")
CITIES = phrases("@cities")
WOMEN = ("Anna", "Maria", "Julia", "Lena", "Sophie")
MEN = ("Peter", "Paul", "Thomas", "Max", "Felix")
SURNAMES = ("Weber", "Schmidt", "Fischer", "Wagner", "Becker", "Hoffmann")

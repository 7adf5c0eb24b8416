"""The phrasebook's words: an English and a German side, read from compact tables of the lexicon.

A table has one word per line, German first:

    der Apfel/Äpfel = apple              noun: article, singular/plural; the English plural where irregular
    der Kollege*/Kollegen = colleague    * weak noun: den Kollegen, dem Kollegen
    +der Schuh/Schuhe = shoe             + always said in the plural
    die Milch = milk                     no plural
    teuer/teur = expensive               adjective, with the stem its endings join where that differs
    ab|holen holt abgeholt = pick_up     verb: infinitive (prefix|verb), er-form, participle (+ with sein), then
    gehen geht +gegangen = go went gone  English base, past and participle where irregular; _ for a space
"""

from dataclasses import dataclass
from typing import Literal

from attendo.synthetic import english

Gender = Literal["m", "f", "n"]

_GENDERS: dict[str, Gender] = {"der": "m", "die": "f", "das": "n"}


@dataclass(frozen=True)
class Phrase:
    """Words in both languages that are not inflected."""

    en: str
    de: str


@dataclass(frozen=True, kw_only=True)
class Noun:
    """A noun with those of its forms that cannot be derived."""

    de: str
    en: str
    gender: Gender
    de_plural: str = ""
    en_plural: str = ""
    weak: bool = False
    """Whether the noun takes -(e)n in every case but the nominative singular."""
    always_plural: bool = False
    """Whether the noun is only used in the plural, such as shoes and gloves."""


@dataclass(frozen=True, kw_only=True)
class Adjective:
    """An adjective; German endings are added to `stem` (teuer, ein teur-er Mantel)."""

    de: str
    en: str
    stem: str


@dataclass(frozen=True, kw_only=True)
class Verb:
    """A verb with its principal parts in both languages."""

    de: str
    """Infinitive without separable prefix."""
    prefix: str
    """Separable prefix; empty for most verbs, with a trailing space if written separately (spazieren gehen)."""
    er_form: str
    """Third person singular of the present, without the prefix."""
    participle: str
    with_sein: bool
    en: str
    en_past: str
    en_participle: str

    @property
    def infinitive(self) -> str:
        """The infinitive as in a dictionary: abholen."""
        return self.prefix + self.de


def _rows(table: str) -> list[tuple[str, str]]:
    """Splits a table into its (German, English) cells."""
    rows = []
    for line in filter(None, map(str.strip, table.splitlines())):
        german, _, english_side = line.partition(" = ")
        rows.append((german.strip(), english_side.strip()))
    return rows


def nouns(table: str) -> tuple[Noun, ...]:
    """Reads a table of nouns."""
    result = []
    for german, english_side in _rows(table):
        article, _, forms = german.lstrip("+").partition(" ")
        singular, _, de_plural = forms.partition("/")
        en, _, en_plural = english_side.partition("/")
        result.append(
            Noun(
                de=singular.rstrip("*"),
                en=en,
                gender=_GENDERS[article],
                de_plural=de_plural,
                en_plural=en_plural or english.plural(en),
                weak=singular.endswith("*"),
                always_plural=german.startswith("+"),
            )
        )
    return tuple(result)


def adjectives(table: str) -> tuple[Adjective, ...]:
    """Reads a table of adjectives."""
    result = []
    for german, en in _rows(table):
        base, _, stem = german.partition("/")
        result.append(Adjective(de=base, en=en, stem=stem or base))
    return tuple(result)


def verb(row: str) -> Verb:
    """Reads one row of a table of verbs."""
    ((german, english_side),) = _rows(row)
    infinitive, er_form, participle = (cell.replace("_", " ") for cell in german.split())
    prefix, bar, base = infinitive.rpartition("|")
    forms = [cell.replace("_", " ") for cell in english_side.split()]
    past = forms[1] if len(forms) > 1 else english.ed_form(forms[0])
    return Verb(
        de=base,
        prefix=prefix if bar else "",
        er_form=er_form,
        participle=participle.lstrip("+"),
        with_sein=participle.startswith("+"),
        en=forms[0],
        en_past=past,
        en_participle=forms[2] if len(forms) > 2 else past,
    )


def verbs(table: str) -> tuple[Verb, ...]:
    """Reads a table of verbs."""
    return tuple(verb(f"{german} = {en}") for german, en in _rows(table))


def phrases(table: str) -> tuple[Phrase, ...]:
    """Reads a table of phrases."""
    return tuple(Phrase(en=en, de=german) for german, en in _rows(table))

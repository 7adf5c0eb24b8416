"""The inflection of words in some languages, as endings: data for `inflection`.

A rule applies to words with one of its endings: a number of letters is cut off, and each of the listed endings is
appended. All rules with the longest matching ending are used. They are deliberately broad, since they serve to
recognise words and to offer forms to a model, which knows better which one a sentence needs; irregular forms are given
in the glossary's column `forms`.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that replaces the ending of words."""

    endings: tuple[str, ...]
    """The ending of the words in lower case; `""` for all others. From three letters on it may be the whole word."""
    cut: int
    """Number of letters that are removed."""
    added: tuple[str, ...]
    """The endings that are put on instead."""
    umlaut: bool = False
    """Whether the forms also come with an umlaut in the last a, o, u or au of the stem."""


@dataclass(frozen=True, slots=True)
class Inflection:
    """The inflection of a language."""

    nouns: tuple[Rule, ...]
    """Rules for nouns, or for all words in languages without other rules."""
    verbs: tuple[Rule, ...] = ()
    """Rules for infinitives."""
    adjectives: tuple[Rule, ...] = ()
    """Rules for adjectives and other words before a noun."""
    capital_nouns: bool = False
    """Whether nouns, and they alone, begin with a capital."""
    head_first: tuple[str, ...] = ()
    """Words that begin a modifier after its noun: `des` in `Name des Servers`. The modifier is not inflected."""
    all_inflected: bool = False
    """Whether all words of a phrase are inflected, rather than only the last."""
    prefixes: tuple[str, ...] = ()
    """Verb prefixes after which participles have `ge`: `herunter` in `herunterladen`, `heruntergeladen`."""
    unmarked: tuple[str, ...] = ()
    """Beginnings of verbs whose participles have no `ge`."""


_ER_PLURALS = (
    "amt", "bad", "band", "bild", "blatt", "brett", "buch", "dach", "dorf", "fach", "fass", "feld", "geist", "geld",
    "gesicht", "gespenst", "glas", "glied", "gott", "grab", "gras", "gut", "haus", "holz", "horn", "huhn", "kalb",
    "kind", "kleid", "korn", "kraut", "lamm", "land", "leib", "licht", "lied", "loch", "mal", "mann", "maul",
    "nest", "pfand", "rad", "rand", "rind", "schild", "schloss", "schwert", "strauch", "tuch", "htum", "rrtum",
    "volk", "wald", "weib", "wort", "wurm",
)  # fmt: skip
"""German nouns whose plural may end in -er, a closed class; elsewhere -er makes another word, as Eisenbahner."""

_GERMAN = Inflection(
    nouns=(
        Rule(_ER_PLURALS, 0, ("s", "es", "e", "en", "er", "ern"), umlaut=True),
        Rule(("ung", "heit", "keit", "schaft", "ion", "tät", "ik", "ur", "enz", "anz", "ei", "thek"), 0, ("en",)),
        Rule(("in",), 0, ("nen", "s", "e", "en")),
        Rule(("nis",), 0, ("se", "ses", "sen")),
        Rule(("e",), 0, ("n", "ns")),
        Rule(("er", "el"), 0, ("", "s", "n"), umlaut=True),
        Rule(("chen", "lein"), 0, ("s",)),
        Rule(("en",), 0, ("", "s"), umlaut=True),
        Rule(("um",), 2, ("en", "a", "ums")),
        Rule(("aum", "aus"), 0, ("s", "es", "e", "en"), umlaut=True),
        Rule(("us",), 0, ("se", "ses", "sen")),
        Rule(("us",), 2, ("en", "i")),
        Rule(("ma",), 0, ("s", "ta")),
        Rule(("ma",), 1, ("en",)),
        Rule(("a",), 0, ("s",)),
        Rule(("a",), 1, ("en",)),
        Rule(("i", "o", "u", "y"), 0, ("s",)),
        Rule(("o",), 1, ("en",)),
        Rule(("s", "ß", "x", "z"), 0, ("es", "e", "en"), umlaut=True),
        Rule(("s",), 0, ("se", "ses", "sen")),
        Rule(("",), 0, ("s", "es", "e", "en"), umlaut=True),
    ),
    verbs=(
        Rule(("en",), 2, ("e", "st", "t", "te", "ten", "end", "ende", "enden")),
        Rule(("ten", "den", "nen"), 2, ("e", "est", "et", "t", "ete", "eten", "end", "ende", "enden", "te", "ten")),
        Rule(("ern", "eln"), 1, ("e", "st", "t", "te", "ten", "nd", "nde", "nden")),
        Rule(("eln",), 3, ("le",)),
    ),
    adjectives=(
        Rule(("er", "es", "en", "em"), 2, ("", "e", "er", "es", "en", "em")),
        Rule(("e",), 1, ("", "e", "er", "es", "en", "em")),
        Rule(("el",), 2, ("le", "ler", "les", "len", "lem")),
        Rule(("",), 0, ("e", "er", "es", "en", "em")),
    ),
    capital_nouns=True,
    head_first=("des", "der", "von", "vom", "für", "zu", "zum", "zur", "in", "im", "mit", "auf", "am", "an", "aus"),
    all_inflected=True,
    prefixes=(
        "herunter", "zurück", "zusammen", "weiter", "wieder", "durch", "fest", "frei", "ein", "aus", "auf", "ab", "an",
        "bei", "dar", "hin", "her", "los", "mit", "nach", "über", "um", "vor", "weg", "zu",
    ),
    unmarked=("be", "ver", "ent", "er", "zer", "miss", "ge"),
)  # fmt: skip
_ENGLISH = Inflection(
    nouns=(
        Rule(("ay", "ey", "oy", "uy"), 0, ("s",)),
        Rule(("y",), 1, ("ies",)),
        Rule(("s", "x", "z", "ch", "sh"), 0, ("es",)),
        Rule(("",), 0, ("s",)),
    ),
    verbs=(
        Rule(("e",), 0, ("s", "d")),
        Rule(("e",), 1, ("ing",)),
        Rule(("ay", "ey", "oy", "uy"), 0, ("s", "ed", "ing")),
        Rule(("y",), 1, ("ies", "ied", "ying")),
        Rule(("s", "x", "z", "ch", "sh"), 0, ("es", "ed", "ing")),
        Rule(("",), 0, ("s", "ed", "ing")),
    ),
    head_first=("of", "for", "in", "to", "on", "by", "with"),
)
_FRENCH = Inflection(
    nouns=(
        Rule(("s", "x", "z"), 0, ()),
        Rule(("eau", "eu", "au"), 0, ("x",)),
        Rule(("al",), 0, ("e", "es")),
        Rule(("al",), 1, ("ux",)),
        Rule(("el", "en"), 0, ("s", "le", "les", "ne", "nes")),
        Rule(("if",), 1, ("fs", "ve", "ves")),
        Rule(("eux",), 1, ("se", "ses")),
        Rule(("e",), 0, ("s",)),
        Rule(("é",), 0, ("s", "e", "es")),
        Rule(("",), 0, ("s", "e", "es")),
    ),
    verbs=(
        Rule(("er",), 2, ("e", "es", "ons", "ez", "ent", "é", "ée", "és", "ées", "ant", "ait", "aient", "era", "a")),
        Rule(("ir",), 1, ("s", "t", "ssons", "ssez", "ssent", "", "e", "es", "ssant", "ssait", "ra")),
        Rule(("re",), 2, ("s", "", "ons", "ez", "ent", "u", "ue", "us", "ues", "ant", "ait", "ra")),
    ),
    head_first=("de", "du", "des", "d", "à", "au", "aux", "en", "pour", "par", "sur"),
    all_inflected=True,
)

INFLECTIONS = {"de": _GERMAN, "en": _ENGLISH, "fr": _FRENCH}
"""The inflections by ISO 639-1 code."""
WITHOUT_SPACES = frozenset({"zh", "ja", "th", "lo", "km", "my"})
"""Languages without spaces between words."""
COMPOUNDING = frozenset({"de", "nl", "sv", "da", "nb", "no", "fi", "hu"})
"""Languages with compounds."""

"""Values that a translation must not change: numbers, versions, identifiers and the like, found by a grammar.

Every value has a canonical form, the same however a language writes it: 1,249.50 of English and 1.249,50 of German are
both 1249.50, 3:30 p.m. and 15.30 Uhr are 15:30. `GRAMMAR` describes each kind.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from attendo.decoding.guards.numbers import canonical_number, separates_by_spaces
from attendo.decoding.guards.protected import protected

GRAMMAR = {
    "code": "text between backticks, with them",
    "markup": "a tag, a comment's end or an entity of HTML or XML",
    "address": "a URL of any scheme, a domain name with a common top-level domain, an e-mail address",
    "handle": "@name or #tag",
    "variable": "a program's placeholder: %s, %1$d, {0}, {name}, ${NAME}, %(name)s",
    "path": "a path of Unix or Windows",
    "environment": "$HOME, %PATH%, or words in capitals and digits joined by underscores",
    "option": "-x, -LongName, --name, --name=value or name=value; a comparison, a == b",
    "file": "a name with a common extension, config.toml",
    "date": (
        "2024-03-15, 15.03.2024, 15.03.24 or 03/15/2024; canonical: the year, then the other two numbers in order "
        "of size"
    ),
    "time": (
        "15:30, 15:30:10, 3:30 p.m., 3 pm, 3 o'clock, 15.30 Uhr, 15 Uhr, 15 h 30, 15 h (but not en 15 h), à 15 heures; "
        "canonical: hours and minutes on a 24-hour clock, so that 3.30 Uhr beside Nachmittag is 15:30"
    ),
    "phone": "seven digits or more, separated by spaces, hyphens, brackets or slashes; canonical: the digits",
    "version": "three numbers or more separated by points; two after a v or before -beta, -rc and the like",
    "hash": "7 to 40 hexadecimal digits that include letters and numbers; 0x with such digits; a UUID",
    "identifier": (
        "letters and digits joined by underscores, with a capital inside the word, with digits after letters, or "
        "followed by brackets (); an article number, AB-1234, UTF-8, a time stamp 2024-05-31T10:15:30Z, C++ and "
        "C#; with everything joined to it by points, colons or arrows"
    ),
    "number": (
        "digits, with the language's thousands and decimal separators; 4th and 4. are 4, 1990s and 1990er are 1990; "
        "anything else is compared literally"
    ),
}
"""Description of each kind of value; if several match, the first one counts."""
NUMERIC = frozenset(("date", "time", "phone", "number"))
"""Kinds that languages write differently; all other kinds are compared letter by letter."""

MERIDIEM = r"(?:\s?[AaPp](?:\.[Mm]\.|[Mm](?!\w)))"
"""A regular expression for "a.m." or "p.m." after a time, including the space before it."""
_OCLOCK = r"\s?['’]?\s?o\s?['’]?\s?clock(?!\w)"
"""A regular expression for "o'clock" as people type it, including the space before it."""
FRENCH_AT = ("[àÀ]", "[Vv]ers", "[Dd]ès", "[Aa]vant", "[Aa]près")
"""The words after which *9 heures* is a time of day; elsewhere, and in *à 2 heures de Paris*, it is a duration."""
_BEHIND_FRENCH_AT = "(?:" + "|".join(rf"(?<={word}\s)" for word in FRENCH_AT) + ")"
_GERMAN_AM = re.compile(r"\sam$")
"""The German preposition behind a number, as in *die 2 am besten bewerteten*; a.m. is hardly written in German."""
_FRENCH_FOR = (
    "[Dd]ure", "[Pp]endant", "[Dd]urant", "[Ee]n", "[Dd]epuis", "moins de", "plus de", "[Tt]outes les", "[Ii]l y a"
)  # fmt: skip
"""Words after which *9 h* is a duration; elsewhere it is a time of day, as *9 h 30* is everywhere."""
_NOT_BEHIND_FRENCH_FOR = "".join(rf"(?<!\b{word}\s)" for word in _FRENCH_FOR)
_BEHIND_FRENCH_FOR = "(?:" + "|".join(rf"(?<=\b{word}\s)" for word in _FRENCH_FOR) + ")"
_FRENCH_DURATION = re.compile(
    rf"(?<![\w.,:-])({_BEHIND_FRENCH_FOR}\d{{1,2}}|2[4-9]|[3-9]\d|[1-9]\d{{2}})\s?h(?!\w|\s?\d)"
)
_PATTERNS = {
    "date": (
        r"(?<![\w.])(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}\.[ \u00a0]?\d{1,2}\.[ \u00a0]?\d{4}|\d{1,2}/\d{1,2}/\d{4}"
        r"|(?:0[1-9]|[12]\d|3[01])(?:\.(?:0[1-9]|1[0-2])\.|/(?:0[1-9]|1[0-2])/)\d{2})(?!\.\d)(?!\w)"
    ),
    "time": (
        rf"(?<![\w.:])(?:\d{{1,2}}:\d{{2}}(?::\d{{2}})?{MERIDIEM}?(?![\w:])|\d{{1,2}}(?:\.\d{{2}})?{MERIDIEM}"
        rf"|\d{{1,2}}(?:[.:]\d{{2}})?(?=\sUhr(?!\w))|(?:0?\d|1[0-2])(?={_OCLOCK})|\d{{1,2}}\s?h\s?\d{{2}}(?!\w)"
        rf"|{_NOT_BEHIND_FRENCH_FOR}(?:[01]?\d|2[0-3])\s?h(?!\w)"
        rf"|{_BEHIND_FRENCH_AT}\d{{1,2}}\sheures?(?:\s\d{{2}})?(?!\w)(?!\sd[e'’]))"
    ),
    "phone": (
        r"(?<!\w)(?:\+\d[\d ()/-]{5,}\d|\(\d{2,5}\)\s?\d[\d -]{3,}\d|0\d{2,4}[ /-]\d[\d -]{3,}\d"
        r"|\d{3}-\d{3,4}(?:-\d{3,4})?)(?![\w-])"
    ),
    "version": r"(?<![\w.])\d+(?:\.\d+){2,}(?!\w|,\d)",
    "number": r"(?<!\w)\d+(?:[.,'’]\d+|[ \u00a0\u202f]\d{3}(?!\d))*",
}
# The suffix of an ordinal or a decade; German's point only where the sentence continues.
_SUFFIX = {
    "en": r"(?:st|nd|rd|th|s)(?!\w)",
    "de": (
        r"(?:er|ern)(?!\w)|\.(?=\s(?:[a-zäöü]|Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|"
        r"Dezember|Jahrhundert|Jahrtausend|Mal|Tag|Platz|Stock|Etage|Klasse|Kapitel|Geburtstag|Jahrestag))"
    ),
    "fr": r"(?:er|re|e|ème|ère)(?!\w)",
}
# Words that indicate the half of the day of an hour up to 12: the first half, or the second.
_HALVES = {
    "en": (r"morning", r"tonight|this evening|evening|afternoon"),
    "de": (r"[Mm]orgens?|[Ff]rüh|[Vv]ormittags?", r"[Aa]bends?|[Nn]achmittags?"),
    "fr": (r"matin", r"soir|après-midi"),
}
_CLOCK = re.compile(rf"(?:\sUhr|{_OCLOCK})?")
_NEAR = 25
"""Characters between a time and such a word, at most."""
# Stands for a value already found while others are looked for; no letter, digit or white space.
_TAKEN = "\ue000"
_QUOTES = "“”„«»‘"
_SPACES = " \u00a0\u202f"
_DIGIT = re.compile("[0-9]")


@dataclass(frozen=True, slots=True)
class Value:
    """A stretch of a text that a translation must not change."""

    kind: str
    """A key of `GRAMMAR`."""
    canonical: str
    """The form by which values are compared."""
    text: str
    """The text; for a number including the ending of an ordinal or a decade."""
    start: int
    """Position of its first character."""

    @property
    def end(self) -> int:
        """The position after the last character."""
        return self.start + len(self.text)

    @property
    def is_numeric(self) -> bool:
        """Whether a translation may write it differently."""
        return self.kind in NUMERIC


def with_durations_in_words(text: str) -> str:
    """Writes a French text's durations of hours as words: *en 24h* is *en 24 heures*.

    Models have hardly read the short form and take it for a time of day.
    """
    return _FRENCH_DURATION.sub(lambda found: f"{found[1]} heure{'s' if int(found[1]) > 1 else ''}", text)


def values(text: str, language: str = "") -> list[Value]:
    """Finds the values of a text.

    Args:
        text: a line.
        language: ISO 639-1 code of the text's language, for its number format; if it is empty or unknown, numbers with
            signs between their digits are not normalised.

    Returns:
        The values in order, with repetitions and without overlaps.
    """
    found, others, position = list[Value](), list[str](), 0
    for span in protected(text):
        if span.kind == "number":
            continue
        if span.kind in GRAMMAR:
            written = span.text.rstrip(_QUOTES)
            canonical = _canonical(span.kind, written) if span.kind == "phone" else written
            found.append(Value(span.kind, canonical, written, span.start))
        others += [text[position : span.start], _TAKEN * len(span.text)]
        position = span.end
    rest = "".join((*others, text[position:])) if others else text
    if not _DIGIT.search(rest):
        return found
    return sorted((*found, *_with_digits(rest, language)), key=lambda value: value.start)


def _with_digits(text: str, language: str) -> Iterator[Value]:
    """Yields the values that consist of digits."""
    position = 0
    pattern, suffix = _digits(), _suffix(language)
    while match := pattern.search(text, position):
        kind, value = match.lastgroup or "", match[0]
        position = match.end()
        if kind == "number" and not separates_by_spaces(language):
            value = re.split(f"[{_SPACES}]", value)[0]
            position = match.start() + len(value)
        if kind == "time" and language == "de" and _GERMAN_AM.search(value):
            value = value[: -len(" am")]
            kind, position = "time" if ":" in value else "number", match.start() + len(value)
        number = canonical_number(value, language)
        if kind == "version" and number != value:
            kind = "number"
        canonical = number if kind == "number" else _canonical(kind, value)
        if kind == "time" and _is_of_second_half(text, match, language):
            canonical = f"{int(canonical[:2]) + 12}{canonical[2:]}"
        if kind == "number" and suffix and value.isdigit() and (ending := suffix.match(text, position)):
            value, position = value + ending[0], ending.end()
        yield Value(kind, canonical, value, match.start())


def _canonical(kind: str, value: str) -> str:
    """The form by which values of a kind are compared."""
    digits = re.findall(r"\d+", value)
    if kind == "date":
        year = next((number for number in digits if len(number) == 4), digits[-1])
        digits.remove(year)
        return "-".join([year, *sorted(number.zfill(2) for number in digits)])
    if kind == "time":
        return _canonical_time(digits, value.lower())
    return "".join(digits) if kind == "phone" else value


def _canonical_time(digits: list[str], value: str) -> str:
    hours, minutes = int(digits[0]), [*digits[1:], "00"][:2]
    if "p" in value and hours < 12:
        hours += 12
    if "a" in value and hours == 12:
        hours = 0
    return ":".join([f"{hours:02d}", *(minutes if len(digits) > 2 else minutes[:1])])


def _is_of_second_half(text: str, time: re.Match[str], language: str) -> bool:
    """Whether the nearest word moves a time that is before noon by its digits to after noon."""
    halves = _halves(language)
    if halves is None or not re.match(r"(?:0?[1-9]|1[01])(?!\d)", time[0]) or re.search("[aApP]", time[0]):
        return False
    clock = _CLOCK.match(text, time.end())
    assert clock is not None, "it matches anything"
    words = (
        (max(time.start() - word.end(), word.start() - clock.end()), word.lastgroup)
        for word in halves.finditer(text, max(0, time.start() - 2 * _NEAR))
    )
    distance, half = min(words, default=(0, ""))
    return half == "second" and distance <= _NEAR


@cache
def _halves(language: str) -> re.Pattern[str] | None:
    if language not in _HALVES:
        return None
    first, second = _HALVES[language]
    return re.compile(rf"(?<!\w)(?:(?P<first>{first})|(?P<second>{second}))(?!\w)")


@cache
def _digits() -> re.Pattern[str]:
    return re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS.items()))


@cache
def _suffix(language: str) -> re.Pattern[str] | None:
    return re.compile(_SUFFIX[language]) if language in _SUFFIX else None

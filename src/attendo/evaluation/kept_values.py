"""What a translation must not change: numbers, versions, identifiers and the like, found in a text by a grammar.

Every value has a canonical form, the same however a language writes it: 1,249.50 of English and 1.249,50 of German are
both 1249.50, 3:30 p.m. and 15.30 Uhr are 15:30. `GRAMMAR` says what belongs to which kind.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from attendo.decoding.guards.numbers import SEPARATORS
from attendo.decoding.guards.protected import protected

GRAMMAR = {
    "code": "what stands between backticks, with them",
    "markup": "a tag, a comment's end or an entity of HTML or XML",
    "address": "a URL, a domain's name with a common ending, an e-mail address",
    "handle": "@name or #tag",
    "variable": "a program's placeholder: %s, %1$d, {0}, {name}, ${NAME}, %(name)s",
    "path": "a path of Unix or Windows",
    "environment": "$HOME, %PATH%, or words in capitals and digits joined by underscores",
    "option": "-x, --name or --name=value",
    "file": "a name with one of the usual endings, config.toml",
    "date": "2024-03-15, 15.03.2024 or 03/15/2024; canonical is the year and, in order of size, the two other numbers",
    "time": "15:30, 15:30:10, 3:30 p.m., 3 pm, 15.30 Uhr, 15 Uhr, 15 h 30; canonical is hours and minutes of 24 hours",
    "phone": "seven digits or more with spaces, hyphens, brackets or slashes between them; canonical is the digits",
    "version": "three numbers or more with points between them; two behind a v or before -beta, -rc and the like",
    "hash": "7 to 40 hexadecimal digits, letters and numbers among them",
    "identifier": (
        "letters and digits joined by underscores, with a capital within a word, with digits behind letters, with "
        "brackets () behind, or an article number, AB-1234"
    ),
    "number": (
        "digits, with the language's signs between thousands and before decimals; 4th and 4. are 4; what is no number "
        "of the language stays as it is"
    ),
}
"""What each kind of value is, for people; where several fit, the first one counts."""

_FILE_ENDINGS = (
    "txt|md|rst|py|ipynb|js|ts|jsx|tsx|json|toml|ya?ml|xml|html?|css|csv|tsv|log|conf|cfg|ini|sh|bat|ps1|exe|dll|so|zip|"
    "gz|xz|tar|pdf|png|jpe?g|svg|gif|cs|vb|fs|cpp|cc|c|h|hpp|java|rb|go|rs|sql|resx|csproj|sln|config|docx?|xlsx?|pptx?"
)
_PRE_RELEASE = r"-(?:alpha|beta|rc|preview|pre|dev)\w*(?:\.\w+)*"
_MERIDIEM = r"(?:\s?[AaPp](?:\.[Mm]\.|[Mm](?!\w)))"
_PATTERN = re.compile(
    "|".join(
        (
            r"(?P<environment>\$[A-Z][A-Z0-9_]*|%[A-Z][A-Z0-9_]*%|(?<!\w)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?!\w))",
            r"(?P<option>(?<![\w-])--[A-Za-z][\w-]*(?:=[\w./-]*\w)?|(?<![\w-])-[A-Za-z](?![\w-]))",
            rf"(?P<file>(?<![\w.])[\w-]+(?:\.[\w-]+)*\.(?:{_FILE_ENDINGS})(?![\w(]))",
            r"(?P<date>(?<![\w.])(?:\d{4}-\d{1,2}-\d{1,2}|\d{1,2}\.\s?\d{1,2}\.\s?\d{4}|\d{1,2}/\d{1,2}/\d{4})(?!\w))",
            rf"(?P<time>(?<![\w.:])(?:\d{{1,2}}:\d{{2}}(?::\d{{2}})?{_MERIDIEM}?(?![\w:])|\d{{1,2}}{_MERIDIEM}"
            r"|\d{1,2}(?:[.:]\d{2})?(?=\sUhr(?!\w))|\d{1,2}\s?h\s?(?:\d{2})?(?!\w)))",
            r"(?P<phone>(?<!\w)(?:\+\d[\d ()/-]{5,}\d|\(\d{2,5}\)\s?\d[\d -]{3,}\d|0\d{2,4}[ /-]\d[\d -]{3,}\d"
            r"|\d{3}-\d{3,4}(?:-\d{3,4})?)(?![\w-]))",
            rf"(?P<version>(?<![\w.])(?:v\d+(?:\.\d+)+(?:{_PRE_RELEASE})?|\d+(?:\.\d+){{2,}}(?:{_PRE_RELEASE})?"
            rf"|\d+(?:\.\d+)*{_PRE_RELEASE})(?!\w|,\d))",
            r"(?P<hash>(?<!\w)(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?!\w))",
            r"(?P<identifier>(?<!\w)(?:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\(\)|[A-Za-z0-9]*_[A-Za-z0-9_]*"
            r"|[A-Za-z0-9]*[a-z][A-Z][A-Za-z0-9]*|[A-Za-z]+\d[A-Za-z0-9]*|[A-Z]{1,5}-\d{2,}[A-Z]?(?:-[A-Z0-9]+)*)(?!\w))",
            r"(?P<number>(?<!\w)\d+(?:[.,'’]\d+|[ \u00a0\u202f]\d{3}(?!\d))*)",
        )
    )
)
_CODE = re.compile(r"`[^`\n]+`")
_KINDS = {"name": "handle"}
# Stands for a value that was found while others are looked for; no letter, digit or white space.
_TAKEN = "\ue000"
_QUOTES = "“”„«»‘"
_SPACES = " \u00a0\u202f"


@dataclass(frozen=True)
class KeptValue:
    """A value that a translation must not change."""

    kind: str
    """One of `GRAMMAR`."""
    canonical: str
    """The form by which values are compared."""


def kept_values(text: str, language: str = "") -> list[KeptValue]:
    """Finds the values of a text.

    Args:
        text: a line.
        language: two-letter code of the text's language, for how it writes numbers; where it is empty or unknown,
            numbers with signs between their digits stay as they are.

    Returns:
        The values, each as often as it occurs.
    """
    found = [KeptValue("code", match[0]) for match in _CODE.finditer(text)]
    text = _CODE.sub(_taken, text)
    for thing in reversed(protected(text)):
        if thing.kind in ("markup", "variable", "address", "path", "name"):
            found.append(KeptValue(_KINDS.get(thing.kind, thing.kind), thing.text.rstrip(_QUOTES)))
            text = text[: thing.start] + _TAKEN * len(thing.text) + text[thing.end :]
    return [*found, *_others(text, language)]


def _others(text: str, language: str) -> Iterator[KeptValue]:
    """Yields the values of the kinds that are found by this module's own patterns."""
    position = 0
    while match := _PATTERN.search(text, position):
        kind, value = match.lastgroup or "", match[0]
        position = match.end()
        if kind == "number" and not _spaces_are_separators(language):
            value = re.split(f"[{_SPACES}]", value)[0]
            position = match.start() + len(value)
        if kind == "version" and _canonical_number(value, language) != value:
            kind = "number"
        yield KeptValue(kind, _canonical(kind, value, language))


def _canonical(kind: str, value: str, language: str) -> str:
    """Gives the form by which values of a kind are compared."""
    digits = re.findall(r"\d+", value)
    if kind == "date":
        year = max(digits, key=len)
        digits.remove(year)
        return "-".join([year, *sorted(number.zfill(2) for number in digits)])
    if kind == "time":
        return _canonical_time(digits, value.lower())
    if kind == "phone":
        return "".join(digits)
    return _canonical_number(value, language) if kind == "number" else value


def _canonical_time(digits: list[str], value: str) -> str:
    hours, minutes = int(digits[0]), [*digits[1:], "00"][:2]
    if "p" in value and hours < 12:
        hours += 12
    if "a" in value and hours == 12:
        hours = 0
    return ":".join([f"{hours:02d}", *(minutes if len(digits) > 2 else minutes[:1])])


def _canonical_number(value: str, language: str) -> str:
    """Gives a number without signs between thousands and with a point before decimals; another one as it is."""
    found = SEPARATORS[language].number.fullmatch(value) if language in SEPARATORS else None
    if found is None:
        return value
    whole = "".join(re.findall(r"\d+", found["whole"]))
    return whole if found["decimals"] is None else f"{whole}.{found['decimals']}"


def _spaces_are_separators(language: str) -> bool:
    """Whether a language puts spaces between thousands."""
    separators = SEPARATORS.get(language)
    return separators is not None and " " in separators.thousands + separators.also_thousands


def _taken(match: re.Match[str]) -> str:
    return _TAKEN * len(match[0])

"""Numbers as a language writes them: separators of thousands and of decimals."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Separators:
    """The separators that a language uses in numbers."""

    thousands: str
    """Separator of thousands in writing."""
    decimal: str
    """Decimal separator."""
    also_thousands: str = ""
    """Further separators of thousands that are understood."""

    @property
    def number(self) -> re.Pattern[str]:
        """A number with separators: groups of thousands, or one decimal sign, or both."""
        between = f"[{re.escape(self.thousands + self.also_thousands)}]"
        return re.compile(
            rf"(?P<whole>\d{{1,3}}(?:{between}\d{{3}})+|\d+)(?:{re.escape(self.decimal)}(?P<decimals>\d+))?"
        )


_POINT_BEFORE_DECIMALS = Separators(thousands=",", decimal=".")
_COMMA_BEFORE_DECIMALS = Separators(thousands=".", decimal=",")
SEPARATORS = {
    "en": _POINT_BEFORE_DECIMALS,
    "de": _COMMA_BEFORE_DECIMALS,
    "es": _COMMA_BEFORE_DECIMALS,
    "it": _COMMA_BEFORE_DECIMALS,
    "nl": _COMMA_BEFORE_DECIMALS,
    "pt": _COMMA_BEFORE_DECIMALS,
    "fr": Separators(thousands="\u202f", decimal=",", also_thousands="\u00a0 "),
}
"""The conventions of Unicode's CLDR, by ISO 639-1 code."""

_NUMBERS = {language: separators.number for language, separators in SEPARATORS.items()}


def localised(number: str, source_language: str, target_language: str) -> str:
    """A number as the target language writes it: 1,500.25 of English is 1.500,25 of German.

    Args:
        number: digits with their separators.
        source_language: the language that it is written in.
        target_language: the one to write it in.

    Returns:
        The number, or the argument if a language is not in `SEPARATORS` or the source language does not write numbers
        like this: dates and versions are left unchanged.
    """
    pattern, target = _NUMBERS.get(source_language), SEPARATORS.get(target_language)
    if pattern is None or target is None or source_language == target_language:
        return number
    found = pattern.fullmatch(number)
    if found is None:
        return number
    whole = found["whole"]
    if not whole.isdigit():  # the source groups thousands, and so does the target
        first, *groups = re.findall(r"\d+", whole)
        whole = target.thousands.join((first, *groups))
    return whole if found["decimals"] is None else f"{whole}{target.decimal}{found['decimals']}"


def canonical_number(number: str, language: str) -> str:
    """A number without signs between thousands and with a point before decimals.

    Args:
        number: digits with their separators.
        language: the ISO 639-1 code of the language that it is written in.

    Returns:
        That form, or the argument if the language is not in `SEPARATORS` or does not write numbers like this.
    """
    found = _NUMBERS[language].fullmatch(number) if language in _NUMBERS else None
    if found is None:
        return number
    whole = "".join(re.findall(r"\d+", found["whole"]))
    return whole if found["decimals"] is None else f"{whole}.{found['decimals']}"


def separates_by_spaces(language: str) -> bool:
    """Whether a language puts spaces between thousands."""
    separators = SEPARATORS.get(language)
    return separators is not None and " " in separators.thousands + separators.also_thousands

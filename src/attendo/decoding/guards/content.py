"""What a translation must keep of its source: values, signs, days, months and small numbers in words, a negation."""

from attendo.decoding.guards.comparison import compared
from attendo.decoding.guards.negation import Negation, invented_negation, lost_negation
from attendo.decoding.guards.spelled import SpelledValue, lost_spelled
from attendo.decoding.guards.unit_signs import UnitSign, lost_signs

LostWord = SpelledValue | UnitSign | Negation
"""A word or sign that a translation does not show."""


def lost_words(source: str, target: str, languages: tuple[str, str]) -> list[LostWord]:
    """Finds the days, months and small numbers in words, the signs and the negation that a translation does not show.

    Args:
        source: the text.
        target: its translation.
        languages: both languages as ISO 639-1 codes; empty if not known.
    """
    return [
        *lost_spelled(source, target, languages),
        *lost_signs(source, target),
        *lost_negation(source, target, languages),
    ]


def num_faults(source: str, target: str, languages: tuple[str, str]) -> int:
    """Counts the values and words that a translation has lost or invented; for the arguments see `lost_words`."""
    texts = source, target, languages
    return compared(*texts).num_faults + len(lost_words(*texts)) + len(invented_negation(*texts))


def problems(source: str, target: str, languages: tuple[str, str]) -> tuple[str, ...]:
    """Describes what a translation has lost or invented, as sentences; for the arguments see `lost_words`."""
    found = list(compared(source, target, languages).problems)
    if spelled := lost_spelled(source, target, languages):
        words = ", ".join(value.text for value in spelled)
        found.append(f"days, months and numbers in words that the translation has not: {words}")
    if signs := lost_signs(source, target):
        found.append(f"signs that the translation has not: {', '.join(sign.text for sign in signs)}")
    found += [f"the translation has no negation for: {each.text}" for each in lost_negation(source, target, languages)]
    found += [
        f"the translation has a negation that the source has not: {each.text}"
        for each in invented_negation(source, target, languages)
    ]
    return tuple(found)

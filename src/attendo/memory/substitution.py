"""Substitution of values: a text that differs from a known one only in values reuses its translation."""

from collections.abc import Sequence

from attendo.decoding.guards.comparison import compared
from attendo.decoding.guards.numbers import canonical_number, localised
from attendo.decoding.guards.values import Value, values
from attendo.formats.plural_rules import usual_formula
from attendo.markup.checks.placeholders import arguments
from attendo.memory.texts import Pattern

_AT_MOST_TWO_FORMS = ("nplurals=1;", "nplurals=2;")
_ZERO_IS_SINGULAR = "(n > 1)"


def with_values_of(new: Pattern, text: str, known: Pattern, target: str, languages: tuple[str, str]) -> str | None:
    """Returns the translation of a text, made from that of a known text with the same pattern.

    Args:
        new: the pattern of the text.
        text: the text itself.
        known: the pattern of the other text.
        target: the other text's translation.
        languages: source and target language as ISO 639-1 codes.

    Returns:
        The translation with the new values in it; None if a value of the known text does not occur exactly once in its
        translation, or the result does not have the values of the new text.
    """
    places: list[tuple[int, int, str]] = []
    changed = [pair for pair in zip(known.values, new.values, strict=True) if pair[0].text != pair[1].text]
    target_values = values(target, languages[1])
    for old in {old.text: old for old, _ in changed}.values():
        same = [value for value in known.values if value.text == old.text]
        replacements = [now for before, now in zip(known.values, new.values, strict=True) if before.text == old.text]
        found = _places(old, target_values, languages)
        # Several equal values may have changed places in the translation.
        if len(found) != len(same) or len({now.text for now in replacements}) > 1:
            return None
        written = _written(replacements[0], old, target[found[0][0] : found[0][1]], languages)
        if written is None:
            return None
        places += [(start, stop, written) for start, stop in found]
    result, position = "", 0
    for start, stop, written in sorted(places):
        if start < position:
            return None
        result += target[position:start] + written
        position = stop
    result += target[position:]
    return result if is_kept(text, result, languages) else None


def is_kept(source: str, target: str, languages: tuple[str, str]) -> bool:
    """Whether a translation has exactly the values and placeholders of its source."""
    has_values = compared(source, target, languages).num_faults == 0
    return has_values and arguments(source, ()) == arguments(target, ())


def _places(old: Value, there: Sequence[Value], languages: tuple[str, str]) -> list[tuple[int, int]]:
    """Returns the positions of a known text's value in its translation."""
    return [(value.start, value.end) for value in there if value.text in _spellings(old, languages)]


def _spellings(value: Value, languages: tuple[str, str]) -> tuple[str, ...]:
    return (value.text, localised(value.text, *languages)) if value.kind == "number" else (value.text,)


def _written(new: Value, old: Value, found: str, languages: tuple[str, str]) -> str | None:
    """Returns a new value in the form in which the translation has the old one; None if that is unknown."""
    if new.kind != "number":
        # A date or a time that both languages write in the same way may be ambiguous in another one: 03/04/2024.
        return None if new.kind == "date" and "/" in new.text else new.text
    if not _has_same_plural(new, old, languages):
        return None
    written = localised(new.text, *languages)
    return new.text if found == old.text != localised(old.text, *languages) else written


def _has_same_plural(new: Value, old: Value, languages: tuple[str, str]) -> bool:
    """Whether a noun after a number keeps its form in the target language if it does in the source."""
    formula = usual_formula(languages[1])
    if formula is None or not formula.startswith(_AT_MOST_TWO_FORMS):
        return False
    is_zero = [canonical_number(value.text, languages[0]) == "0" for value in (new, old)]
    return is_zero[0] == is_zero[1] or _ZERO_IS_SINGULAR not in formula

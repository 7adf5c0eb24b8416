"""Translations that XLIFF offers besides its units: `alt-trans` of 1.2, and the module for matches of 2.x."""

from collections.abc import Callable, Iterator, Sequence

from attendo.formats.contents import Content
from attendo.formats.elements import Element
from attendo.formats.file import Suggestion, is_same_language

_LANGUAGE = "http://www.w3.org/XML/1998/namespace lang"
_MATCHES = "urn:oasis:names:tc:xliff:matches:2.0"
_MACHINE_QUALIFIER = "mt-suggestion"
_MACHINE_TYPES = frozenset(("am", "ebm", "mt"))
"""Types of matches of XLIFF 2.x that were made or assembled by machines."""
_FULL = frozenset(("100", "100%", "100.0", "100.0%"))

ReadContent = Callable[[Element], Content]
"""Reads the content of a source or a target."""


def alternatives(
    trans_unit: Element, segments: Sequence[tuple[str, str, Element]], target_language: str, content: ReadContent
) -> Iterator[Suggestion]:
    """Yields the translations that a `trans-unit` of XLIFF 1.2 offers, except rejected ones and machine translations.

    Args:
        trans_unit: the element.
        segments: its segments in order: the id of the unit, the `mid`, and the source of each.
        target_language: the language of the file's translations; empty if unknown.
        content: reads a source or a target.
    """
    for found in trans_unit.elements("alt-trans"):
        source, target = found.first("source"), found.first("target")
        if target is None or found.attributes.get("alttranstype") == "rejected":
            continue
        is_of_machine = (
            target.attributes.get("state-qualifier") == _MACHINE_QUALIFIER
            or found.attributes.get("origin", "").casefold() in _MACHINE_TYPES
        )
        language = target.attributes.get(_LANGUAGE, "")
        if is_of_machine or (language and target_language and not is_same_language(language, target_language)):
            continue
        mid = found.attributes.get("mid", "")
        name, _, own = next((segment for segment in segments if segment[1] == mid), segments[0])
        if source is None and found.attributes.get("match-quality", "").replace(" ", "") not in _FULL:
            continue  # the text it translates is missing, and differs from the unit's own
        yield Suggestion(source=content(own if source is None else source), target=content(target), context=name)


def matches(unit: Element, segments: Sequence[tuple[str, str]], content: ReadContent) -> Iterator[Suggestion]:
    """Yields the matches of a unit of XLIFF 2.x, except machine translations and those in other languages.

    Args:
        unit: the element.
        segments: its segments in order: the id of the unit as read, and that of the segment.
        content: reads a source or a target.
    """
    lists = [child for child in unit.elements() if child.name == f"{_MATCHES} matches"]
    for found in (match for each in lists for match in each.elements("match")):
        # They are in the namespace of XLIFF itself.
        sides = {child.local: child for child in found.elements()}
        source, target = sides.get("source"), sides.get("target")
        if source is None or target is None or found.attributes.get("reference") == "yes":
            continue
        if found.attributes.get("type", "tm") in _MACHINE_TYPES:
            continue
        place = found.attributes.get("ref", "").rpartition("#")[2]
        name = next((name for name, segment in segments if segment == place), "")
        yield Suggestion(source=content(source), target=content(target), context=name)

"""XLIFF 2.0 and 2.1: segments, their states, and codes whose data are stored elsewhere in the file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from attendo.formats.contents import plain
from attendo.formats.elements import Element
from attendo.formats.file import (
    Edit,
    File,
    Form,
    Languages,
    Result,
    Span,
    State,
    Suggestion,
    UniqueIds,
    Unit,
    WriteOptions,
)
from attendo.formats.markup import Markup
from attendo.formats.markup_content import Inline, content_of, style_of, written
from attendo.formats.suggestions import matches

_SIZE = "urn:oasis:names:tc:xliff:sizerestriction:2.0"
_STATES: Mapping[str, State] = {
    "initial": "new",
    "translated": "translated",
    "reviewed": "translated",
    "final": "final",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Segment:
    element: Element
    source: Element
    target: Element | None

    @property
    def insertion(self) -> Span:
        return Span(self.source.end, self.source.end)

    def spans(self, markup: Markup) -> tuple[Span, ...]:
        value = self.insertion if self.target is None else self.target.inner
        attributes = [markup.attribute(self.element, name) for name in ("state", "subState")]
        return tuple(dict.fromkeys([value, *attributes]))


def read_xliff2(markup: Markup, languages: Languages) -> File:
    """Reads the segments of XLIFF 2.x."""
    root, ids, units, segments = markup.root, UniqueIds(), [], {}
    places: dict[Element, list[tuple[str, str]]] = {}
    for file, number, element, unit, is_translatable in _segments(root):
        source = element.first("source")
        if source is None:
            continue
        segment = _Segment(element=element, source=source, target=element.first("target"))
        name = f"{unit.attributes.get('id', '')}/{element.attributes.get('id', number)}"
        found = _unit(markup, segment, ids.of(name), unit, is_translatable=is_translatable)
        most, length_unit = _length_limit(unit, file)
        found = replace(found, max_length=most, length_unit=length_unit)
        units.append(found)
        segments[found.id] = segment
        places.setdefault(unit, []).append((found.id, element.attributes.get("id", "")))
    declarations = []
    if languages.target and not root.attributes.get("trgLang"):
        declarations.append(markup.set_attribute(root, "trgLang", languages.target.replace("_", "-")))
    return File(
        format="xliff",
        text=markup.text,
        units=tuple(units),
        editor=_Editor(markup=markup, segments=segments, declarations=tuple(declarations)),
        declared=Languages(source=root.attributes.get("srcLang"), target=root.attributes.get("trgLang")),
        spans=tuple(edit.span for edit in declarations),
        suggestions=partial(_suggestions, markup, places),
    )


def _suggestions(markup: Markup, places: Mapping[Element, Sequence[tuple[str, str]]]) -> Iterator[Suggestion]:
    """Yields the translations that the matches of units offer.

    Args:
        markup: the document.
        places: the segments of each unit: the id as read, and that of the element.
    """
    content = partial(content_of, markup, classify=classify)
    for unit, segments in places.items():
        yield from matches(unit, segments, content)


def classify(element: Element) -> Inline:
    """Classifies an inline element of XLIFF 2.x."""
    name = element.attributes.get("id", "")
    if element.local == "pc":
        return Inline(None, f"c{name}")
    if element.local == "mrk":
        return Inline("single" if element.attributes.get("translate") == "no" else None, f"m{name}")
    if element.local == "sc":
        is_alone = element.attributes.get("isolated") == "yes"
        return Inline("single" if is_alone else "open", f"c{name}", nests=False)
    if element.local == "ec":
        is_alone = element.attributes.get("isolated") == "yes"
        return Inline("single" if is_alone else "close", f"c{element.attributes.get('startRef', name)}", nests=False)
    if element.local == "sm":
        return Inline("open", f"m{name}", nests=False)
    if element.local == "em":
        return Inline("close", f"m{element.attributes.get('startRef', name)}", nests=False)
    return Inline("single", f"{element.local}{name or element.attributes.get('hex', '')}")


def _segments(root: Element) -> Iterator[tuple[Element, int, Element, Element, bool]]:
    """Yields each segment with its file, its number in its unit, its unit, and whether it is to be translated."""
    waiting = [(element, element, _translate(element, True)) for element in reversed(root.elements("file"))]
    while waiting:
        file, element, is_translatable = waiting.pop()
        if element.local == "unit":
            for number, segment in enumerate(element.elements("segment"), 1):
                yield file, number, segment, element, is_translatable
            continue
        for child in reversed(element.elements("group", "unit")):
            waiting.append((file, child, _translate(child, is_translatable)))


def _length_limit(unit: Element, file: Element) -> tuple[int | None, Literal["char", "byte"]]:
    """Returns the maximum characters or bytes of a unit's text, by the standard profiles of size restrictions."""
    profiles = next((child for child in file.elements() if child.name == f"{_SIZE} profiles"), None)
    if profiles is None or len(unit.elements("segment")) > 1:  # a restriction is of all segments together
        return None, "char"
    kinds: tuple[tuple[str, str, str, Literal["char", "byte"]], ...] = (
        ("generalProfile", "xliff:codepoints", "sizeRestriction", "char"),
        ("storageProfile", "xliff:utf8", "storageRestriction", "byte"),
    )
    for attribute, profile, restriction, length_unit in kinds:
        most = unit.attributes.get(f"{_SIZE} {restriction}", "").rpartition(",")[2].strip()
        if profiles.attributes.get(attribute) == profile and most.isdigit():
            return int(most), length_unit
    return None, "char"


def _translate(element: Element, inherited: bool) -> bool:
    return {"yes": True, "no": False}.get(element.attributes.get("translate", ""), inherited)


def _unit(markup: Markup, segment: _Segment, name: str, unit: Element, *, is_translatable: bool) -> Unit:
    source = content_of(markup, segment.source, classify)
    existing = None if segment.target is None else content_of(markup, segment.target, classify)
    has_text = existing is not None and bool(plain(existing).strip())
    state_name = segment.element.attributes.get("state", "initial")
    state: State = _STATES.get(state_name, "fuzzy")
    if not has_text and state != "final":
        state = "new"
    if has_text and state == "translated" and segment.element.attributes.get("subState") == "attendo:mt":
        state = "fuzzy"
    is_translatable = is_translatable and state != "final" and bool(plain(source).strip())
    notes = [note for notes in unit.elements("notes") for note in notes.elements("note")]
    return Unit(
        id=name,
        forms=(Form(source=source, target=existing if has_text and state != "new" else None),),
        state=state,
        is_translatable=is_translatable,
        context=unit.attributes.get("name", ""),
        notes=tuple(plain(content_of(markup, note, classify)) for note in notes),
        spans=segment.spans(markup) if is_translatable else (),
    )


@dataclass(frozen=True, kw_only=True)
class _Editor:
    """Puts translations into XLIFF 2.x."""

    markup: Markup
    segments: Mapping[str, _Segment]
    declarations: tuple[Edit, ...]

    def edits(self, results: Mapping[str, Result], options: WriteOptions) -> Iterable[Edit]:
        """Yields the edits of the declarations and of each segment."""
        yield from self.declarations
        for name, found in results.items():
            segment = self.segments[name]
            raw = written(found.texts[0], style_of(self.markup, segment.source))
            if segment.target is None:
                tag = f"{self.markup.prefix(segment.source)}target"
                space = self.markup.indentation(segment.source)
                yield Edit(segment.insertion, f"{space}<{tag}>{raw}</{tag}>")
            else:
                yield self.markup.content_edit(segment.target, raw)
            yield from self._states(segment, found, options)

    def _states(self, segment: _Segment, found: Result, options: WriteOptions) -> Iterator[Edit]:
        """Yields the state attributes, with a subState as long as the segment is to be reviewed."""
        is_marked = options.is_marked(found)
        has_problems = bool(found.problems)
        state = "initial" if is_marked and has_problems else "translated"
        first = self.markup.set_attribute(segment.element, "state", state)
        second = self.markup.set_attribute(segment.element, "subState", "attendo:mt" if is_marked else None)
        if first.span == second.span:
            yield Edit(first.span, first.text + second.text)
        else:
            yield first
            yield second

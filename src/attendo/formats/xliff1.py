"""XLIFF 1.2, reading: `trans-unit` elements and their segments. `xliff1_writing` writes.

Each segment is a unit: a `mrk` of a `seg-source`, or the whole source if it is not segmented.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from attendo.formats.contents import Content, plain
from attendo.formats.elements import Element
from attendo.formats.file import Edit, File, Form, Languages, State, Suggestion, UniqueIds, Unit
from attendo.formats.markup import Markup
from attendo.formats.markup_content import Inline, content_of
from attendo.formats.suggestions import alternatives
from attendo.formats.xliff1_writing import MEMOQ, MEMSOURCE, SDL, Segment, TransUnit, Xliff1Editor

_FINAL = ("final", "signed-off")
_UNTRANSLATED = ("new", "needs-translation")
_SDL_FINAL = ("ApprovedTranslation", "ApprovedSignOff")
# Texts without language that Apple's extractor writes into units: kinds of rules and of values.
_APPLE_KEY = re.compile("NSString(?:PluralRuleType|FormatSpecTypeKey|FormatValueTypeKey)")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Place:
    """The properties that a `trans-unit` inherits from its groups and its file."""

    file: Element
    file_number: int
    is_translatable: bool
    context: str


def read_xliff1(markup: Markup, languages: Languages) -> File:
    """Reads the units of XLIFF 1.2."""
    ids, units, records = UniqueIds(), [], []
    owner: dict[str, TransUnit] = {}
    files = markup.root.elements("file")
    for element, place in _trans_units(markup):
        record = _trans_unit(markup, element, place, ids)
        if record is None:
            continue
        records.append(record)
        units += [_unit(markup, record, segment, place) for segment in record.segments]
        owner |= {segment.id: record for segment in record.segments}
    declarations = _declarations(markup, files, languages)
    return File(
        format="xliff",
        text=markup.text,
        units=tuple(units),
        editor=Xliff1Editor(markup=markup, owner=owner, declarations=declarations),
        declared=Languages(
            source=next((file.attributes.get("source-language") for file in files), None),
            target=next((file.attributes.get("target-language") for file in files), None),
        ),
        spans=tuple(edit.span for edit in declarations),
        suggestions=partial(_suggestions, markup, tuple(records), languages.target or ""),
    )


def _suggestions(markup: Markup, records: Sequence[TransUnit], target_language: str) -> Iterator[Suggestion]:
    """Yields the translations that `alt-trans` elements offer."""
    content = partial(content_of, markup, classify=classify)
    for record in records:
        segments = [(segment.id, segment.mid, segment.source) for segment in record.segments]
        yield from alternatives(record.element, segments, target_language, content)


def classify(element: Element) -> Inline:
    """Classifies an inline element of XLIFF 1.2."""
    name = element.attributes.get("id", "")
    pair = element.attributes.get("rid", name)
    if element.local == "g":
        return Inline(None, f"g{name}")
    if element.local == "mrk":
        is_protected = element.attributes.get("mtype") == "protected"
        return Inline("single" if is_protected else None, f"mrk{element.attributes.get('mid', name)}")
    if element.local in ("bx", "bpt"):
        return Inline("open", f"b{pair}", nests=False)
    if element.local in ("ex", "ept"):
        return Inline("close", f"b{pair}", nests=False)
    return Inline("single", f"{element.local}{name}")


def _trans_units(markup: Markup) -> Iterator[tuple[Element, _Place]]:
    """Yields each `trans-unit` with its inherited properties."""
    waiting: list[tuple[Element, _Place]] = []
    for number, file in enumerate(markup.root.elements("file")):
        place = _Place(file=file, file_number=number, is_translatable=_translate(file, True), context="")
        waiting += [(body, place) for body in file.elements("body")]
    waiting.reverse()
    while waiting:
        element, place = waiting.pop()
        if element.local == "trans-unit":
            yield element, place
            continue
        for child in reversed(element.elements("group", "trans-unit")):
            if child.local == "trans-unit":
                waiting.append((child, place))
                continue
            inner = _Place(
                file=place.file,
                file_number=place.file_number,
                is_translatable=_translate(child, place.is_translatable),
                context=child.attributes.get("resname", place.context),
            )
            waiting.append((child, inner))


def _translate(element: Element, inherited: bool) -> bool:
    return {"yes": True, "no": False}.get(element.attributes.get("translate", ""), inherited)


def _trans_unit(markup: Markup, element: Element, place: _Place, ids: UniqueIds) -> TransUnit | None:
    source, target, segmented = element.first("source"), element.first("target"), element.first("seg-source")
    if source is None:
        return None
    name = element.attributes.get("id", "")
    if place.file_number:
        name = f"{place.file_number}/{name}"
    marks = [] if segmented is None else _marks(segmented)
    definitions = {
        found.attributes.get("id", ""): found for found in element.descendants("seg") if found.namespace == SDL
    }
    target_marks = (
        {mark.attributes.get("mid", ""): mark for mark in _marks(target)} if marks and target is not None else {}
    )
    if marks and target is not None and not target_marks and plain(content_of(markup, target, classify)).strip():
        marks = []  # a person or tool translated it without its segments
    if not marks:
        segments = [Segment(id=ids.of(name), mid="", source=source, target=target, definition=definitions.get("1"))]
    else:
        has_marks = bool(target_marks)
        segments = [
            Segment(
                id=ids.of(f"{name}/{mark.attributes.get('mid', '')}"),
                mid=mark.attributes.get("mid", ""),
                source=mark,
                target=target_marks.get(mark.attributes.get("mid", "")) if has_marks else None,
                definition=definitions.get(mark.attributes.get("mid", "")),
            )
            for mark in marks
        ]
    return TransUnit(
        element=element,
        source=source,
        segmented=segmented if marks else None,
        target=target,
        segments=tuple(segments),
        flavour=_flavour(element, definitions),
    )


def _marks(element: Element) -> list[Element]:
    """Returns the segments of a `seg-source` or a target."""
    return [found for found in element.descendants("mrk") if found.attributes.get("mtype") == "seg"]


def _flavour(element: Element, definitions: Mapping[str, Element]) -> str:
    """Determines whose states a unit has: the namespace of Trados, memoQ or Phrase; empty for XLIFF's own."""
    if definitions:
        return SDL
    namespaces = {name.rpartition(" ")[0] for name in element.attributes if " " in name}
    return next((known for known in (MEMOQ, MEMSOURCE) if known in namespaces), "")


def _unit(markup: Markup, record: TransUnit, segment: Segment, place: _Place) -> Unit:
    element, attributes = record.element, record.element.attributes
    source = content_of(markup, segment.source, classify)
    existing = None if segment.target is None else content_of(markup, segment.target, classify)
    state = _state(record, segment, existing)
    is_missing = record.segmented is not None and segment.target is None and not record.is_built
    is_translatable = (
        _translate(element, place.is_translatable)
        and state != "final"
        and not _is_locked(element, segment)
        and bool(plain(source).strip())
        and not is_missing
        and not _APPLE_KEY.search(attributes.get("id", ""))
    )
    width, length_unit = attributes.get("maxwidth", ""), attributes.get("size-unit", "pixel")
    if length_unit not in ("char", "byte"):
        width = attributes.get("maxbytes", "")
        length_unit = "byte" if width else "char"
    return Unit(
        id=segment.id,
        forms=(Form(source=source, target=None if state == "new" else existing),),
        state=state,
        is_translatable=is_translatable,
        context=attributes.get("resname", place.context),
        notes=tuple(_text(markup, note) for note in element.elements("note")),
        max_length=int(width) if width.isdigit() else None,
        length_unit="byte" if length_unit == "byte" else "char",
        spans=record.spans(markup, segment) if is_translatable else (),
    )


def _text(markup: Markup, element: Element) -> str:
    found: Content = content_of(markup, element, classify)
    return plain(found)


def _state(record: TransUnit, segment: Segment, existing: Content | None) -> State:
    element = record.element
    state_name = "" if record.target is None else record.target.attributes.get("state", "")
    if element.attributes.get("approved") == "yes" or state_name in _FINAL:
        return "final"
    if existing is None or not plain(existing).strip() or state_name in _UNTRANSLATED:
        return "new"
    if segment.definition is not None:
        confirmed = segment.definition.attributes.get("conf", "")
        return "final" if confirmed in _SDL_FINAL else "translated" if confirmed == "Translated" else "fuzzy"
    if state_name.startswith("needs-"):
        return "fuzzy"
    if record.flavour == MEMSOURCE:
        return "translated" if element.attributes.get(f"{MEMSOURCE} confirmed") == "1" else "fuzzy"
    if record.flavour == MEMOQ:
        status = element.attributes.get(f"{MEMOQ} status", "")
        return "translated" if status in ("ManuallyConfirmed", "Proofread", "") else "fuzzy"
    return "translated"


def _is_locked(element: Element, segment: Segment) -> bool:
    definition = {} if segment.definition is None else segment.definition.attributes
    return (
        definition.get("locked") == "true"
        or f"{MEMOQ} locked" in element.attributes
        or element.attributes.get(f"{MEMSOURCE} locked") == "true"
    )


def _declarations(markup: Markup, files: list[Element], languages: Languages) -> tuple[Edit, ...]:
    """Returns the edits that name the target language where a file names none."""
    if languages.target is None:
        return ()
    return tuple(
        markup.set_attribute(file, "target-language", languages.target.replace("_", "-"))
        for file in files
        if not file.attributes.get("target-language")
    )

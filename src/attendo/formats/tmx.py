"""TMX, the format of translation memories: translation units whose target variant is filled or added."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from attendo.errors import DataError
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
    UniqueIds,
    Unit,
    WriteOptions,
    base_language,
    is_same_language,
)
from attendo.formats.markup import Markup, escaped, parse_markup
from attendo.formats.markup_content import Inline, content_of, style_of, written

_XML_LANG = "http://www.w3.org/XML/1998/namespace lang"
_MACHINE = '<prop type="x-origin">MT</prop>'


@dataclass(frozen=True, kw_only=True, slots=True)
class _TranslationUnit:
    source: Element
    """The `tuv` of the source."""
    source_segment: Element
    target: Element | None
    target_segment: Element | None

    def spans(self, markup: Markup) -> tuple[Span, ...]:
        if self.target is None:
            return (Span(self.source.end, self.source.end),)
        assert self.target_segment is not None
        start = self.target_segment.tag.start
        return (self.target_segment.inner, Span(start, start), markup.attribute(self.target, "creationid"))


def read_tmx(data: bytes, languages: Languages) -> File:
    """Reads a translation memory; without a target language, that of its first unit with two languages.

    Raises:
        DataError: the file is not a translation memory.
    """
    markup = parse_markup(data)
    if markup.root.local != "tmx":
        raise DataError(f"this is not TMX: its outermost element is <{markup.root.local}>")
    elements = [unit for body in markup.root.elements("body") for unit in body.elements("tu")]
    header = markup.root.first("header")
    declared = "" if header is None else header.attributes.get("srclang", "")
    source = languages.source or (declared if declared != "*all*" else "")
    target = languages.target or _other_language(elements, source)
    ids, units, records = UniqueIds(), [], {}
    for number, element in enumerate(elements, 1):
        found = _record(element, source, target)
        if found is None:
            continue
        unit = _unit(markup, element, found, ids.of(element.attributes.get("tuid", str(number))), bool(target))
        units.append(unit)
        records[unit.id] = found
    name = _language_name(elements, target) if target else ""
    return File(
        format="tmx",
        text=markup.text,
        units=tuple(units),
        editor=_Editor(markup=markup, records=records, language=name),
        declared=Languages(source=source or None, target=target or None),
    )


def classify(element: Element) -> Inline:
    """Classifies an inline element of TMX."""
    pair = element.attributes.get("i", "")
    if element.local == "hi":
        return Inline(None, f"hi{element.attributes.get('x', '')}")
    if element.local in ("bpt", "ept"):
        return Inline("open" if element.local == "bpt" else "close", f"b{pair}", nests=False)
    return Inline("single", f"{element.local}{element.attributes.get('x', '')}")


def _language(variant: Element) -> str:
    return variant.attributes.get(_XML_LANG) or variant.attributes.get("lang", "")


def _other_language(elements: Iterable[Element], source: str) -> str:
    for element in elements:
        for variant in element.elements("tuv"):
            if not is_same_language(_language(variant), source or _language(element.elements("tuv")[0])):
                return _language(variant)
    return ""


def _language_name(elements: Iterable[Element], target: str) -> str:
    """Returns the target language as the memory's other units write it, if they have it."""
    written_names = dict.fromkeys(_language(variant) for element in elements for variant in element.elements("tuv"))
    as_asked = [name for name in written_names if name.replace("_", "-").lower() == target.replace("_", "-").lower()]
    has_region = base_language(target) != target.lower()
    as_base = [] if has_region else [name for name in written_names if is_same_language(name, target)]
    return next(iter(as_asked + as_base), target.replace("_", "-"))


def _variant(element: Element, language: str) -> Element | None:
    """Returns the variant in a language: exactly the requested one, otherwise that of another region."""
    variants = [variant for variant in element.elements("tuv") if variant.first("seg") is not None]
    exact = [
        candidate
        for candidate in variants
        if _language(candidate).replace("_", "-").lower() == language.replace("_", "-").lower()
    ]
    return next(
        iter(exact + [candidate for candidate in variants if is_same_language(_language(candidate), language)]), None
    )


def _record(element: Element, source: str, target: str) -> _TranslationUnit | None:
    variants = element.elements("tuv")
    wanted = element.attributes.get("srclang", source)
    from_variant = _variant(element, wanted) if wanted and wanted != "*all*" else (variants[0] if variants else None)
    if from_variant is None or (segment := from_variant.first("seg")) is None:
        return None
    to_variant = _variant(element, target) if target else None
    if to_variant == from_variant:
        return None
    return _TranslationUnit(
        source=from_variant,
        source_segment=segment,
        target=to_variant,
        target_segment=None if to_variant is None else to_variant.first("seg"),
    )


def _unit(markup: Markup, element: Element, found: _TranslationUnit, name: str, has_target: bool) -> Unit:
    source = content_of(markup, found.source_segment, classify)
    target = None if found.target_segment is None else content_of(markup, found.target_segment, classify)
    has_text = target is not None and bool(plain(target).strip())
    state: State = "new" if not has_text else "fuzzy" if _is_of_machine(markup, found.target) else "translated"
    is_translatable = has_target and bool(plain(source).strip())
    return Unit(
        id=name,
        forms=(Form(source=source, target=target if has_text else None),),
        state=state,
        is_translatable=is_translatable,
        notes=tuple(plain(content_of(markup, note, classify)) for note in element.elements("note")),
        spans=found.spans(markup) if is_translatable else (),
    )


def _is_of_machine(markup: Markup, variant: Element | None) -> bool:
    properties = [] if variant is None else variant.elements("prop")
    return any(one.attributes.get("type") == "x-origin" and markup.raw(one.inner) == "MT" for one in properties)


@dataclass(frozen=True, kw_only=True)
class _Editor:
    """Puts translations into a memory."""

    markup: Markup
    records: Mapping[str, _TranslationUnit]
    language: str
    """The target language as written in new variants."""

    def edits(self, results: Mapping[str, Result], options: WriteOptions) -> Iterable[Edit]:
        """Yields the edits: a new variant, or the content of a present, empty one."""
        for name, found in results.items():
            record = self.records[name]
            raw = written(found.texts[0], style_of(self.markup, record.source_segment))
            is_marked = options.is_marked(found) and found.origin != "tm"
            if record.target is None:
                yield self._added(record, raw, options, is_marked=is_marked)
            else:
                yield from self._filled(record, raw, options, is_marked=is_marked)

    def _added(self, record: _TranslationUnit, raw: str, options: WriteOptions, *, is_marked: bool) -> Edit:
        outer, inner = self.markup.indentation(record.source), self.markup.indentation(record.source_segment)
        name = "xml:lang" if _XML_LANG in record.source.attributes else "lang"
        closing = self.markup.raw(Span(record.source_segment.end, record.source.inner.stop))
        closing = closing if not closing.strip() else ""
        origin = f"{inner}{_MACHINE}" if is_marked else ""
        language, tool = escaped(self.language, quotes=True), escaped(options.tool, quotes=True)
        return Edit(
            Span(record.source.end, record.source.end),
            f'{outer}<tuv {name}="{language}" creationid="{tool}">{origin}{inner}<seg>{raw}</seg>{closing}</tuv>',
        )

    def _filled(self, record: _TranslationUnit, raw: str, options: WriteOptions, *, is_marked: bool) -> Iterator[Edit]:
        assert record.target is not None
        assert record.target_segment is not None
        yield self.markup.content_edit(record.target_segment, raw)
        yield self.markup.set_attribute(record.target, "creationid", options.tool)
        if is_marked and not _is_of_machine(self.markup, record.target):
            start = record.target_segment.tag.start
            yield Edit(Span(start, start), _MACHINE + self.markup.indentation(record.target_segment))

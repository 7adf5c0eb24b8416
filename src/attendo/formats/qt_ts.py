"""Qt Linguist's .ts files: messages by context, with unfinished, vanished and obsolete ones, and numerus forms."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from attendo.errors import DataError
from attendo.formats.contents import Content, plain
from attendo.formats.elements import Element
from attendo.formats.file import Edit, File, Form, Languages, Result, Span, State, UniqueIds, Unit, WriteOptions
from attendo.formats.markup import Markup, parse_markup
from attendo.formats.markup_content import Inline, content_of, style_of, written
from attendo.formats.plural_rules import PluralForm, parse_formula, usual_formula

_FLAGS = frozenset({"qt-format"})
_NUMERUS_FLAGS = frozenset({"qt-format", "qt-plural-format"})
# Elements before the translation, in the order of Qt's DTD.
_BEFORE = ("location", "source", "oldsource", "comment", "oldcomment", "extracomment", "translatorcomment")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Message:
    element: Element
    source: Element
    translation: Element | None
    is_numerus: bool

    @property
    def insertion(self) -> Span:
        end = max(child.end for child in self.element.elements(*_BEFORE))
        return Span(end, end)

    def numerus_forms(self) -> list[Element]:
        return [] if self.translation is None else self.translation.elements("numerusform")

    def spans(self, markup: Markup, count: int) -> tuple[Span, ...]:
        if self.translation is None:
            return (self.insertion,)
        forms = self.numerus_forms()
        values = [form.inner for form in forms] if self.is_numerus and len(forms) == count else [self.translation.inner]
        return (*values, markup.attribute(self.translation, "type"))


def read_ts(data: bytes, languages: Languages) -> File:
    """Reads Qt Linguist's translations.

    Raises:
        DataError: the file is not one of Qt Linguist's.
    """
    markup = parse_markup(data)
    if markup.root.local != "TS":
        raise DataError(f"this is not a file of Qt Linguist: its outermost element is <{markup.root.local}>, not <TS>")
    declared = markup.root.attributes.get("language", "")
    formula = usual_formula(languages.target or declared) if languages.target or declared else None
    plural_forms = parse_formula(formula or "nplurals=2; plural=(n != 1);")
    ids, units, messages = UniqueIds(), [], {}
    for context, element in _messages(markup):
        source = element.first("source")
        if source is None:
            continue
        is_numerus = element.attributes.get("numerus") == "yes"
        message = _Message(
            element=element, source=source, translation=element.first("translation"), is_numerus=is_numerus
        )
        unit = _unit(markup, message, context, plural_forms, ids)
        units.append(unit)
        messages[unit.id] = message
    declarations = []
    if languages.target and not declared:
        declarations.append(markup.set_attribute(markup.root, "language", languages.target.replace("-", "_")))
    return File(
        format="ts",
        text=markup.text,
        units=tuple(units),
        editor=_Editor(markup=markup, messages=messages, declarations=tuple(declarations)),
        declared=Languages(source=markup.root.attributes.get("sourcelanguage") or None, target=declared or None),
        spans=tuple(edit.span for edit in declarations),
    )


def _messages(markup: Markup) -> Iterator[tuple[str, Element]]:
    """Yields each message with the name of its context."""
    for element in markup.root.elements():
        if element.local == "message":
            yield "", element
        for message in element.elements("message") if element.local == "context" else ():
            name = element.first("name")
            yield "" if name is None else markup.raw(name.inner), message


def _classify(element: Element) -> Inline:
    return Inline(
        "single" if element.local == "byte" else None, f"{element.local}{element.attributes.get('value', '')}"
    )


def _unit(markup: Markup, message: _Message, context: str, plural_forms: Sequence[PluralForm], ids: UniqueIds) -> Unit:
    element, translation = message.element, message.translation
    comment = element.first("comment")
    source = content_of(markup, message.source, _classify)
    meaning = "" if comment is None else plain(content_of(markup, comment, _classify))
    own_id = element.attributes.get("id", "")
    kind = "" if translation is None else translation.attributes.get("type", "")
    forms = _forms(markup, message, plural_forms)
    has_text = all(form.target is not None for form in forms)
    state: State = (
        "final" if kind in ("vanished", "obsolete") else "new" if not has_text else "fuzzy" if kind else "translated"
    )
    has_variants = translation is not None and translation.attributes.get("variants") == "yes"
    is_translatable = state != "final" and not has_variants and bool(plain(source).strip())
    return Unit(
        id=ids.of(own_id or "\x04".join([context, meaning, plain(source)])),
        forms=forms,
        state=state,
        is_translatable=is_translatable,
        context=meaning,
        notes=tuple(
            plain(content_of(markup, note, _classify)) for note in element.elements("extracomment", "translatorcomment")
        ),
        flags=_NUMERUS_FLAGS if message.is_numerus else _FLAGS,
        spans=message.spans(markup, len(forms)) if is_translatable else (),
    )


def _forms(markup: Markup, message: _Message, plural_forms: Sequence[PluralForm]) -> tuple[Form, ...]:
    source = content_of(markup, message.source, _classify)

    def target(element: Element | None) -> Content | None:
        found: Content = () if element is None else content_of(markup, element, _classify)
        return found if plain(found).strip() else None

    if not message.is_numerus:
        return (Form(source=source, target=target(message.translation)),)
    present = message.numerus_forms()
    return tuple(
        Form(
            source=source,
            target=target(present[number]) if number < len(present) else None,
            name=form.name,
            sample=form.sample,
            is_of_one_number=form.is_of_one_number,
        )
        for number, form in enumerate(plural_forms)
    )


@dataclass(frozen=True, kw_only=True)
class _Editor:
    """Puts translations into Qt Linguist's files."""

    markup: Markup
    messages: Mapping[str, _Message]
    declarations: tuple[Edit, ...]

    def edits(self, results: Mapping[str, Result], options: WriteOptions) -> Iterable[Edit]:
        """Yields the edits of the language and of each message."""
        yield from self.declarations
        for name, found in results.items():
            message = self.messages[name]
            style = style_of(self.markup, message.source)
            values = [written(text, style) for text in found.texts]
            is_marked = options.is_marked(found)
            if message.translation is None:
                space = self.markup.indentation(message.source)
                kind = ' type="unfinished"' if is_marked else ""
                inner = self._numerus(values, space) if message.is_numerus else values[0]
                yield Edit(message.insertion, f"{space}<translation{kind}>{inner}</translation>")
                continue
            yield from self._filled(message, message.translation, values)
            yield self.markup.set_attribute(message.translation, "type", "unfinished" if is_marked else None)

    def _filled(self, message: _Message, translation: Element, values: Sequence[str]) -> Iterator[Edit]:
        present = message.numerus_forms()
        if not message.is_numerus:
            yield self.markup.content_edit(translation, values[0])
        elif len(present) == len(values):
            is_marked = translation.attributes.get("type") == "unfinished"
            is_unfinished = any(not self.markup.raw(form.inner) or form.is_empty_tag for form in present)
            for form, value in zip(present, values, strict=True):
                # What a person wrote in some of the forms stays while others are missing.
                has_text = not form.is_empty_tag and bool(self.markup.raw(form.inner).strip())
                if not (is_unfinished and has_text and is_marked):
                    yield self.markup.content_edit(form, value)
        else:
            yield self.markup.content_edit(translation, self._numerus(values, self.markup.indentation(translation)))

    def _numerus(self, values: Sequence[str], space: str) -> str:
        inner = f"{space}    " if space else ""
        return "".join(f"{inner}<numerusform>{value}</numerusform>" for value in values) + space

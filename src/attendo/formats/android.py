r"""Android's string resources: `string`, `string-array` and `plurals`, with the escapes that aapt reads.

Within a value `\'`, `\"`, `\@`, `\n` and `\uXXXX` are escapes, a quoted span keeps its white space, and `xliff:g`
elements are not translated.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from attendo.errors import DataError
from attendo.formats.contents import Code, Content, joined, plain
from attendo.formats.elements import Element, Token
from attendo.formats.file import Edit, File, Form, Languages, Slot, SlotEditor, Span, UniqueIds, Unit
from attendo.formats.markup import Markup, escaped, parse_markup
from attendo.formats.markup_content import Inline, content_of, style_of, written
from attendo.formats.plural_sets import Category, plural_set

_FLAGS = frozenset({"java-printf-format"})
_REFERENCE = re.compile(r"\s*(?:@(?:\+|\*)?(?:[\w.]+:)?\w+/[\w.]+|@null|@empty|\?(?:[\w.]+:)?(?:\w+/)?[\w.]+)\s*")
_PIECE = re.compile(r'\\u([0-9A-Fa-f]{4})|\\(.)|(")|([ \t\r\n\f]+)|([^\\" \t\r\n\f]+|\\)', re.S)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_CONTROLS = {"n": "\n", "t": "\t", "\n": ""}
_UNICODE_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})")


@dataclass(frozen=True, kw_only=True, slots=True)
class _ValueStyle:
    """The style in which a value is written, besides its XML."""

    is_quoted: bool
    """Whether the whole value is in quotation marks."""
    unicode_escapes: dict[str, str]
    """Characters that are written as escapes, with their escapes."""
    has_bare_tags: bool
    """Whether its text has tags whose attributes are in quotation marks without escapes."""


def read_android(data: bytes, languages: Languages) -> File:
    """Reads string resources; their sources are their own values.

    Raises:
        DataError: the content is not a file of string resources.
    """
    markup = parse_markup(data)
    if markup.root.local != "resources":
        raise DataError(f"these are not Android resources: the outermost element is <{markup.root.local}>")
    ids, units = UniqueIds(), []
    slots: dict[str, tuple[Slot, ...]] = {}
    beside: dict[str, tuple[Edit, ...]] = {}
    for element, note in _values(markup):
        name = ids.of(element.attributes.get("name", ""))
        notes = (note,) if note else ()
        is_fixed = element.attributes.get("translatable") == "false"
        if element.local == "plurals":
            unit, slots[name], beside[name] = _plurals(markup, element, name, notes, languages, is_fixed=is_fixed)
            units.append(unit)
            continue
        items = [element] if element.local == "string" else element.elements("item")
        for number, item in enumerate(items):
            item_name = name if element.local == "string" else f"{name}/{number}"
            unit = _text_unit(markup, item, item_name, notes, is_fixed=is_fixed)
            units.append(unit)
            slots[unit.id] = (Slot(item.inner, _writer(markup, item)),)
    return File(
        format="android",
        text=markup.text,
        units=tuple(units),
        editor=SlotEditor(slots, beside=beside),
        declared=Languages(),
    )


def classify(element: Element) -> Inline:
    """Classifies an element within a value: `xliff:g` stays unchanged, all others are tags around text."""
    if element.local == "g" and "xliff" in element.namespace:
        return Inline("single", f"g{element.attributes.get('id', '')}")
    return Inline(None, element.local)


def _values(markup: Markup) -> Iterator[tuple[Element, str]]:
    """Yields each resource that has text, with the comment before it."""
    comment = ""
    for child in markup.root.children:
        if isinstance(child, Token):
            raw = markup.raw(child.span)
            if child.kind == "comment":
                comment = raw[4:-3].strip()
            continue
        if child.local in ("string", "string-array", "plurals"):
            yield child, comment
        comment = ""


def _text_unit(markup: Markup, item: Element, name: str, notes: tuple[str, ...], *, is_fixed: bool) -> Unit:
    source = _unescaped(content_of(markup, item, classify))
    is_reference = _REFERENCE.fullmatch(markup.raw(item.inner)) is not None
    is_translatable = not is_fixed and not is_reference and bool(plain(source).strip())
    most = item.attributes.get("maxLength", "")
    return Unit(
        id=name,
        forms=(Form(source=source),),
        is_translatable=is_translatable,
        context=name,
        notes=notes,
        flags=_FLAGS,
        max_length=int(most) if most.isdigit() else None,
        spans=(item.inner,) if is_translatable else (),
    )


def _plurals(
    markup: Markup, element: Element, name: str, notes: tuple[str, ...], languages: Languages, *, is_fixed: bool
) -> tuple[Unit, tuple[Slot, ...], tuple[Edit, ...]]:
    items = {item.attributes.get("quantity", ""): item for item in element.elements("item")}
    present = {
        quantity: Category(
            source=_unescaped(content_of(markup, item, classify)),
            slot=Slot(item.inner, _writer(markup, item)),
            whole=Span(item.tag.start - len(markup.indentation(item)), item.end),
        )
        for quantity, item in items.items()
    }
    if not present:
        return Unit(id=name, forms=(Form(source=()),), is_translatable=False, context=name), (), ()
    last = element.elements("item")[-1]
    value = _writer(markup, last)

    def inserted(quantity: str, text: Content) -> str:
        raw = value(text)
        tag = f'<item quantity="{escaped(quantity, quotes=True)}"'
        content = raw if last.is_empty_tag else f">{raw}</item>"
        return f"{markup.indentation(last)}{tag}{content}"

    found = plural_set(present, languages.target, Span(last.end, last.end), inserted)
    is_translatable = not is_fixed and any(plain(form.source).strip() for form in found.forms)
    unit = Unit(
        id=name,
        forms=found.forms,
        is_translatable=is_translatable,
        context=name,
        notes=notes,
        flags=_FLAGS,
        spans=found.spans if is_translatable else (),
    )
    return unit, found.slots, found.removals


def _unescaped(parts: Content) -> Content:
    """The value that a program reads: without escapes and quotation marks, white space outside of these collapsed."""
    result: list[str | Code] = []
    in_quotes, is_pending = False, False
    has_text = False
    for part in parts:
        if isinstance(part, Code):
            if is_pending:
                result.append(" ")
            is_pending = False
            result.append(part)
            has_text = True
            continue
        tags = [tag.span() for tag in _TAG.finditer(part)] if "<" in part else []
        for found in _PIECE.finditer(part):
            unicode, escape, quote, space, text = (group or "" for group in found.groups())
            if quote and any(start < found.start() < stop for start, stop in tags):
                # aapt drops it, and browsers read the attribute without it: displayed is the content of the file.
                quote, text = "", '"'
            if space and not in_quotes:
                is_pending = has_text
                continue
            if quote:
                in_quotes = not in_quotes
            if is_pending:
                result.append(" ")
                is_pending = False
            piece = chr(int(unicode, 16)) if unicode else _CONTROLS.get(escape, escape) if escape else space or text
            result.append(piece)
            has_text = True
    return joined(result)


def _writer(markup: Markup, item: Element) -> Callable[[Content], str]:
    """Returns a function that writes a value in the style of the present one."""
    raw = "" if item.is_empty_tag else markup.raw(item.inner)
    xml_style = style_of(markup, item)
    # aapt reads the entity of an apostrophe as a bare apostrophe, which it refuses.
    xml_style = replace(xml_style, escapes=xml_style.escapes - {"'", '"'})
    stripped = raw.strip().removeprefix("<![CDATA[").removesuffix("]]>")
    is_quoted = len(stripped) > 1 and stripped[0] == stripped[-1] == '"' and not stripped.endswith('\\"')
    escapes = {chr(int(found[1], 16)): found[0] for found in _UNICODE_ESCAPE.finditer(raw)}
    tags = _TAG.findall(stripped.replace("&lt;", "<").replace("&gt;", ">"))
    has_bare_tags = not is_quoted and any(re.search(r'(?<!\\)"', tag) for tag in tags)
    style = _ValueStyle(is_quoted=is_quoted, unicode_escapes=escapes, has_bare_tags=has_bare_tags)

    def write(parts: Content) -> str:
        value = written(_escaped(parts, style), xml_style)
        return markup.content_edit(item, value).text

    return write


def _escaped(parts: Content, style: _ValueStyle) -> Content:
    """A text with the escapes that aapt needs."""
    if not parts:
        return parts
    result: list[str | Code] = ['"'] if style.is_quoted else []
    for number, part in enumerate(parts):
        if isinstance(part, Code):
            result.append(part)
            continue
        text = part.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        if not style.is_quoted:
            text = _visible_spaces(text.replace("'", "\\'"), at_start=number == 0, at_end=number == len(parts) - 1)
            if number == 0 and text[:1] in ("@", "?"):
                text = f"\\{text}"
            if style.has_bare_tags:
                text = _TAG.sub(lambda tag: tag[0].replace('\\"', '"'), text)
        for character, escape in style.unicode_escapes.items():
            if character not in " \\\"'\n\t":
                text = text.replace(character, escape)
        result.append(text)
    return joined([*result, '"'] if style.is_quoted else result)


def _visible_spaces(text: str, *, at_start: bool, at_end: bool) -> str:
    """Escapes the spaces of a text that would be collapsed: those at its ends, and all but the first of several."""
    text = re.sub("(?<= ) ", r"\\u0020", text)
    if at_start and text.startswith(" "):
        text = rf"\u0020{text[1:]}"
    if at_end and text.endswith(" "):
        text = rf"{text[:-1]}\u0020"
    return text

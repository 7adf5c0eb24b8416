"""OpenDocument: texts (.odt), spreadsheets (.ods) and presentations (.odp).

Tracked deletions, annotations, fields, hidden text, names of sheets, formulas and numbers stay unchanged.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from attendo.errors import DataError
from attendo.formats.archive import ArchiveFile, archive_file
from attendo.formats.contents import Code, Content, content, joined
from attendo.formats.elements import Element, Token
from attendo.formats.file import File, Languages, Span
from attendo.formats.markup import Markup, parse_markup
from attendo.formats.markup_content import Style, token_parts, written
from attendo.formats.passages import Passage, Piece, document_file, edges, paired_codes, passage_of
from attendo.formats.zip_parts import ZipParts

_MEMBERS = ("content.xml", "styles.xml")
_TEXT = "urn:oasis:names:tc:opendocument:xmlns:text:1.0"
_TABLE = "urn:oasis:names:tc:opendocument:xmlns:table:1.0"
_OFFICE = "urn:oasis:names:tc:opendocument:xmlns:office:1.0"
_STYLE = "urn:oasis:names:tc:opendocument:xmlns:style:1.0"
_WRAPPERS = frozenset(("span", "a", "meta", "ruby", "ruby-base", "meta-field"))
_WORDS = frozenset(("note", "s", "tab", "line-break", "sequence", "page-number", "date", "time", "reference-ref"))
_NUMBERS = frozenset(("float", "percentage", "currency", "date", "time", "boolean"))


def read_odf(data: bytes, languages: Languages) -> ArchiveFile:
    """Reads a document: its paragraphs and headings, in tables, notes, boxes, headers and footers too.

    Raises:
        DataError: the file is not a document, or is damaged.
    """
    archive = ZipParts(data)
    if "content.xml" not in archive.names:
        raise DataError("the document is no .odt, .ods or .odp: it has no content.xml")
    members = {}
    for name in _MEMBERS:
        if name in archive.names:
            try:
                members[name] = _read_member(parse_markup(archive.read(name)), languages)
            except DataError as error:
                raise DataError(f"{name}: {error}") from error
    return archive_file("odf", archive, members)


def _read_member(markup: Markup, languages: Languages) -> File:
    del languages
    formattings = _formattings(markup)
    passages = (_passage(markup, element, formattings) for element in _paragraphs(markup.root))
    return document_file("odf", markup.text, [passage for passage in passages if passage is not None])


def _paragraphs(root: Element) -> Iterator[Element]:
    """Yields paragraphs and headings whose text is the document's own."""
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if element.namespace == _TEXT and element.local in ("p", "h"):
            yield element
        if not _is_fixed(element):
            waiting.extend(reversed(element.elements()))


def _is_fixed(element: Element) -> bool:
    """Whether all of an element stays unchanged: deletions, comments, computed cells and hidden sections."""
    if (element.namespace, element.local) in ((_TEXT, "tracked-changes"), (_OFFICE, "annotation")):
        return True
    if element.namespace == _TABLE and element.local in ("table-cell", "covered-table-cell"):
        kind = element.attributes.get(f"{_OFFICE} value-type", "")
        return f"{_TABLE} formula" in element.attributes or kind in _NUMBERS
    return element.attributes.get(f"{_TEXT} display") == "none"


def _formattings(markup: Markup) -> Mapping[str, str]:
    """Returns the formatting of automatic text styles by name; LibreOffice uses many names for one formatting."""
    formattings: dict[str, str] = {}
    for element in markup.root.descendants():
        family = element.attributes.get(f"{_STYLE} family")
        if element.local == "style" and element.namespace == _STYLE and family == "text":
            raw = "".join(markup.raw(child.span) for child in element.elements())
            raw = re.sub(r'\s[\w.-]+:(?:paragraph-)?rsid="[^"]*"', "", raw)
            parent = element.attributes.get(f"{_STYLE} parent-style-name", "")
            is_plain = not parent and re.fullmatch(r"(?:<[\w.-]+:text-properties\s*/>)?", raw) is not None
            formattings[element.attributes.get(f"{_STYLE} name", "")] = "" if is_plain else f"{parent} {raw}"
    return formattings


def _passage(markup: Markup, element: Element, formattings: Mapping[str, str]) -> Passage | None:
    """Makes a passage of a paragraph; None if it has no text."""
    if element.is_empty_tag:
        return None
    found = list(_nodes(markup, element, formattings))
    codes = iter(paired_codes([(piece.code, pair) for piece, pair in found if piece.code is not None]))
    pieces = [piece if piece.code is None else replace(piece, code=next(codes)) for piece, _ in found]
    prefix = markup.prefix(element)
    style = Style(escapes=markup.escapes & {">"}, encoding=markup.text.encoding)
    return passage_of(pieces, lambda parts: _written(parts, style, prefix), context=element.local)


@dataclass(frozen=True, slots=True)
class _Group:
    """Neighbouring spans of one formatting, as one; without tags if it is that of the text around them."""

    tag: Span | None
    children: tuple[Element | Token, ...]
    closing: Span


def _nodes(markup: Markup, element: Element, formattings: Mapping[str, str]) -> Iterator[tuple[Piece, int | None]]:
    """Yields the pieces of a paragraph, each code with the number of its pair."""
    waiting: list[Element | Token | _Group | tuple[Span, int]] = list(reversed(_grouped(element.children, formattings)))
    number = 0
    while waiting:
        node = waiting.pop()
        number += 1
        if isinstance(node, tuple):
            yield _code(markup, node[0], number), node[1]
        elif isinstance(node, Token):
            yield from ((piece, None) for piece in _token_pieces(markup, node))
        elif isinstance(node, _Group) or _is_wrapper(node):
            if node.tag is not None:
                closing = node.closing if isinstance(node, _Group) else Span(node.inner.stop, node.end)
                yield _code(markup, node.tag, number), number
                waiting.append((closing, number))
            waiting.extend(reversed(_grouped(node.children, formattings)))
        else:
            yield _code(markup, node.span, number, is_word=node.local in _WORDS), None


def _is_wrapper(element: Element) -> bool:
    return element.namespace == _TEXT and element.local in _WRAPPERS and not element.is_empty_tag


def _grouped(nodes: Sequence[Element | Token], formattings: Mapping[str, str]) -> list[Element | Token | _Group]:
    """Groups neighbouring spans of the same formatting."""
    found: list[Element | Token | _Group] = []
    look_before: str | None = None
    for node in nodes:
        look = None
        if isinstance(node, Element) and _is_wrapper(node) and node.local == "span":
            name = node.attributes.get(f"{_TEXT} style-name", "")
            look = formattings.get(name, f"style {name}")
            closing = Span(node.inner.stop, node.end)
            last = found[-1] if found else None
            if isinstance(last, _Group) and look == look_before:
                found[-1] = _Group(last.tag, (*last.children, *node.children), closing)
            else:
                found.append(_Group(node.tag if look else None, node.children, closing))
        else:
            found.append(node)
        look_before = look
    return found


def _code(markup: Markup, span: Span, number: int, *, is_word: bool = False) -> Piece:
    return Piece(span=span, code=Code(id=str(number), raw=markup.raw(span)), is_word=is_word)


def _token_pieces(markup: Markup, token: Token) -> Iterator[Piece]:
    """Yields characters, with white space as one space; that at the edges is separate pieces."""
    if token.kind != "text":
        parts = token_parts(markup, token)
        for part in parts:
            yield Piece(span=token.span, text=part) if isinstance(part, str) else Piece(span=token.span, code=part)
        return
    for span in edges(markup.raw(token.span), token.span.start):
        for part in joined(token_parts(markup, Token("text", span))):
            if isinstance(part, str):
                yield Piece(span=span, text=re.sub(r"[ \t\r\n]+", " ", part))
            else:
                yield Piece(span=span, code=part)


def _written(parts: Content, style: Style, prefix: str) -> str:
    """Writes a text as OpenDocument: of several spaces, all but the first are an element."""

    def spaces(found: re.Match[str]) -> str:
        return f'<{prefix}s {prefix}c="{len(found[0])}"/>'

    pieces = []
    for part in parts:
        if isinstance(part, Code):
            pieces.append(part.raw)
        else:
            raw = written(content(re.sub(r"[\t\r\n]+", " ", part)), style)
            pieces.append(re.sub("(?<= ) +", spaces, raw))
    return "".join(pieces)

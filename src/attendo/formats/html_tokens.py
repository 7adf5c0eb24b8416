"""HTML as tags, comments and the text between them, with their positions; nothing is repaired.

The time it takes grows with the length alone: an unclosed comment or element without markup ends with the document.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from attendo.errors import DataError
from attendo.formats.contents import paired
from attendo.formats.file import Span

TokenKind = Literal["text", "open", "close", "empty", "other"]

# Quotation marks count behind an equals sign alone, as browsers have it.
_TAG = re.compile(r"""</?([A-Za-z][^\s/>]*+)(?:=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+)|[^>=])*+>""")
_ATTRIBUTE = re.compile(r"""[\s/]([^\s=>"'/]+)\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""")
_DOCTYPE_SUBSET = re.compile(r"<!DOCTYPE[^>\[]*+\[", re.I)
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())  # noqa: SIM905
WITHOUT_MARKUP = frozenset(("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"))
"""Elements whose content is text alone."""


@dataclass(frozen=True, slots=True)
class HtmlToken:
    """A tag, text between tags, or a comment or the like."""

    kind: TokenKind
    span: Span
    name: str = ""
    """The name of a tag, in small letters."""
    partner: int = -1
    """The number of the tag that closes or opens it; -1 where there is none."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute's value, and where it stands: within its quotation marks, if it has any."""

    value: str
    span: Span
    quote: str


def html_tokens(text: str, span: Span, *, is_xml: bool = False) -> list[HtmlToken]:
    """Reads HTML.

    Args:
        text: what it is part of.
        span: the part.
        is_xml: whether it is XHTML, in which `<script/>` is an element without content.

    Raises:
        DataError: it declares entities.
    """
    tokens = list(_scanned(text, span, is_xml=is_xml))
    tags = [(token.name if token.kind in ("open", "close") else "", token.kind == "close") for token in tokens]
    closing = {pair: number for number, (pair, kind) in paired(tags).items() if kind == "close"}
    for opened, closed in closing.items():
        tokens[opened] = replace(tokens[opened], partner=closed)
        tokens[closed] = replace(tokens[closed], partner=opened)
    return tokens


def attributes_of(text: str, tag: Span) -> Mapping[str, Attribute]:
    """The attributes of a tag that have values, by their names in small letters; the first of equal ones."""
    found: dict[str, Attribute] = {}
    for match in _ATTRIBUTE.finditer(text, tag.start, tag.stop):
        group = next(number for number in (2, 3, 4) if match[number] is not None)
        quote = ("", "", '"', "'", "")[group]
        found.setdefault(match[1].lower(), Attribute(match[group], Span(match.start(group), match.end(group)), quote))
    return found


def _scanned(text: str, span: Span, *, is_xml: bool) -> Iterator[HtmlToken]:
    last = at = span.start
    last_end = text.rfind(">", span.start, span.stop)
    while (found := text.find("<", at, span.stop)) >= 0:
        token = _markup_at(text, found, span.stop, is_xml=is_xml) if found < last_end else _unclosed(text, found, span)
        if token is None:
            at = found + 1
            continue
        if found > last:
            yield HtmlToken("text", Span(last, found))
        yield token
        last = at = token.span.stop
        if token.kind == "open" and token.name in WITHOUT_MARKUP:
            closing = re.compile(rf"</{token.name}(?=[\s/>])", re.I).search(text, at, span.stop)
            last = at = closing.start() if closing else span.stop
            if at > token.span.stop:
                yield HtmlToken("text", Span(token.span.stop, at))
    if last < span.stop:
        yield HtmlToken("text", Span(last, span.stop))


def _unclosed(text: str, start: int, span: Span) -> HtmlToken | None:
    """A comment that is not closed; a `<` that no `>` follows is a character."""
    return HtmlToken("other", Span(start, span.stop)) if text.startswith("<!--", start) else None


def _markup_at(text: str, start: int, stop: int, *, is_xml: bool) -> HtmlToken | None:
    """What begins at a `<`; None where that is a character."""
    if text.startswith(("<!", "<?"), start):
        return HtmlToken("other", Span(start, _end_of_other(text, start, stop, is_xml=is_xml)))
    found = _TAG.match(text, start, stop)
    if found is None:
        return None
    name = found[1].lower()
    kind: TokenKind = "open"
    if text[start + 1] == "/":
        kind = "close"
    elif name in _VOID or (found[0].endswith("/>") and (is_xml or name not in WITHOUT_MARKUP)):
        kind = "empty"
    return HtmlToken(kind, Span(start, found.end()), name)


def _end_of_other(text: str, start: int, stop: int, *, is_xml: bool) -> int:
    """Where a comment, a CDATA section, an instruction or a document type ends."""
    if text.startswith("<!--", start):
        return _behind(text, "-->", start + 2, stop)
    if is_xml and text.startswith("<![CDATA[", start):
        return _behind(text, "]]>", start, stop)
    if text.startswith("<?", start):
        is_closed = text.find("?>", start, start + 100_000) >= 0
        return _behind(text, "?>" if is_closed else ">", start, stop)
    if _DOCTYPE_SUBSET.match(text, start, stop):
        end = _behind(text, "]>", start, stop)
        if "<!ENTITY" in text[start:end]:
            line = text.count("\n", 0, text.index("<!ENTITY", start)) + 1
            raise DataError(f"line {line} declares an entity, which is not read; save the file without a DTD")
        return end
    return _behind(text, ">", start, stop)


def _behind(text: str, end: str, start: int, stop: int) -> int:
    found = text.find(end, start, stop)
    return stop if found < 0 else found + len(end)

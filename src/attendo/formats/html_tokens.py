"""Tags, comments and text of HTML with their positions; nothing is repaired.

It takes time linear in the length: an unclosed comment or element without markup ends with the document.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from attendo.errors import DataError
from attendo.formats.contents import paired
from attendo.formats.file import Span

TokenKind = Literal["text", "open", "close", "empty", "other"]

# Quotation marks count only after an equals sign, as in browsers.
_TAG = re.compile(r"""</?([A-Za-z][^\s/>]*+)(?:=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+)|[^>=])*+>""")
_BARE_TAG = re.compile(r"</?([A-Za-z][^\s/>]*+)[^>]*+>")
_ATTRIBUTE = re.compile(r"""[\s/]([^\s=>"'/]+)\s*+=\s*+(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""")
_DOCTYPE_SUBSET = re.compile(r"<!DOCTYPE[^>\[]*+\[", re.I)
_LONGEST_INSTRUCTION = 100_000
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())  # noqa: SIM905
WITHOUT_MARKUP = frozenset(("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"))
"""Elements whose content is text alone."""


@dataclass(frozen=True, slots=True)
class HtmlToken:
    """A tag, text between tags, or a comment or the like."""

    kind: TokenKind
    span: Span
    name: str = ""
    """The name of a tag in lower case."""
    partner: int = -1
    """The number of the matching tag; -1 if there is none."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute's value with its span, which is within quotation marks if there are any."""

    value: str
    span: Span
    quote: str


def html_tokens(text: str, span: Span, *, is_xml: bool = False) -> list[HtmlToken]:
    """Reads HTML.

    Args:
        text: the text that contains it.
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
    """The attributes of a tag that have values, by their names in lower case; the first of equal names."""
    found: dict[str, Attribute] = {}
    for match in _ATTRIBUTE.finditer(text, tag.start, tag.stop):
        group = next(number for number in (2, 3, 4) if match[number] is not None)
        quote = ("", "", '"', "'", "")[group]
        found.setdefault(match[1].lower(), Attribute(match[group], Span(match.start(group), match.end(group)), quote))
    return found


def _scanned(text: str, span: Span, *, is_xml: bool) -> Iterator[HtmlToken]:
    last = at = span.start
    scanner = _Scanner(text, span, is_xml=is_xml)
    while (found := text.find("<", at, span.stop)) >= 0:
        token = scanner.markup_at(found)
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


class _Scanner:
    """Reads tags and comments; no character is examined more than a few times in all.

    Args:
        text: the text that contains the HTML.
        span: the part.
        is_xml: whether it is XHTML.
    """

    def __init__(self, text: str, span: Span, *, is_xml: bool) -> None:
        self._text, self._stop, self._is_xml = text, span.stop, is_xml
        self._last_end = text.rfind(">", span.start, span.stop)
        self._instruction_end = -1
        self._quotes_close = True

    def markup_at(self, start: int) -> HtmlToken | None:
        """Reads a tag, a comment or the like; None if the `<` is an ordinary character."""
        if start >= self._last_end:  # an unclosed comment; otherwise a `<` without a `>` after it is a character
            is_comment = self._text.startswith("<!--", start)
            return HtmlToken("other", Span(start, self._stop)) if is_comment else None
        if self._text.startswith(("<!", "<?"), start):
            return HtmlToken("other", Span(start, self._end_of_other(start)))
        found = self._tag(start)
        if found is None:
            return None
        name = found[1].lower()
        kind: TokenKind = "open"
        if self._text[start + 1] == "/":
            kind = "close"
        elif name in _VOID or (found[0].endswith("/>") and (self._is_xml or name not in WITHOUT_MARKUP)):
            kind = "empty"
        return HtmlToken(kind, Span(start, found.end()), name)

    def _tag(self, start: int) -> re.Match[str] | None:
        found = _TAG.match(self._text, start, self._stop) if self._quotes_close else None
        if found is None and (found := _BARE_TAG.match(self._text, start, self._stop)) is not None:
            # A quotation mark swallowed the last `>`: from here on quotation marks are ignored, or each tag would be
            # searched to here.
            self._quotes_close = False
        return found

    def _end_of_other(self, start: int) -> int:
        """Finds the end of a comment, a CDATA section, an instruction or a document type."""
        text, stop = self._text, self._stop
        if text.startswith("<!--", start):
            return _behind(text, "-->", start + 2, stop)
        if self._is_xml and text.startswith("<![CDATA[", start):
            return _behind(text, "]]>", start, stop)
        if text.startswith("<?", start):
            return self._end_of_instruction(start)
        if _DOCTYPE_SUBSET.match(text, start, stop):
            end = _behind(text, "]>", start, stop)
            if "<!ENTITY" in text[start:end]:
                line = text.count("\n", 0, text.index("<!ENTITY", start)) + 1
                raise DataError(f"line {line} declares an entity, which is not read; save the file without a DTD")
            return end
        return _behind(text, ">", start, stop)

    def _end_of_instruction(self, start: int) -> int:
        if self._instruction_end < start:  # otherwise it is also the first one after this instruction
            found = self._text.find("?>", start, self._stop)
            self._instruction_end = found if found >= 0 else self._stop
        is_closed = self._instruction_end < min(start + _LONGEST_INSTRUCTION, self._stop)
        return _behind(self._text, "?>" if is_closed else ">", start, self._stop)


def _behind(text: str, end: str, start: int, stop: int) -> int:
    found = text.find(end, start, stop)
    return stop if found < 0 else found + len(end)

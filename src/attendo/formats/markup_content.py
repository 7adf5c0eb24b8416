"""Content of XML elements as text with inline codes, and back in the style of the replaced content."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from attendo.formats.contents import Code, CodeKind, Content, content, joined, plain
from attendo.formats.elements import Element, Token
from attendo.formats.file import Span
from attendo.formats.markup import ENTITIES, Markup

_REFERENCE = re.compile(r"&(#[xX][0-9a-fA-F]{1,8}|#[0-9]{1,8}|[^\s;&<]+);")
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_PREDEFINED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


@dataclass(frozen=True, slots=True)
class Inline:
    """The role of an element within a text."""

    kind: CodeKind | None
    """None for a pair of tags around translatable text; otherwise a code for the element with all its content."""
    id: str
    nests: bool = True


Classify = Callable[[Element], Inline]
"""Classifies an element within a text; its id is made unique."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Style:
    """The style in which a value was written."""

    cdata: tuple[str, str] | None = None
    """The text before and after its CDATA section; None if it has none."""
    escapes: frozenset[str] = frozenset()
    """The characters among `>`, `"` and `'` that the content has as entities."""
    encoding: str = "utf-8"
    line_end: str = "\n"


def style_of(markup: Markup, element: Element) -> Style:
    """Determines how an element's content is written: in CDATA or not, and with which entities."""
    raw = "" if element.is_empty_tag else markup.raw(element.inner)
    children = element.children
    text = "".join(markup.raw(child.span) for child in children if isinstance(child, Token) and child.kind == "text")
    cdata = _around_cdata(markup, element, children)
    escapes = {
        character
        for character, entity in ENTITIES
        if entity in raw or (character not in text and character in markup.escapes)
    }
    return Style(cdata=cdata, escapes=frozenset(escapes), encoding=markup.text.encoding, line_end=markup.text.line_end)


def _around_cdata(markup: Markup, element: Element, children: Sequence[Element | Token]) -> tuple[str, str] | None:
    """Returns the white space around the CDATA sections of an element without other content; None for others."""
    if element.has_elements:
        return None
    tokens = [child for child in children if isinstance(child, Token)]
    sections = [token.span for token in tokens if token.kind == "cdata"]
    if not sections or any(token.kind == "text" and markup.raw(token.span).strip() for token in tokens):
        return None
    # White space outside of the sections stays outside.
    inner = element.inner
    return markup.raw(Span(inner.start, sections[0].start)), markup.raw(Span(sections[-1].stop, inner.stop))


def content_of(markup: Markup, element: Element, classify: Classify, *, decode: bool = True) -> Content:
    """Reads an element's content: characters, and a code for each piece of markup.

    Args:
        markup: the document.
        element: the element.
        classify: classifies the elements in it.
        decode: whether to leave out white space around CDATA sections, which `style_of` records.
    """
    if element.is_empty_tag:
        return ()
    inner = element.inner
    raw = markup.raw(inner)
    if "<" not in raw:
        return joined(_text_parts(raw, inner.start)) if "&" in raw else content(raw.replace("\r\n", "\n"))
    children: Sequence[Element | Token] = element.children
    if decode and _around_cdata(markup, element, children) is not None:
        children = [child for child in children if isinstance(child, Token) and child.kind == "cdata"]
    return joined(_parts(markup, children, classify))


def text_of(markup: Markup, element: Element) -> str:
    """Returns an element's characters, without markup and with all white space."""
    return plain(content_of(markup, element, lambda _: Inline(None, ""), decode=False))


def _parts(markup: Markup, nodes: Iterable[Element | Token], classify: Classify) -> list[str | Code]:
    """Returns the parts of nodes, without recursion: closing tags wait on the stack as codes."""
    parts: list[str | Code] = []
    waiting: list[Element | Token | Code] = [*nodes]
    waiting.reverse()
    seen: dict[str, int] = {}
    while waiting:
        node = waiting.pop()
        if isinstance(node, Code):
            parts.append(node)
        elif isinstance(node, Token):
            parts += token_parts(markup, node)
        else:
            inline = classify(node)
            key = f"{inline.id}/{inline.kind}"
            seen[key] = seen.get(key, 0) + 1
            name = inline.id if seen[key] == 1 else f"{inline.id}#{seen[key]}"
            if inline.kind is not None or node.is_empty_tag:
                kind: CodeKind = inline.kind or "single"
                parts.append(Code(id=name, raw=markup.raw(node.span), kind=kind, nests=inline.nests))
                continue
            parts.append(Code(id=name, raw=markup.raw(node.tag), kind="open"))
            end_tag = markup.text.text[node.inner.stop : node.end]
            waiting.append(Code(id=name, raw=end_tag, kind="close"))
            waiting.extend(reversed(node.children))
    return parts


def token_parts(markup: Markup, token: Token) -> list[str | Code]:
    """Returns the characters between tags; comments, instructions and unknown entities are codes."""
    raw = markup.raw(token.span)
    if token.kind == "cdata":
        return [raw[9:-3].replace("\r\n", "\n")]
    if token.kind != "text":
        return [Code(id=f"{token.kind}@{token.span.start}", raw=raw)]
    return _text_parts(raw, token.span.start)


def _text_parts(raw: str, start: int) -> list[str | Code]:
    """Returns the characters of text that begins at a position; unknown entities are codes."""
    if "&" not in raw:
        return [raw.replace("\r\n", "\n")]
    parts: list[str | Code] = []
    last = 0
    for found in _REFERENCE.finditer(raw):
        parts.append(raw[last : found.start()].replace("\r\n", "\n"))
        character = character_of(found[1])
        parts.append(Code(id=f"entity@{start + found.start()}", raw=found[0]) if character is None else character)
        last = found.end()
    return [*parts, raw[last:].replace("\r\n", "\n")]


def character_of(reference: str) -> str | None:
    """Returns the character of a reference such as `amp` or `#xA0`; None for an entity that XML does not define."""
    if not reference.startswith("#"):
        return _PREDEFINED.get(reference)
    return chr(int(reference[2:], 16) if reference[1] in "xX" else int(reference[1:]))


def written(parts: Content, style: Style) -> str:
    """Writes content as XML, in the style of the replaced content; characters that XML lacks become U+FFFD."""
    if style.cdata is not None and all(isinstance(part, str) for part in parts):
        text = _NOT_IN_XML.sub("\ufffd", "".join(part for part in parts if isinstance(part, str)))
        if _is_in(text, style.encoding) and "\r" not in text:
            sections = text.replace("]]>", "]]]]><![CDATA[>").replace("\n", style.line_end)
            return f"{style.cdata[0]}<![CDATA[{sections}]]>{style.cdata[1]}"
    pieces = [part.raw if isinstance(part, Code) else _written_text(part, style) for part in parts]
    return "".join(pieces)


def _written_text(text: str, style: Style) -> str:
    text = _NOT_IN_XML.sub("\ufffd", text).replace("&", "&amp;").replace("<", "&lt;")
    for character, entity in ENTITIES:
        if character in style.escapes:
            text = text.replace(character, entity)
    text = text.replace("]]>", "]]&gt;").replace("\r", "&#13;").replace("\n", style.line_end)
    return text.encode(style.encoding, "xmlcharrefreplace").decode(style.encoding)


def _is_in(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True

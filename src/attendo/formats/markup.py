"""XML with the position of every tag, so that parts of it can be replaced and the rest keeps its bytes.

Expat decides whether a document is well formed and what its names mean; it refuses entity declarations. A tokenizer of
our own gives the positions, which is simple for text that is known to be well formed.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal
from xml.parsers import expat

from attendo.errors import DataError
from attendo.formats.encoded import EncodedText, decoded
from attendo.formats.file import Edit, Span

MAX_DEPTH = 256
"""The deepest nesting of elements that is read."""
ENTITIES = ((">", "&gt;"), ('"', "&quot;"), ("'", "&apos;"))
"""Characters that may be written as entities and need not be."""
_TOKEN = re.compile(
    r"""(?P<comment><!--.*?-->)|(?P<cdata><!\[CDATA\[.*?\]\]>)|(?P<instruction><\?.*?\?>)
    |(?P<doctype><!DOCTYPE(?:[^\[\]"'<>]|"[^"]*"|'[^']*')*+
        (?:\[(?:[^\]"'<]|"[^"]*"|'[^']*'|<!--.*?-->|<\?.*?\?>|<!(?:[^"'<>]|"[^"]*"|'[^']*')*+>)*+\]\s*)?>)
    |(?P<close></[^>]*>)|(?P<open><(?:[^<>"']|"[^"]*"|'[^']*')*+>)|(?P<text>[^<]+)""",
    re.S | re.X,
)
_ATTRIBUTE = re.compile(r"""\s+([^\s=<>/"']+)\s*=\s*("[^"]*"|'[^']*')""")
_NAME = re.compile(r"<([^\s/>]+)")
_DECLARED = re.compile(rb"""^(?:\xef\xbb\xbf)?\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']""")

TokenKind = Literal["text", "cdata", "comment", "instruction"]


@dataclass(frozen=True, slots=True)
class Token:
    """What stands in an element beside elements."""

    kind: TokenKind
    span: Span


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Element:
    """An element and its positions."""

    name: str
    """Its name, with the URI of its namespace and a space before it where it has one."""
    attributes: Mapping[str, str]
    """By names of the same kind."""
    tag: Span
    """Its start tag."""
    end: int
    """Behind its end tag."""
    inner: Span
    """Between its tags. Of an empty tag, what is replaced to give the element content: the slash and what follows."""
    is_empty_tag: bool
    children: tuple["Element | Token", ...]

    @property
    def local(self) -> str:
        """Its name without the namespace."""
        return self.name.rpartition(" ")[2]

    @property
    def namespace(self) -> str:
        """The URI of its namespace, empty where it has none."""
        return self.name.rpartition(" ")[0]

    @property
    def span(self) -> Span:
        """All of it."""
        return Span(self.tag.start, self.end)

    def elements(self, *names: str) -> list["Element"]:
        """Its child elements, those with the given local names where any are given, in its own namespace."""
        found = [child for child in self.children if isinstance(child, Element)]
        return (
            [child for child in found if child.local in names and child.namespace == self.namespace] if names else found
        )

    def first(self, name: str) -> "Element | None":
        """Its first child element of a local name."""
        return next(iter(self.elements(name)), None)

    def descendants(self) -> Iterator["Element"]:
        """Every element within it, in document order."""
        waiting = list(reversed(self.elements()))
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.elements()))


@dataclass(frozen=True, kw_only=True, slots=True)
class Markup:
    """A document."""

    text: EncodedText
    root: Element
    escapes: frozenset[str]
    """Which of `>`, `"` and `'` its text has as entities somewhere."""

    def raw(self, span: Span) -> str:
        """A span as it is written."""
        return self.text.text[span.start : span.stop]

    def prefix(self, element: Element) -> str:
        """The prefix of an element's name, with its colon; empty where it has none."""
        found = _NAME.match(self.text.text, element.tag.start)
        assert found is not None
        return found[1].rpartition(":")[0] + ":" if ":" in found[1] else ""

    def attribute(self, element: Element, name: str) -> Span:
        """Where an attribute stands, by its name as written, with the space before it; or where to insert it."""
        position = self._behind_name(element)
        while found := _ATTRIBUTE.match(self.text.text, position, element.tag.stop):
            if found[1] == name:
                return Span(found.start(), found.end())
            position = found.end()
        return Span(position, position)

    def set_attribute(self, element: Element, name: str, value: str | None) -> Edit:
        """The edit that gives an attribute a value, in the quotes it has, or removes it."""
        span = self.attribute(element, name)
        if value is None:
            return Edit(span, "")
        old = self.raw(span)
        if not old:
            return Edit(span, f' {name}="{escaped(value, quotes=True)}"')
        value_start = re.search("[\"']", old)
        assert value_start is not None
        return Edit(span, f"{old[: value_start.end()]}{escaped(value, quotes=True)}{old[-1]}")

    def indentation(self, element: Element) -> str:
        """The white space before an element's start tag, as far as it is all that stands between two tags."""
        start = element.tag.start
        before = self.text.text[:start] if start < 4_096 else self.text.text[start - 4_096 : start]
        space = before[len(before.rstrip()) :]
        return space if before.rstrip().endswith(">") else ""

    def content_edit(self, element: Element, raw: str) -> Edit:
        """The edit that gives an element other content; an empty tag becomes two."""
        if not element.is_empty_tag:
            return Edit(element.inner, raw)
        found = _NAME.match(self.text.text, element.tag.start)
        assert found is not None
        return Edit(element.inner, f">{raw}</{found[1]}>")

    def _behind_name(self, element: Element) -> int:
        found = _NAME.match(self.text.text, element.tag.start)
        assert found is not None
        return found.end()


def escaped(text: str, *, quotes: bool = False) -> str:
    """Text with what XML must not have in it escaped."""
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return text.replace('"', "&quot;").replace("'", "&apos;") if quotes else text


def parse_markup(content: bytes) -> Markup:
    """Reads XML.

    Raises:
        DataError: it is not well formed, declares entities, or is nested too deeply.
    """
    found = _DECLARED.match(content[:1_024])
    declared = found[1].decode("ascii") if found else _without_mark(content)
    text = decoded(content, declared)
    escapes = frozenset(character for character, entity in ENTITIES if entity in text.text)
    return Markup(text=text, root=_tree(text, _names(text)), escapes=escapes)


def _without_mark(content: bytes) -> str | None:
    """The encoding of UTF-16 that has no byte order mark, which begins with `<`."""
    return {b"<\0": "utf-16-le", b"\0<": "utf-16-be"}.get(content[:2])


def _names(text: EncodedText) -> list[tuple[str, dict[str, str]]]:
    """The names and attributes of all elements, in the order of their start tags, as expat resolves them."""
    names: list[tuple[str, dict[str, str]]] = []
    # The bytes are decoded already; whatever encoding the declaration names, expat reads them as UTF-8.
    parser = expat.ParserCreate("utf-8", " ")

    def start(name: str, attributes: dict[str, str]) -> None:
        names.append((name, attributes))

    def entity(*_: object) -> None:
        raise DataError(
            f"line {parser.CurrentLineNumber} declares an entity, which is not read; save the file without a DTD"
        )

    parser.StartElementHandler = start
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(text.text.encode("utf-8"), True)
    except expat.ExpatError as error:
        raise DataError(f"line {error.lineno} is not well-formed XML: {expat.errors.messages[error.code]}") from error
    return names


@dataclass(slots=True)
class _Open:
    """An element whose end tag has not come yet."""

    name: str
    attributes: dict[str, str]
    tag: Span
    children: list[Element | Token] = field(default_factory=list)

    def closed(self, inner_end: int, end: int) -> Element:
        return Element(
            name=self.name,
            attributes=self.attributes,
            tag=self.tag,
            end=end,
            inner=Span(self.tag.stop, inner_end),
            is_empty_tag=False,
            children=tuple(self.children),
        )


def _tree(text: EncodedText, names: list[tuple[str, dict[str, str]]]) -> Element:
    """The elements with their positions."""
    outermost = _Open("", {}, Span(0, 0))
    stack = [outermost]
    remaining = iter(names)
    for found in _TOKEN.finditer(text.text):
        kind, span = found.lastgroup, Span(found.start(), found.end())
        if kind == "open":
            name, attributes = next(remaining)
            if found[0].endswith("/>"):
                stack[-1].children.append(_empty(name, attributes, span, found[0]))
            else:
                stack.append(_Open(name, attributes, span))
            if len(stack) > MAX_DEPTH:
                raise DataError(f"line {text.line_number(span.start)} is nested more than {MAX_DEPTH} deep")
        elif kind == "close":
            element = stack.pop().closed(span.start, span.stop)
            stack[-1].children.append(element)
        elif kind in ("text", "cdata", "comment", "instruction"):
            stack[-1].children.append(Token(kind, span))  # type: ignore[arg-type]  # one of the four, just asked
    assert len(stack) == 1, "tokens and expat's events differ"
    assert next(remaining, None) is None, "tokens and expat's events differ"
    return next(child for child in outermost.children if isinstance(child, Element))


def _empty(name: str, attributes: dict[str, str], span: Span, raw: str) -> Element:
    """An element of an empty tag."""
    slash = span.start + len(raw[:-2].rstrip())
    return Element(
        name=name,
        attributes=attributes,
        tag=span,
        end=span.stop,
        inner=Span(slash, span.stop),
        is_empty_tag=True,
        children=(),
    )

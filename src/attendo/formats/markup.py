"""XML with the position of every tag, so that parts of it can be replaced and the rest keeps its bytes."""

import re
from dataclasses import dataclass

from attendo.formats.elements import Element, read_elements
from attendo.formats.encoded import EncodedText, decoded
from attendo.formats.file import Edit, Span

ENTITIES = ((">", "&gt;"), ('"', "&quot;"), ("'", "&apos;"))
"""Characters that may, but need not, be written as entities."""
_ATTRIBUTE = re.compile(r"""\s+([^\s=<>/"']+)\s*=\s*("[^"]*"|'[^']*')""")
_NAME = re.compile(r"<([^\s/>]+)")
_DECLARED = re.compile(rb"""^(?:\xef\xbb\xbf)?\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']""")


@dataclass(frozen=True, kw_only=True, slots=True)
class Markup:
    """An XML document with the positions of its elements."""

    text: EncodedText
    root: Element
    escapes: frozenset[str]
    """The characters among `>`, `"` and `'` that the text has as entities anywhere."""

    def raw(self, span: Span) -> str:
        """Returns the text of a span as it is written."""
        return self.text.text[span.start : span.stop]

    def prefix(self, element: Element) -> str:
        """Returns the prefix of an element's name with its colon; empty if there is none."""
        found = _NAME.match(self.text.text, element.tag.start)
        assert found is not None
        return found[1].rpartition(":")[0] + ":" if ":" in found[1] else ""

    def attribute(self, element: Element, name: str) -> Span:
        """Returns an attribute's span, with the space before it, by its name as written; or where to insert it."""
        tag = element.tag
        behind_name = _NAME.match(self.text.text, tag.start)
        assert behind_name is not None
        position = behind_name.end()
        while found := _ATTRIBUTE.match(self.text.text, position, tag.stop):
            if found[1] == name:
                return Span(found.start(), found.end())
            position = found.end()
        return Span(position, position)

    def set_attribute(self, element: Element, name: str, value: str | None) -> Edit:
        """Returns the edit that sets an attribute, in its present quotation marks, or removes it."""
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
        """The white space before an element's start tag, if nothing else is between it and the preceding tag."""
        start = element.tag.start
        before = self.text.text[:start] if start < 4_096 else self.text.text[start - 4_096 : start]
        space = before[len(before.rstrip()) :]
        return space if before.rstrip().endswith(">") else ""

    def content_edit(self, element: Element, raw: str) -> Edit:
        """Returns the edit that replaces an element's content; an empty tag becomes two tags."""
        if not element.is_empty_tag:
            return Edit(element.inner, raw)
        found = _NAME.match(self.text.text, element.tag.start)
        assert found is not None
        return Edit(element.inner, f">{raw}</{found[1]}>")


def escaped(text: str, *, quotes: bool = False) -> str:
    """Escapes the characters that text in XML must not contain."""
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return text.replace('"', "&quot;").replace("'", "&apos;") if quotes else text


def parse_markup(content: bytes) -> Markup:
    """Reads XML.

    Raises:
        DataError: the document is not well formed, declares entities, or is nested too deeply.
    """
    found = _DECLARED.match(content[:1_024])
    declared = found[1].decode("ascii") if found else _without_mark(content)
    text = decoded(content, declared)
    escapes = frozenset(character for character, entity in ENTITIES if entity in text.text)
    return Markup(text=text, root=read_elements(text), escapes=escapes)


def _without_mark(content: bytes) -> str | None:
    """The encoding of UTF-16 that has no byte order mark, which begins with `<`."""
    return {b"<\0": "utf-16-le", b"\0<": "utf-16-be"}.get(content[:2])

"""Paragraphs of Office documents: their runs as text with codes for formatting, and back.

A paragraph is a unit. Text in the paragraph's most frequent formatting is bare; text in another formatting is within a
pair of codes; anything that is no text, or must not change, is a single code. Runs without visible differences form one
text.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from attendo.formats.contents import Code, CodeKind, Content, content, joined
from attendo.formats.elements import Element, Token
from attendo.formats.file import Languages, Span
from attendo.formats.markup import Markup
from attendo.formats.markup_content import Style, text_of, written
from attendo.formats.passages import CodeSpans, Passage

_LETTERS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class RunNames:
    """The names of a paragraph's elements in a kind of document, without namespaces."""

    paragraphs: frozenset[str]
    run: str = "r"
    text: str = "t"
    properties: str = "rPr"
    ignored: frozenset[str] = frozenset()
    """Elements that are dropped: marks of the spelling checker and of the last page layout."""
    outside: frozenset[str] = frozenset()
    """Elements that occur before or after a paragraph's text."""
    wrappers: frozenset[str] = frozenset()
    """Elements around runs whose content is part of the sentence."""
    characters: dict[str, str] = field(default_factory=dict)
    """Elements that represent a character."""
    hidden: frozenset[str] = frozenset()
    """Properties of hidden text, which stays unchanged."""
    unseen: frozenset[str] = frozenset()
    """Properties without visible effect: the language, marks of the spelling checker."""
    keeps_space: bool = True
    """Whether white space at the edges of a text needs `xml:space`."""


@dataclass(frozen=True, slots=True)
class _Format:
    """A formatting: a run's start tag and properties as first written, and the key that distinguishes it."""

    opening: str
    closing: str
    key: str
    is_hidden: bool = False


class _Part(NamedTuple):
    """A part of a paragraph: text in a formatting, or a code."""

    span: Span
    text: str = ""
    format: _Format | None = None
    code: Code | None = None
    inner: Span | None = None
    """The position of a code that shares a run with text; its span is the run's."""


def paragraph_passages(
    markup: Markup, names: RunNames, languages: Languages, paragraphs: Sequence[Element]
) -> Iterator[Passage]:
    """Yields the paragraphs that have text, as passages.

    Args:
        markup: the document.
        names: the names of its elements.
        languages: the target language replaces the one with which runs are marked.
        paragraphs: the paragraphs to read.
    """
    reader = _ParagraphReader(markup, names, languages)
    for element in paragraphs:
        passage = reader.passage(element)
        if passage is not None:
            yield passage


class _ParagraphReader:
    """Reads paragraphs one after another."""

    def __init__(self, markup: Markup, names: RunNames, languages: Languages) -> None:
        self._markup, self._names, self._languages = markup, names, languages
        self._parts: list[_Part] = []
        self._formats: dict[tuple[str, str], _Format] = {}
        """The formattings so far, by a run's start tag and its properties as they are written."""

    def passage(self, element: Element) -> Passage | None:
        """Returns the paragraph as a passage; None if it has no text."""
        if element.is_empty_tag:
            return None
        self._parts = []
        self._read(self._inner(element))
        texts = [number for number, part in enumerate(self._parts) if part.text.strip()]
        if not texts:
            return None
        parts = _merged(_trimmed(self._parts, texts[0], texts[-1]))
        base = _most_frequent(parts)
        source, formats, codes = _content(parts, base)
        first = next(part.format for part in parts if part.format is not None and part.format.key == base)
        writer = _Writer(self._markup, self._names, first, formats)
        span = Span(parts[0].span.start, parts[-1].span.stop)
        return Passage(span=span, source=source, written=writer.written, codes=codes, context=element.local)

    def _inner(self, element: Element) -> list[Element | Token]:
        return [
            child
            for child in element.children
            if not (isinstance(child, Element) and child.local in self._names.outside)
        ]

    def _read(self, nodes: Sequence[Element | Token]) -> None:
        """Adds the parts of a paragraph or a wrapper; a field that ends in it is one code."""
        number = 0
        ends = _field_ends(nodes) if self._has_fields(nodes) else {}
        while number < len(nodes):
            node = nodes[number]
            last = ends.get(number, number)
            if last > number:
                self._add_code(Span(node.span.start, nodes[last].span.stop))
                number = last + 1
                continue
            number += 1
            if isinstance(node, Token):
                if node.kind != "text":
                    self._add_code(node.span)
            elif node.local == self._names.run:
                self._read_run(node)
            elif node.local == self._names.text:
                self._parts.append(_Part(node.span, text_of(self._markup, node), _Format("", "", "")))
            elif node.local in self._names.wrappers and not node.is_empty_tag:
                self._read_wrapper(node)
            elif node.local not in self._names.ignored:
                self._add_code(node.span)

    def _has_fields(self, nodes: Sequence[Element | Token]) -> bool:
        return bool(nodes) and self._markup.text.text.find("fldChar", nodes[0].span.start, nodes[-1].span.stop) >= 0

    def _read_wrapper(self, element: Element) -> None:
        """Adds an element around runs, such as a link, as a pair of codes."""
        inner = element
        if element.local == "sdt":
            found = element.first("sdtContent")
            if found is None or found.is_empty_tag:
                self._add_code(element.span)
                return
            inner = found
        opening, closing = Span(element.span.start, inner.inner.start), Span(inner.inner.stop, element.span.stop)
        name = f"w{element.span.start}"
        raw = self._markup.raw
        self._parts.append(_Part(opening, code=Code(id=name, raw=raw(opening), kind="open")))
        self._read(inner.children)
        self._parts.append(_Part(closing, code=Code(id=name, raw=raw(closing), kind="close")))

    def _read_run(self, run: Element) -> None:
        """Adds a run's text; everything else in it is a code, in a run of its own."""
        names, span = self._names, run.span
        properties: Element | None = None
        inner: list[tuple[str, Element]] = []
        has_text = False
        for child in run.elements():
            local = child.local
            if local == names.properties and properties is None:
                properties = child
            elif local not in names.ignored:
                inner.append((local, child))
                has_text = has_text or local == names.text or local in names.characters
        formatting = self._format(run, properties)
        if formatting.is_hidden or not has_text:
            if inner or formatting.is_hidden:
                self._add_code(span)
            return
        for local, child in inner:
            if local == names.text:
                self._parts.append(_Part(span, text_of(self._markup, child), formatting))
            elif local in names.characters:
                self._parts.append(_Part(span, names.characters[local], formatting))
            else:
                raw = f"{formatting.opening}{self._markup.raw(child.span)}{formatting.closing}"
                code = Code(id=f"c{child.span.start}", raw=raw)
                self._parts.append(_Part(span, code=code, inner=child.span))

    def _format(self, run: Element, properties: Element | None) -> _Format:
        tag = self._markup.raw(run.tag)
        raw = "" if properties is None else self._markup.raw(properties.span)
        known = self._formats.get((tag, raw))
        if known is None:
            known = self._formats[tag, raw] = self._new_format(tag, raw, properties)
        return known

    def _new_format(self, tag: str, raw: str, properties: Element | None) -> _Format:
        found = re.match(r"<([^\s/>]+)", tag)
        assert found is not None
        key, is_hidden = "", False
        if properties is not None:
            key = self._key(properties)
            is_hidden = any(child.local in self._names.hidden for child in properties.elements())
            if self._languages.target:
                raw = _with_language(raw, self._languages.target.replace("_", "-"))
        return _Format(tag + raw, f"</{found[1]}>", key, is_hidden)

    def _key(self, properties: Element) -> str:
        """Returns the visible part of a formatting."""
        raw = self._markup.raw
        children = sorted(raw(child.span) for child in properties.elements() if child.local not in self._names.unseen)
        attributes = sorted(
            f"{name}={value}" for name, value in properties.attributes.items() if name not in self._names.unseen
        )
        return "".join([*attributes, *children])

    def _add_code(self, span: Span) -> None:
        self._parts.append(_Part(span, code=Code(id=f"c{span.start}", raw=self._markup.raw(span))))


def _field_ends(nodes: Sequence[Element | Token]) -> dict[int, int]:
    """Returns the numbers of the nodes that end fields, by those of the nodes that begin them."""
    ends: dict[int, int] = {}
    open_fields: list[int] = []
    for number, node in enumerate(nodes):
        depth = _field_depth(node)
        open_fields += [number] * depth
        for _ in range(min(-depth, len(open_fields))):
            ends[open_fields.pop()] = number
    return ends


def _field_depth(node: Element | Token) -> int:
    """Returns the number of fields that a node begins, less those that it ends."""
    if isinstance(node, Token) or node.local != "r":
        return 0
    marks = [
        value
        for child in node.elements("fldChar")
        for name, value in child.attributes.items()
        if name.rpartition(" ")[2] == "fldCharType"
    ]
    return marks.count("begin") - marks.count("end")


def _trimmed(parts: Sequence[_Part], first: int, last: int) -> Sequence[_Part]:
    """Returns the parts from the first text to the last, with the pairs of codes that begin or end between them."""
    low, high = first, last
    halves = {
        (part.code.id, part.code.kind): number
        for number, part in enumerate(parts)
        if part.code is not None and part.code.kind != "single"
    }
    is_grown = True
    while is_grown:
        is_grown = False
        for part in parts[low : high + 1] if halves else ():
            if part.code is None or part.code.kind == "single":
                continue
            other = halves[part.code.id, "close" if part.code.kind == "open" else "open"]
            if not low <= other <= high:
                low, high, is_grown = min(low, other), max(high, other), True
        # Parts of one run share its span, which goes whole.
        while low and parts[low - 1].span == parts[low].span:
            low, is_grown = low - 1, True
        while high + 1 < len(parts) and parts[high + 1].span == parts[high].span:
            high, is_grown = high + 1, True
    return parts[low : high + 1]


def _merged(parts: Sequence[_Part]) -> list[_Part]:
    """Merges neighbours of one formatting; white space takes the formatting before it."""
    groups: list[list[_Part]] = []
    for part in parts:
        if groups and _is_same_text(groups[-1][0], part):
            groups[-1].append(part)
        else:
            groups.append([part])
    return [_joined(group) if len(group) > 1 else group[0] for group in groups]


def _joined(parts: Sequence[_Part]) -> _Part:
    span = Span(parts[0].span.start, parts[-1].span.stop)
    return _Part(span, "".join([part.text for part in parts]), parts[0].format)


def _is_same_text(first: _Part, second: _Part) -> bool:
    if first.format is None or second.format is None:
        return False
    return first.format.key == second.format.key or not second.text.strip()


def _most_frequent(parts: Sequence[_Part]) -> str:
    """Returns the key of the formatting that most letters and digits have."""
    if len(parts) == 1 and parts[0].format is not None:
        return parts[0].format.key
    letters: Counter[str] = Counter()
    for part in parts:
        if part.format is not None:
            letters[part.format.key] += sum(map(len, _LETTERS.findall(part.text)))
    return max(letters, key=lambda key: letters[key])


def _content(parts: Sequence[_Part], base: str) -> tuple[Content, dict[str, _Format], CodeSpans]:
    """Returns the text with its codes, the formatting of each pair, and the positions of codes."""
    found: list[str | Code] = []
    formats: dict[str, _Format] = {}
    codes: dict[tuple[str, CodeKind], Span] = {}
    for part in parts:
        if part.code is not None:
            found.append(part.code)
            codes[part.code.id, part.code.kind] = part.inner or part.span
        elif part.format is None or part.format.key == base:
            found.append(part.text)
        elif part.text:
            name = f"f{len(formats) + 1}"
            formats[name] = part.format
            opening = Code(id=name, raw=part.format.opening, kind="open")
            found += [opening, part.text, Code(id=name, raw=part.format.closing, kind="close")]
    return joined(found), formats, codes


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes a paragraph's text: a run for each stretch of one formatting."""

    markup: Markup
    names: RunNames
    base: _Format
    formats: dict[str, _Format]

    def written(self, parts: Content) -> str:
        """Returns the runs of a text."""
        pieces: list[str] = []
        stack: list[_Format] = []
        for part in parts:
            if isinstance(part, str):
                pieces.append(self._run(part, stack[-1] if stack else self.base))
            elif part.id not in self.formats:
                pieces.append(part.raw)
            elif part.kind == "open":
                stack.append(self.formats[part.id])
            elif stack:
                stack.pop()
        return "".join(pieces)

    def _run(self, text: str, formatting: _Format) -> str:
        escapes = self.markup.escapes & {">"}
        raw = written(content(text), Style(escapes=frozenset(escapes), encoding=self.markup.text.encoding))
        space = ' xml:space="preserve"' if self.names.keeps_space and text != " ".join(text.split()) else ""
        prefix = self.markup.prefix(self.markup.root) if not formatting.opening else _prefix(formatting.opening)
        name = f"{prefix}{self.names.text}"
        return f"{formatting.opening}<{name}{space}>{raw}</{name}>{formatting.closing}"


def _prefix(tag: str) -> str:
    """Returns the prefix of a tag's name, with its colon."""
    found = re.match(r"<([^\s/>:]+:)?", tag)
    return found[1] or "" if found is not None else ""


def _with_language(properties: str, language: str) -> str:
    """Replaces the language in a run's properties; of several, that of most scripts."""
    properties = re.sub(r'(<(?:\w+:)?lang\b[^>]*?\b\w*:?val=["\'])[^"\']*', rf"\g<1>{language}", properties)
    return re.sub(r'(^<(?:\w+:)?rPr\b[^>]*?\blang=["\'])[^"\']*', rf"\g<1>{language}", properties)

"""The elements of an XML document with their positions, kept as arrays: objects are made only on demand.

Expat decides whether a document is well formed and what its names mean; it refuses entity declarations. A scan for tags
gives their positions, which is simple in text that is known to be well formed.
"""

import re
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal
from xml.parsers import expat

from attendo.errors import DataError
from attendo.formats.encoded import EncodedText
from attendo.formats.file import Span

MAX_DEPTH = 256
"""The deepest nesting of elements that is read."""
_CHUNK = 1 << 20
_END_TAG, _START_TAG = 1, 2
_TAG = re.compile(
    r"""<(?:(/)|([^<>"'!?/](?:[^<>"']++|"[^"]*+"|'[^']*+')*+>)|!--.*?-->|!\[CDATA\[.*?\]\]>|\?.*?\?>
    |!DOCTYPE(?:[^\[\]"'<>]|"[^"]*"|'[^']*')*+
        (?:\[(?:[^\]"'<]|"[^"]*"|'[^']*'|<!--.*?-->|<\?.*?\?>|<!(?:[^"'<>]|"[^"]*"|'[^']*')*+>)*+\]\s*)?>)""",
    re.S | re.X,
)
_BETWEEN_TAGS = re.compile(
    r"(?P<comment><!--.*?-->)|(?P<cdata><!\[CDATA\[.*?\]\]>)|(?P<instruction><\?.*?\?>)|(?P<text>[^<]+)", re.S
)
_EMPTY_TAG = -1

TokenKind = Literal["text", "cdata", "comment", "instruction"]


@dataclass(frozen=True, slots=True)
class Token:
    """A part of an element's content that is not an element."""

    kind: TokenKind
    span: Span


class _Names(dict[str, int]):
    """Numbers for names in order of appearance; a name in a namespace has its URI and a space before it."""

    def __missing__(self, name: str) -> int:
        number = self[name] = len(self)
        return number


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class _Tree:
    """All elements of a document. An element is a number, in order of the start tags."""

    text: str
    numbers: Mapping[str, int]
    """The distinct names with their numbers."""
    names: tuple[str, ...]
    """The names by their numbers."""
    locals: tuple[str, ...]
    """The names without namespaces, by their numbers."""
    name_numbers: "array[int]"
    """The number of each element's name."""
    attributes: list[tuple[str, ...]]
    """For each element, its attributes' names and values alternately; equal tuples are shared."""
    tag_starts: "array[int]"
    tag_stops: "array[int]"
    inner_stops: "array[int]"
    """The beginning of each element's end tag; -1 for an empty tag."""
    behind: "array[int]"
    """For each element, the number of the first later element outside it."""

    def end(self, number: int) -> int:
        """Returns the position after an element."""
        inner_stop = self.inner_stops[number]
        return self.tag_stops[number] if inner_stop == _EMPTY_TAG else self.text.index(">", inner_stop) + 1


class Element:
    """An element and its positions. Objects of the same element are equal.

    Args:
        tree: the document.
        number: the number of the element.
    """

    __slots__ = ("_attributes", "_number", "_tree", "local")

    def __init__(self, tree: _Tree, number: int) -> None:
        self._tree, self._number = tree, number
        self._attributes: Mapping[str, str] | None = None
        self.local = tree.locals[tree.name_numbers[number]]
        """The name without the namespace."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Element) and other._number == self._number and other._tree is self._tree

    def __hash__(self) -> int:
        return hash((id(self._tree), self._number))

    @property
    def name(self) -> str:
        """The name, after the URI of its namespace and a space if it has one."""
        return self._tree.names[self._tree.name_numbers[self._number]]

    @property
    def namespace(self) -> str:
        """The URI of the namespace; empty if there is none."""
        return self.name.rpartition(" ")[0]

    @property
    def attributes(self) -> Mapping[str, str]:
        """The values of the attributes, by names of the same form as `name`."""
        found = self._attributes
        if found is None:
            flat = iter(self._tree.attributes[self._number])
            found = self._attributes = dict(zip(flat, flat, strict=True))
        return found

    @property
    def is_empty_tag(self) -> bool:
        """Whether the element is written as one tag, such as `<br/>`."""
        return self._tree.inner_stops[self._number] == _EMPTY_TAG

    @property
    def tag(self) -> Span:
        """The span of the start tag."""
        return Span(self._tree.tag_starts[self._number], self._tree.tag_stops[self._number])

    @property
    def inner(self) -> Span:
        """The span between the tags; for an empty tag, the slash and what follows, which content would replace."""
        tree, number = self._tree, self._number
        start, stop, inner_stop = tree.tag_starts[number], tree.tag_stops[number], tree.inner_stops[number]
        return Span(stop, inner_stop) if inner_stop != _EMPTY_TAG else Span(_slash(tree.text, start, stop), stop)

    @property
    def end(self) -> int:
        """The position after the end tag."""
        return self._tree.end(self._number)

    @property
    def span(self) -> Span:
        """The span of the whole element."""
        return Span(self._tree.tag_starts[self._number], self._tree.end(self._number))

    @property
    def has_elements(self) -> bool:
        """Whether the element contains elements."""
        return self._tree.behind[self._number] > self._number + 1

    @property
    def children(self) -> tuple["Element | Token", ...]:
        """The child elements, and the text and markup between them."""
        if self.is_empty_tag:
            return ()
        tree, number = self._tree, self._number + 1
        position, behind = tree.tag_stops[self._number], tree.behind[self._number]
        found: list[Element | Token] = []
        while number < behind:
            if position < tree.tag_starts[number]:
                found += _tokens(tree.text, position, tree.tag_starts[number])
            found.append(Element(tree, number))
            position, number = tree.end(number), tree.behind[number]
        if position < tree.inner_stops[self._number]:
            found += _tokens(tree.text, position, tree.inner_stops[self._number])
        return tuple(found)

    def elements(self, *names: str) -> list["Element"]:
        """The child elements in its own namespace; if local names are given, only those with one of them."""
        tree, number = self._tree, self._number + 1
        behind, following, numbers = tree.behind[self._number], tree.behind, tree.name_numbers
        children = []
        while number < behind:
            children.append(number)
            number = following[number]
        if names:
            wanted = {self._number_of(name) for name in names}
            children = [child for child in children if numbers[child] in wanted]
        return [Element(tree, child) for child in children]

    def first(self, name: str) -> "Element | None":
        """The first child element with a local name, in its own namespace; None if there is none."""
        tree, number = self._tree, self._number + 1
        behind, following, numbers = tree.behind[self._number], tree.behind, tree.name_numbers
        wanted = self._number_of(name)
        while number < behind:
            if numbers[number] == wanted:
                return Element(tree, number)
            number = following[number]
        return None

    def descendants(self, *names: str) -> Iterator["Element"]:
        """Every element within it, in document order; those with the given local names, where any are given."""
        tree = self._tree
        for number in range(self._number + 1, tree.behind[self._number]):
            if not names or tree.locals[tree.name_numbers[number]] in names:
                yield Element(tree, number)

    def _number_of(self, name: str) -> int | None:
        """The number of a local name in the element's own namespace; None if no element has it."""
        namespace = self.namespace
        return self._tree.numbers.get(f"{namespace} {name}" if namespace else name)


def read_elements(text: EncodedText) -> Element:
    """Reads XML.

    Returns:
        The outermost element.

    Raises:
        DataError: the text is not well formed, declares entities, or is nested too deeply.
    """
    numbers, name_numbers, attributes = _read_names(text.text)
    tag_starts, tag_stops, inner_stops, behind = _positions(text, len(name_numbers))
    tree = _Tree(
        text=text.text,
        numbers=numbers,
        names=tuple(numbers),
        locals=tuple(name.rpartition(" ")[2] for name in numbers),
        name_numbers=name_numbers,
        attributes=attributes,
        tag_starts=tag_starts,
        tag_stops=tag_stops,
        inner_stops=inner_stops,
        behind=behind,
    )
    return Element(tree, 0)


def _read_names(text: str) -> tuple[Mapping[str, int], "array[int]", list[tuple[str, ...]]]:
    """Reads the names and attributes of all elements with expat, in order of the start tags.

    Returns:
        The names with their numbers, the number of each element's name, and each element's attributes.
    """
    # The bytes are decoded already; expat reads them as UTF-8, regardless of the declared encoding.
    parser = expat.ParserCreate("utf-8", " ")
    numbers, name_numbers, attributes = _Names(), array("i"), list[tuple[str, ...]]()
    shared: dict[tuple[str, ...], tuple[str, ...]] = {}

    def start(name: str, flat: list[str]) -> None:
        name_numbers.append(numbers[name])
        values = tuple(flat)
        attributes.append(shared.setdefault(values, values))

    def entity(*_: object) -> None:
        raise DataError(
            f"line {parser.CurrentLineNumber} declares an entity, which is not read; save the file without a DTD"
        )

    parser.ordered_attributes = True
    parser.StartElementHandler = start
    parser.EntityDeclHandler = entity
    try:
        for begin in range(0, len(text) + 1, _CHUNK):
            parser.Parse(text[begin : begin + _CHUNK].encode("utf-8"), begin + _CHUNK > len(text))
    except expat.ExpatError as error:
        raise DataError(f"line {error.lineno} is not well-formed XML: {expat.errors.messages[error.code]}") from error
    finally:  # the parser and its callbacks refer to each other
        parser.StartElementHandler = parser.EntityDeclHandler = None
    return numbers, name_numbers, attributes


def _positions(text: EncodedText, count: int) -> tuple["array[int]", "array[int]", "array[int]", "array[int]"]:
    """Finds the positions of all tags, and for each element the number after it, as in `_Tree`.

    Args:
        text: the document.
        count: the number of its elements.
    """
    characters = text.text
    tag_starts, tag_stops = array("i", bytes(4 * count)), array("i", bytes(4 * count))
    inner_stops, behind = array("i", [_EMPTY_TAG]) * count, array("i", range(1, count + 1))
    stack: list[int] = []
    number = 0
    for found in _TAG.finditer(characters):
        kind = found.lastindex
        if kind == _START_TAG:
            start, stop = tag_starts[number], tag_stops[number] = found.span()
            if characters[stop - 2] != "/":
                stack.append(number)
                if len(stack) >= MAX_DEPTH:
                    raise DataError(f"line {text.line_number(start)} is nested more than {MAX_DEPTH} deep")
            number += 1
        elif kind == _END_TAG:
            opened = stack.pop()
            inner_stops[opened], behind[opened] = found.start(), number
    assert not stack, "tags and expat's events differ"
    assert number == count, "tags and expat's events differ"
    return tag_starts, tag_stops, inner_stops, behind


def _tokens(text: str, start: int, stop: int) -> list[Token]:
    """Returns the text and markup between two tags."""
    if text.find("<", start, stop) < 0:
        return [Token("text", Span(start, stop))]
    found = _BETWEEN_TAGS.finditer(text, start, stop)
    # The group is one of the four kinds.
    return [Token(token.lastgroup, Span(token.start(), token.end())) for token in found]  # type: ignore[arg-type]


def _slash(text: str, start: int, stop: int) -> int:
    """Returns the span of an empty tag's slash, with the white space before it."""
    return start + len(text[start : stop - 2].rstrip())

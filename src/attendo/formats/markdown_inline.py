"""Markdown within a block: characters, and codes for emphasis, links, pictures, code, HTML and templates.

It follows CommonMark's order: code and HTML are found first, then links, then emphasis by its rules of delimiters.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from html import unescape

from attendo.formats.contents import Code, paired
from attendo.formats.file import Span
from attendo.formats.markdown_emphasis import Run, delimiter_run, pair_runs
from attendo.formats.passages import Piece, paired_codes

PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
"""Characters that a backslash escapes."""
_PLAIN = re.compile(r"[^\\\n`<&!\[\]*_~{:$]+")
_TICKS = re.compile(r"`+")
_AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[\w.!#$%&'*+/=?^`{|}~-]+@[\w.-]+)>")
_HTML = re.compile(
    r"""<(?:(?P<tag>/?[A-Za-z][A-Za-z0-9-]*)(?:\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?)*\s*/?
    |![A-Za-z][^>]*)>""",
    re.S | re.X,
)
_OTHER_HTML = (("<!--", "-->"), ("<?", "?>"))
_ENTITY = re.compile(r"&(?:#[xX][0-9a-fA-F]{1,6}|#[0-9]{1,7}|[A-Za-z][A-Za-z0-9]{0,31});")
_TEMPLATE = re.compile(r"\{\{.{0,500}?\}\}|\{%.{0,500}?%\}", re.S)
_ROLE = re.compile(r"\{[A-Za-z][\w:-]*\}(?=`)")
_ATTRIBUTES = re.compile(r"\{:?[ \t]*(?:[#.][\w-]+|[\w-]+=[^\s{}]+)(?:[ \t]+(?:[#.][\w-]+|[\w-]+=[^\s{}]+))*[ \t]*\}")
_EMOJI = re.compile(r"(?<![\w:]):(?=[0-9_+-]{0,50}[a-z])[a-z0-9_+-]{1,50}:(?!\w)")
_MATH = re.compile(r"\$(?=\S)(?:[^$\n\\]|\\.){1,400}?(?<=\S)\$(?!\d)")
_IS_MATH = re.compile(r"[\\^_{}]")
_WIKI = re.compile(r"\[\[[^\[\]\n]{1,200}\]\](?!\()")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]{1,100}\]")
# Possessive: a run of white space is never divided in another way.
_SPACES = r"[ \t]*+(?:\n[ \t]*+)?+"
_SPACES_BEFORE_TITLE = r"(?:[ \t]++(?:\n[ \t]*+)?+|\n[ \t]*+)"
_TITLE = r"""(?P<title>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\))"""
_DESTINATION = r"(?:<(?:[^<>\n\\]|\\.)*>|(?!<)(?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*\))*)"
_INLINE_LINK = re.compile(rf"\({_SPACES}{_DESTINATION}(?:{_SPACES_BEFORE_TITLE}{_TITLE})?{_SPACES}\)", re.S)
_LONGEST_LABEL = 999
_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999})\]", re.S)
_VOID = frozenset(("br", "img", "hr", "wbr", "input"))


def normalized_label(label: str) -> str:
    """Normalizes a link's label for comparison: in one case, with white space as one space."""
    return " ".join(label.split()).casefold()


@dataclass(slots=True)
class _Item:
    """An item of the text, by its position in the joined lines."""

    start: int
    stop: int
    text: str = ""
    tag: str | None = None
    """For a code, the name of the HTML element that it begins or ends; empty for any other."""
    is_word: bool = False
    run: Run | None = None
    """The run, for delimiters."""
    link: tuple[int, int] | None = None
    """For half of a link, the position of its opening bracket, and 0 or 1 for the half."""
    raw: str | None = None
    """A code's text if it differs from the file."""


@dataclass(slots=True)
class _Bracket:
    """An opening bracket that may begin a link or a picture."""

    item: int
    is_image: bool
    num_descriptions: int
    """Number of picture descriptions found before it."""
    num_titles: int


@dataclass(frozen=True, kw_only=True, slots=True)
class InlineText:
    """The content of a block's text."""

    pieces: tuple[Piece, ...]
    descriptions: tuple[tuple[Span, ...], ...]
    """The descriptions of pictures, which are separate texts; each as its lines."""
    titles: tuple[Span, ...]
    """The titles of links and pictures, with their quotation marks."""
    escaped: frozenset[str]
    """The characters that are written with a backslash."""


def read_inline(text: str, lines: Sequence[Span], labels: Collection[str]) -> InlineText:
    """Reads a block's text.

    Args:
        text: the document.
        lines: the span of each line's text.
        labels: the normalized link labels that the document defines.
    """
    return _Reader(text, lines, labels).read()


@dataclass(slots=True)
class _Found:
    """Results of reading besides the items."""

    descriptions: list[tuple[Span, ...]] = field(default_factory=list)
    titles: list[Span] = field(default_factory=list)
    escaped: set[str] = field(default_factory=set)


class _Reader:
    """Reads the joined lines of a block from left to right."""

    def __init__(self, text: str, lines: Sequence[Span], labels: Collection[str]) -> None:
        self._file, self._lines, self._labels = text, lines, labels
        self._starts: list[int] = []
        at = 0
        for line in lines:
            self._starts.append(at)
            at += line.stop - line.start + 1
        self._text = "\n".join(text[line.start : line.stop] for line in lines)
        self._items: list[_Item] = []
        self._brackets: list[_Bracket] = []
        self._num_in_links = 0
        """Number of brackets that precede a link, and so cannot begin one themselves, only a picture."""
        self._found = _Found()
        self._ticks: dict[int, list[int]] | None = None
        self._ends: dict[str, int] = {}

    def read(self) -> InlineText:
        """Reads the text with its codes."""
        at = 0
        while at < len(self._text):
            at = self._read_at(at)
        pair_runs([item.run for item in self._items if item.run is not None])
        return InlineText(
            pieces=tuple(self._pieces()),
            descriptions=tuple(self._found.descriptions),
            titles=tuple(self._found.titles),
            escaped=frozenset(self._found.escaped),
        )

    def _read_at(self, at: int) -> int:
        """Reads the item at a position; returns the position after it."""
        mark = self._text[at]
        found = _PLAIN.match(self._text, at)
        if found is not None:
            return self._add(at, found.end(), found[0])
        if mark == "\\":
            return self._backslash(at)
        if mark == "\n":
            return self._line_break(at)
        if mark == "`":
            return self._code_span(at, at)
        if mark in "*_~":
            run = delimiter_run(self._text, at)
            self._items.append(_Item(at, run.stop, run=run))
            return run.stop
        if mark == "[" or self._text.startswith("![", at):
            return self._bracket(at)
        if mark == "]":
            return self._closing_bracket(at)
        return self._special(at, mark)

    def _special(self, at: int, mark: str) -> int:
        """Reads HTML, entities, templates, roles, attributes, emoji and formulas."""
        text = self._text
        if mark == "<":
            if at >= self._last(">"):
                return self._add(at, at + 1, mark)
            if (found := _AUTOLINK.match(text, at)) is not None:
                return self._add_code(at, found.end(), is_word=True)
            if (found := _HTML.match(text, at)) is not None:
                return self._add_code(at, found.end(), tag=found["tag"] or "")
            for opening, closing in _OTHER_HTML:
                # Looked for backwards first, so that many that are not closed cost no more than one.
                if text.startswith(opening, at) and at < self._last(closing):
                    return self._add_code(at, text.find(closing, at) + len(closing))
        elif mark == "&" and (found := _ENTITY.match(text, at)) is not None:
            character = unescape(found[0])
            if character == found[0]:
                return self._add_code(at, found.end(), is_word=True)
            return self._add(at, found.end(), character)
        elif mark == "{":
            if (found := _ROLE.match(text, at)) is not None:
                return self._code_span(at, found.end())
            is_closed = at < max(self._last("}}"), self._last("%}"))
            found = (_TEMPLATE.match(text, at) if is_closed else None) or _ATTRIBUTES.match(text, at)
            if found is not None:
                return self._add_code(at, found.end(), is_word=found[0].startswith("{{"))
        elif mark == ":" and (found := _EMOJI.match(text, at)) is not None:
            return self._add_code(at, found.end())
        elif mark == "$" and (found := _MATH.match(text, at)) is not None and _IS_MATH.search(found[0]):
            return self._add_code(at, found.end(), is_word=True)
        return self._add(at, at + 1, mark)

    def _last(self, closing: str) -> int:
        """The last position at which tags, comments, instructions or templates end."""
        if closing not in self._ends:
            self._ends[closing] = self._text.rfind(closing)
        return self._ends[closing]

    def _add(self, start: int, stop: int, text: str) -> int:
        self._items.append(_Item(start, stop, text=text))
        return stop

    def _add_code(self, start: int, stop: int, *, tag: str = "", is_word: bool = False) -> int:
        self._items.append(_Item(start, stop, tag=tag, is_word=is_word))
        return stop

    def _backslash(self, at: int) -> int:
        following = self._text[at + 1 : at + 2]
        if following == "\n":
            return self._add_code(at, at + 2)
        if following and following in PUNCTUATION:
            self._found.escaped.add(following)
            return self._add(at, at + 2, following)
        return self._add(at, at + 1, "\\")

    def _line_break(self, at: int) -> int:
        """Reads the end of a line: a break after two spaces, otherwise a space."""
        number = bisect_right(self._starts, at) - 1
        between = self._file[self._lines[number].stop : self._lines[number + 1].start]
        if between.startswith("  "):
            return self._add_code(at, at + 1)
        return self._add(at, at + 1, " ")

    def _code_span(self, start: int, at: int) -> int:
        """Reads code between runs of equally many backticks; `start` is that of a role before it."""
        opening = _TICKS.match(self._text, at)
        assert opening is not None
        if self._ticks is None:
            self._ticks = {}
            for found in _TICKS.finditer(self._text):
                self._ticks.setdefault(len(found[0]), []).append(found.start())
        places = self._ticks.get(len(opening[0]), [])
        number = bisect_right(places, at)
        if number == len(places):
            return self._add(start, opening.end(), self._text[start : opening.end()])
        return self._add_code(start, places[number] + len(opening[0]), is_word=True)

    def _bracket(self, at: int) -> int:
        for pattern in (_FOOTNOTE, _WIKI):
            if (found := pattern.match(self._text, at)) is not None:
                return self._add_code(at, found.end(), is_word=pattern is _WIKI)
        is_image = self._text[at] == "!"
        known = self._found
        self._brackets.append(_Bracket(len(self._items), is_image, len(known.descriptions), len(known.titles)))
        stop = at + 1 + is_image
        return self._add(at, stop, self._text[at:stop])

    def _closing_bracket(self, at: int) -> int:
        """Reads the end of a link or a picture if it has a destination or a label; otherwise a bracket."""
        bracket = self._brackets.pop() if self._brackets else None
        is_before_link = len(self._brackets) < self._num_in_links
        self._num_in_links = min(self._num_in_links, len(self._brackets))
        if bracket is None or (is_before_link and not bracket.is_image):
            return self._add(at, at + 1, "]")
        opening = self._items[bracket.item]
        found = _INLINE_LINK.match(self._text, at + 1)
        stop, raw = (found.end(), None) if found is not None else self._reference(opening.stop, at)
        if stop < 0:
            return self._add(at, at + 1, "]")
        if bracket.is_image:  # contents of its description are found when that is read
            del self._found.descriptions[bracket.num_descriptions :]
            del self._found.titles[bracket.num_titles :]
        if found is not None and found["title"] and len(found["title"]) > 2:
            title = self._spans(found.start("title"), found.end("title"))
            self._found.titles += title if len(title) == 1 else ()
        attributes = _ATTRIBUTES.match(self._text, stop)
        stop = stop if attributes is None else attributes.end()
        pair_runs([item.run for item in self._items[bracket.item :] if item.run is not None])
        if bracket.is_image:
            if raw is None:  # a description that is its own label must stay
                self._found.descriptions.append(self._spans(opening.stop, at))
            del self._items[bracket.item + 1 :]
            self._items[bracket.item] = _Item(opening.start, stop, tag="")
            return stop
        self._num_in_links = len(self._brackets)  # links do not hold links
        self._items[bracket.item] = _Item(opening.start, opening.stop, tag="", link=(opening.start, 0))
        self._items.append(_Item(at, stop, tag="", link=(opening.start, 1), raw=raw))
        return stop

    def _reference(self, start: int, at: int) -> tuple[int, str | None]:
        """Returns the ends of a link's text and of its label; -1 if the label is not defined."""
        label = _LABEL.match(self._text, at + 1)
        if label is not None and label[1].strip():
            return (label.end(), None) if normalized_label(label[1]) in self._labels else (-1, None)
        own = self._text[start:at] if self._labels and at - start <= _LONGEST_LABEL else ""
        if normalized_label(own) not in self._labels:
            return -1, None
        # Its text is its label, so a translation of the text has to name the label.
        return (label.end() if label is not None else at + 1), f"][{' '.join(own.split())}]"

    def _spans(self, start: int, stop: int) -> tuple[Span, ...]:
        """Returns the spans in the file of a part of the joined lines, line by line."""
        spans = []
        while start < stop:
            number = bisect_right(self._starts, start) - 1
            end = min(stop, self._starts[number] + self._lines[number].stop - self._lines[number].start)
            if end > start:
                spans.append(Span(self._place(start), self._place(end)))
            start = end + 1
        return tuple(spans)

    def _place(self, at: int) -> int:
        number = bisect_right(self._starts, at) - 1
        return self._lines[number].start + at - self._starts[number]

    def _pieces(self) -> list[Piece]:
        """Returns all items as pieces; codes get their kinds and ids."""
        items = [part for item in self._items for part in _parts(item)]
        names = [(_tag_name(item.tag), (item.tag or "").startswith("/")) for item in items]
        halves = paired(names)
        tags: list[tuple[Code, int | None]] = []
        for number, item in enumerate(items):
            if item.tag is None:
                continue
            pair = halves[number][0] if number in halves else None
            if item.link is not None:  # pairs of HTML, links and emphasis have numbers of their own
                pair = -2 - item.link[0]
            tags.append((Code(id=str(number), raw=self._raw_of(item)), pair))
        codes = iter(paired_codes(tags))
        return [
            Piece(span=self._span_of(item), code=next(codes), is_word=item.is_word)
            if item.tag is not None
            else Piece(span=self._span_of(item), text=item.text)
            for item in items
        ]

    def _span_of(self, item: _Item) -> Span:
        return Span(self._place(item.start), self._place(item.stop))

    def _raw_of(self, item: _Item) -> str:
        if item.raw is not None:
            return item.raw
        span = self._span_of(item)
        return self._file[span.start : span.stop]


def _tag_name(tag: str | None) -> str:
    name = (tag or "").removeprefix("/").lower()
    return "" if name in _VOID else name


def _parts(item: _Item) -> list[_Item]:
    """Returns an item, or the parts of a run of delimiters: halves of emphasis, and the remaining characters."""
    if item.run is None:
        return [item]
    run = item.run
    parts = [
        _Item(start, stop, tag="", link=(pair, int(is_closing)), run=run, is_word=False)
        for start, stop, pair, is_closing in run.halves
    ]
    if run.low < run.high:
        parts.append(_Item(run.low, run.high, text=run.mark * (run.high - run.low)))
    return sorted(parts, key=lambda part: part.start)

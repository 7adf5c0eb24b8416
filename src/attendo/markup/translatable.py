"""Finds the translatable content of a source by its format.

A content has the position of each of its characters in the source, and everything between two contents is copied into
the translation. Nothing is repaired: invalid markup stays invalid. The time is linear in the length, whatever the
source contains.
"""

import re
from array import array
from dataclasses import dataclass, field

from attendo.markup.content import STAND_IN, Content, Mark, MarkKind, ProtectedText
from attendo.markup.entities import ENTITY, Plain, Spelling, character_of
from attendo.markup.tags import Token, tokens_of
from attendo.markup.text_types import TextRequest

_INLINE_NAMES = (
    "a abbr acronym b bdi bdo big cite data del dfn em font i img ins label mark nobr object q ruby rb rp rt s small "
    "span strike strong sub sup time u wbr code kbd samp var tt"
)
_BLOCK_NAMES = (
    "address article aside base basefont blockquote body br button canvas caption center col colgroup dd details "
    "dialog dir div dl dt embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header "
    "hgroup hr html iframe input legend li link main map menu meta nav noframes noscript ol optgroup option p param "
    "picture pre progress script section select source style summary svg math table tbody td template textarea tfoot "
    "th thead title tr track ul video audio"
)
_INLINE, _BLOCK = frozenset(_INLINE_NAMES.split()), frozenset(_BLOCK_NAMES.split())
_NOT_TRANSLATED = frozenset(("script", "style", "code", "kbd", "samp", "var", "tt", "svg", "math", "template"))
_NO = re.compile(r"""\stranslate\s*=\s*["']?no\b|\sclass\s*=\s*(?:"[^"]*\bnotranslate\b|'[^']*\bnotranslate\b)""", re.I)

_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_WHITE = re.compile(r"[^\S\u00a0\u202f]+")


def contents_of(request: TextRequest) -> tuple[list[Content], Spelling]:
    """Returns the translatable contents of a source.

    Args:
        request: the source, its format and the roles of its tags.

    Returns:
        The contents in order, and the spelling of characters in this source.
    """
    tokens = tokens_of(request)
    if request.format == "text":
        return _contents_of_text(tokens, len(request.text)), Plain()
    spelling = Spelling(xml=request.format == "xml")
    builder = Builder(spelling, sentences_at_line_ends=request.line_ends == "sentences")
    kinds = _Kinds(request, tokens)
    number = 0
    while number < len(tokens):
        token = tokens[number]
        if token.kind is None:
            builder.text(token, in_pre=kinds.in_pre(number))
        elif (last := kinds.untranslated(number)) is not None:
            raw = request.text[token.start : tokens[last].end]
            if kinds.is_inline(number):
                builder.add_protected(token.start, ProtectedText(raw, raw, raw))
            else:
                builder.end(token.start)
            number = last
        elif kinds.is_inline(number):
            builder.mark(token, number if token.partner < 0 else min(number, token.partner))
        else:
            builder.end(token.start)
        number += 1
    return builder.done(len(request.text)), spelling


def _contents_of_text(tokens: list[Token], length: int) -> list[Content]:
    """Returns the contents of text, whose tags, if any, are all inline."""
    builder = Builder(Plain(), sentences_at_line_ends=True)
    for number, token in enumerate(tokens):
        if token.kind is None:
            builder.text(token, in_pre=True)
        else:
            builder.mark(token, number if token.partner < 0 else min(number, token.partner))
    return builder.done(length)


class _Kinds:
    """Classification of tags: part of a sentence, end of one, or not translated."""

    def __init__(self, request: TextRequest, tokens: list[Token]) -> None:
        self._tokens, self._html = tokens, request.format == "html"
        lower = str.lower if self._html else str
        self._ignored = frozenset(map(lower, request.ignore_tags))
        self._splitting = frozenset(map(lower, request.splitting_tags))
        self._joining = frozenset(map(lower, request.non_splitting_tags))
        outlined = not self._html and request.outline_detection
        self._outline = _outline(tokens) if outlined else frozenset()
        self._in_pre = self._inside("pre") if self._html else frozenset()

    def is_inline(self, number: int) -> bool:
        """Whether a tag is part of a sentence."""
        token = self._tokens[number]
        if token.name in self._joining or token.name in self._ignored:
            return True
        if token.name in self._splitting:
            return False
        if self._html:
            return token.name in _INLINE or token.name not in _BLOCK
        return number not in self._outline

    def in_pre(self, number: int) -> bool:
        """Whether line ends of a text are significant."""
        return number in self._in_pre

    def untranslated(self, number: int) -> int | None:
        """Returns the last token of an untranslated element that begins here; None if it is translated."""
        token = self._tokens[number]
        empty = token.kind == "open" and token.partner == number + 1
        if token.kind == "single" and not self._html and not token.raw.startswith(("<!-", "<?")):
            return number  # an element of XML without content represents something, such as <x id="1"/>
        if token.kind != "open" or token.partner < 0:
            return None
        if token.name in self._ignored or (empty and not self._html):
            return token.partner
        if self._html and (token.name in _NOT_TRANSLATED or _NO.search(token.raw)):
            return token.partner
        return None

    def _inside(self, name: str) -> frozenset[int]:
        """Returns the texts within elements of a name."""
        found: list[int] = []
        behind = 0
        for number, token in enumerate(self._tokens):
            if token.name == name and token.kind == "open" and token.partner > behind:
                found += range(max(number, behind), token.partner)
                behind = token.partner
        return frozenset(found)


def _outline(tokens: list[Token]) -> frozenset[int]:
    """Returns the tags of XML elements that are among elements only, and not part of a sentence.

    An element is part of a sentence if it, or an element that it is in, has words beside it.
    """
    has_words: list[bool] = [False]
    of_parent: list[int] = [0] * len(tokens)
    parents, stack = [0], [0]
    for number, token in enumerate(tokens):
        if token.kind == "close" and token.partner >= 0 and len(stack) > 1:
            stack.pop()
        of_parent[number] = stack[-1]
        if token.kind is None and token.raw.strip():
            has_words[stack[-1]] = True
        if token.kind == "open" and token.partner >= 0:
            parents.append(stack[-1])
            has_words.append(False)
            stack.append(len(has_words) - 1)
    inline = [False] * len(has_words)
    for each, its_words in enumerate(has_words):
        inline[each] = its_words or (each > 0 and inline[parents[each]])
    return frozenset(number for number, token in enumerate(tokens) if token.kind and not inline[of_parent[number]])


@dataclass
class Builder:
    """Builds contents token by token."""

    spelling: Spelling
    sentences_at_line_ends: bool
    contents: list[Content] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _length: int = 0
    _origins: "array[int]" = field(default_factory=lambda: array("q"))
    _protected: list[ProtectedText] = field(default_factory=list)
    _marks: list[Mark] = field(default_factory=list)

    def text(self, token: Token, *, in_pre: bool) -> None:
        """Adds text."""
        if isinstance(self.spelling, Plain):
            self._plain(token.raw, token.start, keep_lines=True)
            return
        if in_pre and (ends := _LINES.findall(token.raw)) and len(ends) > 1:
            self._lines(token, ends)
            return
        keep_lines, position = in_pre or self.sentences_at_line_ends, 0
        for match in ENTITY.finditer(token.raw):
            self._plain(token.raw[position : match.start()], token.start + position, keep_lines=keep_lines)
            character = character_of(match[0], xml=self.spelling.xml)
            if character is None or character == STAND_IN:
                self.add_protected(token.start + match.start(), ProtectedText(match[0], match[0], match[0]))
            else:
                self.spelling.note(character, match[0])
                self._add(character, [token.start + match.start()])
            position = match.end()
        self._plain(token.raw[position:], token.start + position, keep_lines=keep_lines)

    def _lines(self, token: Token, lines: list[str]) -> None:
        """Adds text with a content per line."""
        position = token.start
        for line in lines:
            if position > token.start:
                self.end(position)
            self.text(Token(position, position + len(line), line, None), in_pre=True)
            position += len(line)

    def _plain(self, text: str, start: int, *, keep_lines: bool) -> None:
        """Adds literal characters."""
        if not text:
            return
        self.spelling.note_all({each for each in "&<>\"'" if each in text})
        position = 0
        for match in () if keep_lines else _WHITE.finditer(text):
            if match[0] == " ":
                continue
            self._characters(text[position : match.start()], start + position)
            self._marks.append(Mark(self._length, match[0], "space", -1))
            self._add(" ", [start + match.start()])
            position = match.end()
        self._characters(text[position:], start + position)

    def _characters(self, text: str, start: int) -> None:
        position = 0
        while (found := text.find(STAND_IN, position)) >= 0:
            self._add(text[position:found], range(start + position, start + found))
            self.add_protected(start + found, ProtectedText(STAND_IN, STAND_IN, "U+FDD0"))
            position = found + 1
        self._add(text[position:], range(start + position, start + len(text)))

    def _add(self, text: str, origins: "range | list[int]") -> None:
        self._text.append(text)
        self._length += len(text)
        self._origins.extend(origins)

    def add_protected(self, start: int, text: ProtectedText) -> None:
        """Adds protected text within a sentence."""
        self._protected.append(text)
        self._add(STAND_IN, [start])

    @property
    def ends_with_space(self) -> bool:
        """Whether the last character is white space, or there is none."""
        return not self._text or self._text[-1][-1:].isspace()

    def space(self, start: int, raw: str | None = None) -> None:
        """Adds a space that the source lacks; if `raw` is given, it represents that text."""
        if raw is not None:
            self._marks.append(Mark(self._length, raw, "space", -1))
        self._add(" ", [start])

    def mark(self, token: Token, element: int) -> None:
        """Adds a tag within a sentence."""
        assert token.kind is not None
        kind: MarkKind = token.kind if token.partner >= 0 or token.kind == "single" else "single"
        self._marks.append(Mark(self._length, token.raw, kind, element))

    def end(self, place: int) -> None:
        """Ends a content at a position of the source."""
        if self._length:
            self._origins.append(place)
            protected, marks = tuple(self._protected), tuple(self._marks)
            self.contents.append(Content("".join(self._text), self._origins, protected, marks))
        self._text, self._length, self._origins, self._protected, self._marks = [], 0, array("q"), [], []

    def done(self, length: int) -> list[Content]:
        """Ends the source, and returns all contents."""
        self.end(length)
        return self.contents

"""What of a source can be translated, by the format that it is written in.

A content knows where in the source each of its characters stands, and whatever is between two contents goes into the
translation as it is. Nothing is repaired: markup that is wrong stays wrong. The time that it takes grows with the
length alone, whatever the source holds.
"""

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

from attendo.serving.content import STAND_IN, Content, Mark, MarkKind, Thing
from attendo.serving.entities import ENTITY, Plain, Spelling, character_of
from attendo.serving.text_types import TextRequest

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
_VOID_NAMES = "area base br col embed hr img input link meta param source track wbr"
_INLINE, _BLOCK, _VOID = (frozenset(names.split()) for names in (_INLINE_NAMES, _BLOCK_NAMES, _VOID_NAMES))
_CONTENT_IS_NO_MARKUP = frozenset(("script", "style", "textarea", "title"))
_NOT_TRANSLATED = frozenset(("script", "style", "code", "kbd", "samp", "var", "tt", "svg", "math", "template"))
_NO = re.compile(r"""\stranslate\s*=\s*["']?no\b|\sclass\s*=\s*(?:"[^"]*\bnotranslate\b|'[^']*\bnotranslate\b)""", re.I)

# Possessive: what has been read is never read again. A quoted `>` ends no tag.
_TAG = re.compile(r"""</?[A-Za-z_:][^\s/><"']*+(?:[^>"']|"[^"]*+"|'[^']*+')*+>""")
_BARE_TAG = re.compile(r"</?[A-Za-z_:][^>]*+>")
_NO_ELEMENTS = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>", "<!": ">"}
"""What begins with these ends with those; the first that fits."""
_NAME = re.compile(r"</?([A-Za-z_:][^\s/><\"']*)")
TEXT_TAG = re.compile(
    r"""</?[A-Za-z][\w:.-]{0,60}(?:[ ][\w:.-]{1,60}=(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'|[^\s"'<>]{1,200}))*[ ]?/?>"""
)
"""What is a tag in text that is no markup: its attributes have values, and it is whole."""
_HALVES: dict[str, tuple[MarkKind, str]] = {
    "bpt": ("open", "bpt"),
    "ept": ("close", "bpt"),
    "sc": ("open", "sc"),
    "ec": ("close", "sc"),
}
"""Codes for half an element: which half, and what the whole is called."""
_KEY = re.compile(r"""\s(?:i|rid|startRef|id)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_WHITE = re.compile(r"[^\S\u00a0\u202f]+")


@dataclass(frozen=True, slots=True)
class _Token:
    """A tag or the like, or the text between two."""

    start: int
    end: int
    raw: str
    kind: MarkKind | None
    """None for text."""
    name: str = ""
    partner: int = -1
    """The number of the token that closes or opens it; -1 for none."""


def contents_of(request: TextRequest) -> tuple[list[Content], Spelling]:
    """What of a source can be translated.

    Args:
        request: the source, its format and which tags are what.

    Returns:
        The contents, in their order, and how their characters are written in this source.
    """
    if request.format == "text":
        return _contents_of_text(request.text), Plain()
    tokens = list(_tokens(request.text, request.format))
    if request.format == "xml":
        tokens = _with_half_elements(tokens, request)
    tokens = _paired(tokens)
    spelling = Spelling(xml=request.format == "xml")
    builder = _Builder(spelling, sentences_at_line_ends=request.line_ends == "sentences")
    kinds = _Kinds(request, tokens)
    number = 0
    while number < len(tokens):
        token = tokens[number]
        if token.kind is None:
            builder.text(token, in_pre=kinds.in_pre(number))
        elif (last := kinds.untranslated(number)) is not None:
            raw = request.text[token.start : tokens[last].end]
            if kinds.is_inline(number):
                builder.thing(token.start, Thing(raw, raw, raw))
            else:
                builder.end(token.start)
            number = last
        elif kinds.is_inline(number):
            builder.mark(token, number if token.partner < 0 else min(number, token.partner))
        else:
            builder.end(token.start)
        number += 1
    return builder.done(len(request.text)), spelling


def _contents_of_text(text: str) -> list[Content]:
    """Text whose tags, if it has any, are all inline."""
    tokens, position = [], 0
    if "<" in text:
        for match in TEXT_TAG.finditer(text):
            if match.start() > position:
                tokens.append(_Token(position, match.start(), text[position : match.start()], None))
            tokens.append(_tag(match.start(), match[0], "text"))
            position = match.end()
    if position < len(text):
        tokens.append(_Token(position, len(text), text[position:], None))
    builder = _Builder(Plain(), sentences_at_line_ends=True)
    for number, token in enumerate(_paired(tokens)):
        if token.kind is None:
            builder.text(token, in_pre=True)
        else:
            builder.mark(token, number if token.partner < 0 else min(number, token.partner))
    return builder.done(len(text))


def _tokens(source: str, markup: str) -> Iterator[_Token]:
    """Tags and what is between them; elements of HTML whose content is no markup have it as one text."""
    position = 0
    scanner = _Scanner(source)
    while (raw := scanner.next_tag()) is not None:
        found = scanner.position - len(raw)
        if found > position:
            yield _Token(position, found, source[position:found], None)
        token = _tag(found, raw, markup)
        yield token
        position = token.end
        if markup == "html" and token.kind == "open" and token.name in _CONTENT_IS_NO_MARKUP:
            closing = re.compile(rf"</{token.name}\b", re.I).search(source, position)
            behind = closing.start() if closing else len(source)
            if behind > position:
                yield _Token(position, behind, source[position:behind], None)
            position = scanner.position = behind
    if position < len(source):
        yield _Token(position, len(source), source[position:], None)


class _Scanner:
    """Finds tags, comments and the like, one after the other, in time that grows with the length alone."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.position = 0
        """Behind what was found last."""
        self._never_end: set[str] = set()
        self._quotes_close = True

    def next_tag(self) -> str | None:
        """The next one; None where there is none."""
        found = self.position
        while (found := self._source.find("<", found)) >= 0:
            if raw := self._at(found):
                self.position = found + len(raw)
                return raw
            found += 1
        self.position = len(self._source)
        return None

    def _at(self, place: int) -> str:
        """What begins at a `<`; nothing where that is a character."""
        for beginning, end in _NO_ELEMENTS.items():
            if self._source.startswith(beginning, place):
                behind = self._source.find(end, place + len(beginning)) if beginning not in self._never_end else -1
                if behind < 0:
                    self._never_end.add(beginning)
                    return ""
                return self._source[place : behind + len(end)]
        if "tag" in self._never_end:
            return ""
        match = _TAG.match(self._source, place) if self._quotes_close else None
        if match is None and (match := _BARE_TAG.match(self._source, place)):
            # A quotation mark is not closed up to the end: from here on none counts, or looking would never end.
            self._quotes_close = False
        if match is None and self._source.find(">", place) < 0:
            self._never_end.add("tag")
        return match[0] if match else ""


def _tag(start: int, raw: str, markup: str) -> _Token:
    found = _NAME.match(raw)
    name = (found[1] if markup != "html" else found[1].lower()) if found else raw[:4]
    kind: MarkKind
    if found is None or raw.endswith("/>") or (markup == "html" and name in _VOID):
        kind = "single"
    else:
        kind = "close" if raw.startswith("</") else "open"
    return _Token(start, start + len(raw), raw, kind, name)


def _with_half_elements(tokens: list[_Token], request: TextRequest) -> list[_Token]:
    """Tokens of which TMX' and XLIFF's codes for half an element, `<bpt>` with `<ept>`, `<sc>` with `<ec>`, are tags.

    Only where the request ignores them: then each is one tag, with all that is in it.
    """
    halves = _HALVES.keys() & set(request.ignore_tags)
    if not halves:
        return tokens
    found: list[_Token] = []
    number = 0
    while number < len(tokens):
        token = tokens[number]
        last = number
        if token.name in halves and token.kind == "open":
            last = next((n for n in range(number, min(number + 3, len(tokens))) if tokens[n].kind == "close"), -1)
            if last < 0 or tokens[last].name != token.name:
                last = number
        key = _KEY.search(token.raw) if token.name in halves and (token.kind == "single" or last > number) else None
        if key is None:
            found.append(token)
            number += 1
            continue
        end = tokens[last].end
        kind, name = _HALVES[token.name]
        found.append(_Token(token.start, end, request.text[token.start : end], kind, f"{name} {key[1] or key[2]}"))
        number = last + 1
    return found


def _paired(tokens: list[_Token]) -> list[_Token]:
    """Tokens that know their partners. Where elements overlap, the one that is closed first has them."""
    open_by_name: dict[str, list[int]] = {}
    waiting: list[int] = []
    partners: dict[int, int] = {}
    for number, token in enumerate(tokens):
        if token.kind == "open":
            open_by_name.setdefault(token.name, []).append(number)
            waiting.append(number)
        elif token.kind == "close" and open_by_name.get(token.name):
            opening = open_by_name[token.name][-1]
            # Those opened behind it were never closed: <li> of HTML, or a mistake.
            while waiting and waiting[-1] >= opening:
                lost = waiting.pop()
                open_by_name[tokens[lost].name].pop()
            partners[opening], partners[number] = number, opening
    return [
        _Token(token.start, token.end, token.raw, token.kind, token.name, partners[number])
        if number in partners
        else token
        for number, token in enumerate(tokens)
    ]


class _Kinds:
    """Which tags are part of a sentence, which end one, and what is not translated."""

    def __init__(self, request: TextRequest, tokens: list[_Token]) -> None:
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
        """Whether line ends count in a text."""
        return number in self._in_pre

    def untranslated(self, number: int) -> int | None:
        """The last token of what begins here and is not translated; None if that is translated."""
        token = self._tokens[number]
        empty = token.kind == "open" and token.partner == number + 1
        if token.kind == "single" and not self._html and not token.raw.startswith(("<!-", "<?")):
            return number  # an element of XML without content stands for something, as <x id="1"/> does
        if token.kind != "open" or token.partner < 0:
            return None
        if token.name in self._ignored or (empty and not self._html):
            return token.partner
        if self._html and (token.name in _NOT_TRANSLATED or _NO.search(token.raw)):
            return token.partner
        return None

    def _inside(self, name: str) -> frozenset[int]:
        """The texts within elements of a name."""
        found: set[int] = set()
        for number, token in enumerate(self._tokens):
            if token.name == name and token.kind == "open" and token.partner > 0:
                found.update(range(number, token.partner))
        return frozenset(found)


def _outline(tokens: list[_Token]) -> frozenset[int]:
    """The tags of XML elements that stand among elements alone, and not in a sentence.

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
class _Builder:
    """Puts contents together, token by token."""

    spelling: Spelling
    sentences_at_line_ends: bool
    contents: list[Content] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _length: int = 0
    _origins: "array[int]" = field(default_factory=lambda: array("q"))
    _things: list[Thing] = field(default_factory=list)
    _marks: list[Mark] = field(default_factory=list)

    def text(self, token: _Token, *, in_pre: bool) -> None:
        """Takes text in."""
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
                self.thing(token.start + match.start(), Thing(match[0], match[0], match[0]))
            else:
                self.spelling.note(character, match[0])
                self._add(character, [token.start + match.start()])
            position = match.end()
        self._plain(token.raw[position:], token.start + position, keep_lines=keep_lines)

    def _lines(self, token: _Token, lines: list[str]) -> None:
        """Text of which each line is a content of its own."""
        position = token.start
        for line in lines:
            if position > token.start:
                self.end(position)
            self.text(_Token(position, position + len(line), line, None), in_pre=True)
            position += len(line)

    def _plain(self, text: str, start: int, *, keep_lines: bool) -> None:
        """Characters that are themselves."""
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
            self.thing(start + found, Thing(STAND_IN, STAND_IN, "U+FDD0"))
            position = found + 1
        self._add(text[position:], range(start + position, start + len(text)))

    def _add(self, text: str, origins: "range | list[int]") -> None:
        self._text.append(text)
        self._length += len(text)
        self._origins.extend(origins)

    def thing(self, start: int, thing: Thing) -> None:
        """Takes in what stands for itself within a sentence."""
        self._things.append(thing)
        self._add(STAND_IN, [start])

    def mark(self, token: _Token, element: int) -> None:
        """Takes in a tag within a sentence."""
        assert token.kind is not None
        kind: MarkKind = token.kind if token.partner >= 0 or token.kind == "single" else "single"
        self._marks.append(Mark(self._length, token.raw, kind, element))

    def end(self, place: int) -> None:
        """Ends a content, before a place of the source."""
        if self._length:
            self._origins.append(place)
            things, marks = tuple(self._things), tuple(self._marks)
            self.contents.append(Content("".join(self._text), self._origins, things, marks))
        self._text, self._length, self._origins, self._things, self._marks = [], 0, array("q"), [], []

    def done(self, length: int) -> list[Content]:
        """All contents; the source ends there."""
        self.end(length)
        return self.contents

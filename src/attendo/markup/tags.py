"""The tags of a source, paired, and the text between them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from attendo.markup.content import MarkKind
from attendo.markup.text_types import TextRequest

_VOID_NAMES = "area base br col embed hr img input link meta param source track wbr"
_VOID = frozenset(_VOID_NAMES.split())
_CONTENT_IS_NO_MARKUP = frozenset(("script", "style", "textarea", "title"))
# Possessive: matched text is never read again. A quoted `>` ends no tag.
_TAG = re.compile(r"""</?[A-Za-z_:][^\s/><"']*+(?:[^>"']|"[^"]*+"|'[^']*+')*+>""")
_BARE_TAG = re.compile(r"</?[A-Za-z_:][^>]*+>")
_NO_ELEMENTS = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>", "<!": ">"}
"""Beginnings and ends of markup other than elements; the first match counts."""
_NAME = re.compile(r"</?([A-Za-z_:][^\s/><\"']*)")
_TEXT_TAG = re.compile(
    r"""</?[A-Za-z][\w:.-]{0,60}(?:[ ][\w:.-]{1,60}=(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'|[^\s"'<>]{1,200}))*[ ]?/?>"""
)
"""Pattern of a tag in plain text: its attributes have values, and it is complete."""
_HALVES: dict[str, tuple[MarkKind, str]] = {
    "bpt": ("open", "bpt"),
    "ept": ("close", "bpt"),
    "sc": ("open", "sc"),
    "ec": ("close", "sc"),
}
"""Codes for half an element: the half, and the name of the whole."""
_KEY = re.compile(r"""\s(?:i|rid|startRef|id)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


@dataclass(frozen=True, slots=True)
class Token:
    """A tag or the like, or the text between two."""

    start: int
    end: int
    raw: str
    kind: MarkKind | None
    """Kind of tag; None for text."""
    name: str = ""
    partner: int = -1
    """The number of the matching token; -1 for none."""


def tokens_of(request: TextRequest) -> list[Token]:
    """Returns a source's tags, paired, and the texts between them.

    Args:
        request: the source, how it is written and which elements are ignored.
    """
    if request.format == "text":
        return paired(text_tokens(request.text))
    tokens = list(_tokens(request.text, request.format))
    return paired(_with_half_elements(tokens, request) if request.format == "xml" else tokens)


def text_tokens(text: str) -> list[Token]:
    """Finds evident tags in plain text, and the texts between them; tags are not paired."""
    tokens, position = [], 0
    for match in _TEXT_TAG.finditer(text) if "<" in text else ():
        if match.start() > position:
            tokens.append(Token(position, match.start(), text[position : match.start()], None))
        tokens.append(_tag(match.start(), match[0], "text"))
        position = match.end()
    if position < len(text):
        tokens.append(Token(position, len(text), text[position:], None))
    return tokens


def _tokens(source: str, markup: str) -> Iterator[Token]:
    """Yields tags and the texts between them; the content of HTML elements without markup is one text."""
    position = 0
    scanner = _Scanner(source)
    while (raw := scanner.next_tag()) is not None:
        found = scanner.position - len(raw)
        if found > position:
            yield Token(position, found, source[position:found], None)
        token = _tag(found, raw, markup)
        yield token
        position = token.end
        if markup == "html" and token.kind == "open" and token.name in _CONTENT_IS_NO_MARKUP:
            closing = re.compile(rf"</{token.name}\b", re.I).search(source, position)
            behind = closing.start() if closing else len(source)
            if behind > position:
                yield Token(position, behind, source[position:behind], None)
            position = scanner.position = behind
    if position < len(source):
        yield Token(position, len(source), source[position:], None)


class _Scanner:
    """Finds tags, comments and the like one after another, in linear time."""

    def __init__(self, source: str) -> None:
        self._source = source
        self.position = 0
        """Position after the last token."""
        self._never_end: set[str] = set()
        self._quotes_close = True

    def next_tag(self) -> str | None:
        """Returns the next tag; None if there is none."""
        found = self.position
        while (found := self._source.find("<", found)) >= 0:
            if raw := self._at(found):
                self.position = found + len(raw)
                return raw
            found += 1
        self.position = len(self._source)
        return None

    def _at(self, place: int) -> str:
        """Reads a tag at a `<`; returns None if that is an ordinary character."""
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


def _tag(start: int, raw: str, markup: str) -> Token:
    found = _NAME.match(raw)
    name = (found[1] if markup != "html" else found[1].lower()) if found else raw[:4]
    kind: MarkKind
    if found is None or raw.endswith("/>") or (markup == "html" and name in _VOID):
        kind = "single"
    else:
        kind = "close" if raw.startswith("</") else "open"
    return Token(start, start + len(raw), raw, kind, name)


def _with_half_elements(tokens: list[Token], request: TextRequest) -> list[Token]:
    """Tokens of which TMX' and XLIFF's codes for half an element, `<bpt>` with `<ept>`, `<sc>` with `<ec>`, are tags.

    Only where the request ignores them: then each is one tag, with all that is in it.
    """
    halves = _HALVES.keys() & set(request.ignore_tags)
    if not halves:
        return tokens
    found: list[Token] = []
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
        found.append(Token(token.start, end, request.text[token.start : end], kind, f"{name} {key[1] or key[2]}"))
        number = last + 1
    return found


def paired(tokens: list[Token]) -> list[Token]:
    """Pairs tokens; of overlapping elements, the one that is closed first is paired."""
    open_by_name: dict[str, list[int]] = {}
    waiting: list[int] = []
    partners: dict[int, int] = {}
    for number, token in enumerate(tokens):
        if token.kind == "open":
            open_by_name.setdefault(token.name, []).append(number)
            waiting.append(number)
        elif token.kind == "close" and open_by_name.get(token.name):
            opening = open_by_name[token.name][-1]
            # Tags opened after it were never closed: <li> of HTML, or a mistake.
            while waiting and waiting[-1] >= opening:
                lost = waiting.pop()
                open_by_name[tokens[lost].name].pop()
            partners[opening], partners[number] = number, opening
    return [
        Token(token.start, token.end, token.raw, token.kind, token.name, partners[number])
        if number in partners
        else token
        for number, token in enumerate(tokens)
    ]

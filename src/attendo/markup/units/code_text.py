"""Conversion of a unit's content to a source of the text pipeline, and of the pipeline's result to content.

Codes stand in the source as keys that no text has. A code that is half of a pair, or that stands between words as a
line break does, becomes a mark, which word alignment places; any other becomes a placeholder, which the model reads as
a word of the sentence.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attendo.formats.contents import Code, Content, codes, joined
from attendo.markup.content import Content as SourceContent
from attendo.markup.content import MarkKind, ProtectedText
from attendo.markup.entities import Plain
from attendo.markup.tags import Token, paired, text_tokens
from attendo.markup.translatable import Builder

KEY_SIGN = "\ufdd1"
"""A noncharacter of Unicode; a text that has it cannot be read here."""
# An angle bracket in a key says to the pipeline that the model should never see it.
_KEY = re.compile(f"<{KEY_SIGN}(\\d+)>")
_BETWEEN_WORDS = re.compile(
    r"<\s*(?:br|hr|wbr|img|input|bookmark)\b|<!--|<\?|\{\\|<\d\d:|\[/?\w+\]"
    r"|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+\Z",  # controls of the writing direction
    re.I,
)
_LINE_BREAK = re.compile(
    r"""\b(?:ctype|type|subType|equiv-text)\s*=\s*["'](?:x-|fmt|xlf:)?(?:lb|br)\b|LINE_BREAK""", re.I
)
_LINK = re.compile(r"(\[)[^\[\]\n]+(\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:[ \t]+\"[^\"\n]*\")?\)|\]\[[^\[\]\n]*\])")
_STRONG = re.compile(r"(?<![\w*])(\*\*)(?=[^\s*])[^*\n]+?(?<=\S)(\*\*)(?![\w*])")
_NUMBERED_TAG = re.compile(r"<(/?)(\d{1,3})\s*(/?)>")
"""Pattern of react-i18next's elements: `<1>link</1>`."""


@dataclass(frozen=True, slots=True)
class CodeText:
    """A content laid out as a source."""

    text: str
    """The content, each code as its key."""
    codes: tuple[Code, ...]
    """The codes by the numbers in their keys."""
    tokens: tuple[Token, ...]
    """Its tags and codes, paired, and the texts between them."""

    def contents(self) -> list[SourceContent]:
        """Returns the contents that the pipeline translates."""
        builder = Builder(Plain(), sentences_at_line_ends=True)
        for number, token in enumerate(self.tokens):
            key = _KEY.fullmatch(token.raw)
            code = self.codes[int(key[1])] if key else None
            if token.kind is None:
                builder.text(token, in_pre=True)
            elif code is not None and _is_a_word(code):
                builder.add_protected(token.start, ProtectedText(token.raw, token.raw, code.raw))
            else:
                builder.mark(token, number if token.partner < 0 else min(number, token.partner))
        return builder.done(len(self.text))

    def content_of(self, written: str) -> Content:
        """Converts a translation of the text to content."""
        parts: list[str | Code] = []
        position = 0
        for key in _KEY.finditer(written):
            parts += [written[position : key.start()], self.codes[int(key[1])]]
            position = key.end()
        return joined([*parts, written[position:]])

    def message(self, problem: str) -> str:
        """Replaces the keys of codes in a problem by the codes themselves."""
        return _KEY.sub(lambda key: self.codes[int(key[1])].raw, problem)


def code_text(parts: Content) -> CodeText:
    """Lays out a content, whose strings do not have `KEY_SIGN`."""
    found = tuple(codes(parts))
    numbers = iter(range(len(found)))
    text = "".join(part if isinstance(part, str) else f"<{KEY_SIGN}{next(numbers)}>" for part in parts)
    return CodeText(text, found, tuple(paired(_tokens(text, _tags(text, found)))))


def _is_a_word(code: Code) -> bool:
    """Whether a code represents text, as a placeholder does."""
    is_between = _BETWEEN_WORDS.match(code.raw) or _LINE_BREAK.search(code.raw)
    return code.kind == "single" and not is_between


def _tags(text: str, found: Sequence[Code]) -> list[Token]:
    """Returns codes, and markup in the strings; of overlapping ones the first kind counts."""
    tags = [
        Token(key.start(), key.end(), key[0], found[int(key[1])].kind, f"{KEY_SIGN}{found[int(key[1])].id}")
        for key in _KEY.finditer(text)
    ]
    taken = bytearray(len(text))
    for tag in tags:
        taken[tag.start : tag.end] = b"\1" * (tag.end - tag.start)
    for other in _string_tags(text):
        if not any(taken[other.start : other.end]):
            tags.append(other)
            taken[other.start : other.end] = b"\1" * (other.end - other.start)
    return sorted(tags, key=lambda tag: tag.start)


def tag_spans(text: str) -> list[tuple[int, int]]:
    """Returns the spans of a string's tags, in which nothing is a placeholder."""
    return [(tag.start, tag.end) for tag in _string_tags(text)]


def _string_tags(text: str) -> Iterator[Token]:
    """Yields tags of HTML, numbered tags, and Markdown around words."""
    if "<" in text:
        yield from (token for token in text_tokens(text) if token.kind is not None)
    for tag in _NUMBERED_TAG.finditer(text) if "<" in text else ():
        kind: MarkKind = "close" if tag[1] else "single" if tag[3] else "open"
        yield Token(tag.start(), tag.end(), tag[0], kind, tag[2])
    for name, pattern, sign in (("[", _LINK, "]"), ("**", _STRONG, "**")):
        for number, pair in enumerate(pattern.finditer(text) if sign in text else ()):
            yield Token(pair.start(1), pair.end(1), pair[1], "open", f"{name}{number}")
            yield Token(pair.start(2), pair.end(2), pair[2], "close", f"{name}{number}")


def _tokens(text: str, tags: Sequence[Token]) -> list[Token]:
    """Returns tags with the texts between them."""
    tokens: list[Token] = []
    position = 0
    for tag in tags:
        if tag.start > position:
            tokens.append(Token(position, tag.start, text[position : tag.start], None))
        tokens.append(tag)
        position = tag.end
    if position < len(text):
        tokens.append(Token(position, len(text), text[position:], None))
    return tokens

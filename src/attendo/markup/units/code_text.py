"""Conversion of a unit's content to a source of the text pipeline, and of the pipeline's result to content.

In the source, codes are represented by keys that occur in no text. A code that is half of a pair, or that is between
words like a line break, becomes a mark, which word alignment places; any other becomes a placeholder, which the model
reads as a word of the sentence. A line break within a sentence is read as a space, two of them end the sentence.
Elements of code, such as `<code>`, are placeholders with all their content.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from attendo.formats.contents import Code, Content, codes, joined
from attendo.markup.content import Content as SourceContent
from attendo.markup.content import MarkKind, ProtectedText
from attendo.markup.entities import Plain
from attendo.markup.tags import Token, paired, text_tokens
from attendo.markup.translatable import Builder
from attendo.markup.units.code_halves import half_of

KEY_SIGN = "\ufdd1"
"""A noncharacter of Unicode; a text that has it cannot be read here."""
# An angle bracket in a key keeps it from being shown to the model.
_KEY = re.compile(f"<{KEY_SIGN}(\\d+)>")
_BETWEEN_WORDS = re.compile(
    r"<\s*(?:br|hr|wbr|img|input|bookmark)\b|<!--|<\?|\{\\|<\d\d:|\[/?\w+\]"
    r"|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+\Z",  # controls of the writing direction
    re.I,
)
_LINE_BREAK = re.compile(
    r"""\A<\s*[bh]r\b|\b(?:ctype|type|subType|equiv-text)\s*=\s*["'](?:x-|fmt|xlf:|&lt;)?(?:lb|br)\b|LINE_BREAK""", re.I
)
_BLOCK = re.compile(
    r"</?(?:p|div|li|[uod]l|d[td]|h[1-6]|blockquote|pre|table|thead|tbody|t[rhd]|section|article)\b"
    r"|<x\b[^>]*?\sid\s*=\s*[\"'](?:START|CLOSE)_(?:BLOCK_|PARAGRAPH|HEADING_|LIST_ITEM|(?:UN)?ORDERED_LIST|T[RDH]\b|TAG_DIV)",
    re.I,
)
"""Pattern of a tag that ends a sentence, also as Angular names it."""
_ITEM = re.compile(r"\s*(?:[•·‣◦▪●*–—-]\s|\(?\d{1,3}[.)]\s)")
_NOT_TRANSLATED = re.compile(r"<(?:code|kbd|samp|var|tt|script|style)[\s>]", re.I)
"""Pattern of an element whose content is no language; the same elements as in HTML."""
_LINK = re.compile(r"(\[)[^\[\]\n]+(\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:[ \t]+\"[^\"\n]*\")?\)|\]\[[^\[\]\n]*\])")
_WIKI_LINK = re.compile(r"(\[\[[^\[\]|\n]{1,300}\|)[^\[\]\n]+(\]\])")
_STRONG = re.compile(r"(?<![\w*])(\*\*)(?=[^\s*])[^*\n]+?(?<=\S)(\*\*)(?![\w*])")
_NUMBERED_TAG = re.compile(r"<(/?)(\d{1,3})\s*(/?)>")
"""Pattern of react-i18next's elements: `<1>link</1>`."""
_FILLED_TAG = re.compile(
    r"""<([A-Za-z][\w:.-]{0,60})(?=[^<>]{0,500}[%{])(?:\s+(?:[\w:.-]{1,60}=(?:"[^"<>\n]{0,500}"|'[^'<>\n]{0,500}'|[^\s"'<>]{1,200})"""
    r"""|%\(\w{1,80}\)s|%(?:\d+\$)?[s@]|\$?\{[\w.]{0,80}\}|\{\{[^{}\n]{1,80}\}\}))+\s*/?>"""
)
"""Pattern of a tag whose attributes, or some of them, a program puts in: `<a {href}>`, `<a %(attributes)s>`."""


@dataclass(frozen=True, slots=True)
class CodeText:
    """A content laid out as a source."""

    text: str
    """The content, each code as its key."""
    codes: tuple[Code, ...]
    """The codes by the numbers in their keys."""
    tokens: tuple[Token, ...]
    """The content's tags and codes, paired, and the texts between them."""

    def contents(self) -> list[SourceContent]:
        """Returns the contents that the pipeline translates."""
        builder = Builder(Plain(), sentences_at_line_ends=True)
        number = 0
        while number < len(self.tokens):
            number = self._add(builder, number)
        return builder.done(len(self.text))

    def content_of(self, written: str) -> Content:
        """Converts a translation of the text to content."""
        glued = {
            int(key[1]): self._glued(number)
            for number, token in enumerate(self.tokens)
            if (key := _KEY.fullmatch(token.raw))
        }
        parts: list[str | Code] = []
        position = 0
        for key in _KEY.finditer(written):
            code = int(key[1])
            before, behind = glued[code]
            stretch = written[position : key.start()]
            parts += [stretch.removesuffix(" ") if before else stretch, self.codes[code]]
            position = key.end()
            if behind and written.startswith(" ", position):
                position += 1
        return joined([*parts, written[position:]])

    def _add(self, builder: Builder, number: int) -> int:
        """Adds to the contents the item that begins with a token, and returns the number of the token after it."""
        token = self.tokens[number]
        raw = self._raw(token)
        whole = Token(token.start, self.tokens[max(number, token.partner)].end, "", "single")
        if token.kind is None:
            builder.text(token, in_pre=True)
        elif _LINE_BREAK.search(raw):
            return self._add_line_breaks(builder, number)
        elif _BLOCK.match(raw):
            builder.end(token.start)
        elif token.partner > number and (_NOT_TRANSLATED.match(raw) or self._is_empty_pair(number)):
            code = self.text[whole.start : whole.end]
            builder.add_protected(token.start, ProtectedText(code, code, code))
            return token.partner + 1
        elif token.partner > number and self._has_only_marks(number):
            builder.mark(replace(whole, raw=self.text[whole.start : whole.end]), number)
            return token.partner + 1
        elif self._is_word(token):
            before, behind = self._glued(number)
            if before:
                builder.space(token.start)
            builder.add_protected(token.start, ProtectedText(token.raw, token.raw, raw))
            if behind:
                builder.space(token.end)
        else:
            builder.mark(token, number if token.partner < 0 else min(number, token.partner))
        return number + 1

    def _add_line_breaks(self, builder: Builder, number: int) -> int:
        """Adds line breaks: several, or one before a bullet, end the sentence; one between words is read as a space."""
        behind = last = number
        while behind < len(self.tokens) and (
            self.tokens[behind].kind is None or _LINE_BREAK.search(self._raw(self.tokens[behind]))
        ):
            if self.tokens[behind].kind is not None:
                last = behind
            elif self.tokens[behind].raw.strip():
                break
            behind += 1
        first, end = self.tokens[number], self.tokens[last].end
        following = self.tokens[last + 1] if last + 1 < len(self.tokens) else None
        if last > number or (following is not None and following.kind is None and _ITEM.match(following.raw)):
            builder.end(first.start)
            return last + 1
        words = (token for token in self.tokens[number + 1 :] if token.kind is None or self._is_word(token))
        word = next(words, None)
        is_between = word is not None and not word.raw[:1].isspace()
        if is_between and not builder.ends_with_space:
            builder.space(first.start, self.text[first.start : end])
        else:
            builder.mark(first, number)
        return number + 1

    def _is_empty_pair(self, number: int) -> bool:
        """Whether two codes are a pair with nothing inside, where a program inserts something."""
        return self.tokens[number].partner == number + 1 and _KEY.fullmatch(self.tokens[number].raw) is not None

    def _has_only_marks(self, number: int) -> bool:
        """Whether an element contains only punctuation, such as an asterisk after a label."""
        inner = self.tokens[number + 1 : self.tokens[number].partner]
        text = "".join(token.raw for token in inner)
        return bool(text.strip()) and all(token.kind is None for token in inner) and not any(map(str.isalnum, text))

    def _glued(self, number: int) -> tuple[bool, bool]:
        """Whether a letter directly precedes a code that is a word, and whether one directly follows.

        The model reads a space there, since text attached to a placeholder is no word that it knows.
        """
        token = self.tokens[number]
        key = _KEY.fullmatch(token.raw)
        if key is None or token.partner >= 0 or self.codes[int(key[1])].id.startswith(KEY_SIGN):
            return False, False
        before = self.tokens[number - 1] if number else None
        behind = self.tokens[number + 1] if number + 1 < len(self.tokens) else None
        return (
            before is not None and before.kind is None and before.raw[-1:].isalpha(),
            behind is not None and behind.kind is None and behind.raw[:1].isalpha(),
        )

    def _is_word(self, token: Token) -> bool:
        key = _KEY.fullmatch(token.raw) if token.partner < 0 else None
        return key is not None and _is_a_word(self.codes[int(key[1])])

    def _raw(self, token: Token) -> str:
        """A tag as written in the file."""
        key = _KEY.fullmatch(token.raw)
        return self.codes[int(key[1])].raw if key else token.raw

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
    """Returns codes, and markup in the strings; of overlapping tags, the first kind counts."""
    tags = []
    for key in _KEY.finditer(text):
        kind, name = half_of(found[int(key[1])])
        tags.append(Token(key.start(), key.end(), key[0], kind, f"{KEY_SIGN}{name}"))
    covered = bytearray(len(text))
    for tag in tags:
        covered[tag.start : tag.end] = b"\1" * (tag.end - tag.start)
    for other in _string_tags(text):
        if not any(covered[other.start : other.end]):
            tags.append(other)
            covered[other.start : other.end] = b"\1" * (other.end - other.start)
    return sorted(tags, key=lambda tag: tag.start)


def tag_spans(text: str) -> list[tuple[int, int]]:
    """Returns the spans of a string's tags, in which nothing is a placeholder."""
    return [(tag.start, tag.end) for tag in _string_tags(text)]


def _string_tags(text: str) -> Iterator[Token]:
    """Yields tags of HTML, numbered tags, and Markdown around words."""
    if "<" in text:
        yield from (token for token in text_tokens(text) if token.kind is not None)
    for tag in _FILLED_TAG.finditer(text) if "<" in text else ():
        yield Token(tag.start(), tag.end(), tag[0], "single" if tag[0].endswith("/>") else "open", tag[1])
    for tag in _NUMBERED_TAG.finditer(text) if "<" in text else ():
        kind: MarkKind = "close" if tag[1] else "single" if tag[3] else "open"
        yield Token(tag.start(), tag.end(), tag[0], kind, tag[2])
    for name, pattern, sign in (("[", _LINK, "]"), ("[[", _WIKI_LINK, "]]"), ("**", _STRONG, "**")):
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

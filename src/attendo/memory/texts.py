"""Texts in translation memories: codes as numbered marks, and the forms in which texts are compared."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from unicodedata import normalize
from zlib import crc32

from attendo.decoding.guards.values import Value, values
from attendo.formats.contents import Code, CodeKind, Content, joined

_MARK = re.compile(r"⟦(/?)(\d+)(/?)⟧")
_WORD = re.compile(r"\x02\w+\x03|⟦/?\d+/?⟧|[^\W_]+|[^\s\w]|_")
_SPACES = re.compile(r"\s+")
_NO_SOURCE_CODE = "⟦?⟧"
_HIDDEN = "\ue001"
"""The character that replaces each character of a mark during the search for values."""
_MAX_CHARACTERS = 5_000
"""Maximum number of characters; longer texts have no similar ones, only the same. So the number of words of every text
fits the 16 bits of an index."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A text in which each value, such as a number or a placeholder, is replaced by its kind."""

    words: tuple[str, ...]
    """Lower-case words and single signs; a value is one word."""
    text: str
    """The text with values replaced by their kinds."""
    values: tuple[Value, ...]
    """The values in order."""

    @property
    def word_ids(self) -> list[int]:
        """A 32-bit number for each word."""
        return [crc32(word.encode("utf-8", "replace")) for word in self.words]


def pattern_of(text: str, language: str) -> Pattern:
    """Returns the pattern of a text.

    Args:
        text: a text with marks for its codes.
        language: its ISO 639-1 code, which determines the form of numbers.
    """
    normal = normalize("NFC", text)
    if len(normal) > _MAX_CHARACTERS:
        return Pattern((), normal, ())
    hidden = _MARK.sub(lambda mark: _HIDDEN * len(mark[0]), normal) if "⟦" in normal else normal
    found = tuple(values(hidden, language))
    pieces, position = list[str](), 0
    for value in found:
        pieces += [normal[position : value.start], f"\x02{value.kind}\x03"]
        position = value.end
    kinds = _SPACES.sub(" ", "".join([*pieces, normal[position:]])).strip()
    return Pattern(tuple(_WORD.findall(kinds.casefold())), kinds, found)


def same_text(text: str) -> str:
    """Returns a text in the form for comparison: NFC, without white space at its ends."""
    return normalize("NFC", text).strip()


def text_hash(text: str) -> int:
    """Returns a hash of a text as a signed 64-bit number."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def with_edges_of(text: str, source: str) -> str:
    """Returns a translation with the white space at the ends of its source.

    Args:
        text: the translation.
        source: the text that it translates.
    """
    core = source.strip()
    start = source.find(core)
    return f"{source[:start]}{text.strip()}{source[start + len(core) :]}"


def marked_texts(source: Content, target: Content) -> tuple[str, str]:
    """Returns a source and its translation with a mark for each code: `⟦1⟧` and `⟦/1⟧`, or `⟦1/⟧`.

    A translation that has other codes than its source cannot be used again, and is empty.
    """
    numbers: dict[str, int] = {}
    for part in source:
        if isinstance(part, Code):
            numbers.setdefault(part.id, len(numbers) + 1)
    text, translation = (_marked(side, numbers) for side in (source, target))
    has_same = sorted(_MARK.findall(text)) == sorted(_MARK.findall(translation))
    return text, translation if has_same and _NO_SOURCE_CODE not in translation else ""


def marked_text(source: Content) -> str:
    """Returns a source with a mark for each code."""
    return marked_texts(source, ())[0]


def content_of(text: str, source: Content) -> Content | None:
    """Converts a text with marks to content.

    Args:
        text: a translation with marks for the codes of a source.
        source: the source with these codes.

    Returns:
        The content, or None if the text does not have exactly the codes of the source.
    """
    numbers: dict[str, int] = {}
    known: dict[tuple[int, CodeKind], Code] = {}
    for part in source:
        if isinstance(part, Code):
            known[numbers.setdefault(part.id, len(numbers) + 1), part.kind] = part
    parts, position = list[str | Code](), 0
    for mark in _MARK.finditer(text) if known else ():
        kind: CodeKind = "close" if mark[1] else "single" if mark[3] else "open"
        code = known.pop((int(mark[2]), kind), None)
        if code is None:
            return None
        parts += [text[position : mark.start()], code]
        position = mark.end()
    return None if known else joined([*parts, text[position:]])


def without_marks(text: str) -> str:
    """Returns a text without the marks of its codes."""
    return _MARK.sub("", text) if "⟦" in text else text


def _marked(parts: Sequence[str | Code], numbers: Mapping[str, int]) -> str:
    pieces = []
    for part in parts:
        if isinstance(part, str):
            pieces.append(part)
        elif part.id not in numbers:
            pieces.append(_NO_SOURCE_CODE)
        else:
            number = numbers[part.id]
            pieces.append({"open": f"⟦{number}⟧", "close": f"⟦/{number}⟧", "single": f"⟦{number}/⟧"}[part.kind])
    return "".join(pieces)

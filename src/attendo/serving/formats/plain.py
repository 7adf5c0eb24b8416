"""Plain text and HTML: one text, whose translation is the document."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from attendo.markup.text_format import Format
from attendo.serving.formats.document import Languages, TranslatedUnit, Unit, decoded, encoded

_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_-]{1,40})""", re.IGNORECASE)
_CHARSET_TEXT = re.compile(r"""(<meta[^>]{0,200}?charset\s*=\s*["']?\s*)([A-Za-z0-9_-]{1,40})""", re.IGNORECASE)
_LANGUAGE = re.compile(
    r"""(<html\b[^>]{0,500}?\slang\s*=\s*["']?)([A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*)""", re.IGNORECASE
)
_TAG = re.compile(r"<[A-Za-z][^<>]{0,4000}>")
# What people read of an attribute, of elements that have it.
_ATTRIBUTE = re.compile(
    r"""(?P<before>\s(?P<name>alt|title|placeholder|aria-label)\s*=\s*)(?:"(?P<double>[^"<>]*)"|'(?P<single>[^'<>]*)')""",
    re.IGNORECASE,
)
_META = re.compile(
    r"""(?P<before><meta\b[^<>]{0,300}?\bname\s*=\s*["']?description\b[^<>]{0,300}?\scontent\s*=\s*)"""
    r"""(?:"(?P<double>[^"<>]*)"|'(?P<single>[^'<>]*)')""",
    re.IGNORECASE,
)
_SAMPLE = 4_000


@dataclass(frozen=True)
class TextDocument:
    """A file of text."""

    text: str
    encoding: str
    format: Format = "text"

    def units(self, languages: Languages) -> Sequence[Unit]:
        """The text; of HTML also its attributes that people read, before it."""
        del languages
        values = [Unit(text=self.text[start:end], format="html") for start, end in self._attributes()]
        return [*values, Unit(text=self.text, format=self.format)]

    def source_language(self) -> str | None:
        """What `<html lang>` says."""
        found = _LANGUAGE.search(self.text) if self.format == "html" else None
        return found[2] if found else None

    def sample(self) -> str:
        """Its beginning, without tags."""
        if self.format == "text":
            return self.text[:_SAMPLE]
        body = re.sub(r"(?is)<(script|style)\b.*?</\1>", " ", self.text[: 10 * _SAMPLE])
        return re.sub(r"<[^<>]{0,2000}>", " ", body)[:_SAMPLE]

    def written(self, translations: Sequence[TranslatedUnit], languages: Languages) -> bytes:
        """The translation, in the encoding of the document where that has all its characters."""
        *values, whole = [each.text for each in translations]
        text = whole
        if self.format == "html":
            text = self._with_attributes(text, values)
            text = _LANGUAGE.sub(lambda match: match[1] + languages.target, text, count=1)
            if encoded(text, self.encoding) != _or_none(text, self.encoding):
                text = _CHARSET_TEXT.sub(lambda match: match[1] + "utf-8", text, count=1)
        return encoded(text, self.encoding)

    def _attributes(self) -> list[tuple[int, int]]:
        return _attributes_of(self.text) if self.format == "html" else []

    def _with_attributes(self, text: str, values: Sequence[str]) -> str:
        """Tags are the same in the translation, so their attributes are found by what they were."""
        places = self._attributes()
        translated = {self.text[start:end]: value for (start, end), value in zip(places, values, strict=True)}
        out, position = [], 0
        for start, end in _attributes_of(text):
            value = translated.get(text[start:end])
            if value is None:
                continue
            quote = text[start - 1]
            out += [text[position:start], value.replace(quote, "&quot;" if quote == '"' else "&#39;")]
            position = end
        return "".join([*out, text[position:]])


def read_text(content: bytes) -> TextDocument:
    """Reads plain text.

    Raises:
        DataError: it is none.
    """
    return TextDocument(*decoded(content))


def read_html(content: bytes) -> TextDocument:
    """Reads HTML.

    Raises:
        DataError: it is no text.
    """
    found = _CHARSET.search(content[:8192])
    text, encoding = decoded(content, declared=found[1].decode("ascii") if found else None)
    return TextDocument(text, encoding, "html")


def _attributes_of(text: str) -> list[tuple[int, int]]:
    """Where the values of attributes are that people read, with a letter in them."""
    found = set()
    for match in _META.finditer(text):
        found.add(match.span("double" if match["double"] is not None else "single"))
    for tag in _TAG.finditer(text):
        for match in _ATTRIBUTE.finditer(tag[0]):
            start, end = match.span("double" if match["double"] is not None else "single")
            found.add((tag.start() + start, tag.start() + end))
    return sorted(span for span in found if any(map(str.isalpha, text[span[0] : span[1]])))


def _or_none(text: str, encoding: str) -> bytes | None:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return None

"""What a document is to whoever translates it: texts in their order, and a way to put their translations in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from attendo.errors import DataError
from attendo.markup.text_format import Format, LineEnds


@dataclass(frozen=True, kw_only=True)
class Unit:
    """A text of a document that is translated by itself."""

    text: str
    """It."""
    format: Format = "text"
    """How it is written."""
    line_ends: LineEnds = "auto"
    """What a line end in it is."""
    ignore_tags: tuple[str, ...] = ()
    """Elements whose content is not translated."""


@dataclass(frozen=True, kw_only=True)
class TranslatedUnit:
    """What became of a unit."""

    text: str
    """Its translation."""
    problems: tuple[str, ...] = ()
    """What could not be kept."""


@dataclass(frozen=True, kw_only=True)
class Languages:
    """From which language into which."""

    source: str
    """An ISO 639-1 code."""
    target: str
    """Another."""


class OpenDocument(Protocol):
    """A document that has been read."""

    def units(self, languages: Languages) -> Sequence[Unit]:
        """What is to be translated: what has no translation into the target language yet."""

    def source_language(self) -> str | None:
        """The language that the document says it is in; None where it says none."""

    def sample(self) -> str:
        """Some of its text, to tell the language by."""

    def written(self, translations: Sequence[TranslatedUnit], languages: Languages) -> bytes:
        """The document with translations in it, one for each of the units."""


def decoded(content: bytes, *, declared: str | None = None) -> tuple[str, str]:
    """A text, and the encoding that it is in.

    Args:
        content: of a file.
        declared: the encoding that the file says it has.

    Raises:
        DataError: it is no text in any encoding that is usual.
    """
    for mark, name in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if content.startswith(mark):
            return _in(content, name), name
    if b"\0" in content[:4096]:
        raise DataError("the document is no text; save it as text in UTF-8")
    for encoding in (declared, "utf-8", "cp1252", "latin-1"):
        if encoding:
            try:
                return content.decode(encoding), encoding
            except (UnicodeDecodeError, LookupError):
                continue
    raise AssertionError("every byte is a character of latin-1")


def _in(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise DataError(f"the document is not {encoding}, as its first bytes say; save it as UTF-8") from error


def encoded(text: str, encoding: str) -> bytes:
    """A text in an encoding, or in UTF-8 where that has not all its characters."""
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode("utf-8-sig")

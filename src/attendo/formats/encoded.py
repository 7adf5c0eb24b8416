"""Text decoded so that each character's bytes are known, which lets edits of the text be spliced into the bytes."""

import codecs
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from attendo.errors import DataError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Encodings that give each text a single form, and ASCII one byte per character.
_AS_ASCII = ("utf-8", "ascii", "iso8859-1")
# Encodings whose bytes depend on the preceding text: a part of the text cannot be encoded by itself.
_STATEFUL = ("utf-7", "hz", "iso2022", "idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape")


@dataclass(frozen=True, kw_only=True, slots=True)
class EncodedText:
    """A file's text together with its bytes."""

    content: bytes
    """The bytes, including a byte order mark if there is one."""
    text: str
    """The characters without the mark; line ends are unchanged."""
    encoding: str
    """The name of a codec that adds no byte order mark."""
    mark: bytes = b""
    """The byte order mark."""
    line_end: str = "\n"
    r"""The first line end of the text: `\n`, `\r\n` or `\r`; `\n` if it has none."""

    def line_number(self, position: int) -> int:
        """Returns the line number of a character, from 1."""
        return self.text.count("\n", 0, position) + 1

    def byte_offsets(self, positions: Iterable[int]) -> Mapping[int, int]:
        """Returns the byte offsets of characters, by their positions in the text."""
        if self.encoding in _AS_ASCII and self.text.isascii():
            return {position: len(self.mark) + position for position in positions}
        offsets: dict[int, int] = {}
        last, offset = 0, len(self.mark)
        for position in sorted(set(positions)):
            offset += len(self.text[last:position].encode(self.encoding))
            offsets[position] = offset
            last = position
        return offsets

    def encode(self, text: str) -> bytes:
        """Encodes text to put into the file.

        Raises:
            DataError: the encoding lacks one of its characters.
        """
        try:
            return text.encode(self.encoding)
        except UnicodeEncodeError as error:
            missing = text[error.start]
            raise DataError(
                f"the translation {_shortened(text)!r} has {missing!r} (U+{ord(missing):04X}), which {self.encoding}, "
                "the encoding of the file, lacks; convert the file to UTF-8 first (for instance with iconv or msgconv)"
            ) from error


def decoded(content: bytes, declared: str | None = None) -> EncodedText:
    """Decodes a file without loss: by its byte order mark, otherwise in the declared encoding, or else as UTF-8.

    Raises:
        DataError: the bytes are not in that encoding, or it is one whose bytes depend on earlier ones.
    """
    mark, encoding = next(
        ((mark, name) for mark, name in _MARKS if content.startswith(mark)), (b"", declared or "utf-8")
    )
    try:
        encoding = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise DataError(f"the file declares the encoding {encoding!r}, which is not known; save it as UTF-8") from None
    if encoding.startswith(_STATEFUL):
        raise DataError(f"files in {encoding} are not supported; save it as UTF-8")
    body = content[len(mark) :]
    try:
        text = body.decode(encoding)
        exact = encoding in _AS_ASCII or text.encode(encoding) == body
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise DataError(f"line {line} is not {encoding}: {error.reason}; save the file as UTF-8") from error
    except (UnicodeError, LookupError):
        exact = False
    if not exact:
        raise DataError(f"the file cannot be written back in {encoding} byte for byte; save it as UTF-8")
    return EncodedText(content=content, text=text, encoding=encoding, mark=mark, line_end=_line_end(text))


def _line_end(text: str) -> str:
    end = text.find("\n")
    if end < 0:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"

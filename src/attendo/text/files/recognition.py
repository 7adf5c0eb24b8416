"""Recognises files that are not lines of text, by name and first bytes, and describes how to convert them.

Text that merely begins like another format (a first line that begins with `<` or `{`, a sentence about XML) is text:
each rule requires more than a first character, and checks most of the lines if a format has no unmistakable beginning.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from attendo.text.files.compression import unpacked_name
from attendo.text.files.encodings import is_wide

HEAD_BYTES = 1 << 16
"""Number of decompressed bytes that `recognized` needs."""

Kind = Literal["binary", "archive", "utf-16", "markup", "catalogue", "json", "csv", "line-ends"]


@dataclass(frozen=True, kw_only=True, slots=True)
class RecognizedFormat:
    """A format that is not lines of text."""

    kind: Kind
    """The family of formats, for callers that read one of them."""
    name: str
    """The name in messages: `a TMX translation memory`."""
    way_out: str
    """Instructions for converting it to lines of text or TSV."""

    def __str__(self) -> str:
        """Returns both, for messages."""
        return f"this looks like {self.name}, not lines of text; {self.way_out}"


_AS_FILE = (
    'it is read under the key file: file = "NAME" in place of source and target (docs/own-data.md, Other formats)'
)
_OTHER_FORMATS = "tools such as Okapi Tikal write TMX or lines of it"
_UNPACK = "unpack it, and name the text files in it"
_SAVE_AS_TEXT = "save it as plain text, one sentence per line (for instance: pandoc -t plain --wrap=none FILE)"

_MAGIC: Sequence[tuple[bytes, Kind, str, str]] = (
    (b"%PDF-", "binary", "a PDF document", "take its text out first (for instance: pdftotext FILE)"),
    (b"{\\rtf", "binary", "an RTF document", _SAVE_AS_TEXT),
    (b"7z\xbc\xaf\x27\x1c", "archive", "a 7z archive", _UNPACK),
    (b"Rar!\x1a\x07", "archive", "a RAR archive", _UNPACK),
    (b"\x1f\x9d", "archive", "a compressed file of the old kind (.Z)", "unpack it (gunzip), or compress it as gz"),
    (b"\x04\x22\x4d\x18", "archive", "an lz4 file", "unpack it (lz4 -d), or compress it as zst"),
    (b"LZIP", "archive", "an lzip file", "unpack it (lzip -d), or compress it as xz"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "binary", "a document of old Office (.doc, .xls)", _SAVE_AS_TEXT),
    (b"SQLite format 3\0", "binary", "an SQLite database", "export the two columns as tab-separated text"),
    (b"PAR1", "binary", "a Parquet table", "export the two columns as tab-separated text"),
    (
        b"\xde\x12\x04\x95",
        "binary",
        "a compiled gettext catalogue (.mo)",
        "make PO of it (msgunfmt), which the key file reads",
    ),
    (
        b"\x95\x04\x12\xde",
        "binary",
        "a compiled gettext catalogue (.mo)",
        "make PO of it (msgunfmt), which the key file reads",
    ),
    (b"\x89PNG\r\n", "binary", "a picture", "name a text file"),
    (b"\xff\xd8\xff", "binary", "a picture", "name a text file"),
)
_WIDE_MARKS = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
# Documents that are zip archives, by a name among the archive's first entries.
_ZIPPED = (
    (b"word/", "a Word document (.docx)", _SAVE_AS_TEXT),
    (b"xl/", "an Excel workbook (.xlsx)", "save the sheet as tab-separated text, in UTF-8"),
    (b"ppt/", "a PowerPoint presentation (.pptx)", _SAVE_AS_TEXT),
    (b"opendocument.spreadsheet", "an OpenDocument table (.ods)", "save the sheet as tab-separated text, in UTF-8"),
    (b"opendocument", "an OpenDocument document", _SAVE_AS_TEXT),
    (b"application/epub+zip", "an EPUB book", _SAVE_AS_TEXT),
)
_ZIP_ENDINGS = {".docx": _ZIPPED[0], ".xlsx": _ZIPPED[1], ".pptx": _ZIPPED[2]}
_ROOTS = {
    "tmx": "a TMX translation memory",
    "xliff": "an XLIFF file",
    "ts": "a Qt Linguist file (.ts)",
    "html": "an HTML page",
    "martif": "a TBX termbase",
    "tbx": "a TBX termbase",
    "resources": "an Android resource file",
}
# SGML of the WMT test sets; it has no declaration.
_TEST_SETS = ("srcset", "refset", "tstset", "mteval")
_OF_UNITS = ("tmx", "xliff")
_BARE_ROOTS = ("tmx", "xliff", "html", "martif", *_TEST_SETS)
_MARKUP_ENDINGS = (".xml", ".tmx", ".xlf", ".xliff", ".sdlxliff", ".mqxliff", ".html", ".htm", ".xhtml", ".tbx", ".sgm")
_PROLOG = re.compile(
    r"\s*(?:<\?xml\b[^>]*\?>|<!--.*?-->|<!DOCTYPE\b[^>\[]*(?:\[.*?\]\s*)?>|<\?[\w-]+\b.*?\?>)", re.S | re.I
)
_ROOT = re.compile(r"\s*<([A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)(?=[\s>/])")
_QUOTED_FIELD = r'"(?:[^"]|"")*"'
_QUOTED_ROW = re.compile(rf"{_QUOTED_FIELD}(?:([,;|]){_QUOTED_FIELD})(?:\1{_QUOTED_FIELD})*")
_HEADER = (
    "id|source|target|src|tgt|trg|text|translation|original|translated|sentence|input|output|key|value|comment|context|"
    "en|de|fr|es|it|pt|nl|pl|cs|ru|uk|zh|ja|ko|ar|tr|sv|da|fi|no|hu|ro|el|he|hi|english|german|french|spanish"
)
_HEADER_WORDS = frozenset(_HEADER.split("|"))
_MOST_LINES = 200
_MIN_ROWS = 3
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x0e\x0f\x1b\x1c\x1d\x1e\x1f"))


def recognized(name: str, head: bytes, whole: bool = False, *, encoding: str = "utf-8") -> RecognizedFormat | None:
    """Recognises the format of a file that is not lines of text.

    Args:
        name: the file's name, or its path.
        head: its first bytes, decompressed; `HEAD_BYTES` of them are enough.
        whole: whether these are all of it.
        encoding: the file's declared encoding. UTF-16 is recognised if the declared encoding is not similar.

    Returns:
        The recognised format and a remedy; None for lines of text, and for an empty file.
    """
    name = unpacked_name(name)
    if found := _by_magic(name, head):
        return found
    wide = None
    if is_wide(encoding):
        head = _as_utf8(head, encoding)
    elif wide := _wide(head):
        head = _as_utf8(head, wide)
    elif found := _binary(head):
        return found
    found = _by_text(name, head, whole=whole)
    if found is None and wide is not None:
        way_out = f'set encoding = "{wide}" for it, or convert it first: iconv -f {wide.upper()} -t UTF-8'
        return RecognizedFormat(kind="utf-16", name=f"{wide[:6].upper()} text", way_out=way_out)
    return found


def _as_utf8(head: bytes, encoding: str) -> bytes:
    return head.decode(encoding, errors="replace").encode("utf-8", errors="replace")


def _by_text(name: str, head: bytes, *, whole: bool) -> RecognizedFormat | None:
    """Recognizes formats that are text themselves."""
    text = head.decode("utf-8", errors="replace").removeprefix("\ufeff")
    if not text.strip():
        return None
    lines = [line for line in text.splitlines() if line.strip()]
    if not whole and len(lines) > 1:
        lines.pop()  # which may be cut off
    return (
        _markup(name, text)
        or _catalogue(lines)
        or _json(name, text, lines, whole=whole)
        or _csv(name, lines)
        or _old_line_ends(head)
    )


def _by_magic(name: str, head: bytes) -> RecognizedFormat | None:
    """Recognises formats with unmistakable first bytes."""
    for magic, kind, shown, way_out in _MAGIC:
        if head.startswith(magic):
            return RecognizedFormat(kind=kind, name=shown, way_out=way_out)
    if head[257:263] in (b"ustar\0", b"ustar ") and b"\0" in head[:257]:
        return RecognizedFormat(kind="archive", name="a tar archive", way_out=_UNPACK)
    if not head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return None
    by_name = next((found for ending, found in _ZIP_ENDINGS.items() if name.endswith(ending)), None)
    found = by_name or next((found for found in _ZIPPED if found[0] in head), None)
    shown, way_out = (found[1], found[2]) if found else ("a zip archive", _UNPACK)
    return RecognizedFormat(kind="archive", name=shown, way_out=way_out)


def _wide(head: bytes) -> str | None:
    """Recognises UTF-16 and UTF-32 by their mark or the places of zero bytes; None for others."""
    marked = next((encoding for mark, encoding in _WIDE_MARKS if head.startswith(mark)), None)
    if marked is not None or len(head) < 16:
        return marked
    even, odd = head[::2].count(0), head[1::2].count(0)
    # In Latin text every other byte is zero; a blank or a line end has one in any script.
    if max(even, odd) > 0.3 * (len(head) // 2) and min(even, odd) == 0:
        return "utf-16-be" if even else "utf-16-le"
    return None


def _binary(head: bytes) -> RecognizedFormat | None:
    """Recognises files with more zero bytes and other control characters than any text."""
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if len(head) < 64 or controls < 0.03 * len(head):
        return None
    return RecognizedFormat(
        kind="binary", name="binary data", way_out="name a text file, or take the text out of it first"
    )


def _markup(name: str, text: str) -> RecognizedFormat | None:
    """Recognizes XML, HTML and SGML: a declaration followed by a root element, a well-known root, or by its name."""
    rest, declared = text, False
    while found := _PROLOG.match(rest):
        declared, rest = declared or not found[0].lstrip().startswith("<!--"), rest[found.end() :]
    root = _ROOT.match(rest)
    element = root[2].lower() if root else ""
    is_markup = declared or name.endswith(_MARKUP_ENDINGS) or (element in _BARE_ROOTS and _is_closed_by_others(rest))
    if not root or not is_markup:
        return None
    shown = "a WMT test set in SGML" if element in _TEST_SETS else _ROOTS.get(element, f"XML (its root is <{root[2]}>)")
    if name.endswith((".htm", ".html")):
        shown = _ROOTS["html"]
    way_out = _AS_FILE if element in _OF_UNITS else f"take the segments out first: {_OTHER_FORMATS}"
    if shown == _ROOTS["html"]:
        way_out = _SAVE_AS_TEXT
    return RecognizedFormat(kind="markup", name=shown, way_out=way_out)


def _is_closed_by_others(text: str) -> bool:
    """Whether several other elements follow a first one, as in a file, and unlike a sentence that mentions one."""
    return len(set(re.findall(r"<([A-Za-z][\w.-]*)[^<>]*>", text[:8192]))) >= 3


def _catalogue(lines: Sequence[str]) -> RecognizedFormat | None:
    """Recognizes gettext's PO."""
    entries = [line for line in lines[: 20 * _MOST_LINES] if not line.startswith("#")]
    if not entries or not entries[0].startswith(('msgid "', 'msgctxt "', 'domain "')):
        return None
    if not any(re.match(r'msgstr(?:\[\d\])? "', line) for line in entries):
        return None
    return RecognizedFormat(kind="catalogue", name="a PO catalogue", way_out=_AS_FILE)


def _json(name: str, text: str, lines: Sequence[str], *, whole: bool) -> RecognizedFormat | None:
    """Recognizes a JSON document, and JSON lines: one object or list of strings on every line."""
    first = text.lstrip()[:1]
    if first not in ("{", "["):
        return None
    values = [_json_value(line) for line in lines[:_MOST_LINES]]
    if all(_has_strings(value) for value in values):
        way_out = (
            f'{_AS_FILE}, its two fields under the key fields; or it is translations = "NAME" where '
            "`attendo translate --json` wrote it"
        )
        return RecognizedFormat(kind="json", name="JSON, an object a line", way_out=way_out)
    is_document = whole and _has_strings(_json_value(text), least=1)
    like_json = re.match(r'\s*(?:\{\s*"(?:[^"\\]|\\.)*"\s*:|\[\s*(?:[\[{]|"(?:[^"\\]|\\.)*"\s*,))', text)
    members = sum(bool(re.fullmatch(r'\s*(?:["{}\[\]].*|-?\d.*|true,?|false,?|null,?)', line)) for line in lines)
    if not is_document and not (like_json and members == len(lines) and (len(lines) > 1 or name.endswith(".json"))):
        return None
    way_out = "write its texts as lines or as tab-separated text (for instance with jq -r '... | @tsv')"
    return RecognizedFormat(kind="json", name="a JSON document", way_out=way_out)


def _json_value(text: str) -> object:
    """Returns the value of a text that is JSON; None if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _has_strings(value: object, *, least: int = 1) -> bool:
    """Whether a value is an object, or a list that contains more than numbers: `[1]` may occur in any text."""
    if isinstance(value, dict):
        return len(value) >= least
    return isinstance(value, list) and any(isinstance(item, str | dict | list) for item in value)


def _csv(name: str, lines: Sequence[str]) -> RecognizedFormat | None:
    """Recognizes comma-separated values: by name with equal columns, by quoted fields alone, or by a header."""
    rows = lines[:_MOST_LINES]
    if sum("\t" in line for line in rows) > len(rows) / 2:
        return None  # tab-separated, whatever its name
    quoted = [found for line in rows if (found := _QUOTED_ROW.fullmatch(line.strip()))]
    separator = quoted[0][1] if quoted and len(quoted) >= max(_MIN_ROWS, 0.9 * len(rows)) else None
    if separator is None and (name.endswith(".csv") or _is_header(rows[0])):
        separator = next((mark for mark in ",;|" if _has_columns(rows, mark)), None)
    if separator is None:
        return None
    return RecognizedFormat(
        kind="csv",
        name=f"CSV (columns with {separator!r} between them)",
        way_out=f"{_AS_FILE}, its two columns under the key columns",
    )


def _is_header(line: str) -> bool:
    """Whether a line is names of columns, such as `en,de` or `id;source;target`."""
    fields = [field.strip().strip('"').lower() for field in re.split("[,;|]", line)]
    return len(fields) > 1 and all(field in _HEADER_WORDS for field in fields)


def _has_columns(rows: Sequence[str], separator: str) -> bool:
    """Whether nearly all rows have the same number of columns, two or more."""
    try:
        widths = Counter(len(row) for row in csv.reader(rows, delimiter=separator) if row)
    except csv.Error:
        return False
    width, number = widths.most_common(1)[0]
    return width > 1 and number >= 0.9 * widths.total()


def _old_line_ends(head: bytes) -> RecognizedFormat | None:
    """Recognizes lines that carriage returns end, as on Macs of before 2001."""
    if b"\n" in head or head.rstrip(b"\r").count(b"\r") < 1:
        return None
    return RecognizedFormat(
        kind="line-ends",
        name="text whose lines end in carriage returns alone",
        way_out="write line feeds instead: tr '\\r' '\\n' < FILE > FILE.txt",
    )

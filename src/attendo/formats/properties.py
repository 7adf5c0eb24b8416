r"""Java's .properties: keys and values with `=`, `:` or a space between, continued lines, and `\uXXXX`."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from attendo.errors import DataError
from attendo.formats.contents import Content, content, plain
from attendo.formats.encoded import EncodedText, decoded
from attendo.formats.file import File, Form, Languages, Slot, SlotEditor, Span, UniqueIds, Unit, access_key_label

# A logical line: a key, which ends at a separator that is not escaped, and a value, in which a backslash at a line's
# end continues it.
_ENTRY = re.compile(
    r"[ \t\f]*(?:(?P<comment>[#!][^\r\n]*)|(?P<key>(?:\\(?:\r\n|.)|[^\\:=\s])*)"
    r"(?:[ \t\f]*[=:][ \t\f]*|[ \t\f]+)?(?P<value>(?:\\(?:\r\n|.)|[^\\\r\n])*\\?))(?:\r\n|\r|\n|\Z)",
    re.S,
)
_BLANK = re.compile(r"[ \t\f]*(?:\r\n|\r|\n)|[ \t\f]+\Z")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(\r\n|\r|\n)[ \t\f]*|(.))", re.S)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_ARGUMENT = re.compile(r"\{\d+\s*[,}]")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Style:
    """A file's way of writing values."""

    escapes_unicode: bool
    """Whether characters beyond ASCII are written as `\\uXXXX`."""
    is_upper: bool
    """Whether these escapes have capital letters."""


def read_properties(data: bytes, languages: Languages) -> File:
    """Reads properties in UTF-8 or, as for Java before version 9, in ISO 8859-1.

    Raises:
        DataError: the file is in no known encoding.
    """
    del languages
    try:
        text = decoded(data)
    except DataError:
        text = decoded(data, "iso-8859-1")
    style = _style(text)
    ids, units, slots = UniqueIds(), [], {}
    note = ""
    entries = list(_entries(text.text))
    keys = frozenset(unescaped(found["key"]) for found in entries if found["key"])
    for found in entries:
        if found["comment"] is not None:
            note = found["comment"][1:].strip()
            continue
        if not found["key"] and not found["value"]:
            note = ""
            continue
        key, value = unescaped(found["key"]), unescaped(found["value"])
        span = Span(found.start("value"), found.end("value"))
        is_message = _ARGUMENT.search(value) is not None and "'" not in value.replace("''", "")
        unit = _unit(ids.of(key), key, value, span, note, is_message=is_message)
        unit = replace(unit, label=access_key_label(key, value, keys))
        units.append(unit)
        slots[unit.id] = (Slot(span, _writer(style, text, is_message=is_message)),)
        note = ""
    return File(format="properties", text=text, units=tuple(units), editor=SlotEditor(slots))


def unescaped(raw: str) -> str:
    """Returns a key or a value without escapes."""

    def character(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        return "" if found[2] else _CONTROLS.get(found[3], found[3])

    text = _ESCAPE.sub(character, raw)
    # Characters beyond the first plane are two escapes.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _entries(text: str) -> Iterator[re.Match[str]]:
    position = 0
    while position < len(text):
        blank = _BLANK.match(text, position)
        if blank:
            position = blank.end()
            continue
        found = _ENTRY.match(text, position)
        assert found is not None
        assert found.end() > position
        yield found
        position = found.end()


def _style(text: EncodedText) -> _Style:
    escapes = re.findall(r"\\u([0-9A-Fa-f]{4})", text.text)
    letters = "".join(escapes)
    is_upper = sum(map(str.isupper, letters)) > sum(map(str.islower, letters))
    return _Style(escapes_unicode=text.text.isascii() and bool(escapes), is_upper=is_upper)


def _unit(name: str, key: str, value: str, span: Span, note: str, *, is_message: bool) -> Unit:
    # In a message an apostrophe is written twice; the text that is translated has it once.
    source = value.replace("''", "'") if is_message else value
    is_translatable = bool(value.strip())
    return Unit(
        id=name,
        forms=(Form(source=content(source)),),
        is_translatable=is_translatable,
        context=key,
        notes=(note,) if note else (),
        flags=frozenset({"auto-java-messageformat"}),
        spans=(span,) if is_translatable else (),
    )


def _writer(style: _Style, text: EncodedText, *, is_message: bool) -> Callable[[Content], str]:
    def write(parts: Content) -> str:
        value = plain(parts)
        value = value.replace("'", "''") if is_message else value
        value = (
            value.replace("\\", "\\\\")
            .replace("\n", "\\n")
            .replace("\t", "\\t")
            .replace("\r", "\\r")
            .replace("\f", "\\f")
        )
        if value.startswith(" "):
            value = f"\\{value}"
        return "".join(_written(character, style, text.encoding) for character in value)

    return write


def _written(character: str, style: _Style, encoding: str) -> str:
    """Writes a character, or its escape if the file writes escapes or its encoding lacks the character."""
    if character.isascii():
        return character
    try:
        character.encode(encoding)
        if not style.escapes_unicode:
            return character
    except UnicodeEncodeError:
        pass
    units = character.encode("utf-16-be").hex()
    units = units.upper() if style.is_upper else units
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))

r"""Apple's .strings: `"key" = "value";` with comments and escapes, in UTF-8 or UTF-16."""

import re
from collections.abc import Callable

from attendo.errors import DataError
from attendo.formats.contents import Content, content, plain
from attendo.formats.encoded import EncodedText, decoded
from attendo.formats.file import File, Form, Languages, Slot, SlotEditor, Span, UniqueIds, Unit

_FLAGS = frozenset({"objc-format"})
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_BARE = r"[\w.$/:-]+"
_PIECE = re.compile(rf"\s+|(?P<comment>/\*.*?\*/|//[^\r\n]*)|(?P<word>{_QUOTED}|{_BARE})|(?P<mark>[=;])", re.S)
_ESCAPE = re.compile(r"\\(?:[Uu]([0-9A-Fa-f]{4})|([0-7]{1,3})|(.))", re.S)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "\n": ""}


def read_strings(data: bytes, languages: Languages) -> File:
    """Reads Apple's strings; their sources are their own values.

    Raises:
        DataError: a line does not have the syntax of the format.
    """
    del languages
    text = decoded(data, {b"\0": "utf-16-be"}.get(data[:1]) or {b"\0": "utf-16-le"}.get(data[1:2]))
    ids, units, slots = UniqueIds(), [], {}
    for key_raw, value_span, note in _entries(text):
        raw = text.text[value_span.start : value_span.stop]
        key, value = _unescaped(key_raw[1:-1] if key_raw.startswith('"') else key_raw), _unescaped(raw)
        is_translatable = bool(value.strip())
        unit = Unit(
            id=ids.of(key),
            forms=(Form(source=content(value)),),
            is_translatable=is_translatable,
            context=key,
            notes=(note,) if note else (),
            flags=_FLAGS,
            spans=(value_span,) if is_translatable else (),
        )
        units.append(unit)
        slots[unit.id] = (Slot(value_span, _writer(text, raw)),)
    return File(format="strings", text=text, units=tuple(units), editor=SlotEditor(slots))


def _entries(text: EncodedText) -> list[tuple[str, Span, str]]:
    """Returns each key as written, the span of its value between the quotation marks, and the comment before it."""
    entries, note, words, marks, position = [], "", list[re.Match[str]](), "", 0
    while position < len(text.text):
        found = _PIECE.match(text.text, position)
        if found is None:
            raise _error(text, position)
        position = found.end()
        if found["comment"] is not None:
            note = found["comment"].removeprefix("//").removeprefix("/*").removesuffix("*/").strip()
        elif found["word"] is not None:
            words.append(found)
        elif found["mark"] is not None:
            marks += found["mark"]
        is_complete = marks in ("=;", ";")
        if len(words) > 2 or len(marks) > 2 or (is_complete and (len(words) != len(marks) or words[-1][0][0] != '"')):
            raise _error(text, found.start())
        if is_complete:
            if marks == "=;":
                entries.append((words[0][0], Span(words[1].start() + 1, words[1].end() - 1), note))
            words, marks, note = [], "", ""
    if words:
        raise _error(text, words[0].start())
    return entries


def _error(text: EncodedText, position: int) -> DataError:
    shown = text.text[position : position + 40].partition("\n")[0]
    return DataError(f'line {text.line_number(position)} should be such as "key" = "value"; and is {shown!r}')


def _unescaped(raw: str) -> str:
    def character(found: re.Match[str]) -> str:
        if found[1]:
            return chr(int(found[1], 16))
        return chr(int(found[2], 8)) if found[2] else _CONTROLS.get(found[3], found[3])

    return _ESCAPE.sub(character, raw).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _writer(text: EncodedText, raw: str) -> Callable[[Content], str]:
    """Returns a function that writes a value: line ends as escapes, unless the present value has them unescaped."""
    is_multiline = "\n" in raw

    def write(parts: Content) -> str:
        value = plain(parts).replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
        return value.replace("\n", text.line_end if is_multiline else "\\n")

    return write

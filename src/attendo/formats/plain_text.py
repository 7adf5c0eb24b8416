"""Plain text: each line that is not empty is a unit."""

import re

from attendo.errors import DataError
from attendo.formats.contents import Content, content, in_one_line, plain
from attendo.formats.encoded import decoded
from attendo.formats.file import File, Form, Languages, Slot, SlotEditor, Span, Unit

_LINE = re.compile(r"[^\r\n]+")


def read_text(data: bytes, languages: Languages) -> File:
    """Reads lines of text.

    Raises:
        DataError: the file is not in UTF-8 nor in the encoding of its byte order mark, or has NUL characters.
    """
    del languages
    text = decoded(data)
    if "\0" in text.text:
        raise DataError("this is not text: it contains NUL characters; save it as text in UTF-8")
    units, slots = [], {}
    for number, line in enumerate(_LINE.finditer(text.text), 1):
        stripped = line[0].strip()
        if not stripped:
            continue
        start = line.start() + line[0].index(stripped)
        span = Span(start, start + len(stripped))
        units.append(Unit(id=str(number), forms=(Form(source=content(stripped)),), spans=(span,)))
        slots[str(number)] = (Slot(span, _written),)
    return File(format="text", text=text, units=tuple(units), editor=SlotEditor(slots))


def _written(parts: Content) -> str:
    """Writes a line; line ends within it become spaces."""
    return in_one_line(plain(parts))

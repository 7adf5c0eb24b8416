"""CSV and TSV files whose first row names the columns: a source, a target, and optionally a key."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from attendo.errors import DataError
from attendo.formats.contents import Content, content, plain
from attendo.formats.encoded import EncodedText, decoded
from attendo.formats.file import File, Form, Languages, Slot, SlotEditor, Span, UniqueIds, Unit

SOURCE_NAMES = ("source", "src", "original", "text")
"""Usual names of source columns."""
TARGET_NAMES = ("target", "tgt", "trg", "translation", "translated")
"""Usual names of target columns."""
_KEY_NAMES = ("key", "id", "context", "name", "location")
_NOTE_NAMES = ("comment", "note", "notes", "description", "developer_comments")


@dataclass(frozen=True, slots=True)
class Cell:
    """A field of a row: its text, and its span with the quotation marks."""

    text: str
    span: Span
    is_quoted: bool


def read_csv(data: bytes, languages: Languages) -> File:
    """Reads CSV; the separator is the most frequent of comma, semicolon and bar in the first row.

    Raises:
        DataError: no column is named as a source or as a target.
    """
    text = decoded(data)
    first = text.text.partition("\n")[0]
    return _file("csv", text, max(",;|\t", key=first.count), languages)


def read_tsv(data: bytes, languages: Languages) -> File:
    """Reads TSV.

    Raises:
        DataError: no column is named as a source or as a target.
    """
    return _file("tsv", decoded(data), "\t", languages)


def _file(name: str, text: EncodedText, separator: str, languages: Languages) -> File:
    rows = list(rows_of(text, separator))
    header = [cell.text.strip().lower().replace("_", "-") for cell in rows[0]] if rows else []
    source = _column(header, languages.source, SOURCE_NAMES)
    target = _column(header, languages.target, TARGET_NAMES)
    if source is None or target is None or source == target:
        raise DataError(
            f"line 1 names the columns {', '.join(header) or 'none'}; one should be called source or as the source "
            "language (en), another target or as the target language (de)"
        )
    key, note = _column(header, None, _KEY_NAMES), _column(header, None, _NOTE_NAMES)
    ids, units, slots = UniqueIds(), [], {}
    for row in rows[1:]:
        if len(row) <= source:
            continue
        slot = _slot(text, row, target, separator)
        name_of_row = row[key].text if key is not None and len(row) > key else row[source].text
        translated = row[target].text if len(row) > target else ""
        is_translatable = bool(row[source].text.strip())
        unit = Unit(
            id=ids.of(name_of_row),
            forms=(Form(source=content(row[source].text), target=content(translated) or None),),
            state="translated" if translated.strip() else "new",
            is_translatable=is_translatable,
            context=name_of_row if key is not None else "",
            notes=(row[note].text,) if note is not None and len(row) > note and row[note].text else (),
            spans=(slot.span,) if is_translatable else (),
        )
        units.append(unit)
        slots[unit.id] = (slot,)
    return File(format=name, text=text, units=tuple(units), editor=SlotEditor(slots))


def _column(header: Sequence[str], language: str | None, names: Sequence[str]) -> int | None:
    """Finds a column by its language code or a usual name, and returns its number."""
    wanted = [] if language is None else [language.replace("_", "-").lower(), language.replace("_", "-").lower()[:2]]
    return next((header.index(name) for name in [*wanted, *names] if name in header), None)


def rows_of(text: EncodedText, separator: str) -> Iterator[list[Cell]]:
    """Yields the rows that are not empty, with the positions of their cells.

    Raises:
        DataError: a quoted field does not end.
    """
    position, row = 0, list[Cell]()
    while position <= len(text.text):
        cell, end = _cell(text, position, separator)
        row.append(cell)
        mark = text.text[end : end + 1]
        if mark != separator:
            if len(row) > 1 or row[0].text:
                yield row
            row = []
            end += text.text[end : end + 2] == "\r\n"
            if end >= len(text.text):
                return
        position = end + 1


def _cell(text: EncodedText, start: int, separator: str) -> tuple[Cell, int]:
    """Reads the cell at a position; returns it with the position of the separator or line end after it."""
    whole = text.text
    if whole.startswith('"', start):
        position = start + 1
        while True:
            quote = whole.find('"', position)
            if quote < 0:
                raise DataError(f"line {text.line_number(start)}: a quoted field does not end")
            if whole[quote + 1 : quote + 2] != '"':
                break
            position = quote + 2
        if whole[quote + 1 : quote + 2] in (separator, "\r", "\n", ""):
            value = whole[start + 1 : quote].replace('""', '"')
            return Cell(value, Span(start, quote + 1), True), quote + 1
    found = re.compile(rf"[^{re.escape(separator)}\r\n]*").match(whole, start)
    end = start if found is None else found.end()
    return Cell(whole[start:end], Span(start, end), False), end


def _slot(text: EncodedText, row: Sequence[Cell], target: int, separator: str) -> Slot:
    """Returns the slot of a row's translation; missing cells before it are added."""
    quotes_all = all(cell.is_quoted for cell in row if cell.text)
    if len(row) > target:
        cell = row[target]
        is_quoted = cell.is_quoted or (quotes_all and not cell.text)
        return Slot(cell.span, _writer(text, separator, "", is_quoted=is_quoted))
    end = row[-1].span.stop
    return Slot(Span(end, end), _writer(text, separator, separator * (target - len(row) + 1), is_quoted=quotes_all))


def _writer(text: EncodedText, separator: str, before: str, *, is_quoted: bool) -> Callable[[Content], str]:
    def write(parts: Content) -> str:
        value = plain(parts)
        if is_quoted or separator in value or any(mark in value for mark in '"\r\n'):
            doubled = value.replace('"', '""').replace("\n", text.line_end)
            return f'{before}"{doubled}"'
        return before + value

    return write

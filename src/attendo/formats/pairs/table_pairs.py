"""CSV and TSV with named columns as pairs, row by row."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from attendo.errors import DataError
from attendo.formats.delimited import rows_of
from attendo.formats.encoded import EncodedText
from attendo.formats.pairs.selection import Selection
from attendo.text.files.encodings import UTF8, is_wide
from attendo.text.files.formats import LineReader, RawPair

_MAX_ROW_CHARACTERS = 1 << 20
_SEPARATORS = ",;|\t"

_Row = tuple[int, list[str]]
"""The number of a row's first line, and its fields."""


def read_table_pairs(
    path: Path, selection: Selection, *, columns: Sequence[str] = (), encoding: str = UTF8, separator: str | None = None
) -> Iterator[RawPair]:
    """Yields the pairs of a table, one per row, without empty lines.

    Args:
        path: the file.
        selection: the wanted pairs; its languages name the columns if `columns` does not.
        columns: the names of the source and target columns, or their numbers from 1 if no row names them.
        encoding: the file's encoding. Fields that are invalid in it keep their bytes, which are invalid UTF-8.
        separator: the separator of columns; None for the most frequent of comma, semicolon, bar and tab in the first
            line.

    Raises:
        DataError: the file cannot be read, has no such columns, or has a quoted field that does not end.
    """
    with LineReader(path, encoding=encoding) as lines:
        rows = _rows(path, lines, UTF8 if is_wide(encoding) else encoding, separator)
        has_header = not (columns and all(name.isdecimal() for name in columns))
        source, target = 0, 0
        if has_header:
            for _, names in islice(rows, 1):
                source, target = _named_columns(path, [name.strip() for name in names], columns, selection)
        else:
            source, target = (int(name) - 1 for name in columns)
            if min(source, target) < 0:
                raise DataError(f"{path}: columns = {list(columns)!r} counts from 1")
        for line, fields in rows:
            sides = [fields[number] if number < len(fields) else "" for number in (source, target)]
            yield selection.pair(line, sides[0], sides[1])


def _named_columns(path: Path, names: Sequence[str], columns: Sequence[str], selection: Selection) -> tuple[int, int]:
    """Returns the numbers of the source and target columns."""
    shown = ", ".join(names)[:200]
    if not columns:
        found = selection.sides_of(names)
        if found is None:
            raise DataError(
                f'{path}: line 1 names the columns {shown}; name the two to use: columns = ["SOURCE", "TARGET"], '
                'by their numbers where line 1 names none: columns = ["1", "2"]'
            )
        return found
    missing = [name for name in columns if name not in names]
    if missing:
        raise DataError(f"{path}: line 1 names the columns {shown}, and not {', '.join(missing)}; correct columns")
    return names.index(columns[0]), names.index(columns[1])


def _rows(path: Path, lines: LineReader, encoding: str, separator: str | None) -> Iterator[_Row]:
    """Yields the rows of lines; several lines are one row if a quoted field has line ends."""
    start, record = 0, ""
    for line in lines:
        text = line.decode(encoding, "surrogateescape")
        if not record:
            start = lines.num_lines
            separator = separator or max(_SEPARATORS, key=text.count)
            if '"' not in text:
                if text:
                    yield start, text.split(separator)
                continue
        record = f"{record}\n{text}" if record else text
        if len(record) > _MAX_ROW_CHARACTERS:
            raise _endless(path, start)
        if '"' not in text:
            continue  # within a quoted field
        assert separator is not None
        if (found := _quoted_rows(record, start, separator)) is not None:
            yield from found
            record = ""
    if record:
        raise _endless(path, start)


def _quoted_rows(record: str, start: int, separator: str) -> list[_Row] | None:
    """Returns the rows of lines with quotation marks; None if the last quoted field does not end in them."""
    text = EncodedText(content=b"", text=record, encoding=UTF8)
    try:
        rows = list(rows_of(text, separator))
    except DataError:
        return None
    return [(start + record.count("\n", 0, row[0].span.start), [cell.text for cell in row]) for row in rows]


def _endless(path: Path, line: int) -> DataError:
    return DataError(
        f"{path}: line {line}: a quoted field does not end; close its quotation mark, or double those that stand in it"
    )

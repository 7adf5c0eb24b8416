"""Glossaries as tables: CSV, TSV, and the files of OmegaT and DeepL."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from attendo.errors import DataError
from attendo.formats.file import base_language, is_same_language
from attendo.formats.language_codes import LANGUAGES
from attendo.terms.entries import Entry, EntryNotes
from attendo.terms.term import Term

Row = tuple[int, list[str]]
"""The number of a line, from 1, and its fields."""

_NAMES = {
    "source": ("source", "term", "src", "source_term"),
    "target": ("target", "translation", "tgt", "trg", "target_term"),
    "forms": ("forms", "inflections"),
    "alternatives": ("alternatives", "synonyms"),
    "forbidden": ("forbidden",),
    "flags": ("flags",),
    "comment": (
        "comment", "comments", "note", "notes", "description", "context", "translator_comments", "developer_comments",
        "location", "id", "fuzzy",
    ),
    "source_language": ("source_lang", "source_language"),
    "target_language": ("target_lang", "target_language"),
}  # fmt: skip
_LISTED = "|"
_YES = frozenset(("yes", "true", "1", "x"))
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_CODE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_MAX_COLUMNS = 4
"""Columns of a table without a header."""


@dataclass(frozen=True)
class _Columns:
    """The numbers of the columns."""

    places: dict[str, int]
    is_header: bool
    languages: tuple[str, str] = ("", "")
    """The languages that the header names."""

    def value(self, row: Sequence[str], name: str) -> str:
        place = self.places.get(name)
        return row[place].strip() if place is not None and place < len(row) else ""

    def values(self, row: Sequence[str], name: str) -> tuple[str, ...]:
        return tuple(filter(None, map(str.strip, self.value(row, name).split(_LISTED))))


def plain_entries(rows: Iterable[Row]) -> list[Entry]:
    """Reads the entries of a table without a header, as in DeepL's API."""
    return [Entry(line=line, term=_term(_without_header(row), row)) for line, row in rows]


def csv_rows(text: str, comments: str = "#") -> Iterator[Row]:
    """The rows of comma- or semicolon-separated values, without comments and empty lines.

    Args:
        text: the table.
        comments: the beginning of a comment; empty for no comments.

    Raises:
        DataError: a quotation does not end.
    """
    first = next((line for line in text.splitlines() if line.strip() and not _is_comment(line, comments)), "")
    bare = _QUOTED.sub("", first)
    separator = ";" if bare.count(";") > bare.count(",") else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line = 1
    try:
        for row in reader:
            if any(field.strip() for field in row) and not _is_comment(row[0], comments):
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"line {line}: is no CSV ({error})") from error


def tsv_rows(text: str, comments: str = "#") -> Iterator[Row]:
    """The rows of tab-separated values, without comments and empty lines; a field may be in quotes.

    Args:
        text: the table.
        comments: the beginning of a comment; empty for no comments.
    """
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        if line.strip() and not _is_comment(line, comments):
            yield number, [_unquoted(field) for field in line.split("\t")]


def table_entries(rows: Sequence[Row], source: str, target: str, notes: EntryNotes) -> tuple[list[Entry], str, str]:
    """The entries of a table, and its languages.

    Args:
        rows: the rows of the table, including a header if there is one.
        source: the source language; empty for the one that the table names.
        target: the target language; empty for the one that the table names.
        notes: receives a note for each entry that is left out.

    Returns:
        The entries, and both languages, empty if unknown.
    """
    if not rows:
        return [], source, target
    columns = _columns(rows[0][1], source, target)
    source, target = source or columns.languages[0], target or columns.languages[1]
    entries = []
    for line, row in rows[1:] if columns.is_header else rows:
        its = columns if columns.is_header else _without_header(row)
        if not columns.is_header and len(row) > _MAX_COLUMNS:
            notes.leave_out(line, f"has {len(row)} columns, and the table no header that names them")
            continue
        languages = its.value(row, "source_language"), its.value(row, "target_language")
        if any(
            declared and ours and not is_same_language(declared, ours)
            for declared, ours in zip(languages, (source, target), strict=True)
        ):
            notes.other_languages += 1
            continue
        source, target = source or base_language(languages[0]), target or base_language(languages[1])
        entries.append(Entry(line=line, term=_term(its, row)))
    return entries, source, target


def _columns(header: Sequence[str], source: str, target: str) -> _Columns:
    """Returns the columns that a header names by content or by language."""
    names = [field.strip().casefold().replace(" ", "_") for field in header]
    places: dict[str, int] = {}
    for place, name in enumerate(names):
        for column, spellings in _NAMES.items():
            if name in spellings:
                places.setdefault(column, place)
    if {"source", "target"} <= places.keys():
        return _Columns(places, is_header=True)
    codes = [place for place, name in enumerate(names) if _is_code(name)]
    by_language = {
        column: next((place for place in codes if language and is_same_language(names[place], language)), None)
        for column, language in (("source", source), ("target", target))
    }
    found = [place for place in by_language.values() if place is not None]
    named = len(codes) + len(places) == len([name for name in names if name])
    if named and len(codes) >= 2 and (len(set(found)) == 2 or not (source or target)):
        first, second = found if len(found) == 2 else codes[:2]
        languages = base_language(names[first]), base_language(names[second])
        return _Columns({**places, "source": first, "target": second}, is_header=True, languages=languages)
    return _without_header(header)


def _without_header(row: Sequence[str]) -> _Columns:
    """Returns DeepL's columns if the third and fourth are languages, otherwise OmegaT's, whose third is a comment."""
    if len(row) == _MAX_COLUMNS and _is_code(row[2].strip()) and _is_code(row[3].strip()):
        return _Columns({"source": 0, "target": 1, "source_language": 2, "target_language": 3}, is_header=False)
    return _Columns({"source": 0, "target": 1, "comment": 2}, is_header=False)


def _term(columns: _Columns, row: Sequence[str]) -> Term:
    source, target = columns.value(row, "source"), columns.value(row, "target")
    flags = {flag.strip() for flag in columns.value(row, "flags").split(",")}
    forbidden = columns.values(row, "forbidden")
    if "forbidden" in flags or (len(forbidden) == 1 and forbidden[0].casefold() in _YES):
        target, forbidden = "", (target,) if target else ()
    elif len(forbidden) == 1 and forbidden[0].casefold() in ("no", "false", "0"):
        forbidden = ()
    if "read-only" in flags:
        target = source
    return Term(
        source=source,
        target=target,
        forms=columns.values(row, "forms"),
        alternatives=columns.values(row, "alternatives"),
        forbidden=forbidden,
        comment=columns.value(row, "comment"),
    )


def _is_comment(line: str, comments: str) -> bool:
    return bool(comments) and line.startswith(comments)


def _is_code(text: str) -> bool:
    return bool(_CODE.fullmatch(text)) and base_language(text) in LANGUAGES


def _unquoted(field: str) -> str:
    inner = field.strip()
    if len(inner) >= 2 and inner[0] == inner[-1] == '"':
        return inner[1:-1].replace('""', '"')
    return field

"""Reading glossary files: `read_glossary`."""

import re
from collections.abc import Iterable
from pathlib import Path

from attendo.errors import DataError
from attendo.formats.encoded import decoded
from attendo.formats.file import base_language
from attendo.reading import read_bounded
from attendo.terms.delimited import csv_rows, table_entries, tsv_rows
from attendo.terms.entries import MAX_ENTRIES, EntryNotes, checked_entries, distinct_terms, merged_terms
from attendo.terms.glossary import Glossary
from attendo.terms.tbx import tbx_entries

MAX_FILE_BYTES = 64 << 20
"""Maximum size of a glossary file, in bytes."""
_CODING = re.compile(rb"-\*-\s*coding:\s*([\w.-]+)\s*-\*-")
_TAB_SEPARATED = (".tsv", ".tab", ".utf8", ".txt")
_OMEGAT = (".tab", ".utf8", ".txt")
"""Endings of files in which a repeated source adds an alternative translation, as in OmegaT."""


def read_glossary(path: str | Path, *, source: str = "", target: str = "") -> Glossary:
    """Reads a glossary: CSV, TSV, TBX 2 or 3, or a file of OmegaT's or DeepL's.

    Args:
        path: the file; its format follows from the end of its name: `.csv`, `.tsv`, `.tbx`, and `.utf8`, `.tab` and
            `.txt` for OmegaT's.
        source: the language of the terms, whose inflected forms are recognised; empty for the one that the file names.
        target: the language of their translations; empty for the one that the file names.

    Raises:
        DataError: the file is not of its format, has a term twice, or no entry.
        OSError: it cannot be read.
    """
    path = Path(path)
    try:
        content = read_bounded(path, MAX_FILE_BYTES)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from error
    try:
        return parse_glossary(content, path.suffix.lower(), source=base_language(source), target=base_language(target))
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def parse_glossary(content: bytes, ending: str, *, source: str = "", target: str = "") -> Glossary:
    """Reads the content of a glossary file; see `read_glossary`.

    Args:
        content: its bytes.
        ending: the ending of its name, such as `.csv`.
        source: the language of the terms.
        target: the language of their translations.
    """
    notes = EntryNotes()
    if ending == ".tbx":
        entries, source, target = tbx_entries(content, source, target, notes)
    elif ending == ".csv" or ending in _TAB_SEPARATED:
        declared = _CODING.search(content[:200].splitlines()[0]) if content[:200].strip() else None
        text = decoded(content, declared[1].decode("ascii") if declared else None).text
        rows = list(csv_rows(text) if ending == ".csv" else tsv_rows(text))
        entries, source, target = table_entries(rows, source, target, notes)
    else:
        raise DataError("is no glossary by its name; take .csv, .tsv, .tbx, or .utf8, .tab or .txt for OmegaT's")
    entries = checked_entries(entries, notes)
    if not entries:
        raise DataError("; ".join(("has no entry that can be used", *notes.listed())))
    if len(entries) > MAX_ENTRIES:
        raise DataError(f"has {len(entries):,} entries, more than the {MAX_ENTRIES:,} of a glossary; divide it")
    merges = ending == ".tbx" or ending in _OMEGAT
    terms = merged_terms(entries, notes) if merges else distinct_terms(entries)
    return Glossary(terms=terms, source_language=source, target_language=target, notes=notes.listed())


def joined_glossaries(glossaries: Iterable[Glossary]) -> Glossary:
    """Joins glossaries of the same languages; of two entries for a source the first one counts.

    Raises:
        DataError: their languages differ.
    """
    first, *others = glossaries
    terms = {term.source: term for term in first.terms}
    source, target, notes = first.source_language, first.target_language, list(first.notes)
    for other in others:
        for ours, its in ((source, other.source_language), (target, other.target_language)):
            if ours and its and ours != its:
                raise DataError(f"one glossary has the language {ours}, and another {its}; give those of one pair")
        replaced = [term.source for term in other.terms if term.source in terms]
        if replaced:
            notes.append(
                f"terms that an earlier glossary has too, which counts: {len(replaced):,} ({', '.join(replaced[:5])})"
            )
        terms = {**{term.source: term for term in other.terms}, **terms}
        source, target = source or other.source_language, target or other.target_language
        notes += other.notes
    return Glossary(terms=tuple(terms.values()), source_language=source, target_language=target, notes=tuple(notes))

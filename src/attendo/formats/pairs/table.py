"""All files that can be read as pairs in one table, by the end of the name, by the corpus's keys or by the content."""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from attendo.errors import DataError
from attendo.formats.pairs.json_pairs import read_json_pairs
from attendo.formats.pairs.po_pairs import read_po_pairs
from attendo.formats.pairs.selection import PairTexts, Selection, one_line_texts
from attendo.formats.pairs.subtitle_pairs import read_subtitle_pairs
from attendo.formats.pairs.table_pairs import read_table_pairs
from attendo.formats.pairs.tmx_pairs import read_tmx_pairs
from attendo.formats.pairs.xliff_pairs import read_xliff_pairs
from attendo.text.corpora import CorpusConfig
from attendo.text.files.compression import READING_ERRORS, open_content, unpacked_name
from attendo.text.files.encodings import UTF8, is_utf8
from attendo.text.files.formats import RawPair
from attendo.text.files.recognition import HEAD_BYTES, recognized
from attendo.text.pair_reading import read_corpus

_ENDINGS: Mapping[str, tuple[str, ...]] = {
    "tmx": (".tmx",),
    "xliff": (".xlf", ".xliff", ".sdlxliff", ".mqxliff", ".mxliff"),
    "po": (".po", ".pot"),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "json": (".jsonl", ".ndjson"),
}
"""The endings of each format's file names."""
_KINDS = {"catalogue": "po", "csv": "csv", "json": "json"}
"""Formats by their names in `recognized`."""
_ROOT = re.compile(rb"<(?:[\w.-]+:)?(tmx|xliff)[\s>]")


def has_both_sides(path: Path) -> bool:
    """Whether a file is one of units with source and target, by the ending of its name."""
    return _by_name(path) is not None


def unit_reader(source_language: str, target_language: str) -> Callable[[CorpusConfig, Path], Iterator[RawPair]]:
    """Returns a reader for corpora of units, which reads other corpora as `text.pair_reading.read_corpus` does.

    Args:
        source_language: the source language's code; empty for any language.
        target_language: the target language's code; empty for any language.
    """

    def read(corpus: CorpusConfig, folder: Path) -> Iterator[RawPair]:
        for one in corpus.resolved(folder).file_sets:
            if one.has_units:
                yield from read_units(one, folder, (source_language, target_language))
            else:
                yield from read_corpus(one, folder)

    return read


def read_units(
    corpus: CorpusConfig, folder: Path, languages: tuple[str, str], *, texts: PairTexts = one_line_texts
) -> Iterator[RawPair]:
    """Yields every pair of a file of units, or of two files of subtitles, in bounded memory.

    Args:
        corpus: its configuration, with one file set and `has_units`.
        folder: the folder to which its paths are relative.
        languages: the codes of both sides; empty for any language.
        texts: gives the texts of a unit's sides.

    Raises:
        DataError: a file cannot be read or is of an unknown format, or a key of the corpus is for another format.
    """
    selection = Selection(
        source_language=languages[0], target_language=languages[1], states=frozenset(corpus.states), texts=texts
    )
    paths = [folder / name for name in corpus.files]
    if corpus.file is None:
        return read_subtitle_pairs(paths, selection, encodings=corpus.encodings)
    path, name = paths[0], _format_of(paths[0], corpus)
    _check_keys(path, name, corpus)
    if name == "tmx":
        return read_tmx_pairs(path, selection)
    if name == "xliff":
        return read_xliff_pairs(path, selection)
    if name == "po":
        return read_po_pairs(path, selection)
    if name == "json":
        return read_json_pairs(path, selection, fields=corpus.fields)
    separator = "\t" if name == "tsv" else None
    return read_table_pairs(path, selection, columns=corpus.columns, encoding=corpus.encodings[0], separator=separator)


def _by_name(path: Path) -> str | None:
    name = unpacked_name(path.name)
    return next((known for known, endings in _ENDINGS.items() if name.endswith(endings)), None)


def _format_of(path: Path, corpus: CorpusConfig) -> str:
    """Determines a file's format.

    Raises:
        DataError: the file is of no known format.
    """
    if (named := _by_name(path)) is not None:
        return named
    if corpus.columns or corpus.fields:
        return "csv" if corpus.columns else "json"
    raw, text = open_content(path)
    with raw, text:
        try:
            head = text.read(HEAD_BYTES)
        except READING_ERRORS as error:
            raise DataError(
                f"{path}: cannot be read ({error}); is it complete? Download or compress it again"
            ) from error
    found = recognized(path.name, head, len(head) < HEAD_BYTES, encoding=corpus.encodings[0])
    root = _ROOT.search(head.replace(b"\0", b""))  # UTF-16 has a zero beside each letter
    if found is not None and found.kind == "markup" and root is not None:
        return root[1].decode()
    if found is not None and found.kind in _KINDS:
        return _KINDS[found.kind]
    looks_like = f"looks like {found.name}, and " if found else ""
    raise DataError(
        f"{path}: {looks_like}is no TMX, XLIFF, PO, CSV, TSV or JSON with an object a line, which the key file reads; "
        "lines of text are source and target, lines with a tab between the sides tsv, subtitles a pair"
    )


def _check_keys(path: Path, name: str, corpus: CorpusConfig) -> None:
    """Refuses keys that do not apply to a format.

    Raises:
        DataError: there is such a key.
    """
    is_table = name in ("csv", "tsv")
    if corpus.columns and not is_table:
        raise DataError(f"{path}: columns are those of CSV and TSV, and this is {name.upper()}; leave them out")
    if corpus.fields and name != "json":
        raise DataError(f"{path}: fields are those of JSON, and this is {name.upper()}; leave them out")
    if not is_table and not all(map(is_utf8, corpus.encodings)):
        raise DataError(
            f"{path}: encoding = {corpus.encodings[0]!r} goes with CSV and TSV; {name.upper()} says itself what it is "
            f"in, or is {UTF8}, so leave it out"
        )

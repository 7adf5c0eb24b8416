"""Building the index of a translation memory: a SQLite database of pairs and their words."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from attendo.errors import DataError
from attendo.files import atomic_path, sha256
from attendo.formats.file import Suggestion
from attendo.formats.pairs.selection import Selection
from attendo.formats.pairs.table import has_both_sides, read_units
from attendo.memory.texts import marked_texts, pattern_of, same_text, text_hash
from attendo.text.corpora import CorpusConfig
from attendo.text.files.compression import unpacked_name
from attendo.text.files.formats import LineReader, RawPair

APPLICATION_ID = 0x41544D31
"""The application id in the header of an index."""
FORMAT_VERSION = 1
BLOCK_ENTRIES = 1 << 17
"""Number of entries whose words are sorted together, which bounds the memory for building."""
_BATCH = 5_000
_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (
    id INTEGER PRIMARY KEY, pair INTEGER NOT NULL UNIQUE, text INTEGER NOT NULL, pattern INTEGER NOT NULL,
    before INTEGER NOT NULL, uses INTEGER NOT NULL, latest INTEGER NOT NULL, context TEXT NOT NULL,
    source TEXT NOT NULL, target TEXT NOT NULL, words BLOB NOT NULL
);
CREATE TABLE blocks (id INTEGER PRIMARY KEY, lengths BLOB NOT NULL);
CREATE TABLE postings (id INTEGER PRIMARY KEY, word INTEGER NOT NULL, block INTEGER NOT NULL, count INTEGER NOT NULL,
    entries BLOB NOT NULL);
"""
_INDEXES = """
CREATE INDEX entries_text ON entries (text);
CREATE INDEX entries_pattern ON entries (pattern);
CREATE INDEX postings_word ON postings (word, block, count);
"""
_INSERT = """
INSERT INTO entries (pair, text, pattern, before, uses, latest, context, source, target, words)
VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?) ON CONFLICT (pair) DO UPDATE SET uses = uses + 1, latest = excluded.latest
"""


@dataclass(frozen=True, kw_only=True)
class BuiltIndex:
    """Counts of the pairs in a new index."""

    num_pairs: int
    """Number of usable pairs that were read."""
    num_entries: int
    """Number of distinct pairs among them."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Number of unusable pairs by reason."""


def build_index(
    path: Path,
    files: Sequence[Path],
    languages: tuple[str, str],
    progress: Callable[[int], None] | None = None,
) -> BuiltIndex:
    """Builds an index of translation memories; the file appears when it is complete.

    Args:
        path: the file to write.
        files: TMX, XLIFF, PO, TSV, CSV, or JSON lines.
        languages: the codes of source and target.
        progress: called with the number of pairs read so far.

    Raises:
        DataError: a file cannot be read, or holds no pair of these languages.
        OSError: the index cannot be written.
    """
    pairs = (memory_pairs(file, languages) for file in files)
    description = _Described(name=", ".join(map(str, files)), languages=languages, digests=map(sha256, files))
    return _built(path, pairs, description, progress)


def build_index_of(
    path: Path, suggestions: Iterable[Suggestion], languages: tuple[str, str], digest: str
) -> BuiltIndex:
    """Builds an index of the translations that a file offers besides its units; the index appears when it is complete.

    Args:
        path: the file to write.
        suggestions: the translations.
        languages: the codes of source and target.
        digest: the digest of their file, in hexadecimal digits.

    Raises:
        DataError: none of them can be used.
        OSError: the index cannot be written.
    """
    description = _Described(name="the file's own suggestions", languages=languages, digests=(digest,))
    return _built(path, [map(_pair, suggestions)], description, None)


def _pair(suggestion: Suggestion) -> RawPair:
    source, target = marked_texts(suggestion.source, suggestion.target)
    return RawPair(
        line=0,
        source=source.encode("utf-8", "replace"),
        target=target.encode("utf-8", "replace"),
        context=suggestion.context,
    )


@dataclass(frozen=True, kw_only=True)
class _Described:
    """The sources of an index."""

    name: str
    """The files, for messages."""
    languages: tuple[str, str]
    digests: Iterable[str]
    """The SHA-256 digests of the files; consumed after the files have been read."""


def _built(
    path: Path, pairs: Iterable[Iterable[RawPair]], said: _Described, progress: Callable[[int], None] | None
) -> BuiltIndex:
    """Builds an index of pairs, file by file."""
    with atomic_path(path) as temporary:
        connection = sqlite3.connect(temporary, isolation_level=None)
        try:
            built = _filled(connection, pairs, said, progress)
        except sqlite3.Error as error:
            raise OSError(f"{path}: the index of the translation memory cannot be written: {error}") from error
        finally:
            connection.close()
    return built


def memory_pairs(path: Path, languages: tuple[str, str]) -> Iterator[RawPair]:
    """Yields the pairs of a translation memory, codes as marks, in bounded memory.

    Raises:
        DataError: the file cannot be read, or its format has no pairs.
    """
    if not has_both_sides(path) and not path.is_file():
        raise DataError(f"{path}: there is no such file; name a translation memory: TMX, XLIFF, PO, TSV or CSV")
    columns = ("1", "2") if _is_plain_table(path, languages) else ()
    corpus = CorpusConfig(file=str(path), columns=columns)
    return read_units(corpus, Path(), languages, texts=marked_texts)


def _is_plain_table(path: Path, languages: tuple[str, str]) -> bool:
    """Whether a tab-separated file lacks a first line that names its columns."""
    if not unpacked_name(path.name).endswith((".tsv", ".tab")):
        return False
    with LineReader(path) as lines:
        names = next(iter(lines), b"").decode("utf-8", "replace").split("\t")
    selection = Selection(source_language=languages[0], target_language=languages[1])
    return selection.sides_of([name.strip().strip('"') for name in names]) is None


def _filled(
    connection: sqlite3.Connection,
    pairs: Iterable[Iterable[RawPair]],
    said: _Described,
    progress: Callable[[int], None] | None,
) -> BuiltIndex:
    # The file has a temporary name until it is complete, so nothing needs to survive a crash.
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -32768", "locking_mode = EXCLUSIVE"):
        connection.execute(f"PRAGMA {pragma}")
    connection.executescript(_TABLES)
    connection.execute("BEGIN")
    left_out: Counter[str] = Counter()
    num_pairs = 0
    rows = []
    for row in _rows(pairs, said.languages[0], left_out):
        rows.append(row)
        num_pairs += 1
        if len(rows) == _BATCH:
            connection.executemany(_INSERT, rows)
            rows = []
            if progress is not None:
                progress(num_pairs)
    connection.executemany(_INSERT, rows)
    if not num_pairs:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in left_out.most_common()) or "no pairs at all"
        raise DataError(
            f"{said.name}: nothing to translate {said.languages[0]} to {said.languages[1]} with ({reasons})"
        )
    [(num_entries,)] = connection.execute("SELECT max(id) FROM entries")
    _index_words(connection, num_entries)
    meta = {
        "source_language": said.languages[0],
        "target_language": said.languages[1],
        "pairs": str(num_pairs),
        "entries": str(num_entries),
        "files": "\n".join(said.digests),
    }
    connection.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
    connection.executescript(_INDEXES)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {FORMAT_VERSION}")
    if connection.in_transaction:
        connection.execute("COMMIT")
    return BuiltIndex(num_pairs=num_pairs, num_entries=num_entries, left_out=left_out)


def _rows(
    pairs: Iterable[Iterable[RawPair]], source_language: str, left_out: Counter[str]
) -> Iterator[tuple[object, ...]]:
    """Yields the rows of the table of entries."""
    number = 0
    for its_pairs in pairs:
        before = 0
        for pair in its_pairs:
            number += 1
            try:
                source, target = pair.source.decode("utf-8"), (pair.target or b"").decode("utf-8")
            except UnicodeDecodeError:
                left_out["encoding"] += 1
                continue
            if pair.fault or not source.strip() or not target.strip():
                left_out[pair.fault or "empty"] += 1
                continue
            same = same_text(source)
            text = text_hash(same)
            pattern = pattern_of(same, source_language)
            yield (
                text_hash(f"{source}\0{target}\0{pair.context}"),
                text,
                text_hash(pattern.text),
                before,
                number,
                pair.context,
                source,
                target,
                np.array(pattern.word_ids, dtype="<u4").tobytes(),
            )
            before = text


def _index_words(connection: sqlite3.Connection, num_entries: int) -> None:
    """Writes the entries of each word, block by block."""
    for block, first in enumerate(range(1, num_entries + 1, BLOCK_ENTRIES)):
        last = min(first + BLOCK_ENTRIES, num_entries + 1)
        found = connection.execute("SELECT words FROM entries WHERE id >= ? AND id < ? ORDER BY id", (first, last))
        words = [np.unique(np.frombuffer(blob, dtype="<u4"), return_counts=True) for (blob,) in found]
        lengths = np.array([counts.sum() for _, counts in words], dtype="<u2")
        connection.execute("INSERT INTO blocks VALUES (?, ?)", (block, lengths.tobytes()))
        sizes = [len(different) for different, _ in words]
        all_words = np.concatenate([different for different, _ in words])
        entries = np.repeat(np.arange(first, last, dtype="<u4"), sizes)
        order = np.argsort(all_words, kind="stable")
        all_words, entries = all_words[order], entries[order]
        starts = np.flatnonzero(np.diff(all_words, prepend=all_words[:1] + 1))
        stops = [*starts[1:], *([len(all_words)] if len(starts) else [])]
        connection.executemany(
            "INSERT INTO postings (word, block, count, entries) VALUES (?, ?, ?, ?)",
            (
                (int(all_words[start]), block, int(stop - start), entries[start:stop].tobytes())
                for start, stop in zip(starts, stops, strict=True)
            ),
        )

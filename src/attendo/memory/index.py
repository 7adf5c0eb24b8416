"""An index of a translation memory, opened: entries by their text, by their pattern, and by the words they share."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import finalize

import numpy as np
import numpy.typing as npt

from attendo.errors import DataError
from attendo.formats.file import is_same_language
from attendo.memory.building import APPLICATION_ID, FORMAT_VERSION
from attendo.memory.texts import text_hash

_MAGIC = b"SQLite format 3\0"
_MAX_POSTINGS = 100_000
"""Number of additional entries, those of frequent words, that a search examines."""
_MAX_CANDIDATES = 128
_MAX_SAME = 200
"""Maximum number of translations of one text that are compared."""
_COLUMNS = "id, source, target, context, before, uses, latest"

IntArray = npt.NDArray[Any]
"""Integers of any width."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A pair of a translation memory."""

    id: int
    source: str
    target: str
    context: str
    """The context, which distinguishes equal sources; empty if the file has none."""
    before: int
    """The hash of the text before it in its file; 0 at the beginning."""
    uses: int
    """The number of occurrences of the pair."""
    latest: int
    """The number of the last equal pair, in order of reading."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An entry that shares words with a text."""

    entry: int
    words: list[int]


def is_index(path: Path) -> bool:
    """Whether a file is a SQLite database, as an index is."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


class Index:
    """An index on disk, for any number of threads.

    Args:
        path: the file that `build_index` wrote.
        languages: the codes of source and target that are wanted; empty ones fit any.

    Raises:
        DataError: the file is no index, is damaged, or is of other languages.
    """

    def __init__(self, path: Path, languages: tuple[str, str] = ("", "")) -> None:
        self.path, self._lock = path, Lock()
        try:
            uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
            self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
            finalize(self, self._connection.close)
            self._connection.execute("PRAGMA trusted_schema = OFF")
            [(application,)] = self._connection.execute("PRAGMA application_id")
            [(version,)] = self._connection.execute("PRAGMA user_version")
            if application != APPLICATION_ID or version != FORMAT_VERSION:
                raise DataError(
                    f"{path}: is no translation memory of this version of attendo; build it again: "
                    "attendo memory build OUT FILES"
                )
            self._meta = dict(self._connection.execute("SELECT name, value FROM meta"))
            blocks = self._connection.execute("SELECT lengths FROM blocks ORDER BY id").fetchall()
            # The number of words of each entry, by its id; ids begin at 1.
            self._lengths = np.concatenate([np.zeros(1, "<u2"), *(np.frombuffer(blob, "<u2") for (blob,) in blocks)])
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise DataError(f"{path}: the translation memory cannot be read: {error}; build it again") from error
        for wanted, found in zip(languages, self.languages, strict=True):
            if wanted and not is_same_language(wanted, found):
                raise DataError(
                    f"{path}: is a translation memory from {self.languages[0]} to {self.languages[1]}, and "
                    f"{languages[0]} to {languages[1]} is wanted"
                )

    @property
    def languages(self) -> tuple[str, str]:
        """The codes of source and target."""
        return self._meta.get("source_language", ""), self._meta.get("target_language", "")

    @property
    def num_entries(self) -> int:
        """The number of different pairs."""
        return len(self._lengths) - 1

    @property
    def files(self) -> tuple[str, ...]:
        """The SHA-256 digests of the files that the index was built from."""
        return tuple(self._meta.get("files", "").splitlines())

    def same_texts(self, text: str) -> list[Entry]:
        """Returns the entries whose source is a text, which is in the form of `same_text`."""
        return self._entries("text", text_hash(text))

    def same_patterns(self, text: str) -> list[Entry]:
        """Returns the entries whose source has a pattern, given as its text."""
        return self._entries("pattern", text_hash(text))

    def entry(self, number: int) -> Entry:
        """Returns an entry by its id."""
        [found] = self._query(f"SELECT {_COLUMNS} FROM entries WHERE id = ?", (number,))
        return Entry(*found)

    def candidates(self, words: Sequence[int], threshold: int) -> list[Candidate]:
        """Returns entries that may be similar to a text.

        An entry with a similarity of at least `threshold` per cent lacks at most n words of the text, so it has at
        least one of any n + 1, of which the rarest are looked up; it is missed only if more than `_MAX_CANDIDATES`
        others share more words.

        Args:
            words: the words of the text, as numbers.
            threshold: the minimum similarity in per cent, from 1 to 100.
        """
        most = len(words) * 100 // threshold
        max_changes = most * (100 - threshold) // 100
        counts = sorted((count, word) for word in set(words) if (count := self._count(word)))
        missing = len(set(words)) - len(counts)
        needed = max(max_changes + 1 - missing, 0)
        postings, size = list[IntArray](), 0
        for place, (count, word) in enumerate(counts):
            if place >= needed and size + count > _MAX_POSTINGS:
                break
            postings.append(self._postings(word))
            size += count
        if not needed or not postings:
            return []
        found = np.concatenate(postings)
        if found.max() >= len(self._lengths):
            raise self._damaged("a word is of an entry that is not there")
        lengths = self._lengths[found]
        least = -(-len(words) * threshold // 100)
        found = found[(lengths >= least) & (lengths <= most)]
        entries, shared = _counted(found, len(self._lengths))
        # Words that do not occur in the memory already count as changes.
        enough = shared >= max(1, len(postings) + missing - max_changes)
        entries, shared = entries[enough], shared[enough]
        best = np.argsort(-shared, kind="stable")[:_MAX_CANDIDATES]
        return self._candidates(entries[best].tolist())

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()

    def _entries(self, column: str, value: int) -> list[Entry]:
        query = f"SELECT {_COLUMNS} FROM entries WHERE {column} = ? ORDER BY latest DESC LIMIT {_MAX_SAME}"
        return [Entry(*row) for row in self._query(query, (value,))]

    def _count(self, word: int) -> int:
        [(count,)] = self._query("SELECT sum(count) FROM postings WHERE word = ?", (word,))
        return int(count or 0)

    def _postings(self, word: int) -> IntArray:
        rows = self._query("SELECT entries FROM postings WHERE word = ? ORDER BY block", (word,))
        return np.concatenate([np.frombuffer(blob, dtype="<u4") for (blob,) in rows])

    def _candidates(self, entries: Sequence[int]) -> list[Candidate]:
        rows = self._query(
            f"SELECT id, words FROM entries WHERE id IN ({', '.join('?' * len(entries))})", tuple(entries)
        )
        return [Candidate(number, np.frombuffer(blob, dtype="<u4").tolist()) for number, blob in rows]

    def _query(self, query: str, values: tuple[int, ...]) -> list[Any]:
        try:
            with self._lock:
                return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._damaged(error) from error

    def _damaged(self, reason: object) -> DataError:
        return DataError(f"{self.path}: the translation memory is damaged: {reason}; build it again")


def _counted(entries: IntArray, most: int) -> tuple[IntArray, IntArray]:
    """Returns the distinct entries, ascending, and the number of occurrences of each.

    Args:
        entries: ids.
        most: an upper bound on the ids.
    """
    if len(entries) * 16 < most:  # to sort few is less work than to go through all ids
        return np.unique(entries, return_counts=True)
    counts = np.bincount(entries, minlength=most)
    found = np.flatnonzero(counts)
    return found, counts[found]

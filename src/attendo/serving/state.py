"""The state that survives a restart: a SQLite database in the server's folder, or in memory without one.

One thread works on it, request by request, so that neither the event loop nor two requests ever wait on the file. Each
piece of work is a transaction that is on the disk when it has been answered.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TypeVar

from attendo.errors import AttendoError
from attendo.files import locked
from attendo.serving.errors import busy
from attendo.serving.logs import Log

T = TypeVar("T")

Work = Callable[[sqlite3.Connection], T]
"""Work within a transaction; if it raises, nothing of it is stored."""

_APPLICATION = 0x61747464
"""The `application_id` of our SQLite files: "attd"."""
_VERSION = 1
_TABLES = """
CREATE TABLE glossaries (
    id TEXT PRIMARY KEY, caller TEXT NOT NULL, name TEXT NOT NULL, source TEXT NOT NULL, target TEXT NOT NULL,
    created TEXT NOT NULL, entries TEXT NOT NULL
);
CREATE INDEX glossaries_by_caller ON glossaries (caller);
CREATE TABLE documents (
    id TEXT PRIMARY KEY, key TEXT NOT NULL, caller TEXT NOT NULL, name TEXT NOT NULL, source TEXT NOT NULL,
    target TEXT NOT NULL, characters INTEGER NOT NULL, status TEXT NOT NULL, message TEXT NOT NULL,
    problems TEXT NOT NULL, bytes_kept INTEGER NOT NULL, finished REAL
);
"""
_SUMMARIES = "CREATE TABLE IF NOT EXISTS document_summaries (id TEXT PRIMARY KEY, summary TEXT NOT NULL)"
"""The summaries of documents' units; in a database of an earlier version it is added."""
_CORRECTIONS = """
CREATE TABLE IF NOT EXISTS corrections (
    id INTEGER PRIMARY KEY AUTOINCREMENT, caller TEXT NOT NULL, source_language TEXT NOT NULL,
    target_language TEXT NOT NULL, source TEXT NOT NULL, machine TEXT NOT NULL, target TEXT NOT NULL,
    model TEXT NOT NULL, created TEXT NOT NULL, UNIQUE (caller, source_language, target_language, source)
)
"""
"""Corrections of callers; likewise."""


class State:
    """A server's database.

    Args:
        folder: its folder, created if missing; None keeps everything in memory.
        log: reports failures that no request waits for.

    Raises:
        AttendoError: another server uses the folder, or its database is damaged or not of this program.
        OSError: the folder cannot be written.
    """

    def __init__(self, folder: Path | None = None, log: Log | None = None) -> None:
        self.folder = folder
        """The folder; None in memory."""
        self._log, self._held = log or Log(), ExitStack()
        with ExitStack() as opening:
            if folder is not None:
                _lock(folder, opening)
            self._connection = opening.enter_context(closing(_opened(folder)))
            self._held = opening.pop_all()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="attendo-state")

    def read(self, work: Work[T]) -> T:
        """Does work at once and waits for it: for the start, before anything is served."""
        return self._thread.submit(self._done, work).result()

    async def run(self, work: Work[T]) -> T:
        """Does work and waits for it.

        Raises:
            ServingError: 503, the disk is full or fails; and any error of `work`.
        """
        return await asyncio.wrap_future(self._thread.submit(self._done, work))

    def post(self, work: Work[object]) -> None:
        """Runs work after all work requested before, without waiting; a failure is logged."""

        def logged() -> None:
            try:
                self._done(work)
            except AttendoError as error:
                self._log.error("state-not-written", message=str(error))

        self._thread.submit(logged)

    def close(self) -> None:
        """Finishes the requested work and releases the folder."""
        self._thread.shutdown(wait=True)
        self._held.close()

    def _done(self, work: Work[T]) -> T:
        try:
            with self._connection:
                return work(self._connection)
        except sqlite3.Error as error:
            raise busy(f"the server's state cannot be read or written ({error})", 10.0) from error


def _lock(folder: Path, opening: ExitStack) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        opening.enter_context(locked(folder / ".lock"))
    except BlockingIOError as error:
        raise AttendoError(
            f"{folder}: {error.strerror}; a state folder belongs to one server; give each server its own "
            "server.state_dir"
        ) from error


def _opened(folder: Path | None) -> sqlite3.Connection:
    """The database, checked, with its tables."""
    if folder is None:
        return _prepared(sqlite3.connect(":memory:", check_same_thread=False))
    path = folder / "state.sqlite3"
    try:
        path.touch(mode=0o600)
        connection = sqlite3.connect(path, check_same_thread=False)
        try:
            return _prepared(connection)
        except BaseException:
            connection.close()
            raise
    except (sqlite3.Error, _Unfit) as error:
        raise AttendoError(
            f"{path}: cannot be used as the state of attendo serve ({error}); move it away to begin anew, or name "
            "another server.state_dir"
        ) from error


class _Unfit(Exception):
    """A database of another program, or a damaged one."""


def _prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute("PRAGMA trusted_schema = OFF")  # code in an untrusted file is not run
    application, version = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
    )
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if (application or tables) and application != _APPLICATION:
        raise _Unfit("it belongs to another program")
    if version > _VERSION:
        raise _Unfit("it was written by a newer version of attendo")
    if (problem := connection.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
        raise _Unfit(f"damaged: {problem}")
    # A transaction is on the disk before it is answered; the space of deleted rows is overwritten.
    for setting in ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON"):
        connection.execute(f"PRAGMA {setting}")
    if not tables:
        ours = f"PRAGMA application_id = {_APPLICATION}; PRAGMA user_version = {_VERSION};"
        connection.executescript(f"BEGIN; {_TABLES} {ours} COMMIT;")
    connection.execute(_SUMMARIES)
    connection.execute(_CORRECTIONS)
    return connection

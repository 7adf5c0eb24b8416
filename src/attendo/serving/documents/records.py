"""Documents that outlive a restart: a row with the state of each; the translated ones are files in the same folder."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from attendo.errors import AttendoError
from attendo.serving.documents.document import Document
from attendo.serving.documents.workers import SentFile
from attendo.serving.state import State
from attendo.serving.translating import Caller
from attendo.workflow.documents.settings import DocumentSettings

RESTARTED = "the server was restarted before it was translated; send it again"
_COLUMNS = "id, key, caller, name, source, target, characters, status, message, problems, bytes_kept, finished"


class DocumentRecords:
    """The rows of a server's documents.

    Args:
        state: the database of the records.
        folder: the folder of the translated documents, each named by its id; made if it is missing.
    """

    def __init__(self, state: State, folder: Path) -> None:
        self._state, self.folder = state, folder
        folder.mkdir(mode=0o700, exist_ok=True)

    def put(self, document: Document) -> None:
        """Writes down how a document is now, soon."""
        row = _row(document)
        marks = ", ".join("?" * len(row))
        insert = f"INSERT OR REPLACE INTO documents ({_COLUMNS}) VALUES ({marks})"
        summary = "INSERT OR REPLACE INTO document_summaries VALUES (?, ?)"
        summary_json = json.dumps(document.summary)
        self._state.post(lambda rows: (rows.execute(insert, row), rows.execute(summary, (document.id, summary_json))))

    def drop(self, id_: str) -> None:
        """Forgets a document, soon."""
        delete = "DELETE FROM {} WHERE id = ?"
        tables = ("documents", "document_summaries")
        self._state.post(lambda rows: [rows.execute(delete.format(table), (id_,)) for table in tables])

    def load(self) -> list[Document]:
        """Loads the documents of the last run at the start.

        An unfinished document becomes an error: its file no longer exists. Rows whose document is missing and files
        without a row are removed.

        Raises:
            AttendoError: a row cannot be read.
        """
        select = f"SELECT {_COLUMNS}, summary FROM documents LEFT JOIN document_summaries USING (id)"
        found = self._state.read(lambda rows: rows.execute(select).fetchall())
        try:
            documents = list(self._documents(found))
        except (ValueError, TypeError) as error:
            raise AttendoError(
                f"{self._state.folder}: a document of the state cannot be read ({error}); move the folder away to "
                "begin anew"
            ) from error
        kept = {document.id: document for document in documents}
        for row in found:
            if row[0] not in kept:
                self.drop(row[0])
        results = {path for document in documents if document.status == "done" for path in document.result_paths}
        for path in set(self.folder.iterdir()) - results:
            with suppress(OSError):
                path.unlink()
        return documents

    def _documents(self, rows: list[tuple[Any, ...]]) -> Iterator[Document]:
        for row in rows:
            document = _document(row, self.folder)
            if document.status != "done" or document.path.is_file():
                yield document


def _row(document: Document) -> tuple[object, ...]:
    finished = None
    if document.finished_at is not None:  # in the time of a clock that restarts with the machine
        finished = time.time() - (time.monotonic() - document.finished_at)
    return (
        document.id,
        document.key,
        document.caller.name,
        document.name,
        document.source,
        document.target,
        document.characters,
        document.status,
        document.message,
        json.dumps(document.problems),
        document.bytes_kept,
        finished,
    )


def _document(row: tuple[Any, ...], folder: Path) -> Document:
    id_, key, caller, name, source, target, characters, status, message, problems, bytes_kept, finished, summary = row
    if not re.fullmatch("[0-9a-f]{32}", id_):  # it is the name of a file
        raise ValueError(f"its id is {id_!r:.40}")
    now = time.monotonic()
    age = 0.0 if finished is None else max(0.0, time.time() - float(finished))
    is_over = status in ("done", "error")
    return Document(
        id=id_,
        key=key,
        name=name,
        caller=Caller(name=caller),
        source=source,
        target=target,
        glossary=None,
        characters=int(characters),
        arrived=now - age,
        status="done" if status == "done" else "error",
        message=message if is_over else RESTARTED,
        problems=[str(problem) for problem in json.loads(problems)],
        summary=json.loads(summary or "null"),
        bytes_kept=int(bytes_kept) if status == "done" else 0,
        finished_at=now - age,
        path=folder / id_,
        sent=SentFile(path=folder / f"{id_}.source", name=name, settings=DocumentSettings()),
    )

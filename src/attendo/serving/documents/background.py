"""Documents translated in the background: accepted, read, translated a few at a time, kept until fetched.

The contents of documents are in a folder of the server, under names that it has generated; a caller's file name is
never a path. Anyone who knows a document's id, which cannot be guessed, can fetch it.
"""

import asyncio
import os
import secrets
import shutil
import tempfile
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, TypeVar

from attendo.errors import AttendoError
from attendo.files import flush_to_disk
from attendo.formats.file import Unit
from attendo.markup.text_types import no_corrections
from attendo.markup.units.translation import UnitTranslation
from attendo.serving.config import DocumentsConfig
from attendo.serving.core.cost import estimated_tokens
from attendo.serving.core.text_loop import TextLoop
from attendo.serving.corrections import Corrections
from attendo.serving.documents.document import Document, safe_name
from attendo.serving.documents.options import format_for
from attendo.serving.documents.patience import CANDIDATES, patient
from attendo.serving.documents.records import DocumentRecords
from attendo.serving.documents.translation import translate_units
from attendo.serving.documents.units import num_characters, texts_of
from attendo.serving.documents.workers import AT_A_TIME, DocumentWorkers, ReadDocument, SentFile, StoredFile
from attendo.serving.errors import busy, too_large, too_many_requests, unknown_pair
from attendo.serving.http.parameters import Upload
from attendo.serving.languages.detection import Detector
from attendo.serving.languages.names import name_of, served_code, sources
from attendo.serving.translating import Caller, Pair, Translating
from attendo.terms.glossary import Glossary
from attendo.workflow.documents.settings import DocumentSettings

T = TypeVar("T")


Admit = Callable[[str], object]
"""Counts a document's text in, or raises a ServingError."""


class Documents:
    """The documents of a server.

    Args:
        translating: the models.
        detector: detects the language of a document.
        config: the limits.
        helpers: the threads for file operations.
        texts: the thread in which texts are cut into sentences and put together.
        folder: the folder for documents; None for a new temporary one.
        workers: read and write documents, closed by the caller; None for its own workers.
        records: the records that outlive a restart, with their own folder; None for no such records.
        corrections: the callers' corrections, which replace the models' translations; None for none.

    Raises:
        AttendoError: the records cannot be read.
    """

    def __init__(
        self,
        translating: Translating,
        detector: Detector,
        config: DocumentsConfig,
        helpers: Executor,
        texts: TextLoop,
        *,
        folder: Path | None = None,
        workers: DocumentWorkers | None = None,
        records: DocumentRecords | None = None,
        corrections: Corrections | None = None,
    ) -> None:
        self._translating, self._detector, self._config = translating, detector, config
        self._helpers, self._texts = helpers, texts
        self._corrections = corrections
        self._records, folder = records, folder if records is None else records.folder
        self._folder = Path(tempfile.mkdtemp(prefix="attendo-documents-")) if folder is None else folder
        kept = [] if records is None else records.load()
        self._documents = OrderedDict((document.id, document) for document in kept)
        self._turn = asyncio.Semaphore(AT_A_TIME)
        self._reserved: dict[str, int] = {}
        self._workers, self._own_workers = workers or DocumentWorkers(config), workers is None

    async def accept(
        self,
        content: BinaryIO,
        name: str,
        caller: Caller,
        admit: Admit,
        *,
        source: str | None,
        target: str,
        glossary: Glossary | None = None,
        settings: DocumentSettings | None = None,
        template: Upload | None = None,
    ) -> Document:
        """Accepts a document and starts it when its turn comes.

        Args:
            content: the content of the file, which is copied.
            name: the name of the file.
            caller: the caller who sends it.
            admit: called with its text before anything is translated.
            source: the code of a served language; None to use the document's declaration, or to detect it.
            target: the code of a served language.
            glossary: the glossary to use.
            settings: the settings for reading and writing, with the target language for files if that differs.
            template: the file with the sources, if the document is its translation.

        Raises:
            ServingError: 400 for an unsupported document, 413 for too large a one, 429 and 503 for too many; and any
                error of `admit`.
        """
        self.tidy()
        size, id_ = _size(content) + (_size(template.content) if template else 0), secrets.token_hex(16)
        settings = settings or DocumentSettings()
        settings = replace(settings, target=settings.target or target, format=format_for(name, settings.format))
        self._check_room(caller, size)
        file = self._sent_file(id_, name, settings, template)
        with self._reserving(caller), _removed_on_error(*file.paths):
            await self._in_thread(_copied, content, file.path)
            if template is not None and file.template is not None:
                await self._in_thread(_copied, template.content, file.template.path)
            read = await self._read(file, source, target)
            pair = self._pair(read.source, target)
            text = _text(read.units)
            self._check_cost(await self._in_thread(estimated_tokens, text))
            admit(text)
            notes = await self._in_thread(self._detector.notes, text, target)
        document = Document(
            id=id_,
            key=secrets.token_hex(32),
            name=file.name,
            caller=caller,
            source=read.source,
            target=read.target,
            sent=file,
            glossary=glossary,
            characters=num_characters(read.units),
            arrived=time.monotonic(),
            bytes_kept=2 * size,
            path=self._folder / id_,
            problems=list(notes),
        )
        self._documents[id_] = document
        self._record(document)
        document.task = asyncio.create_task(self._work(document, read, pair))
        return document

    async def warm(self) -> None:
        """Prepares for the first document, and schedules the removal of documents that an earlier server has kept."""
        for document in self._documents.values():
            self._forget_later(document)
        await asyncio.to_thread(self._workers.warm)

    def find(self, id_: str, key: str | None = None) -> Document | None:
        """Returns a document by its id, and by its key if one is given."""
        self.tidy()
        document = self._documents.get(id_)
        if document is None or (key is not None and not secrets.compare_digest(document.key.encode(), key.encode())):
            return None
        return document

    async def finished(self, document: Document) -> None:
        """Waits until a document is done or abandoned; a cancelled wait removes it."""
        assert document.task is not None
        try:
            await asyncio.shield(document.task)
        except asyncio.CancelledError:
            self.remove(document)
            raise

    def remove(self, document: Document) -> None:
        """Forgets a document, and stops translating it."""
        if self._documents.pop(document.id, None) is not None and self._records is not None:
            self._records.drop(document.id)
        if document.task is not None and not document.task.done():
            document.task.cancel()
        for path in (*document.result_paths, *document.sent.paths):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def tidy(self) -> None:
        """Forgets documents that were done long ago."""
        oldest = time.monotonic() - self._config.keep_seconds
        for document in list(self._documents.values()):
            if document.finished_at is not None and document.finished_at <= oldest:
                self.remove(document)

    @property
    def waiting(self) -> int:
        """The number of unfinished documents."""
        return sum(each.finished_at is None for each in self._documents.values())

    async def close(self, *, wait_s: float = 0.0) -> None:
        """Waits a while for accepted documents and stops the rest; removes all files that no records keep."""
        tasks = [each.task for each in self._documents.values() if each.task is not None and not each.task.done()]
        if tasks and wait_s > 0:
            await asyncio.wait(tasks, timeout=wait_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._own_workers:
            await asyncio.to_thread(self._workers.close)
        if self._records is None:
            self._documents.clear()
            shutil.rmtree(self._folder, ignore_errors=True)

    def _sent_file(self, id_: str, name: str, settings: DocumentSettings, template: Upload | None) -> SentFile:
        """Returns the paths for a document and its template."""
        beside = None
        if template is not None:
            beside = StoredFile(path=self._folder / f"{id_}.template", name=safe_name(template.name))
        path = self._folder / f"{id_}.source"
        return SentFile(path=path, name=safe_name(name), settings=settings, template=beside)

    # --- taking -------------------------------------------------------------------------------------------------------

    def _check_room(self, caller: Caller, size: int) -> None:
        config = self._config
        if size > config.max_bytes:
            raise too_large(f"the document has {size:,} bytes; at most {config.max_bytes:,}")
        waiting = [each for each in self._documents.values() if each.finished_at is None]
        mine = sum(each.caller.name == caller.name for each in waiting) + self._reserved.get(caller.name, 0)
        if mine >= config.max_waiting_a_caller:
            raise too_many_requests(f"more than {config.max_waiting_a_caller} documents at a time", 10.0)
        if len(waiting) + sum(self._reserved.values()) >= config.max_waiting:
            raise busy(f"more than {config.max_waiting} documents are waiting", 30.0)
        if sum(each.bytes_kept for each in self._documents.values()) + 2 * size > config.max_kept_bytes:
            raise busy("no room for more documents; finished ones are deleted after a while", 60.0)

    def _check_cost(self, tokens: int) -> None:
        if tokens > self._config.max_tokens:
            raise too_large(
                f"the document would take about {tokens:,} tokens to translate; at most {self._config.max_tokens:,} "
                "(documents.max_tokens); send it in parts, without data that is no text"
            )

    @contextmanager
    def _reserving(self, caller: Caller) -> Iterator[None]:
        """Counts a document among those of its caller while it is being read."""
        self._reserved[caller.name] = self._reserved.get(caller.name, 0) + 1
        try:
            yield
        finally:
            self._reserved[caller.name] -= 1
            if not self._reserved[caller.name]:
                del self._reserved[caller.name]

    async def _read(self, file: SentFile, source: str | None, target: str) -> ReadDocument:
        """Reads a document."""

        def language(said: str | None, sample: str) -> str:
            code = served_code(said, sources(self._translating.pairs())) if said else None
            return source or code or self._detector.served_language(_characters(sample))

        # Tables may name their columns by languages: any language is tried first, then each source language.
        possible = [pair.source for pair in self._translating.pairs() if pair.target == target]
        return await self._workers.read(file, ["", *dict.fromkeys(possible)] if source is None else [source], language)

    def _pair(self, source: str, target: str) -> Pair:
        for pair in self._translating.pairs():
            if (pair.source, pair.target) == (source, target):
                return pair
        raise unknown_pair(f"no model translates from {name_of(source)} into {name_of(target)}")

    # --- translating --------------------------------------------------------------------------------------------------

    async def _work(self, document: Document, read: ReadDocument, pair: Pair) -> None:
        drafts = {Path(f"{path}.draft"): path for path in document.result_paths}
        try:
            async with self._turn:
                document.status, document.started_at = "translating", time.monotonic()
                translations = await self._translated(document, read, pair)
                draft, report_draft = drafts
                written = await self._workers.write(
                    document.sent, read.source, translations, to=draft, report=report_draft
                )
                document.bytes_kept = await self._in_thread(_put_in_place, drafts)
                document.problems += written.problems
                document.summary = written.summary
                document.message = _message(document)
                document.status = "done"
        except asyncio.CancelledError:
            document.status, document.message = "error", "it was stopped before it was translated; send it again"
            raise
        except AttendoError as error:
            document.status, document.message = "error", str(error)
        except Exception as error:
            # Any other failure of a document is reported without its text, and the server continues.
            document.status, document.message = "error", f"it could not be translated ({type(error).__name__})"
        finally:
            document.finished_at = time.monotonic()
            with suppress(OSError):
                for path in document.sent.paths:
                    path.unlink(missing_ok=True)
                if document.status == "error":
                    document.bytes_kept = 0
                    for path in (*document.result_paths, *drafts):
                        path.unlink(missing_ok=True)
            self._record(document)
            self._forget_later(document)

    def _forget_later(self, document: Document) -> None:
        """Removes a document when its time is over."""
        if document.finished_at is not None:
            over_in = document.finished_at + self._config.keep_seconds - time.monotonic()
            # A little later, as the two clocks may differ by their resolution.
            asyncio.get_running_loop().call_later(max(0.0, over_in) + 0.01, self.tidy)

    async def _translated(self, document: Document, read: ReadDocument, pair: Pair) -> dict[str, UnitTranslation]:
        def progress(characters: int) -> None:
            document.done = characters

        return await translate_units(
            read,
            patient(self._translating, pair, document.caller),
            self._texts,
            confidence=self._translating.confidence(pair.model),
            candidates=patient(self._translating, pair, document.caller, CANDIDATES),
            glossary=document.glossary,
            corrections=self._corrections.answering(document.caller, pair) if self._corrections else no_corrections,
            progress=progress,
        )

    def _record(self, document: Document) -> None:
        """Records the state of a document, unless it was removed meanwhile."""
        if self._records is not None and document.id in self._documents:
            self._records.put(document)

    async def _in_thread(self, work: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._helpers, work, *arguments)


@contextmanager
def _removed_on_error(*paths: Path) -> Iterator[None]:
    """Removes files where the block raises."""
    try:
        yield
    except BaseException:
        for path in paths:
            path.unlink(missing_ok=True)
        raise


def _size(content: BinaryIO) -> int:
    return content.seek(0, os.SEEK_END)


def _copied(content: BinaryIO, path: Path) -> None:
    content.seek(0)
    path.touch(mode=0o600)
    with path.open("wb") as out:
        shutil.copyfileobj(content, out)


def _put_in_place(drafts: Mapping[Path, Path]) -> int:
    """Gives files their names once they are completely on disk; returns their size in bytes."""
    for draft in drafts:
        flush_to_disk(draft)
    return sum(draft.rename(path).stat().st_size for draft, path in drafts.items())


def _text(units: Sequence[Unit]) -> str:
    """Returns the text of units that is translated, one text per line."""
    return _characters("\n".join(text for unit in units for text in texts_of(unit)))


def _characters(text: str) -> str:
    """A text without halves of surrogate pairs, which JSON files may have."""
    return text.encode("utf-8", errors="replace").decode("utf-8")


def _message(document: Document) -> str:
    """Returns the message of a finished document: under `check=error`, the number of translations that fail a check."""
    failed = document.summary["failed"] if document.summary else 0
    if document.sent.settings.check != "error" or not failed:
        return ""
    return f"checks fail: {failed:,} of its messages, see its report"

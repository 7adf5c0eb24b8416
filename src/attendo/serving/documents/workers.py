"""Reads and writes documents in separate processes, which have limits and whose memory is freed.

This is the one place where the time, the memory and the size of reading a document are bounded, for all formats: a
process that takes too much is ended, and the document refused. One process is kept warm; one that has grown or failed
is replaced.
"""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from attendo.formats.file import Unit
from attendo.markup.units.translation import UnitTranslation
from attendo.serving.config import DocumentsConfig
from attendo.serving.documents.process import ProcessLimits
from attendo.serving.documents.units import unit_of
from attendo.serving.errors import bad_request, too_large
from attendo.workflow.documents.settings import DocumentSettings
from attendo.workflow.documents.writing import translation_json

AT_A_TIME = 2
"""Documents that are read or written at the same time."""
_KEEP_BYTES = 160 << 20
"""Maximum memory of an idle process; larger ones are replaced."""
_ANSWER_BYTES = 64 << 20
"""Maximum size of an answer: texts with their inline codes; `documents.max_characters` is far below."""
_FILE_TIMES, _FILE_BYTES = 8, 16 << 20
"""A translated document may have this many times the bytes of the largest accepted one, plus this many bytes."""
_START_S = 20.0
"""Seconds that a process may take to start on a busy machine."""

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class StoredFile:
    """A file that was sent with a document."""

    path: Path
    """The path of the stored file."""
    name: str
    """The sender's name for the file, for messages."""


@dataclass(frozen=True, kw_only=True)
class SentFile:
    """A file as sent."""

    path: Path
    """Path of the file."""
    name: str
    """The sender's name for it, for messages."""
    settings: DocumentSettings
    """Settings of the translation, with format and target language and without a template."""
    template: StoredFile | None = None
    """The file with the sources, if this one is its translation."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """Paths of the file and of its template."""
        return (self.path,) if self.template is None else (self.path, self.template.path)

    def request(self, sources: Sequence[str]) -> dict[str, Any]:
        """Returns the request that opens it in the process."""
        settings = {name: value for name, value in asdict(self.settings).items() if name != "template"}
        template = None if self.template is None else {"path": str(self.template.path), "name": self.template.name}
        return {
            "do": "open",
            "file": {"path": str(self.path), "name": self.name},
            "template": template,
            "settings": settings,
            "sources": list(sources),
        }


@dataclass(frozen=True, kw_only=True)
class ReadDocument:
    """The translatable content of a file."""

    units: tuple[Unit, ...]
    """Units to translate, without their spans."""
    source: str
    """The language that they are translated from."""
    target: str
    """The language of the translation, with its region where the file or the sender names one."""


@dataclass(frozen=True, kw_only=True)
class WrittenDocument:
    """The result for a file."""

    summary: dict[str, Any]
    """The result of `summary.summary_of`."""
    problems: list[str]
    """Problems found in its translations."""


class DocumentWorkers:
    """Reads and writes documents.

    Args:
        config: the limits.
    """

    def __init__(self, config: DocumentsConfig) -> None:
        self._config = config
        limits = ProcessLimits(
            memory_bytes=config.reading_memory_mb << 20,
            seconds=config.reading_seconds,
            file_bytes=_FILE_TIMES * config.max_bytes + _FILE_BYTES,
        )
        self._limits = json.dumps(asdict(limits))
        self._threads = ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="attendo-documents")
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._active: set[_Process] = set()
        self._closed = False

    def warm(self) -> None:
        """Starts a process in advance, so that the first document does not wait for it."""
        with self._lock:
            if not self._idle and not self._closed:
                self._idle.append(_Process(self._limits))

    async def read(
        self, file: SentFile, sources: Sequence[str], choose: Callable[[str | None, str], str]
    ) -> ReadDocument:
        """Reads a document.

        Args:
            file: the document.
            sources: the languages to read it in; the first in which it can be read is used; "" stands for any.
            choose: returns the source language, given the document's declared language and some of its text; called in
                another thread.

        Raises:
            ServingError: 400 for an invalid document, 413 for one that takes too much; and any error of `choose`.
        """

        def work(process: "_Process") -> ReadDocument:
            opened = self._ask(process, **file.request(sources))
            source = choose(opened["language"] or None, opened["sample"])
            if source != opened["source"]:
                self._ask(process, **file.request([source]))
            most = self._config.max_characters
            found = self._ask(process, do="units", max_characters=most)
            if found["units"] is None:
                raise too_large(f"the document has {found['characters']:,} characters to translate; at most {most:,}")
            return ReadDocument(units=tuple(map(unit_of, found["units"])), source=source, target=found["target"])

        return await self._done(work)

    async def write(
        self, file: SentFile, source: str, translations: Mapping[str, UnitTranslation], *, to: Path, report: Path
    ) -> WrittenDocument:
        """Writes a document with translations in it, and the report on its units.

        Args:
            file: the document that was read.
            source: the language that was translated from.
            translations: the translations by the ids of its units.
            to: the path of the translated document.
            report: the path of the report.

        Raises:
            ServingError: the translations cannot be written, or doing so takes too much.
        """

        def work(process: "_Process") -> WrittenDocument:
            self._ask(process, **file.request([source]))
            units = [translation_json(name, found) for name, found in translations.items()]
            written = self._ask(process, do="write", translations=units, path=str(to), report=str(report))
            return WrittenDocument(**written)

        return await self._done(work)

    @property
    def busy(self) -> int:
        """Processes that read or write a document at the moment."""
        return len(self._active)

    def close(self) -> None:
        """Ends all processes."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for process in list(self._active):
            process.kill()
        for process in idle:
            process.end()
        self._threads.shutdown(wait=True)

    def _ask(self, process: "_Process", **request: Any) -> dict[str, Any]:
        """Sends a request to a process.

        Raises:
            ServingError: the document cannot be read, or takes too much.
        """
        config = self._config
        # Beside others it has half a core at least.
        answer = process.ask(request, _START_S + 2 * config.reading_seconds)
        if answer is None:
            raise too_large(
                f"the document takes more than {config.reading_seconds:g} s or {config.reading_memory_mb:,} MiB "
                "to read or write; divide it"
            )
        if (error := answer.get("error")) is None:
            result: dict[str, Any] = answer["result"]
            return result
        if error["kind"] == "memory":
            raise too_large(
                f"the document takes more than {config.reading_memory_mb:,} MiB to read or write; divide it"
            )
        if error["kind"] == "size":
            raise too_large("the document has too much markup within its texts; divide it")
        message = error["message"]
        raise bad_request(message if error["kind"] == "data" else f"the document cannot be read or written ({message})")

    async def _done(self, work: Callable[["_Process"], T]) -> T:
        """Works with a process, in a thread; cancelling the caller ends the process."""
        held: list[_Process] = []
        job = self._threads.submit(self._with_process, work, held)
        try:
            return await asyncio.wrap_future(job)
        except asyncio.CancelledError:
            if not job.cancel():
                for process in held:
                    process.kill()
            raise

    def _with_process(self, work: Callable[["_Process"], T], held: list["_Process"]) -> T:
        process = self._take()
        held.append(process)
        self._active.add(process)
        try:
            return work(process)
        finally:
            self._active.discard(process)
            self._give_back(process)

    def _take(self) -> "_Process":
        """Takes an idle process that is still alive, or a new one."""
        while True:
            with self._lock:
                process = self._idle.pop() if self._idle else None
            if process is None:
                return _Process(self._limits)
            # A process being killed counts as alive for a moment: only an answer shows that it is there.
            if process.is_alive and process.ask({"do": "close"}, _START_S) is not None:
                return process
            process.end()

    def _give_back(self, process: "_Process") -> None:
        """Keeps a process for the next document, or replaces it by one that starts meanwhile."""
        answer = process.ask({"do": "close"}, _START_S)
        is_small = answer is not None and 0 < answer.get("result", {}).get("resident_bytes", 0) <= _KEEP_BYTES
        with self._lock:
            if is_small and not self._idle and not self._closed:
                self._idle.append(process)
                return
        process.end()
        self.warm()


class _Process:
    """A process of `attendo.serving.documents.process`.

    Args:
        limits: the limits as JSON.
    """

    def __init__(self, limits: str) -> None:
        # A session of its own: Ctrl-C in a terminal is for the server, which finishes what it has.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "attendo.serving.documents.process", limits],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any] | None:
        """Sends a request, and waits for the answer; None if the process has ended, or takes too long and is killed.

        Args:
            request: the request, in JSON's types.
            seconds: maximum number of seconds to wait.
        """
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        timer = threading.Timer(seconds, self._process.kill)
        timer.start()
        try:
            stdin.write(json.dumps(request).encode() + b"\n")
            stdin.flush()
            line = stdout.readline(_ANSWER_BYTES)
            if line.endswith(b"\n"):
                found: dict[str, Any] = json.loads(line)
                return found
            if len(line) == _ANSWER_BYTES:
                self._process.kill()
                return {"error": {"kind": "size", "message": ""}}
        except (OSError, ValueError):  # it has ended
            pass
        finally:
            timer.cancel()
        self._process.kill()
        return None

    @property
    def is_alive(self) -> bool:
        """Whether the process is still running."""
        return self._process.poll() is None

    def kill(self) -> None:
        """Ends it at once."""
        self._process.kill()

    def end(self) -> None:
        """Ends it, and waits for that."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(OSError):
                stream.close()
        self._process.wait()

"""Documents are read and written in processes of their own, which have limits and whose memory comes back.

This is the one place where the time, the memory and the size of reading a document are bounded, for all formats: a
process that takes too much is ended, and the document refused. One process is kept warm; one that has grown or failed
is replaced.
"""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from attendo.serving.config import DocumentsConfig
from attendo.serving.document_process import ProcessLimits
from attendo.serving.errors import bad_request, too_large
from attendo.serving.formats.document import Languages, TranslatedUnit, Unit

AT_A_TIME = 2
"""Documents that are read or written at the same time."""
_KEEP_BYTES = 160 << 20
"""Of memory that an idle process may have; one that has more is replaced."""
_ANSWER_BYTES = 128 << 20
"""Of an answer; texts of `documents.max_characters` are far below."""
_FILE_TIMES, _FILE_BYTES = 8, 16 << 20
"""A translated document may have that many times the bytes of the largest one that is taken, and so many more."""
_START_S = 20.0
"""For which a process may take to start, on a busy machine."""
_UNITS = TypeAdapter(list[Unit])

T = TypeVar("T")


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
        self, path: Path, suffix: str, choose: Callable[[str | None, str], Languages]
    ) -> tuple[list[Unit], Languages]:
        """Reads a document.

        Args:
            path: of the document.
            suffix: of its format, one of `READERS`.
            choose: the languages, by the one that the document says it is in and by some of its text; called in another
                thread.

        Returns:
            What is to be translated, and the languages.

        Raises:
            ServingError: 400 for what is no such document, 413 for what takes too much.
        """

        def work(process: "_Process") -> tuple[list[Unit], Languages]:
            opened = self._ask(process, do="open", path=str(path), suffix=suffix)
            languages = choose(opened["language"], opened["sample"])
            most = self._config.max_characters
            found = self._ask(process, do="units", **asdict(languages), max_characters=most)
            if found["units"] is None:
                raise too_large(f"the document has {found['characters']:,} characters to translate; at most {most:,}")
            return _UNITS.validate_python(found["units"]), languages

        return await self._done(work)

    async def write(
        self, path: Path, suffix: str, translations: Sequence[TranslatedUnit], languages: Languages, to: Path
    ) -> None:
        """Writes a document with translations in it.

        Args:
            path: of the document that was read.
            suffix: of its format.
            translations: one for each of its units.
            languages: as they were chosen.
            to: the file that is written.

        Raises:
            ServingError: the translations cannot be written, or doing so takes too much.
        """
        told = [asdict(each) for each in translations]

        def work(process: "_Process") -> None:
            self._ask(process, do="open", path=str(path), suffix=suffix)
            self._ask(process, do="write", **asdict(languages), translations=told, path=str(to))

        await self._done(work)

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
        """Has a process do something.

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
        told = error["message"]
        raise bad_request(told if error["kind"] == "data" else f"the document cannot be read or written ({told})")

    async def _done(self, work: Callable[["_Process"], T]) -> T:
        """Has work done with a process, in a thread; whoever is cancelled meanwhile ends the process."""
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
        """An idle process that is still there, or a new one."""
        while True:
            with self._lock:
                process = self._idle.pop() if self._idle else None
            if process is None:
                return _Process(self._limits)
            # One that is being killed counts as alive for a moment: only an answer shows that it is there.
            if process.is_alive and process.ask({"do": "close"}, _START_S) is not None:
                return process
            process.end()

    def _give_back(self, process: "_Process") -> None:
        """Keeps a process for the next document, or one that starts meanwhile in its place."""
        answer = process.ask({"do": "close"}, _START_S)
        is_small = answer is not None and 0 < answer.get("result", {}).get("resident_bytes", 0) <= _KEEP_BYTES
        with self._lock:
            if is_small and not self._idle and not self._closed:
                self._idle.append(process)
                return
        process.end()
        self.warm()


class _Process:
    """A process of `attendo.serving.document_process`.

    Args:
        limits: as JSON.
    """

    def __init__(self, limits: str) -> None:
        # A session of its own: Ctrl-C in a terminal is for the server, which finishes what it has.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "attendo.serving.document_process", limits],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any] | None:
        """Asks, and waits for the answer; None where the process has ended, or takes too long and is ended.

        Args:
            request: in JSON's types.
            seconds: to wait.
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
        except (OSError, ValueError):  # it has ended
            pass
        finally:
            timer.cancel()
        self._process.kill()
        return None

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
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

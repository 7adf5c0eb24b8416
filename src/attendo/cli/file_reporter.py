"""The progress of translating a file, on standard error."""

import time
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from attendo.cli.progress import JobProgress, note, notes


class FileReporter:
    """A context manager that reports the progress of translating a file on standard error.

    Args:
        quiet: show no progress; messages are shown regardless.
        unit: the unit of the count: `lines`, or `messages`.
    """

    def __init__(self, *, quiet: bool, unit: str = "lines") -> None:
        self._quiet, self._unit = quiet, unit
        self._stack = ExitStack()
        self._progress: JobProgress | None = None
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds since the first line was translated, or since the start."""
        return time.monotonic() - self._started

    def message(self, text: str) -> None:
        """Prints a line."""
        if self._progress is None:
            note(text)
        else:
            self._progress.say(text)

    def started(self, done: int, total: int) -> None:
        """Begins to show how far it is."""
        if done:
            notes(quiet=self._quiet)(f"going on: {done:,} of {total:,} {self._unit} are there already")
        self._started = time.monotonic()
        self._progress = self._stack.enter_context(
            JobProgress("translating", self._unit, total, first=done, quiet=self._quiet)
        )
        self._progress.update(done)

    def translated(self, done: int) -> None:
        """Shows how far it is."""
        if self._progress is not None:
            self._progress.update(done)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.close()

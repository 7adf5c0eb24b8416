"""The progress of a long job, on standard error: a bar on a terminal, otherwise a plain line now and then."""

import math
import os
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from attendo.cli.pace import Pace

if TYPE_CHECKING:
    from rich.progress import Progress


class JobProgress:
    """A context manager around a job whose parts can be counted.

    Args:
        label: the activity, such as `translating`.
        unit: the counted unit, such as `lines`.
        total: the number of items, if known.
        first: the number of items finished before the job began, as in a resumed run.
        stream: where to write; standard error by default.
        every_s: seconds between plain lines.
        quiet: show neither bar nor lines, where the result itself appears on the same terminal.
    """

    def __init__(
        self,
        label: str,
        unit: str,
        total: float | None = None,
        *,
        first: float = 0.0,
        stream: TextIO | None = None,
        every_s: float = 10.0,
        quiet: bool = False,
    ) -> None:
        self.label, self._unit, self.total = label, unit, total
        self._stream = stream or sys.stderr
        self._every_s = math.inf if quiet else every_s
        self._started = self._reported_s = time.monotonic()
        self._pace = Pace(self._started, first)
        self.done = first
        """Number of finished items."""
        self._bar: Progress | None = None
        if self._stream.isatty() and not quiet:
            from rich import progress  # only a terminal shows a bar
            from rich.console import Console

            console = Console(file=self._stream)
            columns = (
                progress.TextColumn("{task.description}"),
                progress.BarColumn(),
                progress.TextColumn("{task.fields[figures]}"),
            )
            self._bar = progress.Progress(*columns, console=console, transient=True)
            self._task = self._bar.add_task(label, total=total, figures="")

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def update(self, done: float, *, label: str | None = None, total: float | None = None, note: str = "") -> None:
        """Updates the number of finished items; cheap enough to call for every item.

        Args:
            done: number of finished items out of `total`.
            label: the new activity, if it has changed; the rate then starts over.
            total: number of items in the new stage.
            note: further figures to show.
        """
        if label is not None and label != self.label:
            self.label, self._started = label, time.monotonic()
            self._pace = Pace(self._started)
        if total is not None:
            self.total = total
        self.done = done
        self._pace.update(time.monotonic(), done)
        if self._bar is not None:
            self._bar.update(
                self._task, description=self.label, completed=done, total=self.total, figures=self.figures(note)
            )
        elif time.monotonic() - self._reported_s >= self._every_s:
            self._reported_s = time.monotonic()
            print(f"{self.label}: {self.figures(note)}", file=self._stream, flush=True)

    def say(self, text: str) -> None:
        """A line that stays, above the bar."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            print(text, file=self._stream, flush=True)

    def figures(self, note: str = "") -> str:
        """The count and, once the last minutes tell, the rate and the time left, in a line."""
        parts = [f"{self.done:,.0f}{f' of {self.total:,.0f}' if self.total else ''} {self._unit}"]
        rate = self._pace.rate
        if rate is not None:
            parts.append(f"{rate:,.{0 if rate >= 10 else 1}f}/s")
        if self.total and rate and self.done <= self.total:
            parts.append(f"{clock((self.total - self.done) / rate)} left")
        return ", ".join([*parts, note] if note else parts)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def clock(seconds: float) -> str:
    """Seconds as `1:02:03` or `2:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def counted(number: int, noun: str) -> str:
    """A number with its noun, such as `1 line` or `2,000 lines`.

    Args:
        number: the count.
        noun: the singular; an s makes the plural.
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def done_in(verb: str, number: int, noun: str, waited_s: float, work_s: float, work: str) -> str:
    """A summary of finished work: the count, the time the user waited, and the speed of the work itself.

    Args:
        verb: the activity in the past, such as `translated`.
        number: the number of finished items.
        noun: the singular of the counted items.
        waited_s: seconds since the command began, including loading the model.
        work_s: seconds spent on the work itself.
        work: the work, such as `translating`.
    """
    rate = number / max(work_s, 1e-9)
    spent = f"{work_s:,.{1 if work_s >= 1 else 2}f} s of it {work}, {rate:,.{0 if rate >= 10 else 1}f} {noun}s/s"
    return f"{verb} {counted(number, noun)} in {waited_s:,.1f} s ({spent})"


def note(text: str) -> None:
    """A line for the user on standard error."""
    print(text, file=sys.stderr, flush=True)


def notes(*, quiet: bool) -> Callable[[str], None]:
    """Returns `note`, or for a quiet command a function that prints nothing."""
    return _say_nothing if quiet else note


def _say_nothing(text: str) -> None:
    pass


def note_at_signal(text: str) -> None:
    """Prints a line from a signal handler: bypasses the stream, since the signal may interrupt a write to it."""
    os.write(2, f"{text}\n".encode())

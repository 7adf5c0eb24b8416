"""The handling of SIGINT and SIGTERM in commands."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Self

from attendo.cli.progress import note_at_signal


class EndSignal:
    """A handler that ends the command through every `finally`, so that no half-written file stays.

    The exception can be lost while modules are imported: C code there clears or replaces errors it did not expect. So
    the number is kept, and callers check it where they begin and end.

    Attributes:
        number: the received signal, or None.
    """

    def __init__(self) -> None:
        self.number: int | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Raises `KeyboardInterrupt`, or `SystemExit` with the status of a process that a signal ended."""
        self.number = number
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)


@contextmanager
def ending_at_signals() -> Iterator[EndSignal]:
    """Ends the enclosed code on SIGTERM, and on SIGINT unless the caller has installed another handler for it."""
    handler = EndSignal()
    with suppress(ValueError):  # not the main thread: the caller there has its own way to stop
        signal.signal(signal.SIGTERM, handler)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, handler)
    try:
        yield handler
    finally:
        if signal.getsignal(signal.SIGINT) is handler:
            signal.signal(signal.SIGINT, signal.default_int_handler)


class StopSignal:
    """A context manager in which the first SIGINT or SIGTERM requests a stop between updates; a second stops at once.

    Args:
        announces: whether to inform the user; only one of several processes does.

    Attributes:
        number: the received signal, or None.
    """

    def __init__(self, *, announces: bool = True) -> None:
        self.number: int | None = None
        self._announces = announces
        self._previous: dict[int, object] = {}

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.number = number
        if self._announces:
            note_at_signal("stopping behind this step and saving; a second signal ends at once")
        for other, handler in self._previous.items():
            signal.signal(other, handler)  # type: ignore[arg-type]  # as signal.signal gave it

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            handler = signal.signal(number, self._ask)
            self._previous[number] = handler
            if isinstance(handler, EndSignal) and handler.number is not None:
                self.number = handler.number
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # as signal.signal gave it

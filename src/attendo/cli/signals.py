"""What SIGINT and SIGTERM do to a command."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType, TracebackType
from typing import Self

from attendo.cli.progress import note_at_signal


class EndSignal:
    """A handler that ends the command through every `finally`, so that no half-written file stays.

    What it raises can be lost while modules are imported: there, C code clears errors that it did not expect, or makes
    others of them. So the number is kept, for those who look at it where they begin and where they end.

    Attributes:
        number: the signal that came, or None.
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
    """SIGTERM, and SIGINT unless whoever started us has other plans for it, end what runs inside."""
    asked = EndSignal()
    with suppress(ValueError):  # not the main thread: whoever calls us there has its own way to end
        signal.signal(signal.SIGTERM, asked)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, asked)
    try:
        yield asked
    finally:
        if signal.getsignal(signal.SIGINT) is asked:
            signal.signal(signal.SIGINT, signal.default_int_handler)


class StopSignal:
    """A context manager in which the first SIGINT or SIGTERM asks for an end between two updates; a second one ends.

    Args:
        announces: whether to tell the user, which one of several processes does.

    Attributes:
        number: the signal that came, or None.
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

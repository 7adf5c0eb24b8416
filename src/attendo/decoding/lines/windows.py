"""Groups lines that arrive one by one into windows to translate together: full ones, or fewer when input pauses."""

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sized
from dataclasses import dataclass
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import BinaryIO, Literal, TypeVar

from attendo.errors import DataError
from attendo.text.files.formats import MAX_LINE_BYTES, carriage_returns_error

PAUSE_S = 0.2
"""Seconds without a new line after which the lines read so far are handed over."""
PATIENCE_S = 1.0
"""Seconds that a line waits for others at most, however steadily they drip in."""
MAX_CHARACTERS = 2_000_000
"""Characters after which a window is full, so that a file of huge lines does not fill the memory."""
_CHUNK_BYTES = 1 << 16
_TICK_S = 0.5

LineT = TypeVar("LineT", bound=Sized)
"""A line, or an item that contains one."""
OnBadBytes = Literal["strict", "surrogateescape"]
"""The treatment of a line that is not UTF-8: an error, or lone surrogates in place of the invalid bytes."""


@dataclass(frozen=True, kw_only=True)
class _End:
    """The last item of the reader: the end of the input."""

    error: BaseException | None


def windows(
    lines: Iterable[LineT],
    max_lines: int,
    *,
    pause_s: float = PAUSE_S,
    characters: Callable[[LineT], int] = len,
) -> Generator[list[LineT]]:
    """Groups lines in order; a thread reads ahead, so that input is read while the last window is processed.

    Args:
        lines: an iterator read to its end; waiting for the next item may take any time.
        max_lines: maximum number of lines of a window.
        pause_s: seconds without a new line after which an unfinished window is handed over.
        characters: the number of characters of a line, for items that are more than a line.

    Yields:
        Windows, none of them empty. An error in reading is raised after the lines that came before it.
    """
    arrivals: Queue[LineT | _End] = Queue(maxsize=max_lines)
    stopped = Event()
    # A daemon: after Ctrl-C it may still wait for a line that never comes, and must not keep the process alive
    Thread(target=_read, args=(lines, arrivals, stopped), name="attendo-reader", daemon=True).start()
    try:
        while True:
            window, end = _collect(arrivals, max_lines, pause_s, characters)
            if window:
                yield window
            if end and end.error:
                raise end.error
            if end:
                return
    finally:
        stopped.set()


def _read(lines: Iterable[LineT], arrivals: "Queue[LineT | _End]", stopped: Event) -> None:
    """Puts lines into the queue, and finally an end marker with any error; stops when they are no longer read."""

    def put(arrival: LineT | _End) -> bool:
        while not stopped.is_set():
            try:
                arrivals.put(arrival, timeout=_TICK_S)
            except Full:
                continue
            return True
        return False

    try:
        for line in lines:
            if not put(line):
                return
    except BaseException as error:  # any error is raised where the lines are used
        put(_End(error=error))
    else:
        put(_End(error=None))


def _collect(
    arrivals: "Queue[LineT | _End]", max_lines: int, pause_s: float, characters: Callable[[LineT], int]
) -> tuple[list[LineT], _End | None]:
    """Collects lines until the window is full, or the input pauses or ends."""
    window: list[LineT] = []
    total = 0
    handover = float("inf")
    while len(window) < max_lines and total < MAX_CHARACTERS:
        # Ticks without end while there is no line: on Windows a wait without a limit would not see Ctrl-C.
        wait_s = min(pause_s, max(0.0, handover - time.monotonic())) if window else _TICK_S
        try:
            arrival = arrivals.get(timeout=wait_s) if wait_s else arrivals.get_nowait()
        except Empty:
            if window:
                break
            continue
        if isinstance(arrival, _End):
            return window, arrival
        if not window:
            handover = time.monotonic() + PATIENCE_S
        window.append(arrival)
        total += characters(arrival)
    return window, None


def read_lines(file: BinaryIO, name: str, *, errors: OnBadBytes = "strict") -> Iterator[str]:
    r"""Yields lines of UTF-8 text as soon as they arrive; only `\n` and `\r\n` end one.

    Args:
        file: a file such as `sys.stdin.buffer`, not read from before. It is read below its buffer: Python crashes at
            exit if a thread still waits inside one.
        name: the file's name in error messages.
        errors: the treatment of a line that is not UTF-8.

    Yields:
        Each line with its end, which the last one may lack; a byte order mark at the start is dropped.

    Raises:
        DataError: a line is not UTF-8, or longer than 4 MB, or there are carriage returns and no line feed; the lines
            before it have been yielded.
    """
    raw = getattr(file, "raw", file)
    number = length = 0
    pending: list[bytes] = []
    while chunk := raw.read(_CHUNK_BYTES):
        first, *others = chunk.split(b"\n")
        pending.append(first)
        length += len(first)
        if length > MAX_LINE_BYTES:  # before the line ends, which it may never do
            if number == 0 and any(b"\r" in part for part in pending):
                raise carriage_returns_error(name)
            raise DataError(f"{name}: line {number + 1} is longer than {MAX_LINE_BYTES >> 20} MB; is this text?")
        for other in others:
            number += 1
            yield _decode(b"".join([*pending, b"\n"]), name, number, errors)
            pending, length = [other], len(other)
    if any(pending):
        if number == 0 and b"\r" in b"".join(pending)[:-1]:
            raise carriage_returns_error(name)
        yield _decode(b"".join(pending), name, number + 1, errors)


def _decode(line: bytes, name: str, number: int, errors: OnBadBytes) -> str:
    try:
        text = line.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise DataError(
            f"{name}: line {number} is not UTF-8 at its byte {error.start + 1}; convert the text, "
            "for instance with iconv -f latin1 -t utf-8"
        ) from error
    return text.removeprefix("\ufeff") if number == 1 else text

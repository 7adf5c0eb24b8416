"""The log: a JSON object per line. It has no text of requests, no keys and, unless configured, no addresses."""

import json
import logging
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TextIO

_OUR_OWN = {"time", "level", "event"}


class Log:
    """Writes events.

    Args:
        stream: the stream to write to; by default standard error. A failed write is skipped: requests must not wait for
            the log.
        now: seconds since 1970.
    """

    def __init__(self, stream: TextIO | None = None, *, now: Callable[[], float] = time.time) -> None:
        self._stream, self._now = stream, now

    def info(self, event: str, **fields: Any) -> None:
        """Logs an ordinary event."""
        self._write("info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        """Logs an event that needs attention."""
        self._write("warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        """Something that went wrong on our side."""
        self._write("error", event, fields)

    def _write(self, level: str, event: str, fields: dict[str, Any]) -> None:
        when = datetime.fromtimestamp(self._now(), UTC).isoformat(timespec="milliseconds")
        entry = {"time": when, "level": level, "event": event}
        entry |= {key: value for key, value in fields.items() if value is not None and key not in _OUR_OWN}
        # Escaped to ASCII: line ends and control characters of foreign text do not reach the log.
        line = json.dumps(entry, default=str)
        try:
            stream = self._stream or sys.stderr
            stream.write(line + "\n")
            stream.flush()
        except (OSError, ValueError):
            pass


class LibraryLogs(logging.Handler):
    """Logs warnings and errors of libraries, above all of uvicorn, as events.

    Args:
        log: the log to write to.
    """

    def __init__(self, log: Log) -> None:
        super().__init__(level=logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Writes a record; of an exception its kind and place, not its text, which may be a stranger's."""
        where = None
        if record.exc_info and record.exc_info[0] is not None:
            where = error_place(record.exc_info[1])
        write = self._log.error if record.levelno >= logging.ERROR else self._log.warning
        write("library", logger=record.name, message=record.getMessage()[:500], error=where)


def error_place(error: BaseException | None) -> str | None:
    """Describes an exception by its type and place, without its text, which may be confidential."""
    if error is None:
        return None
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return type(error).__name__
    code = trace.tb_frame.f_code
    return f"{type(error).__name__} in {code.co_qualname} ({code.co_filename.rpartition('/')[2]}:{trace.tb_lineno})"

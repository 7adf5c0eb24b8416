"""The process that reads and writes documents of strangers: `python -m attendo.serving.document_process LIMITS`.

Its memory, its processor time and what it may write have limits that the system keeps, whatever a format's reader does,
and all memory comes back when it ends. Requests come on standard input and answers go to standard output, a line of
JSON each; documents are files, of which it is given the paths. It knows no models and imports no torch.
"""

import gc
import json
import math
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from attendo.errors import DataError
from attendo.serving.formats.document import Languages, OpenDocument, TranslatedUnit
from attendo.serving.formats.readers import READERS

if sys.platform != "win32":
    import resource


@dataclass(frozen=True, kw_only=True)
class ProcessLimits:
    """What the process may take."""

    memory_bytes: int
    """More than it has when it starts."""
    seconds: float
    """Of processor time, a request."""
    file_bytes: int
    """Of a file that it writes."""


class DocumentSession:
    """The requests about documents, one document at a time."""

    def __init__(self) -> None:
        self._opened: OpenDocument | None = None
        self.first_bytes = _pages(1)
        """The memory in use when the document was opened; some of an earlier one may be in it."""

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Does what a request asks for.

        Args:
            request: `do` is `open`, `units`, `write` or `close`; see `attendo.serving.document_workers`.

        Raises:
            DataError: the document is not what it should be.
        """
        match request["do"]:
            case "open":
                _forget_peak()
                self.first_bytes = _pages(1)
                self._opened = READERS[request["suffix"]](Path(request["path"]).read_bytes())
                return {"language": self._opened.source_language(), "sample": self._opened.sample()}
            case "units":
                return self._units(_languages(request), request["max_characters"])
            case "write":
                return self._write(_languages(request), request["translations"], Path(request["path"]))
            case _:
                self._opened = None
                gc.collect()
                return {"resident_bytes": _pages(1)}

    def _units(self, languages: Languages, max_characters: int) -> dict[str, Any]:
        assert self._opened is not None
        units = self._opened.units(languages)
        characters = sum(len(unit.text) for unit in units) + max(0, len(units) - 1)
        if characters > max_characters:
            return {"characters": characters, "units": None}
        return {"characters": characters, "units": [asdict(unit) for unit in units]}

    def _write(self, languages: Languages, translations: list[dict[str, Any]], path: Path) -> dict[str, Any]:
        assert self._opened is not None
        self._opened.units(languages)  # a document remembers where its units are
        found = [TranslatedUnit(**{name: _tuple(value) for name, value in each.items()}) for each in translations]
        path.write_bytes(self._opened.written(found, languages))
        return {}


def answered(session: DocumentSession, request: Mapping[str, Any], much: int) -> dict[str, Any]:
    """What the process answers to a request: `result`, or `error` with `kind` and `message`.

    An error that no reader foresaw is told by its name alone: its message may hold text of the document.

    Args:
        session: the document at hand.
        request: see `DocumentSession.answer`.
        much: bytes that a document has taken from which on an error is taken for a lack of memory.
    """
    try:
        return {"result": session.answer(request)}
    except Exception as error:  # whatever libraries meet in what strangers send
        told = str(error) if isinstance(error, DataError) else type(error).__name__
        # A reader that has no memory left may take that for a fault of the document.
        if isinstance(error, MemoryError) or _peak_bytes() > session.first_bytes + much:
            return {"error": {"kind": "memory", "message": told}}
        return {"error": {"kind": "data" if isinstance(error, DataError) else "other", "message": told}}


def main() -> None:
    """Answers requests until there are no more."""
    limits = ProcessLimits(**json.loads(sys.argv[1]))
    os.umask(0o077)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is no answer
    _limit(limits)
    session = DocumentSession()
    for line in sys.stdin.buffer:
        _limit_time(limits.seconds)
        answers.write(json.dumps(answered(session, json.loads(line), limits.memory_bytes // 3)).encode() + b"\n")
        answers.flush()


def _limit(limits: ProcessLimits) -> None:
    """Sets the limits that hold from now on; Windows has none."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        os.nice(5)  # whoever waits for a sentence goes before
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.file_bytes, limits.file_bytes))
    if used := _pages(0):  # elsewhere than on Linux the system does not keep this limit
        most = used + limits.memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _limit_time(seconds: float) -> None:
    """Gives the next request its processor time."""
    if sys.platform == "win32":
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used.ru_utime + used.ru_stime + seconds), hard))


def _pages(place: int) -> int:
    """Bytes of this process as Linux counts them: 0 all addresses, 1 what is in memory; 0 elsewhere."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[place]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _peak_bytes() -> int:
    """The most memory that this process has had since its last document was opened; 0 elsewhere than on Linux."""
    try:
        status = Path("/proc/self/status").read_text("ascii")
    except OSError:
        return 0
    return int(status.partition("VmHWM:")[2].split()[0]) << 10


def _forget_peak() -> None:
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", "ascii")


def _languages(request: Mapping[str, Any]) -> Languages:
    return Languages(source=request["source"], target=request["target"])


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


if __name__ == "__main__":
    main()

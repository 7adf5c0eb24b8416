"""The process that reads and writes untrusted documents: `python -m attendo.serving.documents.process LIMITS`.

The system limits its memory, processor time and output, whatever a format's reader does, and all memory is freed when
it ends. Requests arrive on standard input and answers go to standard output, one line of JSON each; documents are files
given by their paths. It uses no models and does not import torch.
"""

import gc
import json
import math
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attendo.errors import DataError
from attendo.formats.contents import plain
from attendo.markup.units.lengths import with_limit
from attendo.serving.documents.summary import problems_of, summary_of
from attendo.serving.documents.units import json_value, num_characters
from attendo.workflow.documents.opening import Document, NamedContent, document_of, with_template
from attendo.workflow.documents.settings import DocumentSettings
from attendo.workflow.documents.writing import translations_of, written_document

if sys.platform != "win32":
    import resource

_SAMPLE_UNITS, _SAMPLE_CHARACTERS = 400, 4_000


@dataclass(frozen=True, kw_only=True)
class ProcessLimits:
    """Limits of the process."""

    memory_bytes: int
    """More than it has when it starts."""
    seconds: float
    """Seconds of processor time per request."""
    file_bytes: int
    """Maximum size of a file that it writes."""


class DocumentSession:
    """The requests about documents, one document at a time."""

    def __init__(self) -> None:
        self._document: Document | None = None
        self._settings, self._source = DocumentSettings(), ""
        self.first_bytes = _pages(1)
        """The memory in use when the document was opened; some of an earlier one's may still be in use."""

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Carries out a request.

        Args:
            request: `do` is `open`, `units`, `write` or `close`; see `attendo.serving.documents.workers`.

        Raises:
            DataError: the document is invalid.
        """
        match request["do"]:
            case "open":
                _forget_peak()
                self.first_bytes = _pages(1)
                return self._open(request)
            case "units":
                return self._units(request["max_characters"])
            case "write":
                return self._write(request["translations"], Path(request["path"]), Path(request["report"]))
            case _:
                self._document = None
                gc.collect()
                return {"resident_bytes": _pages(1)}

    def _open(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Reads the file in the first language that works; "" stands for any."""
        self._document, self._settings = None, DocumentSettings(**request["settings"])
        content, failure = _content_of(request["file"]), None
        template = _content_of(request["template"]) if request["template"] else None
        for source in request["sources"]:
            try:
                document = document_of(content, self._settings, source=source)
                if template is not None:
                    document = with_template(document, template, self._settings, source=source)
            except DataError as error:
                failure = failure or error
            else:
                self._document, self._source = document, source
                declared = document.file.declared.source
                return {"source": source, "language": declared or source, "sample": _sample(document)}
        assert failure is not None
        raise failure

    def _units(self, max_characters: int) -> dict[str, Any]:
        assert self._document is not None
        units, target = tuple(map(with_limit, self._document.units)), self._document.target
        characters = num_characters(units)
        return {"characters": characters, "units": units if characters <= max_characters else None, "target": target}

    def _write(self, translations: list[dict[str, Any]], path: Path, report: Path) -> dict[str, Any]:
        assert self._document is not None
        found = translations_of(translations, self._document.units)
        done = written_document(self._document, self._settings, found, source_language=self._source, output=None)
        path.write_bytes(done.content)
        report.write_text(json.dumps(done.report.as_json(), indent=1) + "\n", encoding="ascii")
        return {"summary": summary_of(done.report), "problems": problems_of(done.report)}


def answered(session: DocumentSession, request: Mapping[str, Any], much: int) -> dict[str, Any]:
    """Answers a request: with `result`, or with `error`, which has `kind` and `message`.

    An unexpected error is reported only by its type: its message may contain text of the document.

    Args:
        session: the session of the document.
        request: see `DocumentSession.answer`.
        much: number of bytes used by a document above which an error counts as a lack of memory.
    """
    try:
        return {"result": session.answer(request)}
    except Exception as error:  # libraries may raise anything for untrusted input
        message = str(error) if isinstance(error, DataError) else type(error).__name__
        # A reader without memory may report that as a fault of the document.
        if isinstance(error, MemoryError) or _peak_bytes() > session.first_bytes + much:
            return {"error": {"kind": "memory", "message": message}}
        return {"error": {"kind": "data" if isinstance(error, DataError) else "other", "message": message}}


def main() -> None:
    """Answers requests until there are no more."""
    limits = ProcessLimits(**json.loads(sys.argv[1]))
    os.umask(0o077)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of libraries must not mix with the answers
    _limit(limits)
    session = DocumentSession()
    for line in sys.stdin.buffer:
        _limit_time(limits.seconds)
        answer = answered(session, json.loads(line), limits.memory_bytes // 3)
        answers.write(json.dumps(answer, default=json_value).encode() + b"\n")
        answers.flush()


def _limit(limits: ProcessLimits) -> None:
    """Sets the limits from now on; Windows has none."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        os.nice(5)  # requests that wait for a sentence have priority
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limits.file_bytes, limits.file_bytes))
    if used := _pages(0):  # elsewhere than on Linux the system does not keep this limit
        most = used + limits.memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _limit_time(seconds: float) -> None:
    """Extends the limit of processor time for the next request."""
    if sys.platform == "win32":
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(used.ru_utime + used.ru_stime + seconds), hard))


def _pages(place: int) -> int:
    """Bytes of this process as Linux counts them: 0 for all addresses, 1 for resident memory; 0 elsewhere."""
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


def _content_of(file: Mapping[str, str]) -> NamedContent:
    return NamedContent(name=file["name"], data=Path(file["path"]).read_bytes())


def _sample(document: Document) -> str:
    """A sample of a document's text, for the detection of its language."""
    units = document.units or document.file.units
    return " ".join(plain(unit.source) for unit in units[:_SAMPLE_UNITS])[:_SAMPLE_CHARACTERS]


if __name__ == "__main__":
    main()

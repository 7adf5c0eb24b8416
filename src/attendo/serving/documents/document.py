"""A document while a server processes it."""

import asyncio
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from attendo.serving.documents.workers import SentFile
from attendo.serving.translating import Caller
from attendo.terms.glossary import Glossary

Status = Literal["queued", "translating", "done", "error"]
"""The status of a document."""
_MAX_NAME = 150


@dataclass(eq=False, kw_only=True)
class Document:
    """A document while it is processed."""

    id: str
    """Identifier in requests; 128 random bits."""
    key: str
    """Second identifier that DeepL's API requires; 256 random bits."""
    name: str
    """The file's name, without a path and without characters that are invalid in names."""
    caller: Caller
    """The sender."""
    source: str
    """The language it is translated from."""
    target: str
    """The target language, with its region if known."""
    glossary: Glossary | None
    """The glossary."""
    characters: int
    """Number of characters to translate."""
    arrived: float
    """Time of arrival by `time.monotonic()`."""
    status: Status = "queued"
    """The current status."""
    done: int = 0
    """Characters translated so far."""
    message: str = ""
    """The error, for display."""
    problems: list[str] = field(default_factory=list)
    """Problems found in its translations, and text that could not be kept."""
    summary: dict[str, Any] | None = None
    """Summary of its units, from `summary.summary_of`; None until it is done."""
    bytes_kept: int = 0
    """Size on disk in bytes."""
    finished_at: float | None = None
    """Time when it was done or abandoned, by `time.monotonic()`."""
    started_at: float | None = None
    """Time when it was started, by `time.monotonic()`."""
    path: Path
    """The translated document, once it is done."""
    sent: SentFile
    """The document as sent, which is stored until it is done."""
    task: "asyncio.Task[None] | None" = None
    """The task that translates it."""

    @property
    def result_name(self) -> str:
        """The name of the translated document."""
        return self.name

    @property
    def suffix(self) -> str:
        """Returns the ending of its name in lower case."""
        return suffix_of(self.name)

    @property
    def report_path(self) -> Path:
        """The report on its units, once it is done."""
        return self.path.with_suffix(".report")

    @property
    def result_paths(self) -> tuple[Path, Path]:
        """The translated document and its report."""
        return self.path, self.report_path

    @property
    def progress(self) -> float:
        """Returns the translated share, 0 to 1."""
        return 1.0 if self.status == "done" else min(self.done / max(1, self.characters), 0.99)

    @property
    def seconds_remaining(self) -> int:
        """Estimated number of seconds until it is done."""
        if self.started_at is None or not self.done:
            return 1 + self.characters // 500
        rate = self.done / max(time.monotonic() - self.started_at, 0.1)
        return 1 + int((self.characters - self.done) / rate)


def safe_name(name: str) -> str:
    """A file's name without its path, control characters and characters special to some system; never empty."""
    last = re.split(r"[/\\]", name)[-1]
    kept = re.sub(r'[\x00-\x1f\x7f"<>|:*?\ud800-\udfff]', "", last).rstrip(". ")
    suffix = suffix_of(kept)
    stem = kept[: len(kept) - len(suffix)].strip(". ")[: _MAX_NAME - len(suffix)]
    return (stem or "document") + suffix


def suffix_of(name: str) -> str:
    """The end of a file's name, from its last full stop on, in small letters; empty if it has none."""
    found = re.search(r"\.[A-Za-z0-9]{1,12}$", name)
    return found[0].lower() if found else ""

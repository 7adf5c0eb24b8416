"""Options of document requests, which are the settings of `attendo translate FILE`, and media types."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from attendo.errors import DataError
from attendo.formats.file import Mark, base_language
from attendo.formats.known import FORMATS, format_by_ending, format_of
from attendo.serving.errors import bad_request
from attendo.serving.http.parameters import Parameters
from attendo.workflow.documents.settings import Check, DocumentSettings, Only

ENDINGS: Sequence[str] = tuple(
    dict.fromkeys(ending[ending.rindex(".") :] for known in FORMATS for ending in known.endings)
)
"""Supported endings of file names."""
CHOICES: Mapping[str, Sequence[str]] = {"only": get_args(Only), "mark": get_args(Mark), "check": get_args(Check)}
"""The options of a document that have a few values, and these."""
FORMAT_NAMES: Sequence[str] = tuple(known.name for known in FORMATS)
"""The values of the option `format`."""
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")
_OFFICE = "application/vnd.openxmlformats-officedocument"
_OPEN = "application/vnd.oasis.opendocument"
_MEDIA_TYPES = {
    ".txt": "text/plain; charset=utf-8",
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".md": "text/markdown",
    ".po": "text/x-gettext-translation",
    ".pot": "text/x-gettext-translation",
    ".xliff": "application/xliff+xml",
    ".xlf": "application/xliff+xml",
    ".tmx": "application/x-tmx+xml",
    ".xml": "application/xml",
    ".json": "application/json",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".srt": "application/x-subrip",
    ".vtt": "text/vtt",
    ".docx": f"{_OFFICE}.wordprocessingml.document",
    ".pptx": f"{_OFFICE}.presentationml.presentation",
    ".xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    ".odt": f"{_OPEN}.text",
    ".ods": f"{_OPEN}.spreadsheet",
    ".odp": f"{_OPEN}.presentation",
    ".epub": "application/epub+zip",
}


def media_type_of(suffix: str) -> str:
    """Returns the media type of documents with this ending."""
    return _MEDIA_TYPES.get(suffix, "application/octet-stream")


def is_taken(name: str, sent: Parameters) -> bool:
    """Whether a file's name, or the request itself, determines the format of a document."""
    return bool(sent.text("format")) or format_by_ending(name) is not None


def format_for(name: str, wanted: str | None) -> str:
    """The format in which a document is read.

    Args:
        name: the file's name.
        wanted: the requested format's name, if any.

    Raises:
        ServingError: there is no such format, or the file's name determines none.
    """
    try:
        found = format_by_ending(name) if wanted is None else format_of(name, b"", wanted)
    except DataError as error:
        raise bad_request(str(error)) from error
    if found is None:
        raise bad_request(
            f"documents of this type are not supported; send one of {', '.join(ENDINGS)}, or name its format "
            f"(format: {', '.join(FORMAT_NAMES)})"
        )
    return found.name


def document_settings(sent: Parameters, target: str) -> DocumentSettings:
    """The settings of a request: `only`, `mark`, `check` and `format`.

    Args:
        sent: the request.
        target: the target language, from `target_language`.

    Raises:
        ServingError: an option has an invalid value.
    """
    given: dict[str, Any] = {name: value for name in CHOICES if (value := sent.text(name))}
    for name, value in given.items():
        if value not in CHOICES[name]:
            raise bad_request(f"{name} = {value!r:.80} is none of {', '.join(CHOICES[name])}")
    return DocumentSettings(target=target, format=sent.text("format") or None, **given)


def target_language(written: str, served: str) -> str:
    """A target language as files name it: `de-AT` if a region or a script was requested, otherwise the served code.

    Args:
        written: the code as sent, such as `de_at`.
        served: the code of the served language that it means.

    Raises:
        ServingError: it is not a language code.
    """
    if not _LANGUAGE.fullmatch(written.strip()):
        raise bad_request(f"target = {written!r:.80} is not a language code such as de or de-AT")
    language, *subtags = written.strip().replace("_", "-").split("-")
    if not subtags:
        return served
    return "-".join([base_language(language), *map(_subtag, subtags)])


def _subtag(subtag: str) -> str:
    """Writes a part of a language code in its usual case: `AT`, `Latn`, `419`, `valencia`."""
    return subtag.upper() if len(subtag) < 4 else subtag.title() if len(subtag) == 4 else subtag.lower()

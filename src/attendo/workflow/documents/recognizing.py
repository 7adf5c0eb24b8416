"""Recognition of a file before it is read: as lines of text, or as a format by its name and content."""

from pathlib import Path

from attendo.formats.known import Format, format_of
from attendo.text.files.formats import is_compressed
from attendo.text.files.recognition import HEAD_BYTES, recognized

_REFUSED = frozenset(("binary", "archive", "markup", "catalogue", "json"))
"""Formats that cannot be lines of text under any name; tables and UTF-16 are distinguished when lines are read."""


def document_format(path: Path, wanted: str | None) -> Format | None:
    """Returns the format as which a file is translated; None for lines of text.

    Args:
        path: the file.
        wanted: the format's name, if given; `text` for lines.

    Raises:
        DataError: there is no such format, or the content has a format that the file's name does not show.
    """
    if wanted is not None:
        return _unless_text(format_of(str(path), b"", wanted))
    head = _head(path)
    found = recognized(path.name, head[:HEAD_BYTES], whole=len(head) <= HEAD_BYTES) if head else None
    is_lines = found is None or found.kind not in _REFUSED
    return _unless_text(format_of(str(path), b"" if is_lines else head))


def _unless_text(found: Format) -> Format | None:
    return None if found.name == "text" else found


def _head(path: Path) -> bytes:
    """Returns the beginning of a plain file; empty for a compressed one, which has lines."""
    if not path.is_file() or is_compressed(path):
        return b""
    with path.open("rb") as file:
        return file.read(HEAD_BYTES + 1)

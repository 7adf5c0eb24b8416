"""What reads which document, as far as the packages for it are installed: those of the extra `formats`."""

from collections.abc import Callable

from attendo.serving.formats.document import OpenDocument
from attendo.serving.formats.plain import read_html, read_text

READERS: dict[str, Callable[[bytes], OpenDocument]] = {".txt": read_text, ".html": read_html, ".htm": read_html}
"""What reads a document, by the end of its name."""

try:
    from attendo.serving.formats.gettext import read_po

    READERS |= {".po": read_po, ".pot": read_po}
except ModuleNotFoundError as error:
    if error.name is None or error.name.partition(".")[0] != "translate":
        raise
try:
    from attendo.serving.formats.docx import read_docx
    from attendo.serving.formats.tmx import read_tmx
    from attendo.serving.formats.xliff import read_xliff

    READERS |= {".xliff": read_xliff, ".xlf": read_xliff, ".tmx": read_tmx, ".docx": read_docx}
except ModuleNotFoundError as error:
    if error.name is None or error.name.partition(".")[0] != "lxml":
        raise

MEDIA_TYPES = {
    ".txt": "text/plain; charset=utf-8",
    ".html": "text/html",
    ".htm": "text/html",
    ".po": "text/x-gettext-translation",
    ".pot": "text/x-gettext-translation",
    ".xliff": "application/xliff+xml",
    ".xlf": "application/xliff+xml",
    ".tmx": "application/x-tmx+xml",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
"""What HTTP calls documents, by the end of their names."""

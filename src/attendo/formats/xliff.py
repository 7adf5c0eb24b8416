"""XLIFF by its version: 1.2, with what Trados, memoQ and Phrase add to it, and 2.x."""

from attendo.errors import DataError
from attendo.formats.file import File, Languages
from attendo.formats.markup import parse_markup
from attendo.formats.xliff1 import read_xliff1
from attendo.formats.xliff2 import read_xliff2


def read_xliff(data: bytes, languages: Languages) -> File:
    """Reads XLIFF.

    Raises:
        DataError: the file is not XLIFF, or is of an unknown version.
    """
    markup = parse_markup(data)
    version = markup.root.attributes.get("version", "")
    if not version and any("source-language" in file.attributes for file in markup.root.elements("file")):
        version = "1.2"  # which names its languages there; version 2 names them at the root
    if markup.root.local != "xliff":
        raise DataError(f"this is not XLIFF: its outermost element is <{markup.root.local}>")
    if version.startswith("1."):
        return read_xliff1(markup, languages)
    if version.startswith("2."):
        return read_xliff2(markup, languages)
    raise DataError(f"XLIFF of the version {version!r} is not read; 1.2, 2.0 and 2.1 are")

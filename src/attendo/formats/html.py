"""HTML pages: their texts and the attributes that people read, in the encoding that the page declares."""

import codecs
import re

from attendo.errors import DataError
from attendo.formats.encoded import EncodedText, decoded
from attendo.formats.file import File, Languages, Span
from attendo.formats.html_passages import HtmlReader
from attendo.formats.passages import document_file

_HEAD = 4_096
_XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([\w.:-]+)["']""")
_META_ENCODING = re.compile(rb"""<meta\b[^>]{0,400}?charset\s*=\s*["']?\s*([\w.:-]+)""", re.I)
_XHTML = re.compile(r"\A\s*<\?xml\b|<html\b[^>]{0,400}\sxmlns\s*=", re.I)
# Browsers read all of these as Windows-1252.
_LATIN = ("iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "us-ascii", "ascii", "windows-1252")


def read_html(data: bytes, languages: Languages) -> File:
    """Reads a page.

    Raises:
        DataError: the page is in no known encoding, or declares entities.
    """
    text = decoded_html(data)
    return html_file(text, languages, is_xml=_XHTML.search(text.text[:_HEAD]) is not None)


def html_file(text: EncodedText, languages: Languages, *, is_xml: bool) -> File:
    """Makes a file of a decoded page.

    Raises:
        DataError: it declares entities.
    """
    reader = HtmlReader(text, languages, is_xml=is_xml)
    reader.read(Span(0, len(text.text)))
    declared = Languages(source=reader.declared)
    return document_file("html", text, reader.passages, always=reader.edits, declared=declared)


def _is_known(encoding: str) -> bool:
    try:
        codecs.lookup(encoding)
    except LookupError:
        return False
    return True


def decoded_html(data: bytes) -> EncodedText:
    """Decodes a page: by its byte order mark, its declaration, as UTF-8, or else as Windows-1252.

    Raises:
        DataError: the bytes are in none of these encodings.
    """
    found = _XML_ENCODING.match(data[:_HEAD]) or _META_ENCODING.search(data[:_HEAD])
    declared = found[1].decode("ascii").lower() if found else None
    # Browsers ignore unknown encodings, and a declaration readable as ASCII is not in UTF-16.
    if declared is None or declared.startswith("utf-16") or not _is_known(declared):
        try:
            return decoded(data)
        except DataError:
            return decoded(data, "cp1252")
    if declared in _LATIN:
        try:
            return decoded(data, "cp1252")
        except DataError:
            return decoded(data, "iso-8859-1")
    return decoded(data, declared)

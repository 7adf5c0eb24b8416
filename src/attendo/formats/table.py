"""Reading a file of any format: by the end of its name, or as one that is named.

A format's reader is imported when the first file of the format is read: all of them together take longer to import than
most files take to read.
"""

from collections.abc import Callable

from attendo.errors import DataError
from attendo.formats.file import File, Languages, is_same_language
from attendo.formats.known import format_of

Reader = Callable[[bytes, Languages], File]
"""Reads the bytes of a file, from which language into which."""


def read_file(data: bytes, name: str, languages: Languages | None = None, *, wanted: str | None = None) -> File:
    """Reads a file that people translate.

    Args:
        data: its content.
        name: its name, for the format and for messages.
        languages: source and target language, if the caller knows them; a file may name them itself.
        wanted: the name of the format, if the file's name does not show it.

    Raises:
        DataError: it is not valid, or names a target language other than the requested one.
    """
    languages = languages or Languages()
    found = format_of(name, data, wanted)
    try:
        file = reader_of(found.name)(data, languages)
    except DataError as error:
        raise DataError(f"{name}: {error}") from error
    if found.name == "yaml" and wanted is None:
        _check_yaml(name, file)
    declared = file.declared.target
    if declared and languages.target and not is_same_language(declared, languages.target):
        raise DataError(
            f"{name}: the file's target language is {declared}, not {languages.target}; translate into {declared}, or "
            "change what the file says"
        )
    return file


def _check_yaml(name: str, file: File) -> None:
    """Refuses YAML that does not look like messages.

    Raises:
        DataError: it does not.
    """
    from attendo.formats.yaml_catalogues import refusal

    if reason := refusal(name, file.text.text):
        raise DataError(f"{name}: {reason}; if it holds messages all the same, say so: --format yaml")


def reader_of(name: str) -> Reader:
    """Returns the reader of a format, which is imported now.

    Args:
        name: a name in `known.FORMATS`.
    """
    match name:
        case "po":
            from attendo.formats.po import read_po as read
        case "xliff":
            from attendo.formats.xliff import read_xliff as read
        case "tmx":
            from attendo.formats.tmx import read_tmx as read
        case "android":
            from attendo.formats.android import read_android as read
        case "strings":
            from attendo.formats.apple_strings import read_strings as read
        case "stringsdict":
            from attendo.formats.stringsdict import read_stringsdict as read
        case "xcstrings":
            from attendo.formats.xcstrings import read_xcstrings as read
        case "properties":
            from attendo.formats.properties import read_properties as read
        case "resx":
            from attendo.formats.resx import read_resx as read
        case "ts":
            from attendo.formats.qt_ts import read_ts as read
        case "arb":
            from attendo.formats.json_messages import read_arb as read
        case "json":
            from attendo.formats.json_messages import read_json as read
        case "fluent":
            from attendo.formats.fluent import read_fluent as read
        case "yaml":
            from attendo.formats.rails_yaml import read_yaml as read
        case _:
            return _document_reader(name)
    return read


def _document_reader(name: str) -> Reader:
    """Returns the reader of a format of documents: tables, subtitles, pages, office files, books, lines of text."""
    match name:
        case "csv":
            from attendo.formats.delimited import read_csv as read
        case "tsv":
            from attendo.formats.delimited import read_tsv as read
        case "srt":
            from attendo.formats.srt import read_srt as read
        case "vtt":
            from attendo.formats.webvtt import read_webvtt as read
        case "html":
            from attendo.formats.html import read_html as read
        case "markdown":
            from attendo.formats.markdown import read_markdown as read
        case "docx":
            from attendo.formats.office import read_docx as read
        case "pptx":
            from attendo.formats.office import read_pptx as read
        case "xlsx":
            from attendo.formats.office import read_xlsx as read
        case "odf":
            from attendo.formats.odf import read_odf as read
        case "epub":
            from attendo.formats.epub import read_epub as read
        case "text":
            from attendo.formats.plain_text import read_text as read
        case _:
            raise AssertionError(f"the format {name!r} has no reader")
    return read

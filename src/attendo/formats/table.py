"""Reading a file of any format: by the end of its name, or as one that is named.

A format's reader is imported when the first file of the format is read: all of them together take longer to import than
most files take to read.
"""

from collections.abc import Callable, Mapping

from attendo.errors import DataError
from attendo.formats.file import File, Languages, is_same_language
from attendo.formats.known import format_of


def _po(data: bytes, languages: Languages) -> File:
    from attendo.formats.po import read_po

    return read_po(data, languages)


def _xliff(data: bytes, languages: Languages) -> File:
    from attendo.formats.xliff import read_xliff

    return read_xliff(data, languages)


def _tmx(data: bytes, languages: Languages) -> File:
    from attendo.formats.tmx import read_tmx

    return read_tmx(data, languages)


def _android(data: bytes, languages: Languages) -> File:
    from attendo.formats.android import read_android

    return read_android(data, languages)


def _strings(data: bytes, languages: Languages) -> File:
    from attendo.formats.apple_strings import read_strings

    return read_strings(data, languages)


def _stringsdict(data: bytes, languages: Languages) -> File:
    from attendo.formats.stringsdict import read_stringsdict

    return read_stringsdict(data, languages)


def _xcstrings(data: bytes, languages: Languages) -> File:
    from attendo.formats.xcstrings import read_xcstrings

    return read_xcstrings(data, languages)


def _properties(data: bytes, languages: Languages) -> File:
    from attendo.formats.properties import read_properties

    return read_properties(data, languages)


def _resx(data: bytes, languages: Languages) -> File:
    from attendo.formats.resx import read_resx

    return read_resx(data, languages)


def _ts(data: bytes, languages: Languages) -> File:
    from attendo.formats.qt_ts import read_ts

    return read_ts(data, languages)


def _arb(data: bytes, languages: Languages) -> File:
    from attendo.formats.json_messages import read_arb

    return read_arb(data, languages)


def _json(data: bytes, languages: Languages) -> File:
    from attendo.formats.json_messages import read_json

    return read_json(data, languages)


def _fluent(data: bytes, languages: Languages) -> File:
    from attendo.formats.fluent import read_fluent

    return read_fluent(data, languages)


def _csv(data: bytes, languages: Languages) -> File:
    from attendo.formats.delimited import read_csv

    return read_csv(data, languages)


def _tsv(data: bytes, languages: Languages) -> File:
    from attendo.formats.delimited import read_tsv

    return read_tsv(data, languages)


def _srt(data: bytes, languages: Languages) -> File:
    from attendo.formats.srt import read_srt

    return read_srt(data, languages)


def _vtt(data: bytes, languages: Languages) -> File:
    from attendo.formats.webvtt import read_webvtt

    return read_webvtt(data, languages)


def _html(data: bytes, languages: Languages) -> File:
    from attendo.formats.html import read_html

    return read_html(data, languages)


def _markdown(data: bytes, languages: Languages) -> File:
    from attendo.formats.markdown import read_markdown

    return read_markdown(data, languages)


def _docx(data: bytes, languages: Languages) -> File:
    from attendo.formats.office import read_docx

    return read_docx(data, languages)


def _pptx(data: bytes, languages: Languages) -> File:
    from attendo.formats.office import read_pptx

    return read_pptx(data, languages)


def _xlsx(data: bytes, languages: Languages) -> File:
    from attendo.formats.office import read_xlsx

    return read_xlsx(data, languages)


def _odf(data: bytes, languages: Languages) -> File:
    from attendo.formats.odf import read_odf

    return read_odf(data, languages)


def _yaml(data: bytes, languages: Languages) -> File:
    from attendo.formats.rails_yaml import read_yaml

    return read_yaml(data, languages)


def _epub(data: bytes, languages: Languages) -> File:
    from attendo.formats.epub import read_epub

    return read_epub(data, languages)


def _text(data: bytes, languages: Languages) -> File:
    from attendo.formats.plain_text import read_text

    return read_text(data, languages)


READERS: Mapping[str, Callable[[bytes, Languages], File]] = {
    "po": _po,
    "xliff": _xliff,
    "tmx": _tmx,
    "android": _android,
    "strings": _strings,
    "stringsdict": _stringsdict,
    "xcstrings": _xcstrings,
    "properties": _properties,
    "resx": _resx,
    "ts": _ts,
    "arb": _arb,
    "json": _json,
    "fluent": _fluent,
    "csv": _csv,
    "tsv": _tsv,
    "srt": _srt,
    "vtt": _vtt,
    "html": _html,
    "markdown": _markdown,
    "docx": _docx,
    "pptx": _pptx,
    "xlsx": _xlsx,
    "odf": _odf,
    "yaml": _yaml,
    "epub": _epub,
    "text": _text,
}
"""What reads a file, by the name that `known.FORMATS` has for its format."""


def read_file(data: bytes, name: str, languages: Languages | None = None, *, wanted: str | None = None) -> File:
    """Reads a file that people translate.

    Args:
        data: its content.
        name: its name, for the format and for messages.
        languages: from which language into which, as far as the caller knows; a file may name them itself.
        wanted: the name of the format, where the file's name does not say it.

    Raises:
        DataError: it is not of its format, or names another target language than the one asked for.
    """
    languages = languages or Languages()
    found = format_of(name, data, wanted)
    try:
        file = READERS[found.name](data, languages)
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

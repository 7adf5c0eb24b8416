"""Reading a file of any format: by the end of its name, or as one that is named."""

from collections.abc import Callable, Mapping

from attendo.errors import DataError
from attendo.formats.android import read_android
from attendo.formats.apple_strings import read_strings
from attendo.formats.delimited import read_csv, read_tsv
from attendo.formats.epub import read_epub
from attendo.formats.file import File, Languages, is_same_language
from attendo.formats.fluent import read_fluent
from attendo.formats.html import read_html
from attendo.formats.json_messages import read_arb, read_json
from attendo.formats.known import format_of
from attendo.formats.markdown import read_markdown
from attendo.formats.odf import read_odf
from attendo.formats.office import read_docx, read_pptx, read_xlsx
from attendo.formats.plain_text import read_text
from attendo.formats.po import read_po
from attendo.formats.properties import read_properties
from attendo.formats.qt_ts import read_ts
from attendo.formats.rails_yaml import read_yaml
from attendo.formats.resx import read_resx
from attendo.formats.srt import read_srt
from attendo.formats.stringsdict import read_stringsdict
from attendo.formats.tmx import read_tmx
from attendo.formats.webvtt import read_webvtt
from attendo.formats.xcstrings import read_xcstrings
from attendo.formats.xliff import read_xliff
from attendo.formats.yaml_catalogues import refusal

READERS: Mapping[str, Callable[[bytes, Languages], File]] = {
    "po": read_po,
    "xliff": read_xliff,
    "tmx": read_tmx,
    "android": read_android,
    "strings": read_strings,
    "stringsdict": read_stringsdict,
    "xcstrings": read_xcstrings,
    "properties": read_properties,
    "resx": read_resx,
    "ts": read_ts,
    "arb": read_arb,
    "json": read_json,
    "fluent": read_fluent,
    "csv": read_csv,
    "tsv": read_tsv,
    "srt": read_srt,
    "vtt": read_webvtt,
    "html": read_html,
    "markdown": read_markdown,
    "docx": read_docx,
    "pptx": read_pptx,
    "xlsx": read_xlsx,
    "odf": read_odf,
    "yaml": read_yaml,
    "epub": read_epub,
    "text": read_text,
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
    if found.name == "yaml" and wanted is None and (reason := refusal(name, file.text.text)):
        raise DataError(f"{name}: {reason}; if it holds messages all the same, say so: --format yaml")
    declared = file.declared.target
    if declared and languages.target and not is_same_language(declared, languages.target):
        raise DataError(
            f"{name}: the file's target language is {declared}, not {languages.target}; translate into {declared}, or "
            "change what the file says"
        )
    return file

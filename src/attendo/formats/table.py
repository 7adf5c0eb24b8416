"""All formats in one table, and reading a file of any of them: by the end of its name, or as one that is named."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from attendo.errors import DataError
from attendo.formats.android import read_android
from attendo.formats.apple_strings import read_strings
from attendo.formats.delimited import read_csv, read_tsv
from attendo.formats.epub import read_epub
from attendo.formats.file import File, Languages, is_same_language
from attendo.formats.fluent import read_fluent
from attendo.formats.html import read_html
from attendo.formats.json_messages import read_arb, read_json
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
from attendo.text.recognition import HEAD_BYTES, recognized


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files that people translate."""

    name: str
    endings: tuple[str, ...]
    """How names of such files end."""
    read: Callable[[bytes, Languages], File]
    title: str
    layout: Literal["bilingual", "keyed", "monolingual"] = "monolingual"
    """Bilingual files have sources and translations; keyed ones have one language, and keys by which a file and its
    translation belong together; monolingual ones have one language and nothing that stays in the translation."""
    has_states: bool = False
    """Whether a translation can be marked for review."""


_XLIFF = (".xlf", ".xliff", ".sdlxliff", ".mqxliff", ".mxliff")
FORMATS: Sequence[Format] = (
    Format("po", (".po", ".pot"), read_po, "gettext", "bilingual", has_states=True),
    Format(
        "xliff",
        (".xlf", ".xliff", ".sdlxliff", ".mqxliff", ".mxliff"),
        read_xliff,
        "XLIFF 1.2 and 2.x",
        "bilingual",
        has_states=True,
    ),
    Format("tmx", (".tmx",), read_tmx, "translation memories", "bilingual", has_states=True),
    Format("android", ("strings.xml", "plurals.xml", "arrays.xml"), read_android, "Android resources", "keyed"),
    Format("strings", (".strings",), read_strings, "Apple strings", "keyed"),
    Format("stringsdict", (".stringsdict",), read_stringsdict, "Apple plural rules", "keyed"),
    Format("xcstrings", (".xcstrings",), read_xcstrings, "Apple string catalogues", "bilingual", has_states=True),
    Format("properties", (".properties",), read_properties, "Java properties", "keyed"),
    Format("resx", (".resx",), read_resx, ".NET resources", "keyed"),
    Format("ts", (".ts",), read_ts, "Qt Linguist", "bilingual", has_states=True),
    Format("arb", (".arb",), read_arb, "Flutter's ARB", "keyed"),
    Format("json", (".json",), read_json, "JSON messages: nested, i18next, Chrome", "keyed"),
    Format("fluent", (".ftl",), read_fluent, "Fluent", "keyed"),
    Format("csv", (".csv",), read_csv, "CSV with named columns", "bilingual"),
    Format("tsv", (".tsv",), read_tsv, "TSV with named columns", "bilingual"),
    Format("srt", (".srt",), read_srt, "SubRip subtitles"),
    Format("vtt", (".vtt",), read_webvtt, "WebVTT subtitles"),
    Format("html", (".html", ".htm", ".xhtml"), read_html, "HTML pages"),
    Format("markdown", (".md", ".markdown", ".mdx"), read_markdown, "Markdown"),
    Format("docx", (".docx", ".docm"), read_docx, "Word documents"),
    Format("pptx", (".pptx", ".pptm"), read_pptx, "PowerPoint presentations"),
    Format("xlsx", (".xlsx", ".xlsm"), read_xlsx, "Excel workbooks"),
    Format("odf", (".odt", ".ods", ".odp", ".ott"), read_odf, "OpenDocument texts, spreadsheets, presentations"),
    Format("yaml", (".yml", ".yaml"), read_yaml, "YAML messages, as Rails has them", "keyed"),
    Format("epub", (".epub",), read_epub, "EPUB books"),
    Format("text", (".txt",), read_text, "lines of text"),
)


def format_named(name: str) -> Format:
    """The format that a file was read as.

    Args:
        name: one in the table.
    """
    return next(known for known in FORMATS if known.name == name)


def format_by_ending(name: str) -> Format | None:
    """The format that the end of a file's name says, in capitals or small letters; None where it says none."""
    lower = name.lower()
    return next((known for known in FORMATS if lower.endswith(known.endings)), None)


def format_of(name: str, data: bytes, wanted: str | None = None) -> Format:
    """Says which format a file is read as.

    Args:
        name: the file's name; its end decides where a format has it.
        data: its content, which decides about other names: what is recognized as no lines of text is refused.
        wanted: the name of a format, which goes before both.

    Raises:
        DataError: there is no format of that name, or the content is of a format that the name does not say.
    """
    names = ", ".join(known.name for known in FORMATS)
    if wanted is not None:
        by_name = next((known for known in FORMATS if known.name == wanted), None)
        if by_name is None:
            raise DataError(f"{wanted!r} is no format of files that are translated; there are {names}")
        return by_name
    by_ending = format_by_ending(name)
    if by_ending is not None:
        return by_ending
    found = recognized(name, data[:HEAD_BYTES], whole=len(data) <= HEAD_BYTES)
    if found is not None:
        raise DataError(
            f"{name}: this looks like {found.name}; say which format it is (--format NAME: {names}), or --format text "
            "to translate its lines as they are"
        )
    return next(known for known in FORMATS if known.name == "text")


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
        file = found.read(data, languages)
    except DataError as error:
        raise DataError(f"{name}: {error}") from error
    declared = file.declared.target
    if declared and languages.target and not is_same_language(declared, languages.target):
        raise DataError(
            f"{name}: the file's target language is {declared}, not {languages.target}; translate into {declared}, or "
            "change what the file says"
        )
    return file

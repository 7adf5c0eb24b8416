"""The known formats, with the names and contents of their files. No reader is imported for this."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from attendo.errors import DataError
from attendo.text.files.recognition import HEAD_BYTES, recognized


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files that people translate."""

    name: str
    endings: tuple[str, ...]
    """The endings of such files' names."""
    title: str
    layout: Literal["bilingual", "keyed", "monolingual"] = "monolingual"
    """Bilingual files have sources and translations; keyed ones have one language, and keys by which a file and its
    translation belong together; monolingual ones have one language and nothing that stays in the translation."""
    has_states: bool = False
    """Whether a translation can be marked for review."""


FORMATS: Sequence[Format] = (
    Format("po", (".po", ".pot"), "gettext", "bilingual", has_states=True),
    Format(
        "xliff",
        (".xlf", ".xliff", ".sdlxliff", ".mqxliff", ".mxliff"),
        "XLIFF 1.2 and 2.x",
        "bilingual",
        has_states=True,
    ),
    Format("tmx", (".tmx",), "translation memories", "bilingual", has_states=True),
    Format("android", ("strings.xml", "plurals.xml", "arrays.xml"), "Android resources", "keyed"),
    Format("strings", (".strings",), "Apple strings", "keyed"),
    Format("stringsdict", (".stringsdict",), "Apple plural rules", "keyed"),
    Format("xcstrings", (".xcstrings",), "Apple string catalogues", "bilingual", has_states=True),
    Format("properties", (".properties",), "Java properties", "keyed"),
    Format("resx", (".resx",), ".NET resources", "keyed"),
    Format("ts", (".ts",), "Qt Linguist", "bilingual", has_states=True),
    Format("arb", (".arb",), "Flutter's ARB", "keyed"),
    Format("json", (".json",), "JSON messages: nested, i18next, Chrome", "keyed"),
    Format("fluent", (".ftl",), "Fluent", "keyed"),
    Format("csv", (".csv",), "CSV with named columns", "bilingual"),
    Format("tsv", (".tsv",), "TSV with named columns", "bilingual"),
    Format("srt", (".srt",), "SubRip subtitles"),
    Format("vtt", (".vtt",), "WebVTT subtitles"),
    Format("html", (".html", ".htm", ".xhtml"), "HTML pages"),
    Format("markdown", (".md", ".markdown", ".mdx"), "Markdown"),
    Format("docx", (".docx", ".docm"), "Word documents"),
    Format("pptx", (".pptx", ".pptm"), "PowerPoint presentations"),
    Format("xlsx", (".xlsx", ".xlsm"), "Excel workbooks"),
    Format("odf", (".odt", ".ods", ".odp", ".ott"), "OpenDocument texts, spreadsheets, presentations"),
    Format("yaml", (".yml", ".yaml"), "YAML messages, as Rails has them", "keyed"),
    Format("epub", (".epub",), "EPUB books"),
    Format("text", (".txt",), "lines of text"),
)


def format_named(name: str) -> Format:
    """Returns a format by its name.

    Args:
        name: a name in the table.
    """
    return next(known for known in FORMATS if known.name == name)


def format_by_ending(name: str) -> Format | None:
    """Returns the format of a file name's ending, in upper or lower case; None if there is none."""
    lower = name.lower()
    return next((known for known in FORMATS if lower.endswith(known.endings)), None)


def format_of(name: str, data: bytes, wanted: str | None = None) -> Format:
    """Determines the format to read a file as.

    Args:
        name: the file's name; its ending decides if a format has it.
        data: its content, which decides for other names: files recognized as other than lines of text are refused.
        wanted: the name of a format, which takes precedence over both.

    Raises:
        DataError: there is no format of that name, or the content is of a format that the name does not indicate.
    """
    names = ", ".join(known.name for known in FORMATS)
    if wanted is not None:
        by_name = next((known for known in FORMATS if known.name == wanted), None)
        if by_name is None:
            raise DataError(f"{wanted!r} is not a known file format; known are {names}")
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

"""Office Open XML: documents (.docx), presentations (.pptx) and workbooks (.xlsx).

Tracked deletions, fields, hidden text, comments, names of sheets, formulas and numbers stay unchanged.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from attendo.errors import DataError
from attendo.formats.archive import ArchiveFile, archive_file
from attendo.formats.contents import plain
from attendo.formats.elements import Element
from attendo.formats.file import Edit, File, Languages
from attendo.formats.markup import Markup, parse_markup
from attendo.formats.office_runs import RunNames, paragraph_passages
from attendo.formats.passages import document_file
from attendo.formats.zip_parts import ZipParts

_WORD = RunNames(
    paragraphs=frozenset({"p"}),
    ignored=frozenset({"proofErr", "lastRenderedPageBreak", "softHyphen"}),
    outside=frozenset({"pPr"}),
    wrappers=frozenset({"hyperlink", "ins", "smartTag", "customXml", "moveTo", "dir", "bdo", "sdt"}),
    characters={"noBreakHyphen": "\u2011"},
    hidden=frozenset({"vanish", "webHidden"}),
    unseen=frozenset({"lang", "noProof"}),
)
_DRAWING = RunNames(
    paragraphs=frozenset({"p"}),
    outside=frozenset({"pPr", "endParaRPr"}),
    unseen=frozenset({"lang", "altLang", "dirty", "err", "smtClean", "noProof", "kumimoji", "bmk"}),
    keeps_space=False,
)
_SHEET = RunNames(paragraphs=frozenset({"si", "is"}), unseen=frozenset())
_WORD_NAMESPACE = "/wordprocessingml/"
_DRAWING_NAMESPACE = "/drawingml/"
_SHEET_NAMESPACE = "/spreadsheetml/"

_WORD_PARTS = re.compile(r"word/(?:document\d*|header\d*|footer\d*|footnotes|endnotes)\.xml")
_WORD_DRAWINGS = re.compile(r"word/(?:charts/chart|diagrams/(?:data|drawing))\d*\.xml")
_SLIDES = re.compile(r"ppt/(?:slides/slide|notesSlides/notesSlide|charts/chart|diagrams/(?:data|drawing))\d*\.xml")
_SHEET_DRAWINGS = re.compile(r"xl/(?:drawings/drawing|charts/chart)\d*\.xml")
_SHEETS = re.compile(r"xl/worksheets/[^/]+\.xml")
_TABLES = re.compile(r"xl/tables/[^/]+\.xml")
_MAIN = ("word/document.xml", "ppt/slides/slide.xml")
_STRINGS = "xl/sharedStrings.xml"
_STYLES = "word/styles.xml"

Read = Callable[[Markup, Languages], File]


def read_docx(data: bytes, languages: Languages) -> ArchiveFile:
    """Reads a document: paragraphs wherever they are, headers, footers, notes, text boxes, charts and diagrams.

    Raises:
        DataError: it is not a document, or is damaged.
    """
    archive = _archive(data, re.compile(r"word/document\d*\.xml"), ".docx", "word/document.xml")
    members = {name: _member(archive, name, languages, _read_word) for name in _names(archive, _WORD_PARTS)}
    members |= {name: _member(archive, name, languages, _read_drawing) for name in _names(archive, _WORD_DRAWINGS)}
    if _STYLES in archive.names and languages.target:
        members[_STYLES] = _member(archive, _STYLES, languages, _read_styles)
    return archive_file("docx", archive, members)


def read_pptx(data: bytes, languages: Languages) -> ArchiveFile:
    """Reads a presentation: the texts of its slides and their notes, of charts and diagrams.

    Raises:
        DataError: it is not a presentation, or is damaged.
    """
    archive = _archive(data, re.compile(r"ppt/presentation\.xml"), ".pptx", "ppt/presentation.xml")
    members = {name: _member(archive, name, languages, _read_drawing) for name in _names(archive, _SLIDES)}
    return archive_file("pptx", archive, members)


def read_xlsx(data: bytes, languages: Languages) -> ArchiveFile:
    """Reads a workbook: the texts of cells, text boxes and charts.

    Headers of tables stay, since formulas name them and the table's definition repeats them.

    Raises:
        DataError: it is not a workbook, or is damaged.
    """
    archive = _archive(data, re.compile(r"xl/workbook\.xml"), ".xlsx", "xl/workbook.xml")
    headers = frozenset(
        column.attributes.get("name", "")
        for name in _names(archive, _TABLES)
        for column in _markup(archive, name).root.descendants("tableColumn")
    )

    def read_strings(markup: Markup, languages: Languages) -> File:
        return _read_strings(markup, languages, headers)

    sheets = [name for name in _names(archive, _SHEETS) if b"inlineStr" in archive.read(name)]
    strings = [name for name in (_STRINGS, *sheets) if name in archive.names]
    members = {name: _member(archive, name, languages, read_strings) for name in strings}
    members |= {name: _member(archive, name, languages, _read_drawing) for name in _names(archive, _SHEET_DRAWINGS)}
    return archive_file("xlsx", archive, members)


def _archive(data: bytes, main: re.Pattern[str], ending: str, expected: str) -> ZipParts:
    archive = ZipParts(data)
    if not any(main.fullmatch(name) for name in archive.names):
        raise DataError(f"the document is no {ending}: it has no {expected}")
    return archive


def _names(archive: ZipParts, pattern: re.Pattern[str]) -> list[str]:
    """Returns the names of parts: those of the main text first, and each kind in order of number."""

    def place(name: str) -> tuple[bool, str, int]:
        kind, number = re.sub(r"\d+", "", name), re.search(r"\d+", name)
        return kind not in _MAIN, kind, int(number[0]) if number else 0

    return sorted((name for name in archive.names if pattern.fullmatch(name)), key=place)


def _markup(archive: ZipParts, name: str) -> Markup:
    try:
        return parse_markup(archive.read(name))
    except DataError as error:
        raise DataError(f"{name}: {error}") from error


def _member(archive: ZipParts, name: str, languages: Languages, read: Read) -> File:
    return read(_markup(archive, name), languages)


def _read_word(markup: Markup, languages: Languages) -> File:
    passages = paragraph_passages(markup, _WORD, languages, list(_paragraphs(markup, _WORD, _WORD_NAMESPACE)))
    return document_file("docx", markup.text, passages)


def _read_drawing(markup: Markup, languages: Languages) -> File:
    passages = paragraph_passages(markup, _DRAWING, languages, list(_paragraphs(markup, _DRAWING, _DRAWING_NAMESPACE)))
    return document_file("drawing", markup.text, passages)


def _read_strings(markup: Markup, languages: Languages, headers: frozenset[str]) -> File:
    found = paragraph_passages(markup, _SHEET, languages, list(_paragraphs(markup, _SHEET, _SHEET_NAMESPACE)))
    passages = [replace(passage, is_translatable=plain(passage.source) not in headers) for passage in found]
    return document_file("xlsx", markup.text, passages)


def _read_styles(markup: Markup, languages: Languages) -> File:
    """Returns the language of text that names none."""
    assert languages.target is not None
    edits: list[Edit] = []
    for element in markup.root.descendants("lang"):
        name = f"{markup.prefix(element)}val"
        if markup.raw(markup.attribute(element, name)):
            edits.append(markup.set_attribute(element, name, languages.target.replace("_", "-")))
    return document_file("docx", markup.text, (), always=edits)


def _paragraphs(markup: Markup, names: RunNames, namespace: str) -> Iterator[Element]:
    if markup.root.local in names.paragraphs and namespace in markup.root.namespace:
        yield markup.root
    for element in markup.root.descendants(*names.paragraphs):
        if namespace in element.namespace:
            yield element

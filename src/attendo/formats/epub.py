"""EPUB books: their pages, tables of contents and the metadata of their catalogue; other members stay unchanged."""

import posixpath
from urllib.parse import unquote

from attendo.errors import DataError
from attendo.formats.archive import ArchiveFile, archive_file
from attendo.formats.contents import Content, plain
from attendo.formats.elements import Element
from attendo.formats.file import Edit, File, Languages
from attendo.formats.html import decoded_html, html_file
from attendo.formats.markup import Markup, parse_markup
from attendo.formats.markup_content import Inline, content_of, style_of, written
from attendo.formats.passages import Passage, document_file
from attendo.formats.zip_parts import ZipParts

_CONTAINER = "META-INF/container.xml"
_LOCKS = "META-INF/encryption.xml"
_PAGES = ("application/xhtml+xml", "text/html")
_CONTENTS = "application/x-dtbncx+xml"
_DESCRIBED = frozenset(("title", "description", "subject"))


def read_epub(data: bytes, languages: Languages) -> ArchiveFile:
    """Reads a book.

    Raises:
        DataError: the file is not a book, is damaged, or its pages are encrypted.
    """
    archive = ZipParts(data)
    if _CONTAINER not in archive.names:
        raise DataError(f"the document is no .epub: it has no {_CONTAINER}")
    members: dict[str, File] = {}
    for catalogue in _catalogues(archive):
        markup = _markup(archive, catalogue)
        members[catalogue] = _read_catalogue(markup, languages)
        for name, kind in _items(markup.root, catalogue):
            if name not in archive.names or name in members or (kind not in _PAGES and kind != _CONTENTS):
                continue
            _check_open(archive, name)
            try:
                members[name] = _read_page(archive.read(name), languages, kind)
            except DataError as error:
                raise DataError(f"{name}: {error}") from error
    return archive_file("epub", archive, members)


def _markup(archive: ZipParts, name: str) -> Markup:
    try:
        return parse_markup(archive.read(name))
    except DataError as error:
        raise DataError(f"{name}: {error}") from error


def _catalogues(archive: ZipParts) -> list[str]:
    """Returns the names of the book's catalogues (.opf)."""
    root = _markup(archive, _CONTAINER).root
    names = [
        unquote(found.attributes.get("full-path", "")) for found in root.descendants() if found.local == "rootfile"
    ]
    found = [name for name in dict.fromkeys(names) if name in archive.names]
    if not found:
        raise DataError(f"the document is no .epub: {_CONTAINER} names no catalogue that is there")
    return found


def _items(root: Element, catalogue: str) -> list[tuple[str, str]]:
    """Returns the members that a catalogue names, with their types; pages are in reading order."""
    folder = posixpath.dirname(catalogue)
    items = {
        element.attributes.get("id", ""): (
            posixpath.normpath(posixpath.join(folder, unquote(element.attributes.get("href", "")))),
            element.attributes.get("media-type", ""),
        )
        for element in root.descendants()
        if element.local == "item"
    }
    order = [element.attributes.get("idref", "") for element in root.descendants() if element.local == "itemref"]
    return list(dict.fromkeys([*(items[name] for name in order if name in items), *items.values()]))


def _check_open(archive: ZipParts, name: str) -> None:
    """Refuses a page that is encrypted."""
    if _LOCKS not in archive.names:
        return
    for element in _markup(archive, _LOCKS).root.descendants():
        if element.local == "CipherReference" and unquote(element.attributes.get("URI", "")) == name:
            raise DataError(
                f"{name} is locked (digital rights management); only books without a lock can be translated"
            )


def _read_page(data: bytes, languages: Languages, kind: str) -> File:
    if kind == _CONTENTS:
        return _read_contents(parse_markup(data))
    return html_file(decoded_html(data), languages, is_xml=True)


def _read_contents(markup: Markup) -> File:
    """Reads the table of contents of EPUB 2."""
    labels = [
        text
        for element in markup.root.descendants()
        if element.local in ("navLabel", "docTitle")
        for text in element.elements("text")
    ]
    return document_file(
        "ncx", markup.text, [_passage(markup, text, "navLabel") for text in labels if _has_text(markup, text)]
    )


def _read_catalogue(markup: Markup, languages: Languages) -> File:
    """Reads the title, description and subjects of a book; its language is replaced by the target language."""
    passages, edits = [], []
    source: str | None = None
    for element in markup.root.descendants():
        if not element.namespace.startswith("http://purl.org/dc/elements/"):
            continue
        if element.local in _DESCRIBED and _has_text(markup, element):
            passages.append(_passage(markup, element, element.local))
        elif element.local == "language" and not element.is_empty_tag and source is None:
            source = markup.raw(element.inner).strip()
            if languages.target:
                edits.append(Edit(element.inner, languages.target.replace("_", "-")))
    declared = Languages(source=source)
    return document_file("opf", markup.text, passages, always=edits, declared=declared)


def _has_text(markup: Markup, element: Element) -> bool:
    return not element.is_empty_tag and bool(plain(content_of(markup, element, _classify)).strip())


def _passage(markup: Markup, element: Element, context: str) -> Passage:
    style = style_of(markup, element)

    def write(parts: Content) -> str:
        return written(parts, style)

    source = content_of(markup, element, _classify)
    return Passage(span=element.inner, source=source, written=write, context=context)


def _classify(element: Element) -> Inline:
    return Inline(None, element.local)

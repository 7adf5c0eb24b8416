"""Word's .docx: paragraphs wherever they are, tables, headers, footers, notes and boxes too, each with its formatting.

A paragraph is translated as HTML: text in the paragraph's most frequent formatting stands bare, what is in another is
a tag pair, what is no text a tag by itself. The translation is read back, and the paragraph is built of the very
elements it had. Every part of the archive that has no text in it stays as it is, to the byte.
"""

import re
from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from html import escape, unescape

from lxml import etree

from attendo.errors import DataError
from attendo.formats.zip_parts import ZipParts
from attendo.serving.formats.document import Languages, TranslatedUnit, Unit
from attendo.serving.formats.safe_xml import parsed, serialized

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_SPACE = "{http://www.w3.org/XML/1998/namespace}space"
_PARTS = re.compile(r"word/(?:document|header\d*|footer\d*|footnotes|endnotes)\.xml")
_MAIN = "word/document.xml"
_TOKEN = re.compile(r'<(/?)(span|img|br)(?: i="(\d+)")?>|([^<]+)')
# Elements around runs whose content is part of the sentence.
_WRAPPERS = frozenset(f"{_W}{name}" for name in ("hyperlink", "ins", "smartTag", "customXml", "moveTo", "dir", "bdo"))
_NOISE = frozenset(f"{_W}{name}" for name in ("proofErr", "lastRenderedPageBreak", "softHyphen"))
# Of a run's formatting, what differs from run to run without anybody seeing it.
_UNSEEN = frozenset(f"{_W}{name}" for name in ("lang", "noProof"))
_HARD = {f"{_W}noBreakHyphen": "\u2011"}
_SAMPLE = 4_000


@dataclass(eq=False)
class _Piece:
    """Something in a paragraph: text in some formatting, a wrapper with pieces in it, or an element that is no text."""

    text: str = ""
    style: bytes = b""
    """The formatting, as it is written; of text."""
    element: etree._Element | None = None
    """A run's formatting, the wrapper, or what is no text."""
    children: list["_Piece"] | None = None
    """Of a wrapper."""
    breaks: bool = False
    """Whether a line or a column ends there."""

    @property
    def is_text(self) -> bool:
        return self.children is None and bool(self.text)


@dataclass(eq=False)
class _Paragraph:
    """A paragraph, and what its tags stand for."""

    element: etree._Element
    base: _Piece
    """Text in the most frequent formatting."""
    written: str
    """As HTML."""
    numbered: list[_Piece]
    """By the numbers of the tags."""


@dataclass(eq=False)
class DocxDocument:
    """A document of Word."""

    archive: ZipParts
    trees: dict[str, etree._ElementTree]
    _paragraphs: list[_Paragraph] = field(default_factory=list)

    def units(self, languages: Languages) -> Sequence[Unit]:
        """A text a paragraph that has a letter."""
        del languages
        self._paragraphs = []
        for tree in self.trees.values():
            for element in tree.getroot().iter(f"{_W}p"):
                if (paragraph := _read(element)) is not None:
                    self._paragraphs.append(paragraph)
        return [Unit(text=each.written, format="html") for each in self._paragraphs]

    def source_language(self) -> str | None:
        """Word notes languages run by run, and often wrongly; they are not looked at."""
        return None

    def sample(self) -> str:
        """The beginning of the text."""
        texts = (each.text or "" for tree in self.trees.values() for each in tree.getroot().iter(f"{_W}t"))
        return " ".join(text for text, _ in zip(texts, range(400), strict=False))[:_SAMPLE]

    def written(self, translations: Sequence[TranslatedUnit], languages: Languages) -> bytes:
        """With the paragraphs' translations."""
        for paragraph, translation in zip(self._paragraphs, translations, strict=True):
            _write(paragraph, translation.text)
        for tree in self.trees.values():
            for each in tree.getroot().iter(f"{_W}lang"):
                if each.get(f"{_W}val"):
                    each.set(f"{_W}val", languages.target)
        return self.archive.with_parts({name: serialized(tree) for name, tree in self.trees.items()})


def read_docx(content: bytes) -> DocxDocument:
    """Reads a .docx file.

    Raises:
        DataError: it is none.
    """
    archive = ZipParts(content)
    if _MAIN not in archive.names:
        raise DataError("the document is no .docx: it has no word/document.xml")
    names = sorted((name for name in archive.names if _PARTS.fullmatch(name)), key=lambda name: name != _MAIN)
    return DocxDocument(archive, {name: parsed(archive.read(name)) for name in names})


def _read(element: etree._Element) -> _Paragraph | None:
    """A paragraph as HTML; None if it has no letter."""
    pieces = _merged(_pieces(element))
    letters: Counter[bytes] = Counter()
    _count(pieces, letters)
    if not letters:
        return None
    style = letters.most_common(1)[0][0]
    base = _first_of(pieces, style)
    numbered: list[_Piece] = []
    written = "".join(_html(piece, style, numbered) for piece in pieces)
    return _Paragraph(element, base, written, numbered)


def _pieces(parent: etree._Element) -> list[_Piece]:
    """What a paragraph or a wrapper consists of. A field, from its beginning to its end, is one piece."""
    found: list[_Piece] = []
    depth = 0
    for child in parent:
        if child.tag == f"{_W}pPr" or child.tag in _NOISE:
            continue
        marks = [each.get(f"{_W}fldCharType") for each in child.iter(f"{_W}fldChar")]
        if depth or marks:
            depth += marks.count("begin") - marks.count("end")
            found.append(_Piece(element=child))
        elif child.tag in _WRAPPERS:
            found.append(_Piece(element=child, children=_merged(_pieces(child))))
        elif child.tag == f"{_W}r":
            found += _pieces_of_run(child)
        else:
            found.append(_Piece(element=child))
    return found


def _pieces_of_run(run: etree._Element) -> list[_Piece]:
    """A run's text and what else it holds, each in a run of its own with the same formatting."""
    formatting = run.find(f"{_W}rPr")
    style = _style(formatting)
    found: list[_Piece] = []
    for child in run:
        if child.tag == f"{_W}rPr" or child.tag in _NOISE:
            continue
        text = (child.text or "") if child.tag == f"{_W}t" else _HARD.get(str(child.tag), "")
        if text:
            found.append(_Piece(text=text, style=style, element=formatting))
        elif child.tag != f"{_W}t":
            alone = etree.Element(f"{_W}r", nsmap=run.nsmap)
            if formatting is not None:
                alone.append(deepcopy(formatting))
            breaks = child.tag in (f"{_W}br", f"{_W}tab", f"{_W}cr", f"{_W}ptab")
            found.append(_Piece(element=child, breaks=breaks, style=etree.tostring(alone)))
    return found


def _style(formatting: etree._Element | None) -> bytes:
    if formatting is None:
        return b""
    seen = [etree.tostring(each, with_tail=False) for each in formatting if each.tag not in _UNSEEN]
    return b"".join(sorted(seen))


def _merged(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Neighbours of one formatting as one: Word cuts words in two where somebody has stopped typing."""
    found: list[_Piece] = []
    for piece in pieces:
        if piece.is_text and found and found[-1].is_text and found[-1].style == piece.style:
            found[-1] = _Piece(text=found[-1].text + piece.text, style=piece.style, element=found[-1].element)
        elif piece.is_text and not piece.text.strip() and found and found[-1].is_text:
            # White space shows little of its formatting.
            found[-1] = _Piece(text=found[-1].text + piece.text, style=found[-1].style, element=found[-1].element)
        else:
            found.append(piece)
    return found


def _count(pieces: Sequence[_Piece], letters: Counter[bytes]) -> None:
    for piece in pieces:
        if piece.children is not None:
            _count(piece.children, letters)
        elif number := sum(map(str.isalpha, piece.text)):
            letters[piece.style] += number


def _first_of(pieces: Sequence[_Piece], style: bytes) -> _Piece:
    for piece in pieces:
        if piece.children is not None:
            found = _first_of(piece.children, style)
            if found.is_text:
                return found
        elif piece.is_text and piece.style == style:
            return piece
    return _Piece()


def _html(piece: _Piece, base: bytes, numbered: list[_Piece]) -> str:
    """A piece as HTML; its number is its place in `numbered`."""
    if piece.is_text and piece.style == base:
        return escape(piece.text, quote=False)
    number = len(numbered)
    numbered.append(piece)
    if piece.is_text:
        return f'<span i="{number}">{escape(piece.text, quote=False)}</span>'
    if piece.children is not None:
        return f'<span i="{number}">{"".join(_html(each, base, numbered) for each in piece.children)}</span>'
    return f'<br i="{number}">' if piece.breaks else f'<img i="{number}">'


def _write(paragraph: _Paragraph, written: str) -> None:
    """Builds a paragraph of its translation."""
    element = paragraph.element
    properties = element.find(f"{_W}pPr")
    made = list(_built(paragraph, written))
    for child in list(element):
        if child is not properties:
            element.remove(child)
    element.extend(made)


def _built(paragraph: _Paragraph, written: str) -> list[etree._Element]:
    top: list[etree._Element] = []
    # Into which list of elements text goes, and in which formatting.
    stack: list[tuple[list[etree._Element] | etree._Element, _Piece]] = [(top, paragraph.base)]
    for match in _TOKEN.finditer(written):
        closing, name, number, text = match.groups()
        into, formatted = stack[-1]
        if text is not None:
            into.append(_run(unescape(text), formatted.element))
        elif closing:
            if len(stack) > 1:
                stack.pop()
        elif number is not None and int(number) < len(paragraph.numbered):
            piece = paragraph.numbered[int(number)]
            if name != "span":
                into.append(_alone(piece))
            elif piece.children is None:
                stack.append((into, piece))
            else:
                assert piece.element is not None
                wrapper = etree.Element(piece.element.tag, attrib=dict(piece.element.attrib), nsmap=piece.element.nsmap)
                into.append(wrapper)
                stack.append((wrapper, formatted))
    return top


def _run(text: str, formatting: etree._Element | None) -> etree._Element:
    run = etree.Element(f"{_W}r")
    if formatting is not None:
        run.append(deepcopy(formatting))
    content = etree.SubElement(run, f"{_W}t")
    content.text = text
    content.set(_SPACE, "preserve")
    return run


def _alone(piece: _Piece) -> etree._Element:
    """An element that is no text, in a run if it was in one."""
    assert piece.element is not None
    if not piece.style:
        return piece.element
    run = etree.fromstring(piece.style)
    run.append(piece.element)
    return run

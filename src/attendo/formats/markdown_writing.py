"""Writing texts as Markdown: with as few escapes as possible, in one line, and never as the beginning of a block."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from attendo.formats.contents import Code, Content, in_one_line, joined
from attendo.formats.file import Span
from attendo.formats.markdown_inline import PUNCTUATION, read_inline

_REFERENCE = re.compile(r"&(?=#[xX]?[0-9a-fA-F]{1,7};|[A-Za-z][A-Za-z0-9]{0,31};)")
_BACKSLASH = re.compile(rf"\\(?=[{re.escape(PUNCTUATION)}]|\Z)")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_SPECIAL = re.compile(r"[\\`*_\[\]<>~{}$:]")
_ESCAPED_AGAIN = frozenset("`*_[]<>~{}$|")
# Text that begins a block at the start of a line, up to the character that a backslash must precede.
_BLOCK_START = re.compile(
    r"(?:\d{1,9}(?=[.)](?:\s|\Z))|(?=#{1,6}(?:\s|\Z)|[-+*:](?:\s|\Z)|>|(?:[-*_][ \t]*){3,}\Z|=+[ \t]*\Z|:::|```|~~~"
    r"|\$\$|\[[ xX]\][ \t]|\[![\w-]+\]|\[[^\]]*\]:|\(\S*\)=|\{[:#.]|\*\[))"
)
_CLOSING_MARKS = re.compile(r"(?:(?<=\s)|\A)#(?=#*\Z)")


# Text that must not begin a line within a paragraph, since it would begin a block, a tag or a list of attributes.
_NO_LINE_START = re.compile(r"[<|:{!?=]")
_SINGLE_SPACE = re.compile(r"(?<![ \\]) (?! )")
_SHORTEST_WIDTH = 40
_LONGEST_START = 200
"""Number of characters that decide whether a line begins a block."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wrapping:
    """The line breaks of a paragraph."""

    width: int
    """Width of the longest line of the source, including marks of quotes and lists."""
    indent: int
    """Number of columns before the first line's text."""
    gap: str
    """The gap between two lines: the line end, and the marks before the next line."""

    def wrapped(self, raw: str, spaces: Sequence[int]) -> str:
        """Wraps a written text: line breaks replace some of its spaces.

        Args:
            raw: the text.
            spaces: the positions of spaces at which a line may end, in order.
        """
        width = max(self.width, _SHORTEST_WIDTH)
        margin = len(self.gap) - 1 - max(self.gap.rfind("\n"), self.gap.rfind("\r"))
        pieces, last, start = [], 0, -self.indent
        before: int | None = None
        for space in (*(place for place in spaces if not _begins_a_block(raw, place + 1)), len(raw)):
            end_of_line = max(raw.rfind("\n", last, space), raw.rfind("\r", last, space))
            if end_of_line >= 0:  # a line break of the text's own
                start, before = end_of_line + 1, before if before is not None and before > end_of_line else None
            if before is not None and space - start > width:
                pieces += [raw[last:before], self.gap]
                last, start = before + 1, before + 1 - margin
            before = space
        return "".join([*pieces, raw[last:]])


@dataclass(frozen=True, kw_only=True, slots=True)
class MarkdownStyle:
    """The style and the position of a text."""

    kind: str
    """The kind of text: `paragraph`, `heading`, `cell`, `title` or `alt`."""
    is_cell: bool
    """Whether it is in a table, where a vertical bar ends it."""
    is_line_start: bool
    """Whether the text begins its line."""
    escaped: frozenset[str]
    """Characters that the replaced text writes with a backslash."""
    spelling: Mapping[str, str]
    """Characters that the replaced text writes as entities."""
    gaps: tuple[str, ...]
    """The gaps between its lines, longer ones first: line ends, and the marks of quotes and lists around it."""
    labels: Collection[str]
    """The normalized labels of the document's links."""
    wrapping: Wrapping | None = None
    """The wrapping of its lines; None for a single line."""


def written_markdown(parts: Content, style: MarkdownStyle) -> str:
    """Writes a text as Markdown.

    The result is read back: if that does not yield the same text and codes, all special characters are escaped.
    """
    parts = _without_loose_breaks(_with_tight_emphasis(parts))
    raw = _joined(parts, style, escapes_all=False)
    ends_early = style.kind == "alt" and any("[" in part or "]" in part for part in parts if isinstance(part, str))
    is_right = not ends_early and _is_read_as(raw, parts, style)
    if not is_right:
        raw = _joined(parts, style, escapes_all=True)
    if style.wrapping is None:
        return raw
    wrapped = style.wrapping.wrapped(raw, _spaces(raw, parts, style, escapes_all=not is_right))
    return wrapped if _is_read_as(wrapped, parts, style) else raw


def _begins_a_block(raw: str, place: int) -> bool:
    """Whether a line that began at a position would begin a block."""
    line = raw[place : place + _LONGEST_START]
    return _BLOCK_START.match(line) is not None or _NO_LINE_START.match(line) is not None


def _joined(parts: Content, style: MarkdownStyle, *, escapes_all: bool) -> str:
    return "".join(_pieces(parts, style, escapes_all=escapes_all))


def _spaces(raw: str, parts: Content, style: MarkdownStyle, *, escapes_all: bool) -> list[int]:
    """Returns the positions of single spaces in a written text that are not part of a code."""
    spaces, start = [], 0
    for part, piece in zip(parts, _pieces(parts, style, escapes_all=escapes_all), strict=True):
        if isinstance(part, str):
            spaces += [start + found.start() for found in _SINGLE_SPACE.finditer(piece)]
        start += len(piece)
    return [place for place in spaces if 0 < place < len(raw) - 1]


def _pieces(parts: Content, style: MarkdownStyle, *, escapes_all: bool) -> list[str]:
    """Returns the strings and codes of a text as they are written."""
    pieces: list[str] = []
    is_line_start = style.is_line_start
    for number, part in enumerate(parts):
        if isinstance(part, Code):
            pieces.append(part.raw)
            is_line_start = _is_break(part)
            continue
        text = in_one_line(part)
        text = text.lstrip() if is_line_start else text
        raw = _escaped(text, style, escapes_all=escapes_all)
        found = _BLOCK_START.match(raw) if is_line_start else None
        if found is not None:
            raw = f"{found[0]}\\{raw[found.end() :]}"
        if style.kind == "heading" and number == len(parts) - 1:
            raw = _CLOSING_MARKS.sub(r"\\#", raw)
        pieces.append(raw)
        is_line_start = False
    return pieces


def _escaped(text: str, style: MarkdownStyle, *, escapes_all: bool) -> str:
    text = _REFERENCE.sub("&amp;", text)
    if escapes_all:
        text = _SPECIAL.sub(r"\\\g<0>", text)
    else:
        text = _TAG.sub(r"\\<", _BACKSLASH.sub(r"\\\\", text))
        for character in style.escaped & _ESCAPED_AGAIN:
            text = re.sub(rf"(?<!\\){re.escape(character)}", lambda found: f"\\{found[0]}", text)
    if style.kind == "title":
        text = text.replace('"', "&quot;")
    if style.is_cell:
        text = re.sub(r"(?<!\\)\|", r"\\|", re.sub(r"(?<=\\)\|", "&#124;", text))
    for character, entity in style.spelling.items():
        if not character.isascii():
            text = text.replace(character, entity)
    return text


def _with_tight_emphasis(parts: Content) -> Content:
    """Moves white space out of emphasis, where it would keep the marks from being recognised."""
    tight: list[str | Code] = []
    for part in parts:
        last = tight[-1] if tight else None
        if isinstance(part, str):
            if _is_emphasis(last, "open") and part[:1].isspace():
                tight.insert(-1, part[: len(part) - len(part.lstrip())])
                part = part.lstrip()
        elif _is_emphasis(part, "close"):
            if isinstance(last, str) and last[-1:].isspace():
                tight[-1] = last.rstrip()
                tight += [part, last[len(last.rstrip()) :]]
                continue
            if isinstance(last, Code) and (last.id, last.kind) == (part.id, "open"):
                tight.pop()  # nothing is emphasized
                continue
        tight.append(part)
    return joined(tight)


def _without_loose_breaks(parts: Content) -> Content:
    """Removes line breaks at the ends of a text, and those after others, which would be empty lines."""
    kept: list[str | Code] = []
    for part in parts:
        is_loose = not kept or (_is_break(kept[-1]) and isinstance(part, Code) and not part.raw.startswith("\\"))
        if _is_break(part) and is_loose:
            continue
        if isinstance(part, str) and kept and _is_break(kept[-1]) and not part.strip():
            continue
        kept.append(part)
    while kept and _is_break(kept[-1]):
        kept.pop()
    return tuple(kept)


def _is_break(part: str | Code) -> bool:
    """Whether a code is a line break."""
    return isinstance(part, Code) and part.raw.endswith(tuple("\r\n> \t")) and not part.raw.strip("\\\r\n> \t")


def _is_emphasis(part: str | Code | None, kind: str) -> bool:
    return isinstance(part, Code) and part.kind == kind and part.raw[:1] in ("*", "_", "~")


def _is_read_as(raw: str, parts: Content, style: MarkdownStyle) -> bool:
    """Whether a written text is read back as the same text."""
    lines = []
    start = 0
    plain = _without_marks(raw, style.gaps)
    for line in plain.split("\n"):
        stripped = line.strip()
        begin = start + len(line) - len(line.lstrip())
        lines.append(Span(begin, begin + len(stripped)))
        start += len(line) + 1
    found = read_inline(plain, lines, style.labels)
    again = joined([piece.text if piece.code is None else piece.code for piece in found.pieces])
    return _shown(again, style.gaps) == _shown(parts, style.gaps)


def _without_marks(raw: str, gaps: Sequence[str]) -> str:
    """Replaces the gaps between lines of a written text by line ends alone."""
    for gap in gaps:
        before = gap[: len(gap) - len(gap.lstrip(" \t"))]
        raw = raw.replace(gap, f"{before}\n")
    return raw


def _shown(parts: Content, gaps: Sequence[str]) -> list[tuple[bool, str]]:
    """Returns a text for comparison: its characters, and the codes as they are written."""
    shown = [
        (True, _without_marks(part.raw, gaps).strip(" ")) if isinstance(part, Code) else (False, in_one_line(part))
        for part in parts
    ]
    if shown and not shown[0][0]:
        shown[0] = (False, shown[0][1].lstrip())
    if shown and not shown[-1][0]:
        shown[-1] = (False, shown[-1][1].rstrip())
    return [one for one in shown if one[1]]

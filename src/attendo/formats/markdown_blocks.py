"""Markdown's blocks: the lines of paragraphs, headings, table cells and HTML, and the titles of admonitions.

markdown-it finds the blocks, as CommonMark defines them; its tokens name lines, and a token's text is the end of a
line. Additional rules cover admonitions of MkDocs, and colon fences of MyST and Docusaurus.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.ruler import RuleOptionsType
from markdown_it.rules_block import StateBlock
from markdown_it.token import Token

from attendo.formats.file import Span

BlockKind = Literal["paragraph", "heading", "cell", "html", "title"]

_LINE = re.compile(r"([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_NAMES = "note|warning|tip|important|caution|attention|hint|danger|error|seealso|admonition|info|success|topic|sidebar"
_INDENTED = re.compile(r"""(?:!!!|\?\?\?\+?|===[!+]?)[ \t]++[^"\n]*+(?:"(?P<title>[^"\n]*)"[ \t]*+)?$""")
_COLONS = re.compile(r"(:{3,})[ \t]*(?:\{(?P<directive>[\w:-]+)\}|(?P<name>[A-Za-z][\w-]*))?(?P<rest>.*)$")
_ADMONITION = re.compile(rf"(?:{_NAMES})", re.I)
_FENCED = re.compile(rf"[`~]{{3,}}[ \t]*\{{(?:{_NAMES})\}}[ \t]*(?P<title>[^`\n]*)$", re.I)
_NOT_TEXT = frozenset(
    ("code", "code-block", "code-cell", "sourcecode", "math", "toctree", "literalinclude", "mermaid", "eval-rst", "raw")
)
_OPTION = re.compile(r"[ \t]*:[\w-]+:(?:[ \t].*)?$")
_CELL_REST = re.compile(r"(?:[^|\\]|\\.|\\\Z)*")
_AFTER_QUOTE = re.compile(r"[ \t>]*")


@dataclass(frozen=True, slots=True)
class Block:
    """A block that has text."""

    kind: BlockKind
    lines: tuple[Span, ...]
    """The span of each line's text, without white space around it; the whole of HTML."""


def markdown_blocks(text: str, span: Span) -> Iterator[Block]:
    """Reads the blocks of a document in any order.

    Args:
        text: the document.
        span: the Markdown in it, which is everything after the front matter.
    """
    lines = [
        Span(found.start(1), found.end(1))
        for found in _LINE.finditer(text, span.start, span.stop)
        if found[0] or found.start() < span.stop
    ]
    waiting = [(0, [text[line.start : line.stop] for line in lines])]
    parser = _parser()
    while waiting:
        first, source = waiting.pop()
        tokens: list[Token] = []
        parser.block.parse("\n".join(source).replace("\0", "\ufffd"), parser, {}, tokens)
        # With the parser's replacement character for NUL, so that its texts are found.
        reader = _TokenReader(text.replace("\0", "\ufffd"), lines[first:])
        yield from reader.blocks(tokens)
        waiting += [(first + number, inner) for number, inner in reader.directives]


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 64}).enable("table")
    # Without this rule link definitions are paragraphs, in which their titles can be found.
    parser.disable("reference")
    interrupted: RuleOptionsType = {"alt": ["paragraph", "reference", "blockquote", "list"]}
    parser.block.ruler.before("fence", "indented_admonition", _indented_admonition, interrupted)
    parser.block.ruler.before("fence", "colon_fence", _colon_fence, interrupted)
    return parser


def _indented_admonition(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """A rule for `!!! note "Title"` of MkDocs, whose content is indented by four columns."""
    if state.is_code_block(start_line):
        return False
    line = state.src[state.bMarks[start_line] + state.tShift[start_line] : state.eMarks[start_line]]
    if not line.startswith(("!!!", "???", "===")) or _INDENTED.match(line) is None:
        return False
    indent = state.sCount[start_line] + 4
    last = start_line + 1
    while last < end_line and (state.isEmpty(last) or state.sCount[last] >= indent):
        last += 1
    if all(state.isEmpty(line_number) for line_number in range(start_line + 1, last)):
        return False  # an exclamation, and no admonition without content
    if silent:
        return True
    _push(state, "admonition", start_line)
    before = state.blkIndent, state.lineMax
    state.blkIndent, state.lineMax = indent, last
    state.level += 1
    state.md.block.tokenize(state, start_line + 1, last)
    state.level -= 1
    state.blkIndent, state.lineMax = before
    state.line = last
    return True


def _colon_fence(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    """A rule for lines that begin with `:::`; between them are ordinary blocks, or code."""
    if state.is_code_block(start_line):
        return False
    line = state.src[state.bMarks[start_line] + state.tShift[start_line] : state.eMarks[start_line]]
    found = _COLONS.match(line)
    if found is None:
        return False
    if silent:
        return True
    _push(state, "colon_fence", start_line)
    state.line = start_line + 1
    if found["directive"] is None or found["directive"].lower() not in _NOT_TEXT:
        return True
    while state.line < end_line:
        last = state.src[state.bMarks[state.line] + state.tShift[state.line] : state.eMarks[state.line]]
        state.line += 1
        if last.rstrip() == found[1]:
            break
    return True


def _push(state: StateBlock, name: str, line: int) -> None:
    state.push(name, "", 0).map = [line, line + 1]


class _TokenReader:
    """Finds the text of tokens in their lines.

    Args:
        text: the document.
        lines: its lines.
    """

    def __init__(self, text: str, lines: Sequence[Span]) -> None:
        self._text, self._lines = text, lines
        self.directives: list[tuple[int, list[str]]] = []
        """Fences whose content is Markdown: the number of the content's first line, and its lines."""

    def blocks(self, tokens: Sequence[Token]) -> Iterator[Block]:
        """Yields the blocks of tokens."""
        row, column = -1, 0
        for before, token in zip([None, *tokens], tokens, strict=False):
            if token.map is None:
                continue
            first = token.map[0]
            if token.type == "inline" and before is not None:
                if before.type in ("th_open", "td_open"):
                    column = column if first == row else self._lines[first].start
                    row = first
                    cell, column = self._cell(first, token.content, column)
                    yield Block("cell", (cell,))
                elif before.type == "heading_open" and before.markup.startswith("#"):
                    yield Block("heading", self._heading(first, token.content))
                else:
                    yield Block("paragraph", self._paragraph(first, token.content))
            elif token.type == "html_block":
                yield from self._html(first, token.map[1])
            elif token.type == "fence":
                yield from self._fence(first, token)
            elif token.type in ("admonition", "colon_fence"):
                yield from self._title(first, _INDENTED if token.type == "admonition" else _COLONS)

    def _raw(self, number: int) -> str:
        line = self._lines[number]
        return self._text[line.start : line.stop]

    def _paragraph(self, first: int, content: str) -> tuple[Span, ...]:
        """Returns the spans of a paragraph's lines; the text of each is the end of its line."""
        spans = []
        for number, line in enumerate(content.split("\n"), first):
            stop = self._lines[number].start + len(self._raw(number).rstrip())
            spans.append(Span(stop - len(line.strip()), stop))
        return tuple(spans)

    def _heading(self, number: int, content: str) -> tuple[Span, ...]:
        raw = self._raw(number)
        start = raw.find(content, raw.find("#"))
        at = self._lines[number].start + max(start, 0)
        return (Span(at, at + len(content)),) if content and start >= 0 else ()

    def _cell(self, number: int, content: str, column: int) -> tuple[Span, int]:
        """Returns the span of a cell's text, and the start of the next cell."""
        line = self._lines[number]
        if column == line.start:
            found = _AFTER_QUOTE.match(self._text, column, line.stop)
            column = column if found is None else found.end()
            column += self._text.startswith("|", column)
        raw = content.replace("|", "\\|")
        start = self._text.find(raw, column, line.stop)
        if not raw or start < 0:
            start, raw = column, ""
        end = _CELL_REST.match(self._text, start + len(raw), line.stop)
        assert end is not None
        return Span(start, start + len(raw)), min(end.end() + 1, line.stop)

    def _html(self, first: int, behind: int) -> Iterator[Block]:
        """Yields a block of HTML; within quotes, whose lines begin with a mark, it stays unchanged."""
        start, stop = self._lines[first].start, self._lines[min(behind, len(self._lines)) - 1].stop
        if not any(self._raw(number).lstrip().startswith(">") for number in range(first, behind)):
            yield Block("html", (Span(start, stop),))

    def _fence(self, first: int, token: Token) -> Iterator[Block]:
        """Reads the title of a directive that contains Markdown; other fences are code."""
        info = f"{token.markup}{token.info}"
        if _FENCED.match(info) is None:
            return
        yield from self._title(first, _FENCED)
        content = token.content.split("\n")
        for number, line in enumerate(content):
            if not _OPTION.match(line):
                break
            content[number] = ""
        self.directives.append((first + 1, content))

    def _title(self, number: int, pattern: re.Pattern[str]) -> Iterator[Block]:
        """Reads the title on the first line of an admonition."""
        raw = self._raw(number)
        begin = next((at for at, mark in enumerate(raw) if mark in ":!?=`~"), len(raw))
        found = pattern.match(raw, begin)
        if found is None:
            return
        title, start = found["title"] if pattern is not _COLONS else "", 0
        if pattern is not _COLONS:
            start = found.start("title")
        elif _ADMONITION.fullmatch(found["directive"] or found["name"] or ""):
            title, start = found["rest"], found.start("rest")
            if (bracket := re.match(r"\[([^\]]*)\]", title)) is not None:
                title, start = bracket[1], start + 1
        if title and title.strip():
            at = self._lines[number].start + start + len(title) - len(title.lstrip())
            yield Block("title", (Span(at, at + len(title.strip())),))

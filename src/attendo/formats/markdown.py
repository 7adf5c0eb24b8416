"""Markdown: paragraphs, headings, list items, table cells, titles and descriptions, and keys of the front matter.

A paragraph is a unit, however it is wrapped, and is wrapped at a like width when it is written. Code, definitions of
links, HTML's tags and everything that markup consists of keep their bytes.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from html import unescape
from itertools import pairwise

from attendo.formats.contents import Content, content, in_one_line, plain
from attendo.formats.encoded import EncodedText, decoded
from attendo.formats.file import File, Languages, Span
from attendo.formats.html_passages import HtmlReader, spelling_of
from attendo.formats.markdown_blocks import Block, markdown_blocks
from attendo.formats.markdown_inline import normalized_label, read_inline
from attendo.formats.markdown_writing import MarkdownStyle, Wrapping, written_markdown
from attendo.formats.passages import Passage, document_file, passage_of
from attendo.formats.rails_yaml import is_text, scalar_writer
from attendo.formats.yaml_values import yaml_scalars

FRONT_MATTER_KEYS = frozenset(
    """title description summary subtitle excerpt abstract lead intro tagline headline heading caption text details
    alt image_alt linktitle nav_title menu_title short_title shorttitle sidebar_label sidebar_title
    pagination_label""".split()  # noqa: SIM905
)
"""The keys of a front matter whose values are translated, in lower case."""
_FRONT_MATTER = re.compile(r"\A---[ \t]*(?:\r\n|\r|\n)(?P<yaml>.*?)^(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)", re.S | re.M)
_TOML = re.compile(r"\A\+\+\+[ \t]*(?:\r\n|\r|\n).*?^\+\+\+[ \t]*(?:\r\n|\r|\n|\Z)", re.S | re.M)
_TITLE = r"""(?P<title>"(?:[^"\\]|\\.)+"|'(?:[^'\\]|\\.)+'|\((?:[^()\\]|\\.)+\))"""
_DEFINITION = re.compile(rf"\[(?!\^)(?P<label>(?:[^\[\]\\]|\\.)+)\]:[ \t]*(?:<[^<>]*>|[^\s<]\S*)?(?:[ \t]+{_TITLE})?\Z")
_TITLE_LINE = re.compile(_TITLE + r"\Z")
_LABELED = re.compile(r"\[\^[^\]\s]+\]:[ \t]*|\*\[[^\]]+\]:[ \t]*|:[ \t]+")
_FIRST = re.compile(r"\[![\w-]+\][+-]?[ \t]*|\[[ xX]\][ \t]+")
_SKIPPED = re.compile(
    r"""\{[:#.][^{}]*\}|\[TOC\]|\[\[_?TOC_?\]\]|\([\w-]+\)=|-+8<-+.*|
    :(?:class|name|open|icon|width|align|alt|height|figwidth|scale|target|label|caption|filename|sync|selected|columns
    |gutter|margin|padding|header|color|lineno-start|emphasize-lines|number-lines|enumerated):(?:[ \t].*)?""",
    re.X | re.I,
)
_MAX_COLUMN = 400
_MAX_GAPS = 16
"""Maximum number of different gaps between a paragraph's lines; with more, its lines may be joined on writing."""
_MAX_DEPTH = 3
"""Maximum nesting of pictures within descriptions of pictures; deeper ones are not translated."""
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def read_markdown(data: bytes, languages: Languages) -> File:
    """Reads Markdown.

    Raises:
        DataError: the file is not in UTF-8 nor in the encoding of its byte order mark, or its front matter is invalid.
    """
    text = decoded(data)
    passages, start = _front_matter(text)
    blocks = list(markdown_blocks(text.text, Span(start, len(text.text))))
    labels = _labels(text.text, blocks)
    html = HtmlReader(text, languages)
    for block in blocks:
        if block.kind == "html":
            html.read(block.lines[0])
            continue
        for lines, title in _runs(text.text, block):
            passages += _text_passages(text, lines, block.kind, labels, is_cell=block.kind == "cell")
            passages += [] if title is None else [_title_passage(text.text, title)]
    return document_file("markdown", text, [*passages, *html.passages], always=html.edits)


def _front_matter(text: EncodedText) -> tuple[list[Passage], int]:
    """Reads the texts of a front matter; returns them with the start of the Markdown."""
    if (toml := _TOML.match(text.text)) is not None:
        return [], toml.end()
    found = _FRONT_MATTER.match(text.text)
    if found is None:
        return [], 0
    scalars = yaml_scalars(text, Span(found.start("yaml"), found.end("yaml")))
    if any(not scalar.path for scalar in scalars):
        return [], 0  # text between two rules
    passages = []
    for scalar in scalars:
        name = next((key for key in reversed(scalar.path) if not key.isdigit()), "")
        if name.lower() in FRONT_MATTER_KEYS and is_text(scalar):
            write = scalar_writer(text, scalar)
            passages.append(Passage(span=scalar.span, source=content(scalar.text), written=write, context=name))
    return passages, found.end()


def _labels(text: str, blocks: Iterable[Block]) -> frozenset[str]:
    """Returns the link labels that the document defines."""
    lines = (line for block in blocks if block.kind == "paragraph" for line in block.lines)
    found = (_DEFINITION.match(text[line.start : line.stop]) for line in lines)
    return frozenset(normalized_label(match["label"]) for match in found if match is not None)


def _runs(text: str, block: Block) -> Iterator[tuple[tuple[Span, ...], Span | None]]:
    """Yields the texts of a block, each as its lines, and the titles of link definitions with their quotation marks."""
    if block.kind != "paragraph":
        yield block.lines, None
        return
    raw_lines = [text[line.start : line.stop] for line in block.lines]
    if raw_lines[0].startswith("$$") and any(line.endswith("$$") for line in [raw_lines[0][2:], *raw_lines[1:]]):
        return  # a formula
    run: list[Span] = []
    is_defined = False
    for number, (line, raw) in enumerate(zip(block.lines, raw_lines, strict=True)):
        definition = None if run else _DEFINITION.match(raw) or (_TITLE_LINE.match(raw) if is_defined else None)
        if definition is not None:
            is_defined = "label" in definition.groupdict() and not definition["title"]
            if definition["title"]:
                yield (), Span(line.start + definition.start("title"), line.start + definition.end("title"))
            continue
        is_defined = False
        prefix = _LABELED.match(raw) or (_FIRST.match(raw) if number == 0 else None)
        if prefix is not None or _SKIPPED.fullmatch(raw):
            yield tuple(run), None
            run = [] if prefix is None else [Span(line.start + prefix.end(), line.stop)]
        else:
            run.append(line)
    yield tuple(run), None


def _text_passages(
    text: EncodedText, lines: Sequence[Span], kind: str, labels: Collection[str], *, is_cell: bool, depth: int = 0
) -> Iterator[Passage]:
    """Yields a text as a passage, then the passages in its codes: descriptions of pictures and titles of links."""
    lines = [line for line in lines if line.start < line.stop]
    if not lines:
        return
    found = read_inline(text.text, lines, labels)
    raw = text.text[lines[0].start : lines[-1].stop]
    style = MarkdownStyle(
        kind=kind,
        is_cell=is_cell,
        is_line_start=False,
        escaped=found.escaped,
        spelling=spelling_of(raw),
        gaps=_gaps(text.text, lines),
        labels=labels,
    )
    if kind == "paragraph":
        style = replace(style, wrapping=_wrapping(text.text, lines))
    passage = passage_of(found.pieces, _writer(style), context=kind)
    if passage is not None:
        at_start = kind == "paragraph" and passage.span.start == lines[0].start
        yield replace(passage, written=_writer(replace(style, is_line_start=at_start)))
    for title in found.titles:
        yield _title_passage(text.text, title)
    for description in found.descriptions if depth < _MAX_DEPTH else ():
        yield from _text_passages(text, description, "alt", labels, is_cell=is_cell, depth=depth + 1)


def _gaps(text: str, lines: Sequence[Span]) -> tuple[str, ...]:
    """Returns the most frequent gaps between the lines of a text, longer ones first."""
    counts = Counter(text[line.stop : after.start] for line, after in pairwise(lines))
    return tuple(sorted((gap for gap, _ in counts.most_common(_MAX_GAPS)), key=len, reverse=True))


def _wrapping(text: str, lines: Sequence[Span]) -> Wrapping | None:
    """Returns how a paragraph's lines are wrapped; None if all but the last end in hard breaks."""
    gaps = [
        text[line.stop : after.start]
        for line, after in pairwise(lines)
        if not text.startswith("  ", line.stop) and not text.startswith("\\", line.stop - 1)
    ]
    if not gaps:
        return None
    columns = [_column(text, line) for line in lines]
    return Wrapping(
        width=max(column + line.stop - line.start for column, line in zip(columns, lines, strict=True)),
        indent=columns[0],
        gap=gaps[0].lstrip(" \t"),
    )


def _column(text: str, line: Span) -> int:
    """Returns the number of characters before a text on its line."""
    before = text[max(0, line.start - _MAX_COLUMN) : line.start]
    return len(before) - 1 - max(before.rfind("\n"), before.rfind("\r"))


def _writer(style: MarkdownStyle) -> Callable[[Content], str]:
    return lambda parts: written_markdown(parts, style)


def _title_passage(text: str, span: Span) -> Passage:
    """Makes a passage of a link's title; `span` includes the quotation marks."""
    closing = text[span.stop - 1]
    inner = Span(span.start + 1, span.stop - 1)
    source = unescape(_ESCAPE.sub(r"\1", text[inner.start : inner.stop]))
    marks = {'"': '"', "'": "'", ")": "()"}[closing]

    def written(parts: Content) -> str:
        raw = in_one_line(plain(parts)).replace("\\", "\\\\")
        raw = re.sub(r"&(?=[#\w]+;)", "&amp;", raw)
        return "".join(f"\\{character}" if character in marks else character for character in raw)

    return Passage(span=inner, source=content(source), written=written, context="title")

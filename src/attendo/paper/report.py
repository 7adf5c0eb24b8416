"""The report of a result: text for a terminal, and a page to share as a single HTML file or Markdown with pictures."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from attendo.files import write_bytes, write_json, write_text
from attendo.text_tables import aligned_table

_LONG = 40
"""Number of characters above which a cell of words may wrap."""


@dataclass(frozen=True, kw_only=True)
class Paragraph:
    """A paragraph of text."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Shell:
    """Shell commands, one per line."""

    lines: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table with a heading for each column."""

    caption: str = ""
    """The caption; empty if the page's text supplies it."""
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int
    """Number of columns at the left that hold words; the others hold figures."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture, shown on pages but not in a terminal."""

    name: str
    """File name, such as `differences.png`."""
    png: bytes
    alt: str
    caption: str
    svg: str = ""
    """The same picture as SVG, which pages show instead, in a file beside the PNG; empty if there is none."""

    @property
    def svg_name(self) -> str:
        """File name of the SVG."""
        return f"{Path(self.name).stem}.svg"


Block = Paragraph | Shell | Table | Picture


@dataclass(frozen=True, kw_only=True)
class Section:
    """A title and the blocks below it."""

    title: str
    blocks: tuple[Block, ...]


def paragraphs(*texts: str) -> tuple[Paragraph, ...]:
    """Returns one paragraph for each text."""
    return tuple(Paragraph(text=text) for text in texts)


@dataclass(frozen=True, kw_only=True)
class Report:
    """The results of one table, figure or study."""

    title: str
    introduction: tuple[str, ...]
    """Paragraphs before the first section."""
    sections: tuple[Section, ...]
    data: Mapping[str, Any]
    """All figures, for `result.json`."""

    def to_text(self) -> str:
        """Returns the report for a terminal, without pictures."""
        parts = [self.title, *self.introduction]
        for section in self.sections:
            shown = [_as_text(block) for block in section.blocks if not isinstance(block, Picture)]
            parts += [f"{section.title}\n{'-' * len(section.title)}", *shown] if shown else []
        return "\n\n".join(parts)

    def to_markdown(self) -> str:
        """Returns the report as Markdown that refers to the pictures as files beside it."""
        parts = [f"# {_plain(self.title)}", *map(_plain, self.introduction)]
        for section in self.sections:
            parts += [f"## {_plain(section.title)}", *map(_as_markdown, section.blocks)]
        return "\n\n".join(parts) + "\n"

    def to_html(self) -> str:
        """Returns the report as an HTML page that needs no other file."""
        page, style = (_packaged(name) for name in ("report.html", "report.css"))
        sections = (
            f"<section>\n<h2>{escape(section.title)}</h2>\n{''.join(map(_as_html, section.blocks))}</section>\n"
            for section in self.sections
        )
        return Template(page).substitute(
            title=escape(self.title),
            style=style,
            introduction="".join(f"<p>{escape(text)}</p>\n" for text in self.introduction),
            sections="".join(sections),
        )


def _packaged(name: str) -> str:
    return files("attendo.paper").joinpath(name).read_text(encoding="utf-8")


def write_report(folder: Path, report: Report) -> None:
    """Writes `index.html`, `index.md` with its pictures, and `result.json`, each file atomically.

    Raises:
        OSError: the folder cannot be written to.
    """
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Picture):
                write_bytes(folder / block.name, block.png)
                if block.svg:
                    write_text(folder / block.svg_name, block.svg)
    write_json(folder / "result.json", report.data)
    write_text(folder / "index.md", report.to_markdown())
    write_text(folder / "index.html", report.to_html())


def _as_text(block: Paragraph | Shell | Table) -> str:
    match block:
        case Paragraph():
            return block.text
        case Shell():
            return "\n".join(f"  {line}" for line in block.lines)
        case Table():
            return aligned_table(block.caption, block.columns, block.rows, words=block.words)


def _as_markdown(block: Block) -> str:
    match block:
        case Paragraph():
            return _plain(block.text)
        case Shell():
            return "\n".join(["```sh", *block.lines, "```"])
        case Table():
            rule = ["---" if column < block.words else "---:" for column in range(len(block.columns))]
            rows = [_markdown_row(row) for row in (block.columns, rule, *block.rows)]
            return "\n".join([f"{_plain(block.caption)}\n", *rows])
        case Picture():
            shown = block.svg_name if block.svg else block.name
            return f"![{_plain(block.alt)}]({shown})\n\n*{_plain(block.caption)}*"


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_plain(cell) for cell in cells)} |"


def _plain(text: str) -> str:
    """Escapes the characters that have a meaning in Markdown, such as the underscores of names."""
    return "".join(f"\\{character}" if character in "\\|_*`<>[]" else character for character in text)


def _as_html(block: Block) -> str:
    match block:
        case Paragraph():
            return f"<p>{escape(block.text)}</p>\n"
        case Shell():
            return f"<pre><code>{escape(chr(10).join(block.lines))}</code></pre>\n"
        case Table():
            head = "".join(_cell("th", text, column < block.words) for column, text in enumerate(block.columns))
            rows = "".join(
                f"<tr>{''.join(_cell('td', text, column < block.words) for column, text in enumerate(row))}</tr>\n"
                for row in block.rows
            )
            return (
                f'<div class="scroll" tabindex="0"><table>\n<caption>{escape(block.caption)}</caption>\n'
                f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
            )
        case Picture():
            return (
                f'<figure><img {_image(block)} alt="{escape(block.alt)}">\n'
                f"<figcaption>{escape(block.caption)}</figcaption></figure>\n"
            )


def _image(picture: Picture) -> str:
    """The attributes of an `img` tag that embed the picture; an SVG keeps its own width, up to the page's width."""
    if picture.svg:
        encoded = base64.b64encode(picture.svg.encode()).decode("ascii")
        return f'class="drawing" src="data:image/svg+xml;base64,{encoded}"'
    return f'src="data:image/png;base64,{base64.b64encode(picture.png).decode("ascii")}"'


def _cell(tag: str, text: str, is_word: bool) -> str:
    kind = "" if is_word else ' class="figure"'
    if is_word and len(text) > _LONG:
        kind = ' class="text"'
    scope = ' scope="col"' if tag == "th" else ""
    return f"<{tag}{scope}{kind}>{escape(text)}</{tag}>"

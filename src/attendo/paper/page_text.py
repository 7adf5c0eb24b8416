"""The text of a page: a Markdown file beside the code that fills it, with `$names` for the values from the code.

The part before the first heading is the introduction. `## Title` begins a section, and `# name` a note, which only some
pages use. Blank lines separate the parts of a section:

    Trained on $corpora.                         a paragraph, whose lines are joined
    $verdicts                                    the value of that name: a text, a block, several of them, or none
    : Mean over seeds.                           a table with its caption
    $table
    : Each run.                                  a table of the given rows: the last line is the template of a row
    $runs
    | row | PPL |
    | --- | ---: |
    | {row} | {perplexity:.2f} |
    ![Differences, in words](differences.png)    a picture with its caption; the PNG is the value `differences`
    The sizes differ.
    ```sh                                        a command
    $command
    ```

In a cell `{row}` is an attribute of the row, a key of a mapping or an index of a tuple, and `{row.name}` is looked up
in that value in the same way; None leaves the slot empty. A format may follow after a colon; `.0p` shows a percentage
without the sign. Columns of words have `---` below their names, columns of figures `---:`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib.resources import files
from string import Template
from typing import Any

from attendo.paper.report import Block, Paragraph, Picture, Section, Shell, Table

_SLOT = re.compile(r"\$(?P<name>\w+)")
_TABLE = re.compile(
    r": (?P<caption>.+) \$(?P<name>\w+)(?:\n\|(?P<columns>.+)\|\n\|(?P<rule>[-:| ]+)\|\n\|(?P<cells>.+)\|)?"
)
_IN_A_CELL = re.compile(r"\{(?P<path>[^{}:]+)(?::(?P<form>[^}]+))?\}")
_PICTURE = re.compile(r"!\[(?P<alt>.+)\]\((?P<name>[\w-]+)\.png\) (?P<caption>.+)")
_SHELL = re.compile(r"```sh (?P<line>.+) ```")


@dataclass(frozen=True, kw_only=True)
class Words:
    """The text of a page after filling."""

    introduction: tuple[str, ...]
    """Paragraphs before the first section."""
    sections: tuple[Section, ...]


@dataclass(frozen=True)
class PageText:
    """The text of a page before filling."""

    parts: Mapping[str, tuple[str, ...]]
    """Parts by heading, those of the introduction by ""; each part on one line, except for the rows of tables."""

    @property
    def titles(self) -> tuple[str, ...]:
        """The titles of the sections, before filling."""
        return tuple(heading[3:] for heading in self.parts if heading.startswith("## "))

    def fill(self, **values: object) -> Words:
        """Fills the whole page.

        Args:
            values: values of the text's names: a string or number, a block or several, the bytes of a PNG. A section
                with None for one of its tables, pictures or slots is omitted.
        """
        return Words(introduction=self.introduction(**values), sections=self.sections(**values))

    def introduction(self, **values: object) -> tuple[str, ...]:
        """Fills the paragraphs before the first section."""
        blocks = [block for part in self.parts[""] for block in _blocks(part, values) or ()]
        return tuple(block.text for block in blocks if isinstance(block, Paragraph))

    def sections(self, *titles: str, **values: object) -> tuple[Section, ...]:
        """Fills the sections with the given titles, as they are written in the file; all sections if none is given."""
        sections = []
        for title in titles or self.titles:
            parts = [_blocks(part, values) for part in self.parts[f"## {title}"]]
            if None not in parts:
                blocks = tuple(block for part in parts for block in part or ())
                sections.append(Section(title=Template(title).substitute(values), blocks=blocks))
        return tuple(sections)

    def note(self, name: str, /, **values: object) -> str:
        """Fills a note and returns it as one text, which can be a value of other parts."""
        return " ".join(Template(part).substitute(values) for part in self.parts[f"# {name}"])

    def blocks(self, name: str, /, **values: object) -> tuple[Block, ...]:
        """Fills a note and returns its blocks, such as paragraphs and tables."""
        return tuple(block for part in self.parts[f"# {name}"] for block in _blocks(part, values) or ())


def page_text(name: str) -> PageText:
    """Reads the text of a page.

    Args:
        name: path of the file, relative to the folder of this module.
    """
    parts: dict[str, tuple[str, ...]] = {"": ()}
    heading = ""
    for block in files("attendo.paper").joinpath(name).read_text(encoding="utf-8").split("\n\n"):
        part = re.sub(r"\n(?!\|)", " ", block.strip())
        if part.startswith(("# ", "## ")):
            heading = part
            parts[heading] = ()
        else:
            parts[heading] += (part,)
    return PageText(parts)


def _blocks(part: str, values: Mapping[str, object]) -> tuple[Block, ...] | None:
    """The blocks of a part; None if a value is None, in which case the section is omitted."""
    if slot := _SLOT.fullmatch(part):
        return _given(values[slot["name"]])
    if table := _TABLE.fullmatch(part):
        caption, given = Template(table["caption"]).substitute(values), values[table["name"]]
        if table["cells"] and isinstance(given, Iterable) and not isinstance(given, str):
            return (_table(table, given, caption, values),)
        tables = _given(given)
        return tables and tuple(replace(block, caption=caption) for block in tables if isinstance(block, Table))
    if picture := _PICTURE.fullmatch(part):
        png = values[picture["name"].replace("-", "_")]
        alt, caption = (Template(picture[name]).substitute(values) for name in ("alt", "caption"))
        name = f"{picture['name']}.png"
        return (Picture(name=name, png=png, alt=alt, caption=caption),) if isinstance(png, bytes) else None
    if shell := _SHELL.fullmatch(part):
        return (Shell(lines=(Template(shell["line"]).substitute(values),)),)
    return (Paragraph(text=Template(part).substitute(values)),)


def _table(table: re.Match[str], rows: Iterable[Any], caption: str, values: Mapping[str, object]) -> Table:
    """A table with one line for each given row."""
    columns, rule, cells = (
        tuple(Template(cell.strip()).substitute(values) for cell in table[line].split("|"))
        for line in ("columns", "rule", "cells")
    )
    return Table(
        caption=caption,
        columns=columns,
        rows=tuple(tuple(_IN_A_CELL.sub(partial(_filled, row), cell) for cell in cells) for row in rows),
        words=sum(not side.endswith(":") for side in rule),
    )


def _filled(row: Any, slot: re.Match[str]) -> str:
    """The formatted value of a cell's slot for a row."""
    value, form = row, slot["form"] or ""
    for name in slot["path"].split("."):
        if isinstance(value, Mapping):
            value = value[name]
        elif value is not None:
            value = value[int(name)] if name.isdigit() else getattr(value, name)
    if value is None:
        return ""
    return f"{100 * value:{form[:-1]}f}" if form.endswith("p") else format(value, form)


def _given(value: object) -> tuple[Block, ...] | None:
    """The blocks of a value: a text becomes a paragraph, an empty text no block; None for None."""
    match value:
        case None:
            return None
        case str():
            return (Paragraph(text=value),) if value else ()
        case Paragraph() | Shell() | Table() | Picture():
            return (value,)
        case Iterable():
            return tuple(block for item in value for block in _given(item) or ())
        case _:
            raise TypeError(f"{value!r} is no block of a page")

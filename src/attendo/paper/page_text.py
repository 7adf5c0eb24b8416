"""The words of a page: Markdown beside the code that fills it, with `$names` where the code has something to put.

What stands before the first heading is the introduction; `## Title` begins a section, and `# name` a note, which is for
some pages alone. Their parts stand between blank lines:

    Trained on $corpora.                         a paragraph, whose lines are joined
    $verdicts                                    what is given by that name: a text, a block, several of them, or none
    : Mean over seeds.                           a table with its caption
    $table
    : Each run.                                  the same of rows that are given: what each cell has of a row
    $runs
    | row | PPL |
    | --- | ---: |
    | {row} | {perplexity:.2f} |
    ![Differences, in words](differences.png)    a picture with its caption, from the PNG that is given as `differences`
    The sizes differ.
    ```sh                                        a command
    $command
    ```

In a cell `{row}` is an attribute of the row, an item of a mapping, or by its number a part of a tuple, and `{row.name}`
one of that; None leaves nothing. Behind the colon stands the format; `.0p` is in percent, without the sign. Columns of
words have `---` below their names, those of figures `---:`.
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
    """What a page says."""

    introduction: tuple[str, ...]
    """Paragraphs."""
    sections: tuple[Section, ...]


@dataclass(frozen=True)
class PageText:
    """The words of a page before they are filled in."""

    parts: Mapping[str, tuple[str, ...]]
    """By heading, and by "" those of the introduction; each on one line."""

    @property
    def titles(self) -> tuple[str, ...]:
        """Those of the sections, before they are filled in."""
        return tuple(heading[3:] for heading in self.parts if heading.startswith("## "))

    def fill(self, **values: object) -> Words:
        """The whole page.

        Args:
            values: by the text's names: a string or number, a block or several, the bytes of a PNG. A section that is
                given None for one of its tables, pictures or slots is left out.
        """
        return Words(introduction=self.introduction(**values), sections=self.sections(**values))

    def introduction(self, **values: object) -> tuple[str, ...]:
        """The paragraphs before the first section."""
        blocks = [block for part in self.parts[""] for block in _blocks(part, values) or ()]
        return tuple(block.text for block in blocks if isinstance(block, Paragraph))

    def sections(self, *titles: str, **values: object) -> tuple[Section, ...]:
        """The sections of some titles, as the file has them; all sections where none is named."""
        found = []
        for title in titles or self.titles:
            parts = [_blocks(part, values) for part in self.parts[f"## {title}"]]
            if None not in parts:
                blocks = tuple(block for part in parts for block in part or ())
                found.append(Section(title=Template(title).substitute(values), blocks=blocks))
        return tuple(found)

    def note(self, name: str, /, **values: object) -> str:
        """A text for some pages alone, to be given to other parts as a value."""
        return " ".join(Template(part).substitute(values) for part in self.parts[f"# {name}"])

    def blocks(self, name: str, /, **values: object) -> tuple[Block, ...]:
        """The paragraphs and tables of a note."""
        return tuple(block for part in self.parts[f"# {name}"] for block in _blocks(part, values) or ())


def page_text(name: str) -> PageText:
    """Reads the words of a page.

    Args:
        name: the file, below the folder of this module.
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
    """What a part comes to; None where it has nothing to show, so that its section is left out."""
    if slot := _SLOT.fullmatch(part):
        return _given(values[slot["name"]])
    if table := _TABLE.fullmatch(part):
        caption, given = Template(table["caption"]).substitute(values), values[table["name"]]
        if table["cells"] and isinstance(given, Iterable) and not isinstance(given, str):
            return (_table(table, given, caption, values),)
        tables = _given(given)
        return tables and tuple(replace(one, caption=caption) for one in tables if isinstance(one, Table))
    if picture := _PICTURE.fullmatch(part):
        png = values[picture["name"].replace("-", "_")]
        alt, caption = (Template(picture[name]).substitute(values) for name in ("alt", "caption"))
        name = f"{picture['name']}.png"
        return (Picture(name=name, png=png, alt=alt, caption=caption),) if isinstance(png, bytes) else None
    if shell := _SHELL.fullmatch(part):
        return (Shell(lines=(Template(shell["line"]).substitute(values),)),)
    return (Paragraph(text=Template(part).substitute(values)),)


def _table(table: re.Match[str], rows: Iterable[Any], caption: str, values: Mapping[str, object]) -> Table:
    """A table with a line for each of the rows that are given."""
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
    """What a cell has of a row."""
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
    """The blocks of a value; a text is a paragraph, and an empty one none."""
    match value:
        case None:
            return None
        case str():
            return (Paragraph(text=value),) if value else ()
        case Paragraph() | Shell() | Table() | Picture():
            return (value,)
        case Iterable():
            return tuple(block for each in value for block in _given(each) or ())
        case _:
            raise TypeError(f"{value!r} is no block of a page")

"""The words of pages: how a file of them is read and filled in, and that all that ship can be read."""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest

from attendo.paper.page_text import PageText, page_text
from attendo.paper.report import Paragraph, Picture, Section, Shell, Table

TEXT = """First words of $corpus,
on two lines.

$more

## Results for $corpus

One of $$2.

: Means of
$corpus
$table

![A picture](two-sides.png)
Below it.

```sh
$command
```

## Rest

$blocks

# small

Only $here.

# rows

Of $corpus:

: Rows of $corpus
$rows
| row | | in $corpus |
| --- | --- | ---: |
| {0.title} | {0.low:+.1f} to {0.high:.1f} | {1.share:.0p}% of {1.size:,} |
"""


@dataclass(frozen=True)
class Row:
    """What a line is about."""

    title: str
    low: float
    high: float | None


@pytest.fixture
def text(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> PageText:
    (tmp_path / "page.md").write_text(TEXT, encoding="utf-8")
    monkeypatch.setattr("attendo.paper.page_text.files", lambda package: tmp_path)
    return page_text("page.md")


def table(caption: str = "") -> Table:
    return Table(caption=caption, columns=("a",), rows=(("1",),), words=0)


VALUES = {"corpus": "Multi30k", "more": "", "table": table(), "two_sides": b"png", "command": "ls", "blocks": ()}


def test_each_part_becomes_a_block(text: PageText) -> None:
    words = text.fill(**{**VALUES, "more": ["And", "", "more."], "blocks": [table("own"), "words"]})
    assert words.introduction == ("First words of Multi30k, on two lines.", "And", "more.")
    assert words.sections == (
        Section(
            title="Results for Multi30k",
            blocks=(
                Paragraph(text="One of $2."),
                table("Means of Multi30k"),
                Picture(name="two-sides.png", png=b"png", alt="A picture", caption="Below it."),
                Shell(lines=("ls",)),
            ),
        ),
        Section(title="Rest", blocks=(table("own"), Paragraph(text="words"))),
    )
    assert text.note("small", here="now") == "Only now."


@pytest.mark.parametrize("name", ["table", "two_sides"])
def test_a_section_without_what_it_shows_is_left_out(text: PageText, name: str) -> None:
    assert [section.title for section in text.fill(**{**VALUES, name: None}).sections] == ["Rest"]


def test_a_table_of_rows(text: PageText) -> None:
    rows = [(Row("one", 1.0, 2.0), {"share": 0.5, "size": 1000}), (Row("two", -1.0, None), {"share": 1, "size": 2})]
    told, found = text.blocks("rows", corpus="Multi30k", rows=rows)
    assert told == Paragraph(text="Of Multi30k:")
    assert found == Table(
        caption="Rows of Multi30k",
        columns=("row", "", "in Multi30k"),
        rows=(("one", "+1.0 to 2.0", "50% of 1,000"), ("two", "-1.0 to ", "100% of 2")),
        words=2,
    )
    [_, empty] = text.blocks("rows", corpus="Multi30k", rows=())
    assert isinstance(empty, Table)
    assert empty.rows == ()


def test_a_row_without_what_a_cell_names(text: PageText) -> None:
    with pytest.raises(AttributeError, match="title"):
        text.blocks("rows", corpus="Multi30k", rows=[(object(), {"share": 0.5, "size": 1})])


def test_some_sections_alone(text: PageText) -> None:
    assert [section.title for section in text.sections("Rest", blocks="words")] == ["Rest"]


def test_a_name_that_nothing_is_given_for(text: PageText) -> None:
    with pytest.raises(KeyError, match="corpus"):
        text.introduction(more="")
    with pytest.raises(TypeError, match="is no block"):
        text.sections("Rest", blocks=[1.5])


def test_all_texts_can_be_read() -> None:
    folder = Path(str(files("attendo.paper")))
    pages = [path.relative_to(folder).as_posix() for path in folder.rglob("*.md")]
    assert pages
    for page in pages:
        parts = page_text(page).parts
        assert all(parts[heading] for heading in parts if heading)
        assert all(heading.startswith(("## ", "# ")) for heading in parts if heading)

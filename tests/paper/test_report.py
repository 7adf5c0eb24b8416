"""A page of made-up blocks: what has to be in each of its forms."""

import base64
import json
import re
from html.parser import HTMLParser
from pathlib import Path

from attendo.paper.report import Paragraph, Picture, Report, Section, Shell, Table, write_report

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII="
)  # one grey pixel
REPORT = Report(
    title="Table 9 & more",
    introduction=("First d_k, then <b>.",),
    sections=(
        Section(
            title="Figures",
            blocks=(
                Table(caption="Both", columns=("row", "a|b"), rows=(("x_1", "1.25"), ("y*", "-3.50")), words=1),
                Paragraph(text="That was all."),
                Picture(name="line.png", png=PNG, alt="a line", caption="A line."),
                Shell(lines=("attendo reproduce table9 > out",)),
            ),
        ),
    ),
    data={"rows": [1.25, -3.5]},
)


class Tags(HTMLParser):
    """Which tags are open, and every address."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "img"):
            self.open.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_needs_nothing_beside_it() -> None:
    text = REPORT.to_html()
    tags = Tags(text)
    assert not tags.open
    assert [address.partition(",")[0] for address in tags.addresses] == ["data:image/png;base64"]
    assert base64.b64decode(tags.addresses[0].partition(",")[2]) == PNG
    assert "url(" not in text
    assert "Table 9 &amp; more" in text
    assert "&lt;b&gt;" in text
    assert '<td class="figure">-3.50</td>' in text


def test_a_drawing_is_shown_as_svg_and_is_there_as_png_too(tmp_path: Path) -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    drawing = Picture(name="heads.png", png=PNG, svg=svg, alt="heads", caption="Heads.")
    report = Report(
        title="Figure 9", introduction=(), sections=(Section(title="Drawn", blocks=(drawing,)),), data={}
    )  # fmt: skip
    write_report(tmp_path, report)
    assert (tmp_path / "heads.svg").read_text(encoding="utf-8") == svg
    assert (tmp_path / "heads.png").read_bytes() == PNG
    assert "![heads](heads.svg)" in report.to_markdown()
    [address] = Tags(report.to_html()).addresses
    kind, _, encoded = address.partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(encoded).decode() == svg


def test_long_words_in_a_table_may_take_lines() -> None:
    sentence = "The white table that my grandfather repaired was too heavy."
    table = Table(caption="One", columns=("sentence", "words"), rows=((sentence, "1" * 50),), words=1)
    text = Report(
        title="", introduction=(), sections=(Section(title="", blocks=(table,)),), data={}
    ).to_html()  # fmt: skip
    assert f'<td class="text">{sentence}</td><td class="figure">111' in text


def test_text_has_all_but_the_pictures() -> None:
    assert REPORT.to_text() == (
        "Table 9 & more\n\nFirst d_k, then <b>.\n\nFigures\n-------\n\n"
        "Both\n  row    a|b\n  x_1   1.25\n  y*   -3.50\n\nThat was all.\n\n  attendo reproduce table9 > out"
    )


def test_markdown_shows_every_character_as_it_is(tmp_path: Path) -> None:
    write_report(tmp_path / "page", REPORT)
    text = (tmp_path / "page" / "index.md").read_text(encoding="utf-8")
    assert "| row | a\\|b |\n| --- | ---: |\n| x\\_1 | 1.25 |\n| y\\* | -3.50 |" in text
    assert "First d\\_k, then \\<b\\>." in text
    assert "```sh\nattendo reproduce table9 > out\n```" in text
    [name] = re.findall(r"!\[a line\]\((.+)\)", text)
    assert (tmp_path / "page" / name).read_bytes() == PNG
    assert json.loads((tmp_path / "page" / "result.json").read_text(encoding="utf-8")) == {"rows": [1.25, -3.5]}
    assert (tmp_path / "page" / "index.html").read_text(encoding="utf-8") == REPORT.to_html()

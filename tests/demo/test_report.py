"""The report page, read back with Python's own HTML parser."""

import base64
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from attendo.demo.report import (
    DemoReport,
    NextStep,
    PhrasebookSummary,
    Sample,
    TrainingSummary,
    to_html,
    write_report,
)
from attendo.evaluation.scores import Score

# The smallest PNG there is: one pixel (signature and chunks as the PNG specification has them).
PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=")
VOID = {"meta", "img", "br", "hr", "input", "link", "rect", "path", "circle", "line"}


@pytest.fixture
def report() -> DemoReport:
    return DemoReport(
        training=TrainingSummary(steps=1_200, seconds=154.6, tokens_per_s=10_234.5, parameters=2_512_384),
        phrasebook=PhrasebookSummary(num_train=40_000, num_valid=500, num_test=499, num_templates=96),
        scores=(
            Score(name="BLEU", score=93.42, signature="nrefs:1|tok:13a", low=92.1, high=94.7),
            Score(name="TER", score=4.2, signature="nrefs:1|<case>:lc"),
        ),
        samples=(
            Sample(source="I have a hat.", reference="Ich habe einen Hut.", translation="Ich habe einen Hut."),
            Sample(source="Is 1 < 2 & 3 > 2?", reference="Ist 1 < 2 & 3 > 2?", translation="Ist <b>1</b> < 2 & 3 > 2?"),
        ),
        curves_png=PIXEL,
        attention_html='<svg viewBox="0 0 1 1"><rect width="1" height="1"/></svg>',
        next_steps=(NextStep(explanation="Translate a line", command='echo "Where?" | attendo translate RUN > out'),),
    )


class Reader(HTMLParser):
    """Checks that tags nest, and collects texts, addresses and ids."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text: list[str] = []
        self.addresses: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href"):
                self.addresses.append(value or "")
            if name == "id":
                self.ids.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def test_tags_nest_and_ids_are_unique(report: DemoReport) -> None:
    reader = read(to_html(report))
    assert len(set(reader.ids)) == len(reader.ids)
    assert {"header", "main", "section", "table", "figure", "h1"} <= set(reader.tags)
    assert reader.tags.count("h1") == 1


def test_text_is_escaped(report: DemoReport) -> None:
    page = to_html(report)
    assert "<b>" not in page
    assert "<case>" not in page
    text = "".join(read(page).text)
    assert "Is 1 < 2 & 3 > 2?" in text
    assert "Ist <b>1</b> < 2 & 3 > 2?" in text
    assert "nrefs:1|<case>:lc" in text
    assert 'echo "Where?" | attendo translate RUN > out' in text


def test_nothing_comes_from_elsewhere(report: DemoReport) -> None:
    page = to_html(report)
    reader = read(page)
    assert all(address.startswith(("data:image/png;base64,", "#")) for address in reader.addresses)
    assert "http:" not in page
    assert "https:" not in page
    assert "url(" not in page
    assert "@import" not in page


def test_inner_links_lead_somewhere(report: DemoReport) -> None:
    reader = read(to_html(report))
    assert {address[1:] for address in reader.addresses if address.startswith("#")} <= set(reader.ids)


def test_the_picture_is_the_one_given(report: DemoReport) -> None:
    (address,) = [address for address in read(to_html(report)).addresses if address.startswith("data:")]
    assert base64.b64decode(address.partition(",")[2]) == PIXEL


@pytest.mark.parametrize(
    "words",
    [
        "2.5 M",
        "1,200",
        "2 min 35 s",
        "10,234",
        "40,000 pairs to train on, 500 to validate on and",
        "96 hand-written templates",
        "999 held-out pairs",
        "The scores say nothing about real text.",
        "93.4",
        "95 % interval 92.1 to 94.7",
        "4.2",
        "the same",
    ],
)
def test_what_the_page_says(report: DemoReport, words: str) -> None:
    assert words in " ".join("".join(read(to_html(report)).text).split())


def test_differing_words_are_marked(report: DemoReport) -> None:
    sample = Sample(source="the old hat", reference="den alten Hut", translation="der alten Hut")
    page = to_html(replace(report, samples=(sample,)))
    assert "<mark>der</mark> alten Hut" in page
    assert "<mark>den</mark> alten Hut" in page


def test_attention_goes_in_as_it_is(report: DemoReport) -> None:
    assert report.attention_html in to_html(report)


def test_an_empty_report_is_still_a_page(report: DemoReport) -> None:
    read(to_html(replace(report, samples=(), scores=(), next_steps=(), attention_html="")))


def test_the_file_is_the_page(report: DemoReport, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(path, report)
    assert path.read_text(encoding="utf-8") == to_html(report)
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]

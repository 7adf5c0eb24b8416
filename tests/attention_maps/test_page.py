"""The HTML page: complete in itself, exact in its data, and harmless whatever the pieces hold."""

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from attendo.attention_maps.page import to_html
from attendo.attention_maps.weights import KINDS, START_LABEL, AttentionMap

MakeMap = Callable[..., AttentionMap]
NASTY = (
    "▁<script>alert(1)</script>",
    "</script>",
    "<!--<script>",
    "]]>",
    "&lt;",
    "{{WEIGHTS}}",
    "\x00\u202e",
    "\ud800",
    "\"'`",
    "\\u003c",
    "</s>",
)
HARMLESS = tuple(f"▁wort{index}" for index in range(len(NASTY)))


class Page(HTMLParser):
    """What a browser would make of a page: its tags, its texts, its script elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.comments: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "script":
            self.scripts[-1] += data
        elif not self.cdata_elem:
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


def test_page_shows_every_head_of_every_layer(random_map: MakeMap) -> None:
    page = Page(to_html(random_map(("▁a", "b", "</s>"), ("▁c", "</s>"), 4)))
    maps = [(at["data-kind"], at["data-layer"], at["data-head"]) for tag, at in page.tags if at.get("class") == "map"]
    layers = {"encoder": 1, "decoder": 2, "cross": 2}
    expected = [(kind, str(layer), str(head)) for kind in KINDS for layer in range(layers[kind]) for head in range(4)]
    assert maps == expected
    labels = [at.get("aria-label") for tag, at in page.tags if at.get("class") == "map"]
    assert len(set(labels)) == len(labels)


def test_data_is_exact_to_16_bits(random_map: MakeMap) -> None:
    attention = random_map(("▁a", "b", "</s>"), ("▁c", "</s>"), 4)
    data = json.loads(Page(to_html(attention)).scripts[0])
    for kind in KINDS:
        found = np.frombuffer(base64.b64decode(data["kinds"][kind]["steps"]), dtype="<u2") / data["weight_steps"]
        np.testing.assert_allclose(found, attention.weights(kind).ravel(), atol=0.51 / 65535)
    assert data["kinds"]["decoder"]["queries"] == ["▁c", "</s>"]
    assert data["kinds"]["decoder"]["keys"] == [START_LABEL, "▁c"]
    assert len(data["colours"]) == 4


def test_nasty_pieces_change_no_markup(random_map: MakeMap) -> None:
    nasty, harmless = (Page(to_html(random_map(pieces, pieces))) for pieces in (NASTY, HARMLESS))
    assert nasty.tags == harmless.tags
    assert nasty.comments == harmless.comments == []
    assert nasty.scripts[1] == harmless.scripts[1]
    assert json.loads(nasty.scripts[0])["kinds"]["encoder"]["keys"][0] == NASTY[0]
    assert any("{{WEIGHTS}}" in text and "[U+D800]" in text for text in nasty.texts)


def test_page_can_be_written_as_utf8(random_map: MakeMap) -> None:
    assert to_html(random_map(NASTY, NASTY)).encode("utf-8")


def test_page_needs_no_network(random_map: MakeMap) -> None:
    html = to_html(random_map(("▁a", "</s>"), ("▁b", "</s>")))
    page = Page(html)
    assert not any({"src", "href", "srcset", "data", "action"} & set(attributes) for _, attributes in page.tags)
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    policy = next(at["content"] for _, at in page.tags if at.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    # The one address is SVG's name space, which nobody fetches.
    assert set(re.findall(r"\w+://[^\s\"']+", html)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"url\(|@import|\bimport\(|fetch\(|XMLHttpRequest|\beval\(|innerHTML", html)


@pytest.mark.slow
def test_page_runs_in_a_browser(tmp_path: Path, random_map: MakeMap) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no chromium or google-chrome on this machine")
    (tmp_path / "page.html").write_text(to_html(random_map(NASTY, NASTY)), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
    address = f"{(tmp_path / 'page.html').as_uri()}#decoder/2/1,3/matrix"
    command = [browser, *options, f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=2000", "--dump-dom"]
    dom = Page(subprocess.run([*command, address], capture_output=True, check=True, text=True, timeout=60).stdout)
    assert "Decoder self-attention, layer 2, heads 1, 3" in dom.texts
    assert len([at for _, at in dom.tags if at.get("class") == "map" and at["aria-pressed"] == "true"]) == 2
    cells = [at for tag, at in dom.tags if tag == "td" and "data-row" in at]
    assert len(cells) == len(NASTY) * (len(NASTY) + 1) // 2

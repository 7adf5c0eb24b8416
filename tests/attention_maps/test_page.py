"""The HTML page: complete in itself, exact in its data, and harmless whatever the pieces hold."""

import base64
import hashlib
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest
from numpy.typing import NDArray

from attendo.attention_maps.page import steps, to_html
from attendo.attention_maps.view import View
from attendo.attention_maps.weights import START_LABEL, AttentionMap
from attendo.attention_maps.words import joined
from attendo.errors import DataError

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
HARMLESS = (*(f"▁wort{index}" for index in range(len(NASTY) - 1)), "</s>")


class Page(HTMLParser):
    """What a browser would make of a page: its tags, its texts, its script and style elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.comments: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            (self.scripts if tag == "script" else self.styles).append("")

    def handle_data(self, data: str) -> None:
        if self.cdata_elem:
            (self.scripts if self.cdata_elem == "script" else self.styles)[-1] += data
        else:
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def about(self) -> Any:
        """What the page is told of its data."""
        return json.loads(self.scripts[0])

    @property
    def weights(self) -> dict[str, NDArray[np.float64]]:
        """What a page makes of its bytes."""
        raw, found = np.frombuffer(zlib.decompress(base64.b64decode(self.scripts[1])), dtype=np.uint8), {}
        for name, kind in self.about["kinds"].items():
            shape = (kind["layers"], kind["heads"], len(kind["queries"]), len(kind["keys"]))
            part, raw = np.split(raw, [np.prod(shape)])
            found[name] = (part.reshape(shape) / 255) ** 2
        assert not len(raw)
        return found


def test_data_is_exact_to_a_byte(random_map: MakeMap) -> None:
    attention = random_map(("▁a", "b", "</s>"), ("▁c", "</s>"), 4)
    page = Page(to_html(attention))
    for kind, found in page.weights.items():
        expected = attention.weights(kind)  # type: ignore[arg-type]
        # By hand: half a step of 1 / 255 at sqrt(w) is 1 / 255 at w = 1.
        np.testing.assert_allclose(found, expected, atol=1 / 255)
        np.testing.assert_array_equal(found == 0, expected == 0)
    decoder = page.about["kinds"]["decoder"]
    assert (decoder["queries"], decoder["keys"]) == (["▁c", "</s>"], [START_LABEL, "▁c"])
    assert len(page.about["colours"]) == 4


def test_bytes_keep_0_for_what_is_exactly_0() -> None:
    weights = np.array([0, 1e-12, 0.25, 1], dtype=np.float32)
    assert steps(weights).tolist() == [0, 1, 128, 255]  # 255 x 0.5 = 127.5, to even


def test_words_say_how_pieces_are_joined(random_map: MakeMap) -> None:
    attention = random_map(("▁a", "b", "</s>"), ("▁c", "▁d", "e", "</s>"))
    kinds = Page(to_html(attention)).about["kinds"]
    words = joined(attention)
    for kind in attention.kinds:
        told = kinds[kind]["words"]
        assert (told["queries"], told["keys"]) == (list(words.queries(kind)), list(words.keys(kind)))
    assert kinds["cross"]["words"]["querySizes"] == [1, 2, 1]
    assert kinds["cross"]["words"]["keySizes"] == [2, 1]
    assert kinds["decoder"]["words"]["keySizes"] == [1, 1, 2]


def test_a_map_of_words_can_be_shown_too(random_map: MakeMap) -> None:
    words = joined(random_map(("▁a", "b", "</s>"), ("▁c", "</s>")))
    about = Page(to_html(words)).about
    assert about["units"] == ["words"]
    assert about["kinds"]["encoder"]["words"]["keySizes"] == [1, 1]
    assert parse_qs(about["start"])["unit"] == ["words"]


def test_a_kind_that_the_model_has_not_is_left_out(random_map: MakeMap) -> None:
    attention = replace(random_map(("▁a", "</s>"), ("▁c", "</s>")), encoder=None)
    page = Page(to_html(attention))
    assert list(page.about["kinds"]) == list(page.weights) == ["decoder", "cross"]


@pytest.mark.parametrize(
    ("view", "unit", "start"),
    [
        (None, "words", "kind=cross&layer=2&heads=all&view=lines&unit=words"),
        (View(), "pieces", "kind=cross&layer=2&heads=all&view=maps&unit=pieces"),
        (
            View(kinds=("decoder",), layers=(1,), heads=(3, 1)),
            "words",
            "kind=decoder&layer=1&heads=3,1&view=maps&unit=words",
        ),
        (View(style="lines", words=("ab",)), "words", "kind=cross&layer=2&heads=all&view=lines&unit=words&word=k1"),
        (
            View(kinds=("encoder",), style="lines", words=("b",)),
            "pieces",
            "kind=encoder&layer=1&heads=all&view=lines&unit=pieces&word=q2",
        ),
    ],
)  # fmt: skip
def test_the_page_opens_with_the_view_asked_for(view: View | None, unit: Any, start: str, random_map: MakeMap) -> None:
    attention = random_map(("▁a", "b", "</s>"), ("▁c", "</s>"))
    assert Page(to_html(attention, view, unit)).about["start"] == start


def test_a_view_of_what_is_not_there_is_refused(random_map: MakeMap) -> None:
    with pytest.raises(DataError, match="there is no word 'b'; there are: ab, </s>"):
        to_html(random_map(("▁a", "b", "</s>"), ("▁c", "</s>")), View(kinds=("encoder",), words=("b",)))


def test_nasty_pieces_change_no_markup(random_map: MakeMap) -> None:
    nasty, harmless = (Page(to_html(random_map(pieces, pieces))) for pieces in (NASTY, HARMLESS))
    assert nasty.tags == harmless.tags
    assert nasty.comments == harmless.comments == []
    assert nasty.scripts[1:] == harmless.scripts[1:]
    assert nasty.about["kinds"]["encoder"]["keys"][0] == NASTY[0]
    assert any("{{WEIGHTS}}" in text and "[U+D800]" in text for text in nasty.texts)
    assert to_html(random_map(NASTY, NASTY)).encode("utf-8")


def test_page_needs_no_network_and_runs_nothing_but_its_own(random_map: MakeMap) -> None:
    html = to_html(random_map(("▁a", "</s>"), ("▁b", "</s>")))
    page = Page(html)
    assert not any(
        {"src", "href", "srcset", "data", "action", "style"} & set(attributes) for _, attributes in page.tags
    )
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert not {"link", "img", "iframe", "object"} & {tag for tag, _ in page.tags}
    policy = next(at["content"] for _, at in page.tags if at.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    allowed = dict(part.split(" ", 1) for part in policy.split("; "))
    script, style = (
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in (page.scripts[2], page.styles[0])
    )
    none = "'none'"
    assert allowed == {
        "default-src": none, "style-src": style, "script-src": script, "base-uri": none, "form-action": none,
    }  # fmt: skip
    # The one address is SVG's name space, which nobody fetches.
    assert set(re.findall(r"\w+://[^\s\"']+", html)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"url\(|@import|\bimport\(|fetch\(|XMLHttpRequest|\beval\(|innerHTML|insertAdjacent", html)


def test_everything_that_can_be_set_has_a_name(random_map: MakeMap) -> None:
    html = to_html(random_map(("▁a", "</s>"), ("▁b", "</s>")))
    assert html.count("<fieldset") == html.count("<legend>")
    assert len(re.findall(r"<label[^>]*>[^<]*(<span>[^<]*</span>)?\s*<select", html)) == html.count("<select")
    for name in re.findall(r'aria-labelledby="([^"]+)"', html):
        assert f'id="{name}"' in html


def test_100_words_in_6_layers_of_8_heads_are_a_small_file() -> None:
    def softmax(*shape: int) -> NDArray[np.float32]:
        # As unlike each other as weights come: a byte's 256 values nearly all in use, so nothing compresses better.
        logits = 3 * np.random.default_rng(0).standard_normal(shape)
        exponentials = np.exp(logits) * (np.tri(shape[-1]) if shape[-1] == shape[-2] else 1)
        weights: NDArray[np.float32] = (exponentials / exponentials.sum(axis=-1, keepdims=True)).astype(np.float32)
        return weights

    tokens = (*(f"▁word{index}" for index in range(99)), "</s>")
    square = softmax(6, 8, 100, 100)
    attention = AttentionMap(
        source=tokens, target=tokens, encoder=square[:, :, ::-1, ::-1], decoder=square, cross=square
    )
    assert len(to_html(attention)) < 2_000_000

"""Pictures as SVG, read back: well-formed, harmless, and every cell of its weight's shade."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import numpy as np
import pytest

from attendo.attention_maps.drawing import draw, figures
from attendo.attention_maps.svg import fragment, head_markup, to_svg
from attendo.attention_maps.view import View
from attendo.attention_maps.weights import AttentionMap

MakeMap = Callable[..., AttentionMap]

SVG = "{http://www.w3.org/2000/svg}"
NASTY = ("▁<script>alert(1)</script>", "]]>", "&amp;", "\x00\u202e", "\ud800", "\"'", "<!--", "</s>")


def painted(markup: str, shape: tuple[int, int]) -> np.ndarray:
    """Each cell's opacity, painted from the paths as a reader of SVG would."""
    opacity = np.zeros(shape)
    for path in ElementTree.fromstring(f"<g>{markup}</g>"):
        strokes = re.findall(r"M(\d+) (\d+)h(\d+)v1h-(\d+)z", path.attrib["d"])
        assert "".join(f"M{x} {y}h{width}v1h-{back}z" for x, y, width, back in strokes) == path.attrib["d"]
        for x, y, width, back in strokes:
            assert width == back
            cells = opacity[int(y), int(x) : int(x) + int(width)]
            assert len(cells) == int(width)
            assert not cells.any(), "no cell is painted twice"
            cells[:] = float(path.attrib["fill-opacity"])
    return opacity


def test_every_cell_has_its_weights_shade() -> None:
    weights = np.random.default_rng(0).random((9, 13)).astype(np.float32) ** 3
    weights[2:4, 5:11] = 0.25
    weights[0, :] = 0
    weights[8, 12] = 1
    # The shade is the weight's square root in sixteenths, so at most half a sixteenth (and 3 digits) off.
    np.testing.assert_allclose(painted(head_markup(weights), weights.shape), np.sqrt(weights), atol=1 / 32 + 5e-4)


@pytest.mark.parametrize("view", [View(), View(style="lines"), View(style="lines", words=("]]>",))])
def test_markup_in_pieces_stays_text(view: View, random_map: MakeMap) -> None:
    picture = to_svg(draw(random_map(NASTY, NASTY), view))
    root = ElementTree.fromstring(picture.encode("utf-8"))  # well-formed in spite of NUL and surrogates
    allowed = {"svg", "g", "path", "rect", "text", "title", "tspan"}
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= allowed
    texts = {"".join(text.itertext()) for text in root.iter(f"{SVG}text")}
    assert {"]]>", "&amp;", "\"'", "<!--", "</s>", "[U+D800]"} <= texts
    assert any(text.startswith("▁<script>alert") for text in texts)


def test_fragment_brings_nothing_that_could_disturb_its_page(random_map: MakeMap) -> None:
    found = fragment(figures(random_map(NASTY, NASTY), View()))
    root = ElementTree.fromstring(found)
    assert root.tag == "div"
    assert [caption.text for caption in root.iter("figcaption")] == [
        "Encoder self-attention",
        "Decoder self-attention",
        "Encoder-decoder attention",
    ]
    assert len(list(root.iter("svg"))) == 3
    assert not {"style", "script", "link", "image", "a"} & {element.tag for element in root.iter()}
    assert not any("id" in element.attrib for element in root.iter())
    assert "#16181d" not in found  # the text takes the page's colour


def test_lines_are_the_weights_that_count_in_their_heads_colour(random_map: MakeMap) -> None:
    attention = random_map(("▁a", "b", "▁c", "</s>"), ("▁d", "e", "</s>"), num_heads=3)
    view = View(kinds=("cross",), layers=(2,), heads=(1, 3), style="lines")
    root = ElementTree.fromstring(fragment(figures(attention, view)))
    groups = [group for group in root.iter("g") if "stroke" in group.attrib]
    assert len({group.attrib["stroke"] for group in groups}) == 2
    for group, head in zip(groups, (0, 2), strict=True):
        drawn = list(group.iter("path"))
        weights = attention.cross[1, head]
        assert len(drawn) == sum(1 for row in weights for weight in row if weight >= 0.03)
        widths = [float(path.attrib["stroke-width"]) for path in drawn]
        assert widths.index(max(widths)) == weights[weights >= 0.03].argmax()

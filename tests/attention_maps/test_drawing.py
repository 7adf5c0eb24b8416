"""Static pictures, read back: well-formed, harmless, and every cell of its weight's shade."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import numpy as np
import pytest

from attendo.attention_maps.drawing import fragment, head_markup, lines_fragment, to_svg
from attendo.attention_maps.weights import AttentionMap
from attendo.errors import DataError

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


def test_picture_shows_every_head_of_every_layer_and_all_pieces(random_map: MakeMap) -> None:
    attention = random_map(("▁ein", "▁Satz", "</s>"), ("▁a", "</s>"), num_heads=4)
    root = ElementTree.fromstring(to_svg(attention).encode("utf-8"))
    titles = [title.text or "" for title in root.iter(f"{SVG}title")]
    heads = [title.split(";")[0] for title in titles]
    assert heads == [
        f"layer {layer}, head {head}"
        for num_layers in (1, 2, 2)
        for layer in range(1, num_layers + 1)
        for head in (1, 2, 3, 4)
    ]
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    for label in ("Encoder self-attention", "Decoder self-attention", "Encoder-decoder attention", "▁Satz", "⟨start⟩"):
        assert label in texts
    assert "ein Satz</s>" in texts


def test_title_names_the_strongest_weight(random_map: MakeMap) -> None:
    attention = random_map(("▁a", "▁b"), ("▁c", "▁d"), num_heads=1)
    attention.cross[0, 0] = [[0.1, 0.9], [0.5, 0.5]]
    assert "layer 1, head 1; strongest: ▁c → ▁b 0.90" in fragment(attention, ["cross"])


def test_markup_in_pieces_stays_text(random_map: MakeMap) -> None:
    attention = random_map(NASTY, NASTY)
    root = ElementTree.fromstring(to_svg(attention).encode("utf-8"))  # well-formed in spite of NUL and surrogates
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {
        "svg",
        "g",
        "path",
        "rect",
        "text",
        "title",
        "tspan",
    }
    texts = {"".join(text.itertext()) for text in root.iter(f"{SVG}text")}
    assert {"▁<script>alert…", "]]>", "&amp;", "\"'", "<!--", "</s>", "[U+D800]"} <= texts


@pytest.mark.parametrize("num_heads", [1, 6, 16])
@pytest.mark.parametrize("src_len", [1, 12, 90])
def test_nothing_is_drawn_outside_the_picture(num_heads: int, src_len: int, random_map: MakeMap) -> None:
    attention = random_map(("▁wort",) * src_len, ("▁word", "</s>"), num_heads)
    root = ElementTree.fromstring(to_svg(attention).encode("utf-8"))
    _, _, width, height = map(float, root.attrib["viewBox"].split())

    def check(element: ElementTree.Element, left: float, top: float) -> None:
        moved = re.match(r"translate\(([-\d.]+) ([-\d.]+)\)", element.attrib.get("transform", ""))
        if moved:
            left, top = left + float(moved[1]), top + float(moved[2])
        assert 0 <= left <= width
        assert 0 <= top <= height
        if element.tag == f"{SVG}rect" and "%" not in element.attrib["width"]:
            right = left + float(element.attrib.get("x", 0)) + float(element.attrib["width"])
            assert right <= width
            assert top + float(element.attrib["height"]) <= height
        for child in element:
            check(child, left, top)

    check(root, 0, 0)


def test_fragment_brings_nothing_that_could_disturb_its_page(random_map: MakeMap) -> None:
    found = fragment(random_map(NASTY, NASTY))
    root = ElementTree.fromstring(found)
    assert root.tag == "div"
    assert len(list(root.iter("svg"))) == 3
    assert not {"style", "script", "link", "image", "a"} & {element.tag for element in root.iter()}
    assert not any("id" in element.attrib for element in root.iter())
    assert "#16181d" not in found  # the text takes the page's colour


def test_fragment_can_show_one_kind(random_map: MakeMap) -> None:
    found = fragment(random_map(("▁a", "</s>"), ("▁b", "</s>")), ["cross"])
    captions = [caption.text for caption in ElementTree.fromstring(found).iter("figcaption")]
    assert captions == ["Encoder-decoder attention"]


def test_lines_are_the_weights_that_count_in_their_heads_colour(random_map: MakeMap) -> None:
    attention = random_map(("▁a", "b", "▁c", "</s>"), ("▁d", "e", "</s>"), num_heads=3)
    root = ElementTree.fromstring(lines_fragment(attention, "cross", layer=1, heads=[0, 2]))
    groups = [group for group in root.iter("g") if "stroke" in group.attrib]
    assert len({group.attrib["stroke"] for group in groups}) == 2
    for group, head in zip(groups, (0, 2), strict=True):
        drawn = list(group.iter("path"))
        weights = attention.cross[1, head]
        assert len(drawn) == sum(1 for row in weights for weight in row if weight >= 0.03)
        widths = [float(path.attrib["stroke-width"]) for path in drawn]
        assert widths.index(max(widths)) == weights[weights >= 0.03].argmax()


def test_lines_take_the_top_layer_and_all_heads_by_default(random_map: MakeMap) -> None:
    attention = random_map(("▁a", "</s>"), ("▁b", "</s>"))
    assert lines_fragment(attention, "cross") == lines_fragment(attention, "cross", layer=1, heads=[0, 1, 2])
    assert "layer 2 of 2" in lines_fragment(attention, "cross")


@pytest.mark.parametrize(("layer", "heads"), [(2, None), (-3, None), (0, [3]), (0, [-1])])
def test_missing_layer_or_head_is_named(layer: int, heads: list[int] | None, random_map: MakeMap) -> None:
    attention = random_map(("▁a", "</s>"), ("▁b", "</s>"))
    with pytest.raises(DataError, match="decoder self-attention has layers 0 to 1 and heads 0 to 2"):
        lines_fragment(attention, "decoder", layer, heads)

"""Diagrams laid out: nothing overlaps, arrows end at blocks, text fits and is read by everyone; SVG and PNG of it."""

import itertools
import re
import struct
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any, TypeVar

import pytest

from attendo.attention_maps.palette import luminance
from attendo.attention_maps.png import PIXELS_PER_UNIT
from attendo.attention_maps.shapes import text_width
from attendo.diagrams.architecture import architecture, structure_of
from attendo.diagrams.architecture_layout import draw_architecture
from attendo.diagrams.attention import attention_of
from attendo.diagrams.attention_layout import draw_attention
from attendo.diagrams.palette import DARK, LIGHT, Theme
from attendo.diagrams.png import to_png
from attendo.diagrams.shapes import Diagram, Label, Panel, Way
from attendo.diagrams.svg import to_svg
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer

SVG = "{http://www.w3.org/2000/svg}"
MakeModel = Callable[..., Transformer]
ShapeT = TypeVar("ShapeT", Panel, Label, Way)
CONFIGS: dict[str, dict[str, Any]] = {
    "base": {},
    "tall encoder": {"encoder_layer": "dilated-convolutional", "num_encoder_layers": 12, "positions": "learned"},
    "parser": {"next_word": True, "parser_stack": True, "shared_embeddings": "target", "dropout": 0.3},
    "long text": {
        "attention_function": "additive", "attention_bias": True, "attention_dropout": 0.1, "d_k": 1000, "d_v": 777,
        "decoder_layer": "restricted-self-attention", "activation_dropout": 0.1,
    },
}  # fmt: skip


@pytest.fixture(scope="module", params=[*CONFIGS, "pre-norm", *(f"attention, {name}" for name in CONFIGS)])
def diagram(request: pytest.FixtureRequest, pre_norm: Transformer) -> Diagram:
    """Diagrams of several models."""
    name = str(request.param)
    if name == "pre-norm":
        return draw_architecture(structure_of(pre_norm, name))
    config = ModelConfig(**CONFIGS[name.removeprefix("attention, ")])
    if name.startswith("attention"):
        return draw_attention(attention_of(config, name))
    return draw_architecture(architecture(config, 37_000, 37_000, name))


def of_type(diagram: Diagram, kind: type[ShapeT]) -> list[ShapeT]:
    return [shape for shape in diagram.shapes if isinstance(shape, kind)]


def blocks(diagram: Diagram) -> list[Panel]:
    """Panels with text, without frames and without those that are drawn behind others for all heads."""
    panels = [panel for panel in of_type(diagram, Panel) if panel.role != "frame"]
    return [panel for panel in panels if any(holds(panel, label.x, label.y) for label in of_type(diagram, Label))]


def holds(panel: Panel, x: float, y: float, slack: float = 0.0) -> bool:
    is_across = panel.x - slack <= x <= panel.x + panel.width + slack
    return is_across and panel.y - slack <= y <= panel.y + panel.height + slack


def width_of(label: Label) -> float:
    return text_width(label.text, label.size)


def test_no_two_blocks_overlap(diagram: Diagram) -> None:
    for one, other in itertools.combinations(blocks(diagram), 2):
        is_apart_across = one.x + one.width <= other.x or other.x + other.width <= one.x
        is_apart_upright = one.y + one.height <= other.y or other.y + other.height <= one.y
        is_behind = (one.width, one.height, one.role) == (other.width, other.height, other.role)
        assert is_apart_across or is_apart_upright or is_behind, (one, other)


def test_all_is_on_the_page(diagram: Diagram) -> None:
    for panel in of_type(diagram, Panel):
        assert 0 <= panel.x <= panel.x + panel.width <= diagram.width
        assert 0 <= panel.y <= panel.y + panel.height <= diagram.height
    for way in of_type(diagram, Way):
        assert all(0 <= x <= diagram.width and 0 <= y <= diagram.height for x, y in way.points)
    for label in of_type(diagram, Label):
        start = label.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[label.anchor] * width_of(label)
        assert start >= 0
        assert start + width_of(label) <= diagram.width
        assert 0 <= label.y <= diagram.height


def test_text_fits_into_its_block(diagram: Diagram) -> None:
    inside = 0
    for panel, label in itertools.product(blocks(diagram), of_type(diagram, Label)):
        if label.anchor == "middle" and label.x == panel.x + panel.width / 2 and holds(panel, label.x, label.y - 1):
            assert width_of(label) <= panel.width - 4, label.text
            assert panel.y + label.size <= label.y + 4, label.text
            assert label.y <= panel.y + panel.height - 3, label.text
            inside += 1
    assert inside > 10


def test_every_arrow_ends_at_a_block(diagram: Diagram) -> None:
    ends = [way.points[-1] for way in of_type(diagram, Way) if way.has_head]
    outwards = [end for end in ends if not any(holds(panel, *end, slack=0.01) for panel in blocks(diagram))]
    # What comes out at the top: of one head and of all in Figure 2, of the decoder in Figure 1.
    assert len(outwards) == (2 if diagram.title.startswith("attention") else 1)
    for way in of_type(diagram, Way):
        for (x0, y0), (x1, y1) in itertools.pairwise(way.points):
            assert x0 == x1 or y0 == y1, "lines are level or upright"


def test_no_line_runs_through_a_block(diagram: Diagram) -> None:
    for way, panel in itertools.product(of_type(diagram, Way), blocks(diagram)):
        for (x0, y0), (x1, y1) in itertools.pairwise(way.points):
            for share in (0.25, 0.5, 0.75):
                x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
                assert not holds(panel, x, y, slack=-0.5), (way, panel)


def test_the_svg_is_whole_and_read_out(diagram: Diagram) -> None:
    root = ElementTree.fromstring(to_svg(diagram))
    ids = {element.get("id"): element.text for element in root.iter() if element.get("id")}
    labelled = [ids[name] for name in str(root.get("aria-labelledby")).split()]
    assert labelled == [diagram.title, diagram.description]
    assert root.get("role") == "img"
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert texts == [label.text for label in of_type(diagram, Label)]
    assert not re.search(r"href|url\(|<script|@import", to_svg(diagram)), "nothing is loaded"


def test_a_title_is_text_whatever_it_is() -> None:
    title = "<script>alert(1)</script> & \x00\ud800]]>"
    svg = to_svg(draw_architecture(architecture(ModelConfig(num_layers=1), 8, 8, title)))
    root = ElementTree.fromstring(svg.encode())
    assert "<script" not in svg
    assert root.findtext(f"{SVG}title") == "<script>alert(1)</script> & \ufffd\ufffd]]>"


def test_the_png_has_two_pixels_a_unit() -> None:
    diagram = draw_attention(attention_of(ModelConfig(), "attention"))
    content = to_png(diagram)
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    size = struct.unpack(">II", content[16:24])
    assert size == tuple(int(PIXELS_PER_UNIT * side) for side in (diagram.width, diagram.height))
    assert to_png(diagram) == content, "the same bytes again"


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_stands_out_on_every_panel(theme: Theme) -> None:
    for ground in (theme.page, *(fill for fill, _ in theme.panels.values())):
        for ink in (theme.text, theme.quiet):
            low, high = sorted((luminance(ground), luminance(ink)))
            assert (high + 0.05) / (low + 0.05) >= 4.5, f"{ink} on {ground} (WCAG 1.4.3)"
    for ground in (theme.page, theme.panels["frame"][0]):
        low, high = sorted((luminance(ground), luminance(theme.line)))
        assert (high + 0.05) / (low + 0.05) >= 3, f"lines on {ground} (WCAG 1.4.11)"

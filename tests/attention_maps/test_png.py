"""Pictures as PNG, read back pixel by pixel."""

import io
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from matplotlib import font_manager
from matplotlib.colors import to_rgb
from matplotlib.image import imread

from attendo.attention_maps import png
from attendo.attention_maps.drawing import Drawing, draw
from attendo.attention_maps.png import fonts_for, to_png
from attendo.attention_maps.shapes import Box, Cells, Curve, Curves, Text
from attendo.attention_maps.view import View
from attendo.attention_maps.weights import AttentionMap

MakeMap = Callable[..., AttentionMap]


def pixels(content: bytes) -> np.ndarray:
    """Red, green and blue, 0 to 1."""
    image: np.ndarray = imread(io.BytesIO(content), format="png")[..., :3]
    return image


def test_cells_lie_where_they_should_in_the_shade_of_their_weight() -> None:
    weights = np.array([[1, 0.25, 0], [0.0625, 0, 0.5625]], dtype=np.float32)
    cells = Cells(x=10, y=20, cell=8, weights=weights, colour="#2f7fd8", title="")
    image = pixels(to_png(Drawing(width=60, height=50, shapes=(cells,), description="")))
    assert image.shape == (100, 120, 3), "two pixels a unit"
    for row in range(2):
        for column in range(3):
            found = image[2 * (20 + 8 * row + 4), 2 * (10 + 8 * column + 4)]
            opacity = weights[row, column] ** 0.5  # each a whole number of sixteenths
            np.testing.assert_allclose(found, opacity * np.array(to_rgb("#2f7fd8")) + 1 - opacity, atol=0.01)
    assert (image[2 * 19] == 1).all()
    assert (image[:, 2 * 35 :] == 1).all()


def test_boxes_and_curves_lie_where_they_should() -> None:
    box = Box(x=5, y=5, width=10, height=4, colour="#ff0000", opacity=1)
    flat = Curves(x1=20, x2=50, colour="#0000ff", title="", curves=(Curve(y1=30, y2=30, weight=1),))
    image = pixels(to_png(Drawing(width=60, height=40, shapes=(box, flat), description="")))
    np.testing.assert_allclose(image[14, 20], (1, 0, 0), atol=0.01)
    np.testing.assert_allclose(image[60, 70], (0.15, 0.15, 1), atol=0.02)  # opacity 0.25 + 0.6
    assert image[60, 36].min() == image[60, 104].min() == 1


@pytest.fixture
def own_fonts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Takes away all but some of the fonts that matplotlib brings along."""
    kept = ("DejaVu Sans", "STIXGeneral", "Last Resort")
    manager = font_manager.fontManager
    monkeypatch.setattr(manager, "ttflist", [font for font in manager.ttflist if font.name.startswith(kept)])


@pytest.mark.usefixtures("own_fonts")
def test_text_is_drawn_dark_and_an_unknown_character_as_a_box() -> None:
    text = Text(x=10, y=30, text="a\U000f1234 $x_1$", size=20)  # a private character, which no font has
    drawing = Drawing(width=200, height=40, shapes=(text,), description="")
    assert fonts_for(drawing)[1] == "\U000f1234"
    image = pixels(to_png(drawing))
    assert image.min() < 0.2
    known = replace(drawing, shapes=(replace(text, text="a\u25a1 $x_1$"),))
    np.testing.assert_array_equal(image, pixels(to_png(known)))


@pytest.mark.usefixtures("own_fonts")
def test_another_font_has_what_the_first_has_not(caplog: pytest.LogCaptureFixture) -> None:
    # U+20E4, a triangle around the letter before it, which STIX has and DejaVu has not.
    text = Text(x=10, y=30, text="a\u20e4", size=20, bold=True)
    drawing = Drawing(width=200, height=40, shapes=(text,), description="")
    assert fonts_for(drawing) == (["DejaVu Sans", "STIXGeneral"], "")
    plain = replace(drawing, shapes=(replace(text, text="a", bold=False),))
    assert (pixels(to_png(drawing)) < 0.5).sum() > (pixels(to_png(plain)) < 0.5).sum()
    assert not caplog.records, "matplotlib looked for a font in vain"


def test_a_huge_picture_has_fewer_pixels_a_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(png, "MOST_PIXELS", 10_000)
    image = pixels(to_png(Drawing(width=200, height=100, shapes=(), description="")))
    assert image.shape[0] * image.shape[1] <= 10_500
    assert image.shape[1] / image.shape[0] == pytest.approx(2, rel=0.03)


@pytest.mark.parametrize("view", [View(kinds=("cross",)), View(style="lines", words=("b",))])
def test_every_view_can_be_printed(view: View, random_map: MakeMap) -> None:
    attention = random_map(("▁a", "▁b", "\x00", "\ud800", "</s>"), ("▁b", "</s>"))
    assert pixels(to_png(draw(attention, view))).min() < 0.2

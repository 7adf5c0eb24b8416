"""Pictures of attention as PNG, drawn by matplotlib from the same shapes as the SVG."""

import io
from functools import cache
from pathlib import Path

import numpy as np
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.ft2font import FT2Font
from matplotlib.patches import Rectangle
from matplotlib.path import Path as Outline

from attendo.attention_maps.drawing import Drawing
from attendo.attention_maps.palette import NUM_SHADES, shades
from attendo.attention_maps.shapes import Box, Cells, Curves, Text

TEXT_COLOUR = "#16181d"
FIRST_FONT = "DejaVu Sans"
"""The font of most text, which comes with matplotlib."""
PLACEHOLDERS = "Last Resort"
"""Prefix of the names of fonts that only have a placeholder for each character; one comes with matplotlib."""
PIXELS_PER_UNIT = 2.0
MOST_PIXELS = 40_000_000
"""The largest number of pixels of a picture; a picture that would need more gets fewer pixels per unit."""
NO_FONT = "□"
"""Replaces each character that no font on this machine has."""


def to_png(drawing: Drawing) -> bytes:
    """Returns a PNG file for print and slides, on white, with two pixels per unit (144 per inch)."""
    figure, axes = canvas(drawing.width, drawing.height)
    fonts, missing = fonts_for(drawing)
    unknown = dict.fromkeys(map(ord, missing), NO_FONT)
    for order, shape in enumerate(drawing.shapes):
        match shape:
            case Text():
                _text(axes, shape, shape.text.translate(unknown), fonts)
            case Box():
                _box(axes, shape, order)
            case Cells():
                _cells(axes, shape, order)
            case Curves():
                _curves(axes, shape, order)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None, "Description": drawing.description})
    return buffer.getvalue()


def canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """Returns a white figure of a size in units, and axes that cover all of it: x to the right, y down."""
    scale = min(PIXELS_PER_UNIT, (MOST_PIXELS / (width * height)) ** 0.5)
    figure = Figure(figsize=(width / 72, height / 72), dpi=72 * scale, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1), frameon=False)
    axes.set(xlim=(0, width), ylim=(height, 0), xticks=[], yticks=[], autoscale_on=False)
    return figure, axes


def fonts_for(drawing: Drawing) -> tuple[list[str], str]:
    """Returns the fonts of this machine that a picture's text needs, and the characters that none of them has."""
    return fonts_of("".join(shape.text for shape in drawing.shapes if isinstance(shape, Text)))


def fonts_of(text: str) -> tuple[list[str], str]:
    """Returns the fonts of this machine that have a text's characters, and the characters that none of them has."""
    missing = set(text)
    missing -= _characters_of(font_manager.findfont(FIRST_FONT))
    fonts = [FIRST_FONT]
    installed = {(font.name, font.fname) for font in font_manager.fontManager.ttflist} if missing else set()
    for name, path in sorted(installed):
        if not missing or name in fonts or name.startswith(PLACEHOLDERS):
            continue
        if covered := missing & _characters_of(path):
            fonts.append(name)
            missing -= covered
    return fonts, "".join(sorted(missing))


@cache
def _characters_of(path: str) -> frozenset[str]:
    """Returns a font's characters; none if it cannot be read, no longer exists, or has no outlines to draw."""
    if not Path(path).is_file():
        return frozenset()
    try:
        font = FT2Font(path)
    except (OSError, RuntimeError):
        return frozenset()
    return frozenset(map(chr, font.get_charmap())) if font.scalable else frozenset()


def _text(axes: Axes, text: Text, content: str, fonts: list[str]) -> None:
    is_in_first = set(content) <= _characters_of(font_manager.findfont(FIRST_FONT))
    axes.text(
        text.x,
        text.y,
        content,
        fontsize=text.size * 0.94,  # DejaVu is wider than browsers' fonts
        fontweight="bold" if text.bold and is_in_first else "normal",  # few of the other fonts have a bold style
        family=[FIRST_FONT] if is_in_first else fonts,
        color=text.colour or TEXT_COLOUR,
        horizontalalignment="left" if text.anchor == "start" else "right",
        verticalalignment="baseline",
        rotation=90 if text.turned else 0,
        rotation_mode="anchor",
        parse_math=False,
    )


def _box(axes: Axes, box: Box, order: int) -> None:
    colour = to_rgba(box.colour or TEXT_COLOUR, box.opacity)
    face, edge = ("none", colour) if box.is_outline else (colour, "none")
    place = (box.x, box.y)
    axes.add_patch(Rectangle(place, box.width, box.height, linewidth=1, facecolor=face, edgecolor=edge, zorder=order))


def _cells(axes: Axes, cells: Cells, order: int) -> None:
    opacity = shades(cells.weights) / NUM_SHADES
    pixels = np.empty((*opacity.shape, 4))
    pixels[..., :3], pixels[..., 3] = to_rgb(cells.colour), opacity
    extent = (cells.x, cells.x + cells.width, cells.y + cells.height, cells.y)
    axes.imshow(pixels, extent=extent, interpolation="nearest", aspect="auto", zorder=order)


def _curves(axes: Axes, curves: Curves, order: int) -> None:
    near, far = curves.handles
    codes = [Outline.MOVETO, Outline.CURVE4, Outline.CURVE4, Outline.CURVE4]
    outlines = [
        Outline([(curves.x1, curve.y1), (near, curve.y1), (far, curve.y2), (curves.x2, curve.y2)], codes)
        for curve in curves.curves
    ]
    axes.add_collection(
        PathCollection(
            outlines,
            facecolors="none",
            edgecolors=[to_rgba(curves.colour, curve.opacity) for curve in curves.curves],
            linewidths=[curve.width for curve in curves.curves],
            zorder=order,
        ),
        autolim=False,
    )

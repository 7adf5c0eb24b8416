"""Diagrams as PNG, drawn by matplotlib from the same shapes as the SVG, in its light colours."""

import io

from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyBboxPatch, Patch, Polygon

from attendo.attention_maps.png import FIRST_FONT, NO_FONT, canvas, fonts_of
from attendo.diagrams.palette import LIGHT
from attendo.diagrams.shapes import Diagram, Label, Panel, Way
from attendo.diagrams.svg import head, shaft

_NARROWER = 0.9
"""Factor for font sizes: DejaVu is wider than the fonts that browsers use."""


def to_png(diagram: Diagram) -> bytes:
    """Returns a file on white, with two pixels per unit (144 per inch)."""
    figure, axes = canvas(diagram.width, diagram.height)
    fonts, missing = _fonts(diagram)
    unknown = dict.fromkeys(map(ord, missing), NO_FONT)
    for order, shape in enumerate(diagram.shapes):
        match shape:
            case Panel():
                _panel(axes, shape, order)
            case Label():
                _label(axes, shape, shape.text.translate(unknown), fonts)
            case Way():
                _way(axes, shape, order)
    buffer = io.BytesIO()
    figure.savefig(
        buffer,
        format="png",
        metadata={"Software": None, "Title": diagram.title, "Description": diagram.description},
    )
    return buffer.getvalue()


def missing_characters(diagram: Diagram) -> str:
    """Returns the characters that no font on this machine has; SVG uses the fonts of its reader."""
    return _fonts(diagram)[1]


def _fonts(diagram: Diagram) -> tuple[list[str], str]:
    return fonts_of("".join(shape.text for shape in diagram.shapes if isinstance(shape, Label)))


def _panel(axes: Axes, panel: Panel, order: int) -> None:
    fill, edge = LIGHT.panels[panel.role]
    radius = min(panel.radius, panel.width / 2, panel.height / 2)
    patch: Patch
    if panel.width == panel.height == 2 * radius:
        patch = Circle((panel.x + radius, panel.y + radius), radius)
    else:
        style = f"round,pad=0,rounding_size={radius}"
        patch = FancyBboxPatch((panel.x, panel.y), panel.width, panel.height, boxstyle=style)
    patch.set(facecolor=fill, edgecolor=edge, linewidth=1.2, zorder=order)
    axes.add_patch(patch)


def _label(axes: Axes, label: Label, written: str, fonts: list[str]) -> None:
    axes.text(
        label.x,
        label.y,
        written,
        fontsize=label.size * _NARROWER * (0.94 if label.bold else 1.0),
        fontweight="bold" if label.bold and fonts == [FIRST_FONT] else "normal",
        family=fonts,
        color=LIGHT.quiet if label.quiet else LIGHT.text,
        horizontalalignment={"start": "left", "middle": "center", "end": "right"}[label.anchor],
        verticalalignment="baseline",
        parse_math=False,
        zorder=1e6,
    )


def _way(axes: Axes, way: Way, order: int) -> None:
    xs, ys = zip(*shaft(way), strict=True)
    axes.plot(xs, ys, color=LIGHT.line, linewidth=1.4, solid_joinstyle="round", zorder=order)
    if way.has_head:
        axes.add_patch(Polygon(head(way), closed=True, facecolor=LIGHT.line, edgecolor="none", zorder=order))

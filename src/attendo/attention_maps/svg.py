"""Pictures of attention as SVG: text stays text, cells and lines stay sharp at any size."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from attendo.attention_maps.drawing import Drawing
from attendo.attention_maps.palette import NUM_SHADES, shades
from attendo.attention_maps.shapes import Box, CaptionedPart, Cells, Curves, Shape, Text
from attendo.xml_text import FONT, xml_text

_FONT = f"font-family:{FONT}"
TEXT_COLOUR = "#16181d"


def to_svg(drawing: Drawing) -> str:
    """Returns an SVG file for print, on white."""
    size = f'viewBox="0 0 {drawing.width:g} {drawing.height:g}" width="{drawing.width:g}" height="{drawing.height:g}"'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{xml_text(drawing.description)}" '
        f'style="color:{TEXT_COLOUR};{_FONT}"><rect width="100%" height="100%" fill="#ffffff"/>'
        f"{_markup(drawing.shapes)}</svg>\n"
    )


def fragment(figures: Sequence[CaptionedPart]) -> str:
    """Returns figures as HTML to embed into another page.

    The text takes the page's own colour, so the same fragment suits light and dark pages; it contains no style sheet,
    script or ids.
    """
    return f'<div class="attendo-attention">{"".join(map(_figure, figures))}</div>\n'


def head_markup(weights: NDArray[np.float32]) -> str:
    """Returns one head's cells as SVG paths in units of a cell, one path per shade, in the surrounding `fill`.

    Args:
        weights: `(queries, keys)` float32, 0 to 1.
    """
    strokes: dict[int, list[str]] = {}
    for row, line in enumerate(shades(weights)):
        # Adjacent cells of one shade become one rectangle, which keeps the file small and its seams invisible.
        starts = np.flatnonzero(np.diff(line, prepend=-1))
        for start, end in zip(starts, [*starts[1:], len(line)], strict=True):
            if line[start]:
                strokes.setdefault(int(line[start]), []).append(f"M{start} {row}h{end - start}v1h{start - end}z")
    return "".join(
        f'<path fill-opacity="{shade / NUM_SHADES:.3g}" d="{"".join(parts)}"/>'
        for shade, parts in sorted(strokes.items())
    )


def _figure(figure: CaptionedPart) -> str:
    part = figure.part
    return (
        f'<figure style="margin:1.5em 0"><figcaption>{xml_text(figure.caption)}</figcaption>'
        f'<svg viewBox="0 0 {part.width:g} {part.height:g}" width="{part.width:g}" role="img" '
        f'aria-label="{xml_text(figure.description)}" style="max-width:100%;height:auto;{_FONT}">'
        f"{_markup(part.shapes)}</svg></figure>"
    )


def _markup(shapes: Sequence[Shape]) -> str:
    return "".join(map(_shape, shapes))


def _shape(shape: Shape) -> str:
    match shape:
        case Text():
            return _text(shape)
        case Box():
            return _box(shape)
        case Cells():
            place = f"translate({_number(shape.x)} {_number(shape.y)})scale({_number(shape.cell)})"
            return (
                f'<g fill="{shape.colour}" shape-rendering="crispEdges" transform="{place}">'
                f"<title>{xml_text(shape.title)}</title>{head_markup(shape.weights)}</g>"
            )
        case Curves():
            return _curves(shape)


def _text(text: Text) -> str:
    x, y = _number(text.x), _number(text.y)
    place = f'transform="translate({x} {y})rotate(-90)"' if text.turned else f'x="{x}" y="{y}"'
    # SentencePiece's mark of a word's start is kept, because it is part of the piece, but faint, for readability.
    marked = xml_text(text.text).replace("▁", '<tspan fill-opacity=".35">▁</tspan>')
    options = ("" if text.anchor == "start" else f' text-anchor="{text.anchor}"') + (
        ' font-weight="600"' if text.bold else ""
    )
    colour = text.colour or "currentColor"
    return f'<text {place} font-size="{text.size:g}" fill="{colour}"{options}>{marked}</text>'


def _box(box: Box) -> str:
    paint, rest = ("stroke", ' fill="none"') if box.is_outline else ("fill", "")
    colour = box.colour or "currentColor"
    return (
        f'<rect x="{_number(box.x)}" y="{_number(box.y)}" width="{_number(box.width)}" height="{_number(box.height)}" '
        f'{paint}="{colour}" {paint}-opacity="{box.opacity:.3g}"{rest}/>'
    )


def _curves(curves: Curves) -> str:
    x1, x2 = _number(curves.x1), _number(curves.x2)
    near, far = (_number(x) for x in curves.handles)
    paths = "".join(
        f'<path d="M{x1} {_number(curve.y1)}C{near} {_number(curve.y1)} '
        f'{far} {_number(curve.y2)} {x2} {_number(curve.y2)}" '
        f'stroke-width="{curve.width:.2g}" stroke-opacity="{curve.opacity:.2g}"/>'
        for curve in curves.curves
    )
    return f'<g fill="none" stroke="{curves.colour}"><title>{xml_text(curves.title)}</title>{paths}</g>'


def _number(value: float) -> str:
    return f"{round(value, 2):g}" if abs(value) < 1000 else f"{value:.1f}".removesuffix(".0")

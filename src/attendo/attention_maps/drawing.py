"""Attention as static SVG: every head as a small map, and one layer's heads as coloured lines."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from attendo.attention_maps.palette import NUM_SHADES, head_colours
from attendo.attention_maps.weights import KINDS, TITLES, AttentionMap, Kind, visible
from attendo.errors import DataError

CELL = 12
"""Side of a cell, in the drawing's units."""
FONT_SIZE = 10
"""Size of a label in the same units; a page's width of A4 upright then prints it at 5 to 6 points."""
GAP = 14
LINE_GAP = 24
"""Between two lines of maps; it holds the heads' names."""
LAYER_GAP = 16
"""What is added to it between two layers."""
MAX_WIDTH = 960
"""Width of the maps beyond which a layer's heads continue on the next line."""
MAX_LABEL = 15
"""Widths of a character that a label may take before it is cut."""
ROW = 22
LINES_WIDTH = 260
LEAST_LINE = 0.03
"""Weights under it are not drawn as lines: hundreds of hairlines would hide the rest."""
FONT = "font-family:system-ui,'Segoe UI','Helvetica Neue',Arial,'Noto Sans',sans-serif"


@dataclass(frozen=True)
class Part:
    """A piece of drawing whose upper left corner is (0, 0)."""

    width: float
    height: float
    markup: str


def to_svg(attention: AttentionMap) -> str:
    """A picture of its own for print: the two sentences, then every head of every layer, on white."""
    parts = [_grid(attention, kind) for kind in KINDS]
    margin, header = 24, 92
    width = max(560, *(part.width for part in parts)) + 2 * margin
    height = header + sum(part.height + 40 for part in parts) + 10
    body = [
        _text(margin, 38, "Attention", size=20, weight=600),
        *_sentence_lines(attention, margin, width - 2 * margin),
    ]
    top = float(header)
    for kind, part in zip(KINDS, parts, strict=True):
        body.append(_text(margin, top + 22, TITLES[kind], size=14, weight=600))
        body.append(_moved(part.markup, margin, top + 34))
        top += part.height + 40
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-label="{escape(_description(attention))}" style="color:#16181d;{FONT}">'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(body)}</svg>\n'
    )


def fragment(attention: AttentionMap, kinds: Sequence[Kind] = KINDS) -> str:
    """Every head of every layer as static figures to embed into another HTML page.

    The text takes the page's own colour, so the same fragment suits light and dark pages; it brings no style sheet, no
    script and no ids.
    """
    figures = [_figure(TITLES[kind], _grid(attention, kind), _description(attention, kind)) for kind in kinds]
    return f'<div class="attendo-attention">{"".join(figures)}</div>\n'


def lines_fragment(attention: AttentionMap, kind: Kind, layer: int = -1, heads: Sequence[int] | None = None) -> str:
    """One layer as in the paper's Figures 3 to 5: lines between the pieces, a colour a head, thick where the weight is.

    Args:
        attention: the weights of a pair.
        kind: which of the three attentions.
        layer: 0 for the lowest; negative counts from the top.
        heads: which to draw, 0-based; None draws all.

    Raises:
        DataError: there is no such layer or head.
    """
    num_layers, num_heads = attention.weights(kind).shape[:2]
    chosen = tuple(range(num_heads)) if heads is None else tuple(heads)
    if not -num_layers <= layer < num_layers or any(not 0 <= head < num_heads for head in chosen):
        raise DataError(
            f"layer {layer}, heads {list(chosen)}: {TITLES[kind].lower()} has layers 0 to {num_layers - 1} "
            f"and heads 0 to {num_heads - 1}"
        )
    caption = f"{TITLES[kind]}, layer {layer % num_layers + 1} of {num_layers}"
    return _figure(caption, _lines(attention, kind, layer, chosen), caption)


def head_markup(weights: NDArray[np.float32]) -> str:
    """One head's cells as SVG paths in units of a cell, one path a shade; the colour is the surrounding `fill`.

    Args:
        weights: `(queries, keys)` float32, 0 to 1.
    """
    shades = np.rint(np.sqrt(np.clip(weights, 0, 1)) * NUM_SHADES).astype(int)
    strokes: dict[int, list[str]] = {}
    for row, line in enumerate(shades):
        # Neighbours of one shade are one stroke, which keeps the file small and its seams invisible.
        starts = np.flatnonzero(np.diff(line, prepend=-1))
        for start, end in zip(starts, [*starts[1:], len(line)], strict=True):
            if line[start]:
                strokes.setdefault(int(line[start]), []).append(f"M{start} {row}h{end - start}v1h{start - end}z")
    return "".join(
        f'<path fill-opacity="{shade / NUM_SHADES:.3g}" d="{"".join(parts)}"/>'
        for shade, parts in sorted(strokes.items())
    )


def _grid(attention: AttentionMap, kind: Kind) -> Part:
    """Layers from top to bottom, heads from left to right; pieces at the edges, shared by the maps between."""
    weights = attention.weights(kind)
    num_layers, num_heads, num_queries, num_keys = weights.shape
    queries = [_cut(visible(piece)) for piece in attention.queries(kind)]
    keys = [_cut(visible(piece)) for piece in attention.keys(kind)]
    left = max(map(_width, queries)) + 62
    above = max(map(_width, keys)) + 24
    map_width, map_height = num_keys * CELL, num_queries * CELL
    num_columns = max(1, min(num_heads, (MAX_WIDTH + GAP) // (map_width + GAP)))
    num_lines = -(-num_heads // num_columns)
    num_columns = -(-num_heads // num_lines)  # 8 heads on two lines stand 4 and 4, not 6 and 2
    layer_height = num_lines * (map_height + LINE_GAP) + LAYER_GAP
    colours = head_colours(num_heads)
    body = []
    for layer in range(num_layers):
        top = above + layer * layer_height
        body.append(_text(0, top + 9, f"layer {layer + 1}", weight=600))
        for line in range(num_lines):
            line_top = top + line * (map_height + LINE_GAP)
            body += [
                _text(left - 6, line_top + row * CELL + CELL - 2.5, label, anchor="end")
                for row, label in enumerate(queries)
            ]
        for head in range(num_heads):
            x = left + head % num_columns * (map_width + GAP)
            y = top + head // num_columns * (map_height + LINE_GAP)
            body.append(_moved(_small_map(attention, kind, layer, head, colours[head]), x, y))
            if layer == 0 and head < num_columns:
                body += [
                    _text(x + column * CELL + CELL - 2.5, above - 18, label, turned=True)
                    for column, label in enumerate(keys)
                ]
    width = left + num_columns * (map_width + GAP)
    body.append(_moved(_legend(), 0, above + num_layers * layer_height - 12))
    return Part(width, above + num_layers * layer_height + 10, "".join(body))


def _small_map(attention: AttentionMap, kind: Kind, layer: int, head: int, colour: str) -> str:
    weights = attention.weights(kind)[layer, head]
    num_queries, num_keys = weights.shape
    row, column = np.unravel_index(int(weights.argmax()), weights.shape)
    strongest = (
        f"{visible(attention.queries(kind)[row])} → {visible(attention.keys(kind)[column])} {weights[row, column]:.2f}"
    )
    size = f'width="{num_keys * CELL}" height="{num_queries * CELL}"'
    return (
        f"<g><title>{escape(f'layer {layer + 1}, head {head + 1}; strongest: {strongest}')}</title>"
        f'<rect {size} fill="{colour}" fill-opacity=".05"/>'
        f'<g fill="{colour}" shape-rendering="crispEdges" transform="scale({CELL})">{head_markup(weights)}</g>'
        f'<rect {size} fill="none" stroke="{colour}" stroke-opacity=".6"/>'
        f"{_text(0, -5, f'head {head + 1}', weight=600, fill=colour)}</g>"
    )


def _legend() -> str:
    """Shades with their weights: they go by the square root, or a weight of 0.05 would look like none."""
    body = [_text(0, 9, "weight")]
    for index, weight in enumerate((0.01, 0.05, 0.1, 0.25, 0.5, 1.0)):
        x = 46 + index * 52
        body.append(
            f'<rect x="{x}" width="{CELL}" height="{CELL}" fill="currentColor" fill-opacity="{weight**0.5:.3g}"/>'
        )
        body.append(_text(x + CELL + 4, 9, f"{weight:g}"))
    return "".join(body)


def _lines(attention: AttentionMap, kind: Kind, layer: int, heads: Sequence[int]) -> Part:
    weights = attention.weights(kind)[layer]
    queries = [_cut(visible(piece)) for piece in attention.queries(kind)]
    keys = [_cut(visible(piece)) for piece in attention.keys(kind)]
    colours = head_colours(len(weights))
    left = max(64.0, *(_width(label, 12) + 12 for label in queries))
    right = left + LINES_WIDTH
    above = 26
    groups = []
    for place, head in enumerate(heads):
        # Heads that agree run side by side instead of hiding each other.
        shift = above + ROW / 2 + (place - (len(heads) - 1) / 2) * min(2.2, 14 / len(heads))
        strokes = []
        for row, column in np.argwhere(weights[head] >= LEAST_LINE):
            weight = float(weights[head, row, column])
            y1, y2 = row * ROW + shift, column * ROW + shift
            path = f"M{left:g} {y1:g}C{left + 90:g} {y1:g} {right - 90:g} {y2:g} {right:g} {y2:g}"
            strokes.append(
                f'<path d="{path}" stroke-width="{0.4 + 3 * weight:.2g}" stroke-opacity="{0.25 + 0.6 * weight:.2g}"/>'
            )
        groups.append(f'<g fill="none" stroke="{colours[head]}"><title>head {head + 1}</title>{"".join(strokes)}</g>')
    bottom = above + max(len(queries), len(keys)) * ROW
    labels = [
        _text(left - 8, 12, "writes" if kind != "encoder" else "looks", anchor="end", weight=600),
        _text(right + 8, 12, "at" if kind == "encoder" else "reads", weight=600),
        *(_text(left - 8, above + row * ROW + 15, label, size=12, anchor="end") for row, label in enumerate(queries)),
        *(_text(right + 8, above + row * ROW + 15, label, size=12) for row, label in enumerate(keys)),
        *(
            _text(left + place * 30, bottom + 16, f"{head + 1}", weight=600, fill=colours[head])
            for place, head in enumerate(heads)
        ),
        _text(left - 8, bottom + 16, "heads", anchor="end"),
    ]
    width = right + max(_width(label, 12) for label in keys) + 16
    return Part(max(width, left + len(heads) * 30), bottom + 24, "".join(groups + labels))


def _figure(caption: str, part: Part, description: str) -> str:
    return (
        f'<figure style="margin:1.5em 0"><figcaption>{escape(caption)}</figcaption>'
        f'<svg viewBox="0 0 {part.width:g} {part.height:g}" width="{part.width:g}" role="img" '
        f'aria-label="{escape(description)}" style="max-width:100%;height:auto;{FONT}">{part.markup}</svg></figure>'
    )


def _description(attention: AttentionMap, kind: Kind | None = None) -> str:
    num_layers, num_heads = attention.weights(kind or "cross").shape[:2]
    what = TITLES[kind] if kind else "Encoder, decoder and encoder-decoder attention"
    return f"{what}: {num_heads} heads in each of {num_layers} layers, rows look at columns"


def _sentence_lines(attention: AttentionMap, left: float, width: float) -> list[str]:
    lines = []
    for index, (side, pieces) in enumerate((("source", attention.source_pieces), ("target", attention.target_pieces))):
        sentence = "".join(map(visible, pieces)).replace("▁", " ").strip()
        lines.append(_text(left, 60 + index * 17, side, size=11, weight=600))
        lines.append(_text(left + 48, 60 + index * 17, _cut(sentence, width / 6.6 - 8), size=11))
    return lines


def _text(
    x: float, y: float, text: str, *, size: float = FONT_SIZE, anchor: str = "start", weight: int = 400,
    fill: str = "currentColor", turned: bool = False,
) -> str:  # fmt: skip
    place = f'transform="translate({x:g} {y:g})rotate(-90)"' if turned else f'x="{x:g}" y="{y:g}"'
    # SentencePiece's mark of a word's start is kept, for honesty, and faint, for reading.
    marked = escape(text).replace("▁", '<tspan fill-opacity=".35">▁</tspan>')
    options = ("" if anchor == "start" else f' text-anchor="{anchor}"') + (
        "" if weight == 400 else f' font-weight="{weight}"'
    )
    return f'<text {place} font-size="{size:g}" fill="{fill}"{options}>{marked}</text>'


def _moved(markup: str, x: float, y: float) -> str:
    return f'<g transform="translate({x:g} {y:g})">{markup}</g>'


def _characters(text: str) -> float:
    """Width of a text in characters of Latin script."""
    return sum(1.75 if unicodedata.east_asian_width(character) in "WF" else 1.0 for character in text)


def _width(text: str, size: float = FONT_SIZE) -> float:
    return _characters(text) * size * 0.58


def _cut(text: str, limit: float = MAX_LABEL) -> str:
    if _characters(text) <= limit:
        return text
    kept = text
    while _characters(kept) > limit - 1:
        kept = kept[:-1]
    return kept + "…"

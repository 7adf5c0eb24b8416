"""One kind of attention as heat maps: layers from top to bottom, heads from left to right."""

from dataclasses import dataclass, replace

import numpy as np

from attendo.attention_maps.labels import labels
from attendo.attention_maps.palette import head_colours
from attendo.attention_maps.shapes import Box, Cells, Part, Shape, Text, cut, moved, text_width
from attendo.attention_maps.view import Selection
from attendo.attention_maps.weights import AttentionMap

CELL = 12.0
"""Side of a cell in a map that has its words at the edges."""
SMALL_MAP = 144.0
"""Length of the longer side of a map without words."""
MOST_LABELLED = 30
"""The largest number of words of a side with which several maps still have their words at the edges; with more, each
map would take a page of its own. A single map always has its words."""
MAX_WIDTH = 960.0
"""The largest width of a line of maps; further heads of the layer continue on the next line."""
MAX_LABEL = 15
"""The largest number of letters of a label; longer ones are cut."""
GAP = 14.0
LINE_GAP = 24.0
"""Gap between two lines of maps, which holds the heads' names."""
LAYER_GAP = 16.0
"""Additional gap between two layers."""
BESIDE = 62.0
"""Width of the column with the layers' names."""
SHOWN_IN_KEY = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0)


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The layout of the maps."""

    cell: float
    has_labels: bool
    left: float
    above: float
    columns: int
    lines: int
    """Number of lines that one layer takes."""
    map_width: float
    map_height: float

    @property
    def layer_height(self) -> float:
        """Height of one layer, including the gap below it."""
        return self.lines * (self.map_height + LINE_GAP) + LAYER_GAP


def heat_maps(attention: AttentionMap, selection: Selection) -> Part:
    """Draws a map for each head, with the words at the edges of the whole unless there are too many to be read."""
    grid = _grid(attention, selection)
    queries = [cut(label, MAX_LABEL) for label in labels(attention.queries(selection.kind), attention.unit)]
    keys = [cut(label, MAX_LABEL) for label in labels(attention.keys(selection.kind), attention.unit)]
    shapes: list[Shape] = []
    for row, layer in enumerate(selection.layers):
        top = grid.above + row * grid.layer_height
        shapes.append(Text(x=0, y=top + 9, text=f"layer {layer + 1}", bold=True))
        for line in range(grid.lines if grid.has_labels else 0):
            line_top = top + line * (grid.map_height + LINE_GAP)
            shapes += [
                Text(x=grid.left - 6, y=line_top + (place + 1) * CELL - 2.5, text=label, anchor="end")
                for place, label in enumerate(queries)
            ]
        for place, head in enumerate(selection.heads):
            x = grid.left + place % grid.columns * (grid.map_width + GAP)
            y = top + place // grid.columns * (grid.map_height + LINE_GAP)
            shapes += _one_map(attention, selection, (layer, head), (x, y), grid.cell)
            if row == 0 and place < grid.columns and grid.has_labels:
                shapes += [
                    Text(x=x + (column + 1) * CELL - 2.5, y=grid.above - 18, text=label, turned=True)
                    for column, label in enumerate(keys)
                ]
    bottom = grid.above + len(selection.layers) * grid.layer_height
    key = _key(has_labels=grid.has_labels)
    width = max(grid.left + grid.columns * (grid.map_width + GAP), key.width)
    return Part(width=width, height=bottom + key.height, shapes=(*shapes, *moved(key, 0, bottom - 12)))


def _grid(attention: AttentionMap, selection: Selection) -> Grid:
    queries, keys = attention.queries(selection.kind), attention.keys(selection.kind)
    num_heads, is_single = len(selection.heads), len(selection.heads) == len(selection.layers) == 1
    has_labels = is_single or max(len(queries), len(keys)) <= MOST_LABELLED
    cell = CELL if has_labels else SMALL_MAP / max(len(queries), len(keys))
    map_width = max(len(keys) * cell, text_width("head 00"))
    columns = max(1, min(num_heads, int((MAX_WIDTH + GAP) // (map_width + GAP))))
    lines = -(-num_heads // columns)
    widths = [
        max(text_width(cut(label, MAX_LABEL)) for label in labels(side, attention.unit)) for side in (queries, keys)
    ]
    beside, above = widths if has_labels else (0.0, 0.0)
    return Grid(
        cell=cell,
        has_labels=has_labels,
        left=BESIDE + beside,
        above=24 + above,
        columns=-(-num_heads // lines),  # 8 heads on two lines are split 4 and 4, not 6 and 2
        lines=lines,
        map_width=map_width,
        map_height=len(queries) * cell,
    )


def _one_map(
    attention: AttentionMap, selection: Selection, indices: tuple[int, int], corner: tuple[float, float], cell: float
) -> list[Shape]:
    (layer, head), (x, y) = indices, corner
    all_heads = attention.weights(selection.kind)
    weights = all_heads[layer, head]
    colour = head_colours(all_heads.shape[1])[head]
    row, column = np.unravel_index(int(weights.argmax()), weights.shape)
    looking = labels(attention.queries(selection.kind), attention.unit)[row]
    looked_at = labels(attention.keys(selection.kind), attention.unit)[column]
    title = f"layer {layer + 1}, head {head + 1}; strongest: {looking} → {looked_at} {weights[row, column]:.2f}"
    cells = Cells(x=x, y=y, cell=cell, weights=weights, colour=colour, title=title)
    ground = Box(x=x, y=y, width=cells.width, height=cells.height, colour=colour, opacity=0.05)
    return [
        ground,
        cells,
        replace(ground, opacity=0.6, is_outline=True),
        Text(x=x, y=y - 5, text=f"head {head + 1}", bold=True, colour=colour),
    ]


def _key(*, has_labels: bool) -> Part:
    """The key of shades and weights; shades go by the square root, so that 0.05 does not look like 0."""
    shapes: list[Shape] = [Text(x=0, y=9, text="weight")]
    for index, weight in enumerate(SHOWN_IN_KEY):
        x = 46 + index * 52.0
        shapes.append(Box(x=x, y=0, width=CELL, height=CELL, colour=None, opacity=weight**0.5))
        shapes.append(Text(x=x + CELL + 4, y=9, text=f"{weight:g}"))
    width, height = 46 + len(SHOWN_IN_KEY) * 52.0, 22.0
    if not has_labels:
        hint = "Rows look at columns, from the first word at the top left to the last; one head alone has its words."
        shapes.append(Text(x=0, y=28, text=hint))
        width, height = max(width, text_width(hint)), 40.0
    return Part(width=width, height=height, shapes=tuple(shapes))

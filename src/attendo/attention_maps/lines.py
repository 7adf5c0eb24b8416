"""One kind of attention as in the paper's Figures 3 to 5: lines between two columns of words, one colour per head."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attendo.attention_maps.labels import labels
from attendo.attention_maps.palette import head_colours
from attendo.attention_maps.shapes import Box, Curve, Curves, Part, Shape, Text, cut, moved, text_width
from attendo.attention_maps.view import Selection
from attendo.attention_maps.weights import AttentionMap, Kind, Unit

ROW = 22.0
"""Height of a word's row."""
SIZE = 12.0
"""Font size of a word."""
MAX_LABEL = 22
"""The largest number of letters of a label; longer ones are cut."""
BETWEEN = 240.0
"""Distance between the two columns."""
ABOVE = 44.0
"""Height of the headings above the words."""
BAND = 7.0
"""Width of each head's band beside a word."""
LEAST_LINE = 0.03
"""The smallest weight that is drawn; hundreds of hairlines would hide the rest."""
MAX_WIDTH = 960.0
"""The largest width of a line of panels; further layers continue on the next line."""
GAP = 40.0
_COLUMNS: dict[Kind, tuple[str, str]] = {
    "encoder": ("looks", "at"),
    "decoder": ("writes", "reads"),
    "cross": ("writes", "reads"),
}


def lines(attention: AttentionMap, selection: Selection) -> Part:
    """Draws a panel for each layer, the lowest first."""
    panels = [_panel(attention, selection, layer) for layer in selection.layers]
    columns = max(1, int((MAX_WIDTH + GAP) // (panels[0].width + GAP)))
    step_x, step_y = panels[0].width + GAP, panels[0].height + GAP / 2
    shapes: list[Shape] = []
    for place, panel in enumerate(panels):
        shapes += moved(panel, place % columns * step_x, place // columns * step_y)
    num_lines = -(-len(panels) // columns)
    return Part(width=min(columns, len(panels)) * step_x - GAP, height=num_lines * step_y, shapes=tuple(shapes))


def _panel(attention: AttentionMap, selection: Selection, layer: int) -> Part:
    weights = attention.weights(selection.kind)[layer]
    sides = attention.queries(selection.kind), attention.keys(selection.kind)
    queries, keys = (_cut(side, attention.unit) for side in sides)
    colours = head_colours(len(weights))
    looking, looked_at = _COLUMNS[selection.kind]
    bands = (BAND * len(selection.heads) + 4) if selection.has_focus else 0.0
    left = max(text_width(label, SIZE) for label in (looking, *queries)) + 12 + (bands if selection.keys else 0)
    right = left + BETWEEN
    shapes: list[Shape] = []
    for place, head in enumerate(selection.heads):
        # Heads that agree run side by side instead of hiding each other.
        shift = ABOVE + ROW / 2 + (place - (len(selection.heads) - 1) / 2) * min(2.2, 14 / len(selection.heads))
        curves = _curves(_in_focus(weights[head], selection), shift)
        shapes.append(Curves(x1=left, x2=right, colour=colours[head], curves=curves, title=f"head {head + 1}"))
        x = left - bands + place * BAND if selection.keys else right + 4 + place * BAND
        shapes += _bands(weights[head], selection, x, colours[head])
    ends = (left - 8 - (bands if selection.keys else 0), right + 8 + (bands if selection.queries else 0))
    shapes += _column(ends[0], looking, queries, selection.queries, is_left=True)
    shapes += _column(ends[1], looked_at, keys, selection.keys, is_left=False)
    shapes.append(Text(x=0, y=14, text=f"layer {layer + 1}", bold=True))
    shapes += _key(selection, colours, left)
    width = max(
        ends[1] + max(text_width(label, SIZE) for label in (looked_at, *keys)),
        left + 18.0 * len(selection.heads) + text_width("heads"),
    )
    return Part(width=width, height=ABOVE + max(len(queries), len(keys)) * ROW, shapes=tuple(shapes))


def _cut(tokens: Sequence[str], unit: Unit) -> list[str]:
    return [cut(label, MAX_LABEL) for label in labels(tokens, unit)]


def _column(x: float, title: str, labels: Sequence[str], focus: Sequence[int] | None, *, is_left: bool) -> list[Shape]:
    anchor: Literal["start", "end"] = "end" if is_left else "start"
    return [
        Text(x=x, y=ABOVE - 6, text=title, anchor=anchor, size=SIZE - 2),
        *(
            Text(
                x=x, y=ABOVE + place * ROW + 15, text=label, size=SIZE, anchor=anchor,
                bold=focus is not None and place in focus,
            )
            for place, label in enumerate(labels)
        ),
    ]  # fmt: skip


def _in_focus(weights: NDArray[np.float32], selection: Selection) -> NDArray[np.float32]:
    """Returns the weights with those outside the selection set to 0."""
    drawn = np.zeros_like(weights)
    rows = list(selection.queries) if selection.queries else slice(None)
    columns = list(selection.keys) if selection.keys else slice(None)
    drawn[rows, columns] = weights[rows, columns]
    return drawn


def _curves(weights: NDArray[np.float32], shift: float) -> tuple[Curve, ...]:
    return tuple(
        Curve(y1=row * ROW + shift, y2=column * ROW + shift, weight=float(weights[row, column]))
        for row, column in np.argwhere(weights >= LEAST_LINE)
    )


def _bands(weights: NDArray[np.float32], selection: Selection, x: float, colour: str) -> list[Shape]:
    """Draws beside each word the mean weight that the words in focus give it, or the total weight it gives them."""
    if selection.queries:
        strengths = weights[list(selection.queries)].mean(axis=0)
    elif selection.keys:
        strengths = weights[:, list(selection.keys)].sum(axis=1)
    else:
        return []
    return [
        Box(x=x, y=ABOVE + place * ROW + 1, width=BAND - 1, height=ROW - 2, colour=colour, opacity=float(weight) ** 0.5)
        for place, weight in enumerate(np.clip(strengths, 0, 1))
        if weight >= LEAST_LINE / 3
    ]


def _key(selection: Selection, colours: Sequence[str], x: float) -> list[Shape]:
    """Draws the heads' numbers in their colours."""
    heads = [
        Text(x=x + text_width("heads ") + place * 18, y=14, text=f"{head + 1}", bold=True, colour=colours[head])
        for place, head in enumerate(selection.heads)
    ]
    return [Text(x=x, y=14, text="heads" if len(heads) > 1 else "head"), *heads]

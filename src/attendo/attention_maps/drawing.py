"""Draws a view of an attention map as a picture for print, which `svg` and `png` write as files."""

import re
from dataclasses import dataclass

from attendo.attention_maps.heat_maps import heat_maps
from attendo.attention_maps.labels import spelled
from attendo.attention_maps.lines import lines
from attendo.attention_maps.shapes import CaptionedPart, Part, Shape, Text, cut, moved, text_width
from attendo.attention_maps.view import Selection, View, select
from attendo.attention_maps.weights import TITLES, AttentionMap, visible

MARGIN = 24.0
HEADER = 92.0
"""Height of the title and the two sentences."""
LEAST_WIDTH = 560.0
MOST_WIDTH = 760.0
"""The largest width that the two sentences can give the picture; longer sentences are cut."""
SIDE = 48.0
"""Width of the column with the names of the two sides, before their sentences."""
END = "</s>"
"""The last token of a side, which stands for no text."""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A complete picture with its size."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    description: str
    """A text alternative for people who cannot see the picture."""


def draw(attention: AttentionMap, view: View) -> Drawing:
    """Draws the two sentences and, below them, the figures that a view asks for.

    Raises:
        DataError: the map lacks a kind, layer, head or word of the view.
    """
    parts = figures(attention, view)
    sides = {"source": sentence(attention, attention.source), "target": sentence(attention, attention.target)}
    sentence_width = min(MOST_WIDTH, max(SIDE + text_width(text, 11) for text in sides.values()))
    content_width = max(LEAST_WIDTH, sentence_width, *(figure.part.width for figure in parts))
    width = content_width + 2 * MARGIN
    shapes: list[Shape] = [Text(x=MARGIN, y=38, text="Attention", size=20, bold=True)]
    for index, (side, text) in enumerate(sides.items()):
        y = 60.0 + index * 17
        shapes.append(Text(x=MARGIN, y=y, text=side, size=11, bold=True))
        # Slightly more than the text needs, so that rounding does not cut a text that fits exactly.
        shapes.append(
            Text(x=MARGIN + SIDE, y=y, text=cut(text, (content_width - SIDE) / text_width("a", 11) + 0.01), size=11)
        )
    top = HEADER
    for figure in parts:
        shapes.append(Text(x=MARGIN, y=top + 22, text=figure.caption, size=14, bold=True))
        shapes += moved(figure.part, MARGIN, top + 34)
        top += figure.part.height + 44
    description = " ".join(figure.description for figure in parts)
    return Drawing(width=width, height=top, shapes=tuple(shapes), description=description)


def figures(attention: AttentionMap, view: View) -> tuple[CaptionedPart, ...]:
    """Returns the figures that a view asks for, one for each kind of attention.

    Raises:
        DataError: the map lacks a kind, layer, head or word of the view.
    """
    return tuple(_figure(attention, view, selection) for selection in select(attention, view))


def sentence(attention: AttentionMap, tokens: tuple[str, ...]) -> str:
    """Returns a side's tokens as one line of text, without `</s>`."""
    tokens = tokens[:-1] if tokens[-1] == END else tokens
    if attention.unit == "pieces":
        return spelled(tokens)
    return re.sub(r" (?=[.,;:!?…)\]}»”]( |$))", "", " ".join(map(visible, tokens)))


def _figure(attention: AttentionMap, view: View, selection: Selection) -> CaptionedPart:
    num_layers, num_heads = attention.weights(selection.kind).shape[:2]
    caption = TITLES[selection.kind]
    totals = []
    for name, chosen, count in (("layer", selection.layers, num_layers), ("head", selection.heads, num_heads)):
        if len(chosen) < count:
            caption += f", {_numbered(name, chosen)} of {count}"
        else:
            totals.append(f"all {count} {name}s" if count > 1 else f"its one {name}")
    part: Part
    words = ", ".join(map(visible, view.words))
    if view.style == "lines":
        part = lines(attention, selection)
        reach = "the words that look at it" if selection.keys else "the words it looks at"
        content = f"lines from {words or 'each word'} to {reach}, thick where the weight is high"
    else:
        part, content = heat_maps(attention, selection), "rows look at columns, dark where the weight is high"
    sizes = f", {' and '.join(totals)}" if totals else ""
    description = f"{caption}{sizes}: {content}."
    if view.words and view.style == "lines":
        caption += f": {words}"
    return CaptionedPart(caption=caption, description=description, part=part)


def _numbered(name: str, indices: tuple[int, ...]) -> str:
    numbers = ", ".join(str(index + 1) for index in indices)
    return f"{name} {numbers}" if len(indices) == 1 else f"{name}s {numbers}"

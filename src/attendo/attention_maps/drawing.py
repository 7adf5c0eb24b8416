"""A view of an attention map as a picture for print, of which `svg` and `png` make files."""

import re
from dataclasses import dataclass

from attendo.attention_maps.heat_maps import heat_maps
from attendo.attention_maps.lines import lines
from attendo.attention_maps.shapes import Captioned, Part, Shape, Text, cut, moved, text_width
from attendo.attention_maps.view import Selection, View, select
from attendo.attention_maps.weights import TITLES, AttentionMap, visible

MARGIN = 24.0
HEADER = 92.0
"""Height of the title and the two sentences."""
LEAST_WIDTH = 560.0
END = "</s>"
"""The last token of a side, which is no text."""


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A picture on a page of its own."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    description: str
    """For who does not see it."""


def draw(attention: AttentionMap, view: View) -> Drawing:
    """The two sentences, then what a view asks for.

    Raises:
        DataError: the map does not have what the view asks for.
    """
    parts = figures(attention, view)
    width = max(LEAST_WIDTH, *(figure.part.width for figure in parts)) + 2 * MARGIN
    shapes: list[Shape] = [Text(x=MARGIN, y=38, text="Attention", size=20, bold=True)]
    for index, (side, tokens) in enumerate((("source", attention.source), ("target", attention.target))):
        y = 60.0 + index * 17
        shapes.append(Text(x=MARGIN, y=y, text=side, size=11, bold=True))
        text = cut(sentence(attention, tokens), (width - 2 * MARGIN - 48) / text_width("a", 11))
        shapes.append(Text(x=MARGIN + 48, y=y, text=text, size=11))
    top = HEADER
    for figure in parts:
        shapes.append(Text(x=MARGIN, y=top + 22, text=figure.caption, size=14, bold=True))
        shapes += moved(figure.part, MARGIN, top + 34)
        top += figure.part.height + 44
    description = " ".join(figure.description for figure in parts)
    return Drawing(width=width, height=top, shapes=tuple(shapes), description=description)


def figures(attention: AttentionMap, view: View) -> tuple[Captioned, ...]:
    """What a view asks for, a part for each kind of attention.

    Raises:
        DataError: the map does not have what the view asks for.
    """
    return tuple(_figure(attention, view, selection) for selection in select(attention, view))


def sentence(attention: AttentionMap, tokens: tuple[str, ...]) -> str:
    """A side's tokens as one line of text, without `</s>`."""
    shown = [visible(token) for token in (tokens[:-1] if tokens[-1] == END else tokens)]
    if attention.unit == "pieces":
        return "".join(shown).replace("▁", " ").strip()
    return re.sub(r" (?=[.,;:!?…)\]}»”]( |$))", "", " ".join(shown))


def _figure(attention: AttentionMap, view: View, selection: Selection) -> Captioned:
    num_layers, num_heads = attention.weights(selection.kind).shape[:2]
    caption = TITLES[selection.kind]
    for name, chosen, count in (("layer", selection.layers, num_layers), ("head", selection.heads, num_heads)):
        if len(chosen) < count:
            caption += f", {_numbered(name, chosen)} of {count}"
    part: Part
    if view.style == "lines":
        part = lines(attention, selection)
        what = "lines from each word to the words it looks at, thick where the weight is high"
        if view.words:
            caption += f": {', '.join(map(visible, view.words))}"
    else:
        part, what = heat_maps(attention, selection), "rows look at columns, dark where the weight is high"
    description = f"{caption}, {len(selection.layers)} x {len(selection.heads)} layers and heads: {what}."
    return Captioned(caption=caption, description=description, part=part)


def _numbered(name: str, indices: tuple[int, ...]) -> str:
    numbers = ", ".join(str(index + 1) for index in indices)
    return f"{name} {numbers}" if len(indices) == 1 else f"{name}s {numbers}"

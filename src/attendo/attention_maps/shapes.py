"""The shapes of attention pictures, before they become SVG or PNG: x to the right, y down, one unit is one point."""

import unicodedata
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

FONT_SIZE = 10.0
"""Font size of a label; a picture fitted to the width of an upright A4 page prints it at 5 to 6 points."""
_LETTER_WIDTH = 0.58
"""Mean width of a Latin letter, as a share of the font size."""


@dataclass(frozen=True, kw_only=True)
class Text:
    """One line of text."""

    x: float
    y: float
    """Vertical position of the baseline."""
    text: str
    size: float = FONT_SIZE
    anchor: Literal["start", "end"] = "start"
    """The end of the text that is at `x`."""
    bold: bool = False
    colour: str | None = None
    """`#rrggbb`; None for the text's own colour."""
    turned: bool = False
    """Whether the text runs upwards."""


@dataclass(frozen=True, kw_only=True)
class Box:
    """A rectangle, filled or outlined."""

    x: float
    y: float
    width: float
    height: float
    colour: str | None
    """`#rrggbb`; None for the text's own colour."""
    opacity: float
    is_outline: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """One head as a heat map."""

    x: float
    y: float
    cell: float
    """Side of a cell."""
    weights: NDArray[np.float32]
    """`(queries, keys)`, 0 to 1."""
    colour: str
    title: str
    """The tooltip of the map."""

    @property
    def width(self) -> float:
        """Width of all columns together."""
        return float(self.weights.shape[1] * self.cell)

    @property
    def height(self) -> float:
        """Height of all rows together."""
        return float(self.weights.shape[0] * self.cell)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """A line from a word to the word it attends to."""

    y1: float
    y2: float
    weight: float
    """Attention weight, 0 to 1; a higher weight makes the line thicker and more opaque."""

    @property
    def width(self) -> float:
        """Width of the stroke."""
        return 0.4 + 3 * self.weight

    @property
    def opacity(self) -> float:
        """Opacity of the stroke."""
        return 0.25 + 0.6 * self.weight


@dataclass(frozen=True, kw_only=True)
class Curves:
    """One head's lines between two columns."""

    x1: float
    x2: float
    colour: str
    curves: tuple[Curve, ...]
    title: str

    @property
    def handles(self) -> tuple[float, float]:
        """Horizontal positions of the two middle control points of each Bézier curve."""
        reach = 0.35 * (self.x2 - self.x1)
        return self.x1 + reach, self.x2 - reach


Shape = Text | Box | Cells | Curves


@dataclass(frozen=True, kw_only=True)
class Part:
    """A piece of a picture whose upper left corner is (0, 0)."""

    width: float
    height: float
    shapes: tuple[Shape, ...]


@dataclass(frozen=True, kw_only=True)
class CaptionedPart:
    """A part of a picture with its caption and description."""

    caption: str
    description: str
    """A text alternative for people who cannot see the part."""
    part: Part


def moved(part: Part, dx: float, dy: float) -> tuple[Shape, ...]:
    """Returns a part's shapes, moved by `dx` and `dy`."""
    return tuple(_moved(shape, dx, dy) for shape in part.shapes)


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Returns the approximate width of a text as drawn."""
    return _characters(text) * size * _LETTER_WIDTH


def cut(text: str, limit: float) -> str:
    """Cuts a text to at most the width of `limit` Latin letters, with an ellipsis at the end if it was cut."""
    if _characters(text) <= limit:
        return text
    kept = text
    while _characters(kept) > limit - 1:
        kept = kept[:-1]
    return kept + "…"


def _moved(shape: Shape, dx: float, dy: float) -> Shape:
    if isinstance(shape, Curves):
        curves = tuple(replace(curve, y1=curve.y1 + dy, y2=curve.y2 + dy) for curve in shape.curves)
        return replace(shape, x1=shape.x1 + dx, x2=shape.x2 + dx, curves=curves)
    return replace(shape, x=shape.x + dx, y=shape.y + dy)


def _characters(text: str) -> float:
    """Returns the width of a text in Latin letters."""
    return sum(1.75 if unicodedata.east_asian_width(character) in "WF" else 1.0 for character in text)

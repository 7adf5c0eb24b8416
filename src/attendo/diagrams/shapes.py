"""The shapes of diagrams, before they become SVG or PNG: x to the right, y down, in units of a point."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from attendo.attention_maps.shapes import text_width
from attendo.diagrams.structure import Boxed

Role = Literal[Boxed, "frame", "piece"]
"""Role of a panel, which determines its colour."""
TITLE_SIZE, DETAIL_SIZE = 13.0, 10.5
DETAIL_LINE = 13.5
"""Distance between two lines of details."""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A rectangle with round corners; a circle if the radius is half of both sides."""

    x: float
    y: float
    width: float
    height: float
    role: Role
    radius: float = 7.0
    hint: str = ""
    """Text shown when the pointer is on the panel."""


@dataclass(frozen=True, kw_only=True)
class Label:
    """One line of text."""

    x: float
    y: float
    """Vertical position of the baseline."""
    text: str
    size: float = DETAIL_SIZE
    anchor: Literal["start", "middle", "end"] = "middle"
    bold: bool = False
    quiet: bool = False
    """Whether it is less important, and drawn in a fainter colour."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """A line of straight segments, with or without an arrowhead at its end."""

    points: tuple[tuple[float, float], ...]
    has_head: bool = True


Shape = Panel | Label | Way


@dataclass(frozen=True, kw_only=True)
class Diagram:
    """A complete picture."""

    width: float
    height: float
    shapes: tuple[Shape, ...]
    title: str
    description: str
    """Text alternative for readers who cannot see the picture."""


def moved(shapes: Sequence[Shape], dx: float, dy: float) -> tuple[Shape, ...]:
    """Returns the shapes, moved by `dx` and `dy`."""
    return tuple(
        replace(shape, points=tuple((x + dx, y + dy) for x, y in shape.points))
        if isinstance(shape, Way)
        else replace(shape, x=shape.x + dx, y=shape.y + dy)
        for shape in shapes
    )


def wrapped(text: str, width: float, size: float = DETAIL_SIZE) -> list[str]:
    """Splits a text between words into lines that are no wider than `width`, unless a single word is."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_width(longer, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


@dataclass(frozen=True, kw_only=True)
class Lettering:
    """The text of a block, split into lines."""

    title: tuple[str, ...]
    details: tuple[str, ...]

    @property
    def height(self) -> float:
        """Height of a panel that holds the text."""
        return 13 + 16 * len(self.title) + DETAIL_LINE * len(self.details)


def lettering(title: str, details: Sequence[str], width: float) -> Lettering:
    """Splits a block's text into lines for a panel of this width."""
    room = width - 14
    return Lettering(
        title=tuple(wrapped(title, room / 1.06, TITLE_SIZE)),  # bold letters are wider
        details=tuple(line for detail in details for line in wrapped(detail, room)),
    )


def block(lines: Lettering, role: Role, x: float, y: float, width: float, height: float, hint: str) -> list[Shape]:
    """Returns a panel with its text in the middle and its upper left corner at (x, y)."""
    shapes: list[Shape] = [Panel(x=x, y=y, width=width, height=height, role=role, hint=hint)]
    middle, top = x + width / 2, y + (height - lines.height) / 2 + 5
    for number, line in enumerate(lines.title):
        shapes.append(Label(x=middle, y=top + 13 + 16 * number, text=line, size=TITLE_SIZE, bold=True))
    below = top + 16 * len(lines.title)
    for number, line in enumerate(lines.details):
        shapes.append(Label(x=middle, y=below + 11 + DETAIL_LINE * number, text=line, quiet=True))
    return shapes

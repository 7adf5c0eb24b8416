"""Diagrams as SVG: text remains text, the colours follow the reader's light or dark mode, no other file is loaded."""

from attendo.diagrams.palette import DARK, LIGHT, Theme
from attendo.diagrams.shapes import Diagram, Label, Panel, Shape, Way
from attendo.xml_text import FONT, xml_text

HEAD = 7.0
"""Length of an arrowhead."""


def to_svg(diagram: Diagram) -> str:
    """Returns a self-contained file, with a title and a description for screen readers."""
    size = f'viewBox="0 0 {diagram.width:g} {diagram.height:g}" width="{diagram.width:g}" height="{diagram.height:g}"'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title description">\n'
        f'<title id="title">{xml_text(diagram.title)}</title>\n'
        f'<desc id="description">{xml_text(diagram.description)}</desc>\n'
        f"<style>{style()}</style>\n"
        f'<rect class="page" width="100%" height="100%"/>\n{"".join(map(_shape, diagram.shapes))}</svg>\n'
    )


def style() -> str:
    """Returns the style sheet: the light colours, and the dark ones for readers in dark mode."""
    return (
        f"text{{font-family:{FONT}}}.way{{fill:none;stroke-width:1.4;stroke-linejoin:round}}rect{{stroke-width:1.2}}"
        f".page{{stroke:none}}{_colours(LIGHT)}@media (prefers-color-scheme:dark){{{_colours(DARK)}}}"
    )


def head(way: Way) -> tuple[tuple[float, float], ...]:
    """Returns the corners of an arrowhead: its point, where the line ends, and the two behind it."""
    (x0, y0), (x, y) = way.points[-2:]
    length = ((x - x0) ** 2 + (y - y0) ** 2) ** 0.5 or 1.0
    dx, dy = (x - x0) / length, (y - y0) / length
    back, side = (x - HEAD * dx, y - HEAD * dy), 0.45 * HEAD
    return ((x, y), (back[0] - side * dy, back[1] + side * dx), (back[0] + side * dy, back[1] - side * dx))


def shaft(way: Way) -> tuple[tuple[float, float], ...]:
    """Returns the points of the line itself, which ends inside the arrowhead."""
    if not way.has_head:
        return way.points
    (x, y), left, right = head(way)
    middle = ((left[0] + right[0]) / 2, (left[1] + right[1]) / 2)
    return (*way.points[:-1], ((x + middle[0]) / 2, (y + middle[1]) / 2))


def _colours(theme: Theme) -> str:
    panels = "".join(f".{role}{{fill:{fill};stroke:{edge}}}" for role, (fill, edge) in theme.panels.items())
    return (
        f".page{{fill:{theme.page}}}text{{fill:{theme.text}}}.quiet{{fill:{theme.quiet}}}"
        f".way{{stroke:{theme.line}}}.head{{fill:{theme.line}}}{panels}"
    )


def _shape(shape: Shape) -> str:
    match shape:
        case Panel():
            return _panel(shape)
        case Label():
            return _label(shape)
        case Way():
            return _way(shape)


def _panel(panel: Panel) -> str:
    hint = f"<title>{xml_text(panel.hint)}</title>" if panel.hint else ""
    return (
        f'<rect class="{panel.role}" x="{panel.x:g}" y="{panel.y:g}" width="{panel.width:g}" '
        f'height="{panel.height:g}" rx="{panel.radius:g}">{hint}</rect>\n'
    )


def _label(label: Label) -> str:
    options = "" if label.anchor == "start" else f' text-anchor="{label.anchor}"'
    options += ' font-weight="600"' if label.bold else ""
    options += ' class="quiet"' if label.quiet else ""
    return f'<text x="{label.x:g}" y="{label.y:g}" font-size="{label.size:g}"{options}>{xml_text(label.text)}</text>\n'


def _way(way: Way) -> str:
    line = " ".join(f"{x:g},{y:g}" for x, y in shaft(way))
    drawn = f'<polyline class="way" points="{line}"/>'
    if way.has_head:
        corners = " ".join(f"{x:g},{y:g}" for x, y in head(way))
        drawn += f'<polygon class="head" points="{corners}"/>'
    return drawn + "\n"

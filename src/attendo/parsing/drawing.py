"""A tree drawn as SVG: the words in a row at the bottom, every constituent above the middle of its parts."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from attendo.parsing.tree import Tree
from attendo.xml_text import FONT, xml_text

WORD_SIZE, TAG_SIZE, LABEL_SIZE = 15.0, 11.0, 12.0
"""Font sizes, in the units of the drawing, as are all numbers in this module."""
ROW = 42.0
"""Distance from one row of constituents to the next."""
WORD_GAP = 20.0
LABEL_GAP = 10.0
MARGIN = 24.0
PILL_HEIGHT, PILL_PADDING = 20.0, 7.0
CORNER = 6.0
MAX_LETTERS = 40
"""Maximum number of characters shown of a word or a label; the tooltip has all of them."""
MAX_TOOLTIP = 30
"""Maximum number of words in a constituent's tooltip."""
INK, FAINT, LINE = "#16181d", "#5b616e", "#9aa1ad"

# Dark shades of Okabe and Ito's colours, which colour-blind readers can distinguish; the labels say the same.
COLOURS = {"N": "#005b8f", "V": "#a33c00", "P": "#00694b", "S": "#8a3b6b", "A": "#7a5b00"}
"""Colours of constituents by the first letter of their label after WH: NP, VP, PP, S and SBAR, ADJP and ADVP."""
_NARROW = frozenset("iljtfrI.,:;'`!|()[]-/ ")
_WIDE = frozenset("mwMW@%")


@dataclass(slots=True)
class _Place:
    """A node with its position."""

    node: Tree
    parent: int
    """Index of the parent in the list of places; -1 for the root."""
    width: float = 0.0
    """Width of the node and everything below it."""
    left: float = 0.0
    x: float = 0.0
    """Horizontal position of its middle."""
    level: int = 0
    """Number of rows below it; 0 for a word."""


def to_svg(tree: Tree) -> str:
    """Draws a tree as a self-contained SVG file on white, without script or style sheet."""
    places = _places(tree)
    root = places[0]
    tags_y = MARGIN + PILL_HEIGHT / 2 + root.level * ROW
    width, height = root.width + 2 * MARGIN, tags_y + 22 + WORD_SIZE / 2 + MARGIN
    lines = [_link(places[place.parent], place, tags_y) for place in places[1:]]
    marks = [_word(place, tags_y) if place.node.is_word else _label(place, tags_y) for place in places]
    title = xml_text(" ".join(tree.words))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-label="Tree of: {title}" font-family="{FONT}" text-anchor="middle">\n'
        f'<title>{title}</title>\n<rect width="100%" height="100%" fill="#ffffff"/>\n'
        f'<g fill="none" stroke="{LINE}" stroke-width="1.4">\n{_joined(lines)}</g>\n{_joined(marks)}</svg>\n'
    )


def _places(tree: Tree) -> list[_Place]:
    """Returns all nodes, each before its children; widths and levels are found from below, positions from above."""
    places: list[_Place] = []
    pending = [(tree, -1)]
    while pending:
        node, parent = pending.pop()
        pending.extend((child, len(places)) for child in reversed(node.children))
        places.append(_Place(node, parent, width=_own_width(node)))
    parts: list[list[int]] = [[] for _ in places]
    for index in range(1, len(places)):
        parts[places[index].parent].append(index)
    for index in range(len(places) - 1, -1, -1):
        if parts[index]:
            places[index].width = max(places[index].width, sum(places[part].width for part in parts[index]))
            places[index].level = 1 + max(places[part].level for part in parts[index])
    places[0].left = MARGIN
    for index, place in enumerate(places):
        left = place.left + (place.width - sum(places[part].width for part in parts[index])) / 2
        for part in parts[index]:
            places[part].left = left
            left += places[part].width
    for index in range(len(places) - 1, -1, -1):
        places[index].x = _middle(places[index], [places[part] for part in parts[index]])
    return places


def _middle(place: _Place, parts: Sequence[_Place]) -> float:
    """Returns the middle between the first and the last part, limited so that the label stays within its own place."""
    if not parts:
        return place.left + place.width / 2
    half = _own_width(place.node) / 2
    middle = (parts[0].x + parts[-1].x) / 2
    return min(max(middle, place.left + half), place.left + place.width - half)


def _own_width(node: Tree) -> float:
    if node.word is None:
        return _text_width(_cut(node.label), LABEL_SIZE) + 2 * PILL_PADDING + LABEL_GAP
    return max(_text_width(_cut(node.word), WORD_SIZE), _text_width(_cut(node.label), TAG_SIZE)) + WORD_GAP


def _text_width(text: str, size: float) -> float:
    """Estimates the width of a text in a sans-serif font, rather too large than too small."""
    return size * sum(_letter_width(letter) for letter in text)


def _letter_width(letter: str) -> float:
    if letter in _NARROW:
        return 0.36
    if letter in _WIDE:
        return 0.92
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.1
    return 0.7 if letter.isupper() else 0.58


def _y(place: _Place, tags_y: float) -> float:
    """Returns the vertical position of the middle of a label or a tag."""
    return tags_y - place.level * ROW


def _link(parent: _Place, child: _Place, tags_y: float) -> str:
    """Draws a line from a label down to one of its parts, around a corner."""
    top, bottom = _y(parent, tags_y) + PILL_HEIGHT / 2, _y(child, tags_y) - PILL_HEIGHT / 2
    if child.node.is_word:
        bottom += 2
    across = child.x - parent.x
    if abs(across) < CORNER:  # too close for a visible bend
        return f'<path d="M{child.x:.1f} {top:.1f}V{bottom:.1f}"/>'
    bend = min(CORNER, abs(across) / 2)
    sign = 1 if across > 0 else -1
    middle = top + (ROW - PILL_HEIGHT) / 2
    return (
        f'<path d="M{parent.x:.1f} {top:.1f}V{middle - bend:.1f}q0 {bend:.1f} {sign * bend:.1f} {bend:.1f}'
        f'H{child.x - sign * bend:.1f}q{sign * bend:.1f} 0 {sign * bend:.1f} {bend:.1f}V{bottom:.1f}"/>'
    )


def _label(place: _Place, tags_y: float) -> str:
    label, y = place.node.label, _y(place, tags_y)
    colour = COLOURS.get(label.removeprefix("WH")[:1], INK)
    width = _text_width(_cut(label), LABEL_SIZE) + 2 * PILL_PADDING
    return (
        f"<g><title>{xml_text(label)}: {_tooltip(place.node)}</title>"
        f'<rect x="{place.x - width / 2:.1f}" y="{y - PILL_HEIGHT / 2:.1f}" width="{width:.1f}" '
        f'height="{PILL_HEIGHT:g}" rx="{PILL_HEIGHT / 2:g}" fill="#ffffff" stroke="{colour}" stroke-width="1.2"/>'
        f"{_text(place.x, y + LABEL_SIZE * 0.36, label, LABEL_SIZE, colour, bold=True)}</g>"
    )


def _tooltip(node: Tree) -> str:
    """Returns the first words of a constituent, at most `MAX_TOOLTIP`."""
    words = [leaf.word or "" for leaf in islice(node.leaves(), MAX_TOOLTIP + 1)]
    return xml_text(" ".join(words[:MAX_TOOLTIP])) + ("…" if len(words) > MAX_TOOLTIP else "")


def _word(place: _Place, tags_y: float) -> str:
    assert place.node.word is not None
    return (
        f"<g><title>{xml_text(place.node.word)}: {xml_text(place.node.label)}</title>"
        f"{_text(place.x, tags_y + TAG_SIZE * 0.36, place.node.label, TAG_SIZE, FAINT)}"
        f"{_text(place.x, tags_y + 22, place.node.word, WORD_SIZE, INK)}</g>"
    )


def _text(x: float, y: float, text: str, size: float, colour: str, *, bold: bool = False) -> str:
    weight = ' font-weight="600"' if bold else ""
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{colour}"{weight}'
    return f"<text {place}>{xml_text(_cut(text))}</text>"


def _cut(text: str) -> str:
    return text if len(text) <= MAX_LETTERS else f"{text[: MAX_LETTERS - 1]}…"


def _joined(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)

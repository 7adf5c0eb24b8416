"""The layout of Figure 1: the encoder on the left, the decoder on the right, both running upwards."""

from collections.abc import Sequence
from dataclasses import dataclass

from attendo.diagrams.shapes import (
    Diagram,
    Label,
    Lettering,
    Panel,
    Shape,
    Way,
    block,
    lettering,
    moved,
)
from attendo.diagrams.structure import BESIDE, Block, Edge, Layers, Structure

BLOCK_WIDTH = 206.0
GAP = 30.0
"""Vertical distance between two blocks, with room for a forking arrow and the start of a residual connection."""
FORK, BRANCH = 13.0, 20.0
"""Distances below a block at which its arrow forks and at which residual connections begin."""
FRAME_BELOW, FRAME_ABOVE, FRAME_SIDE = 29.0, 12.0, 28.0
"""Distances from a frame to the blocks in it."""
BESIDE_WIDTH = {"positions": 132.0, "told": 104.0}
"""Widths of blocks beside a sum; `told` blocks leave room for the memory, which they read."""
CIRCLE = 24.0
MARGIN = 24.0
TIMES_WIDTH = 52.0
"""Width of the space beside a frame for its number of layers."""
CHANNEL = 62.0
"""Distance between the two frames, in which the memory runs upwards."""
HEADER = 74.0


@dataclass(frozen=True, kw_only=True)
class _Place:
    """A block with its position; y is negative, upwards from the inputs."""

    block: Block
    lines: Lettering
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height


def draw_architecture(structure: Structure) -> Diagram:
    """Draws a model's blocks as a picture."""
    columns = list(dict.fromkeys(node.column for node in structure.blocks))
    left = MARGIN + TIMES_WIDTH + FRAME_SIDE
    step = BLOCK_WIDTH + 2 * FRAME_SIDE + CHANNEL
    heights = _row_heights(structure, columns)
    places: dict[str, _Place] = {}
    for number, column in enumerate(columns):
        places |= _column(structure, column, left + number * step, heights, outwards=-1 if number == 0 else 1)
    shapes = [shape for layers in structure.layers for shape in _frame(layers, places, columns)]
    ways = [way for edge in structure.edges for way in _edge(edge, structure, places, columns)]
    shapes += dict.fromkeys(ways)  # all blocks that read the memory share its way up
    shapes += [shape for place in places.values() for shape in _block(place)]
    shapes += _ends(structure, places, columns)
    top = min(place.y for place in places.values()) - 40
    bottom = max(place.bottom for place in places.values()) + 8
    width = left + (len(columns) - 1) * step + BLOCK_WIDTH + FRAME_SIDE + TIMES_WIDTH + MARGIN
    title = [
        Label(x=MARGIN, y=38, text=structure.title, size=19, anchor="start", bold=True),
        Label(x=MARGIN, y=59, text=f"{structure.parameters:,} parameters", size=12.5, anchor="start", quiet=True),
    ]
    return Diagram(
        width=width,
        height=bottom - top + HEADER + MARGIN,
        shapes=(*title, *moved(shapes, 0, HEADER - top)),
        title=structure.title,
        description=f"{structure.to_text()} {structure.parameters:,} parameters in all.",
    )


# --- places -----------------------------------------------------------------------------------------------------------


def _text(structure: Structure, node: Block) -> Lettering:
    times = next((layers.times for layers in structure.layers if node.name in layers.blocks), 1)
    counted = f"{times} × {node.parameters // times:,}" if times > 1 else f"{node.parameters:,}"
    details = [*node.details, f"{counted} parameters"] if node.parameters else list(node.details)
    return lettering(node.title, details, BESIDE_WIDTH.get(node.kind, BLOCK_WIDTH))


def _height(structure: Structure, node: Block) -> float:
    if node.kind == "sum":
        return CIRCLE
    return 20.0 if node.kind == "input" else _text(structure, node).height


def _row_heights(structure: Structure, columns: Sequence[str]) -> dict[str, float]:
    """Returns the heights of blocks; blocks below the layers are as high as their neighbours to align the layers."""
    heights = {node.name: _height(structure, node) for node in structure.blocks}
    repeated = {name for layers in structure.layers for name in layers.blocks}
    below = []
    for column in columns:
        nodes = [node for node in structure.column(column) if node.kind not in BESIDE]
        first = next((place for place, node in enumerate(nodes) if node.name in repeated), len(nodes))
        below.append(nodes[:first])
    for row in zip(*below, strict=False):
        if len({node.kind for node in row}) == 1:
            heights |= dict.fromkeys((node.name for node in row), max(heights[node.name] for node in row))
    return heights


def _column(
    structure: Structure, column: str, x: float, heights: dict[str, float], *, outwards: int
) -> dict[str, _Place]:
    # A block beside a sum is higher than its circle, and must touch neither the block below nor the frame above.
    beyond = max((heights[node.name] - CIRCLE for node in structure.blocks if node.kind in BESIDE), default=0) / 2
    firsts = {layers.blocks[0] for layers in structure.layers}
    lasts = {layers.blocks[-1] for layers in structure.layers}
    places: dict[str, _Place] = {}
    top, beside = 0.0, []
    for node in structure.column(column):
        if node.kind in BESIDE:
            beside.append(node)
            continue
        width = CIRCLE if node.kind == "sum" else BLOCK_WIDTH
        is_sum = node.kind == "sum"
        top -= (GAP if places else 0) + (FRAME_BELOW - 8 if node.name in firsts else 0) + heights[node.name]
        top -= max(0.0, beyond - GAP + 8) if is_sum else 0
        places[node.name] = _Place(
            block=node,
            lines=_text(structure, node),
            x=x + (BLOCK_WIDTH - width) / 2,
            y=top,
            width=width,
            height=heights[node.name],
        )
        top -= FRAME_ABOVE if node.name in lasts else 0
        top -= max(0.0, beyond - GAP + 16) if is_sum else 0
    for node in beside:
        reader = next(places[edge.target] for edge in structure.edges if edge.source == node.name)
        width = BESIDE_WIDTH[node.kind]
        # Positions are on the outer side, `told` blocks on the side from which the memory comes.
        side = outwards if node.kind == "positions" else -1
        near = reader.middle + side * (CIRCLE / 2 + 26)
        places[node.name] = _Place(
            block=node,
            lines=_text(structure, node),
            x=near - (width if side < 0 else 0),
            y=reader.y + (reader.height - heights[node.name]) / 2,
            width=width,
            height=heights[node.name],
        )
    return places


# --- shapes -----------------------------------------------------------------------------------------------------------


def _block(place: _Place) -> list[Shape]:
    node = place.block
    if node.kind == "input":
        return [Label(x=place.middle, y=place.bottom - 5, text=node.title, size=13, bold=True)]
    if node.kind == "sum":
        circle = Panel(
            x=place.x,
            y=place.y,
            width=CIRCLE,
            height=CIRCLE,
            role="sum",
            radius=CIRCLE / 2,
            hint="; ".join(node.details),
        )
        shapes: list[Shape] = [circle, Label(x=place.middle, y=place.y + CIRCLE / 2 + 6.5, text="+", size=19)]
        # Details of the sum are on the side without positions.
        return [*shapes, *_notes(place)]
    hint = f"{node.parameters:,} parameters" if node.parameters else ""
    return block(place.lines, node.kind, place.x, place.y, place.width, place.height, hint)


def _notes(place: _Place) -> list[Shape]:
    is_left = place.block.column == "encoder"
    x = place.middle + (CIRCLE / 2 + 8) * (1 if is_left else -1)
    anchor = "start" if is_left else "end"
    return [
        Label(x=x, y=place.y + CIRCLE / 2 + 4, text=line, anchor="start" if anchor == "start" else "end", quiet=True)
        for line in place.lines.details
    ]


def _frame(layers: Layers, places: dict[str, _Place], columns: Sequence[str]) -> list[Shape]:
    low, high = places[layers.blocks[0]], places[layers.blocks[-1]]
    y, bottom = high.y - FRAME_ABOVE, low.bottom + FRAME_BELOW
    x, width = low.x - FRAME_SIDE, BLOCK_WIDTH + 2 * FRAME_SIDE
    is_left = low.block.column == columns[0]
    times = f"{layers.times} ×"
    return [
        Panel(x=x, y=y, width=width, height=bottom - y, role="frame", radius=14, hint=f"{layers.times} such layers"),
        Label(
            x=x - 9 if is_left else x + width + 9,
            y=(y + bottom) / 2 + 7,
            text=times,
            size=19,
            anchor="end" if is_left else "start",
            bold=True,
        ),
    ]


def _ends(structure: Structure, places: dict[str, _Place], columns: Sequence[str]) -> list[Shape]:
    """Draws the arrow out of the decoder."""
    last = places[structure.column(columns[-1])[-1].name]
    return [
        Way(points=((last.middle, last.y), (last.middle, last.y - 22))),
        Label(x=last.middle, y=last.y - 29, text="Output Probabilities", size=13, bold=True),
    ]


def _edge(edge: Edge, structure: Structure, places: dict[str, _Place], columns: Sequence[str]) -> list[Shape]:
    source, target = places[edge.source], places[edge.target]
    match edge.role:
        case "flow":
            reads_three = target.block.kind == "attention" and not _reads_memory(structure, target.block)
            return _flow(source, target, reads_three=reads_three)
        case "residual":
            return [_residual(source, target, structure, places, is_left=source.block.column == columns[0])]
        case "memory":
            return _memory(source, target, structure, places)
        case "addend":
            is_left = source.middle < target.middle
            y = target.y + target.height / 2
            start = source.x + source.width if is_left else source.x
            return [Way(points=((start, y), (target.x if is_left else target.x + target.width, y)))]


def _reads_memory(structure: Structure, node: Block) -> bool:
    return any(edge.role == "memory" and edge.target == node.name for edge in structure.edges)


def _flow(source: _Place, target: _Place, *, reads_three: bool) -> list[Shape]:
    """Draws the arrow upwards; into self-attention it forks, since queries, keys and values have the same source."""
    x, reach = source.middle, 46.0
    if not reads_three:
        return [Way(points=((x, source.y), (x, target.bottom)))]
    fork = target.bottom + FORK
    return [
        Way(points=((x, source.y), (x, target.bottom))),
        Way(points=((x, fork), (x - reach, fork), (x - reach, target.bottom))),
        Way(points=((x, fork), (x + reach, fork), (x + reach, target.bottom))),
    ]


def _residual(source: _Place, target: _Place, structure: Structure, places: dict[str, _Place], *, is_left: bool) -> Way:
    """Draws the line past some blocks, on the outer side; it begins between its source and the next block."""
    onwards = next(edge.target for edge in structure.edges if edge.source == source.block.name and edge.role == "flow")
    y = places[onwards].bottom + BRANCH
    side = target.x - FRAME_SIDE / 2 if is_left else target.x + target.width + FRAME_SIDE / 2
    end = target.x if is_left else target.x + target.width
    middle = target.y + target.height / 2
    return Way(points=((source.middle, y), (side, y), (side, middle), (end, middle)))


def _memory(source: _Place, target: _Place, structure: Structure, places: dict[str, _Place]) -> list[Shape]:
    """Draws the memory's way out of the last encoder block, up between the stacks, into the side of its reader.

    An attention reads it twice, as keys and values.
    """
    column_places = [places[node.name] for node in structure.column(source.block.column)]
    top = min(place.y for place in column_places) - FRAME_ABOVE - 18
    above = places[structure.column(target.block.column)[-1].name]
    channel = above.x - FRAME_SIDE - CHANNEL / 2
    middle, apart = target.y + target.height / 2, 9.0
    ways: list[Shape] = [
        Way(points=((source.middle, source.y), (source.middle, top), (channel, top), (channel, middle)), has_head=False)
    ]
    ways.append(Label(x=(source.middle + channel) / 2 + 50, y=top - 5, text="memory", quiet=True))
    if target.block.kind != "attention":
        return [*ways, Way(points=((channel, middle), (target.x, middle)))]
    for sign, name in ((-1, "V"), (1, "K")):
        y = middle + sign * apart
        ways.append(Way(points=((channel, middle), (channel, y), (target.x, y))))
        ways.append(Label(x=target.x - 19, y=y - 4, text=name, quiet=True))
    ways.append(Label(x=target.middle + 11, y=target.bottom + 14, text="Q", quiet=True))
    return ways

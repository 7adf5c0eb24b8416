"""The layout of Figure 2: one head on the left, all heads on the right, both running upwards."""

from collections.abc import Sequence
from dataclasses import dataclass

from attendo.diagrams.attention import INNER, OUTER
from attendo.diagrams.shapes import Diagram, Label, Panel, Role, Shape, Way, block, lettering, moved
from attendo.diagrams.structure import Block, Structure

MARGIN, HEADER = 28.0, 96.0
GAP = 28.0
LANE = 104.0
"""Distance from Q to K and from K to V."""
NARROW, WIDE = 96.0, 170.0
"""Widths of a block that only one input passes through, and of one that joins queries and keys."""
LINEAR_WIDTH, LINEAR_GAP = 100.0, 26.0
DEPTH = 3
"""Number of panels drawn behind each other to stand for all heads."""
SHIFT = 5.0
INNER_WIDTH = 330.0
TITLE = 15.0


@dataclass(frozen=True, kw_only=True)
class _Box:
    """A block with its position; y is negative, upwards from the inputs."""

    block: Block
    x: float
    """Horizontal position of its middle."""
    y: float
    width: float
    height: float


def draw_attention(structure: Structure) -> Diagram:
    """Draws one head and all heads as a picture."""
    parts = (_one_head(structure), _all_heads(structure))
    height = max(height for _, height in parts)
    shapes: list[Shape] = [Label(x=MARGIN, y=42, text=structure.title, size=19, anchor="start", bold=True)]
    x = MARGIN
    titles = (structure.block(INNER).title, "Multi-Head Attention")
    for (part, part_height), width, title in zip(parts, (INNER_WIDTH, _outer_width()), titles, strict=True):
        shapes.append(Label(x=x + width / 2, y=HEADER - 18, text=title, size=TITLE, bold=True))
        shapes += moved(part, x, HEADER + height)
        assert part_height <= height
        x += width + 40
    return Diagram(
        width=x - 40 + 70 + MARGIN,
        height=HEADER + height + MARGIN,
        shapes=tuple(shapes),
        title=structure.title,
        description=_description(structure),
    )


# --- one head ---------------------------------------------------------------------------------------------------------


def _one_head(structure: Structure) -> tuple[list[Shape], float]:
    column = structure.column(INNER)
    lanes = {name: 60 + LANE * place for place, name in enumerate("QKV")}
    boxes: dict[str, _Box] = {}
    top = 0.0
    for node in column:
        if node.kind == "input":
            boxes[node.name] = _Box(block=node, x=lanes[node.title], y=-20, width=0, height=20)
            top = min(top, -20.0)
            continue
        height = _height(structure, node, WIDE)
        sources = [boxes[edge.source] for edge in structure.edges if edge.target == node.name]
        starts = {name for source in sources for name in _inputs(structure, source.block.name)}
        if len(starts) == 1:  # only one input passes through it
            x, width = lanes[next(iter(starts))], NARROW
        elif starts == {"Q", "K"}:
            x, width = (lanes["Q"] + lanes["K"]) / 2, WIDE
        else:
            x, width = (lanes["Q"] + lanes["V"]) / 2, lanes["V"] - lanes["Q"] + 60
        top -= GAP + height
        boxes[node.name] = _Box(block=node, x=x, y=top, width=width, height=height)
    shapes: list[Shape] = []
    for edge in structure.edges:
        if edge.source in boxes and edge.target in boxes:
            source, target = boxes[edge.source], boxes[edge.target]
            shapes.append(Way(points=((source.x, source.y), (source.x, target.y + target.height))))
    for box in boxes.values():
        shapes += _drawn(structure, box)
    last = boxes[column[-1].name]
    shapes.append(Way(points=((last.x, last.y), (last.x, last.y - 24))))
    return shapes, 24 - top


def _inputs(structure: Structure, name: str) -> set[str]:
    """Returns those of Q, K and V that a block is computed from."""
    sources = [edge.source for edge in structure.edges if edge.target == name]
    return {start for source in sources for start in _inputs(structure, source)} if sources else {name}


# --- all heads --------------------------------------------------------------------------------------------------------


def _outer_width() -> float:
    return 3 * LINEAR_WIDTH + 2 * LINEAR_GAP


def _all_heads(structure: Structure) -> tuple[list[Shape], float]:
    column = structure.column(OUTER)
    (heads,) = structure.layers
    width = _outer_width()
    lanes = {name: LINEAR_WIDTH / 2 + place * (LINEAR_WIDTH + LINEAR_GAP) for place, name in enumerate("VKQ")}
    boxes: dict[str, _Box] = {}
    linear_top = 0.0
    for node in column:
        name = node.name.removeprefix("given ").removeprefix("linear ")
        if node.kind == "input":
            boxes[node.name] = _Box(block=node, x=lanes[name], y=-20, width=0, height=20)
        elif name in lanes:
            height = _height(structure, node, LINEAR_WIDTH)
            linear_top = -20 - GAP - height
            boxes[node.name] = _Box(block=node, x=lanes[name], y=linear_top, width=LINEAR_WIDTH, height=height)
        else:
            # Above a block drawn several panels deep there is room for the panels behind it.
            behind = (DEPTH - 1) * SHIFT
            height = 60.0 if node.name == INNER else _height(structure, node, width)
            linear_top -= GAP + height + behind
            boxes[node.name] = _Box(block=node, x=width / 2, y=linear_top, width=width, height=height)
    shapes: list[Shape] = []
    for edge in structure.edges:
        if edge.source in boxes and edge.target in boxes:
            source, target = boxes[edge.source], boxes[edge.target]
            deep = (DEPTH - 1) * SHIFT if source.block.name in heads.blocks else 0
            shapes.append(Way(points=((source.x, source.y - deep), (source.x, target.y + target.height))))
    for box in boxes.values():
        shapes += _drawn(structure, box, depth=DEPTH if box.block.name in heads.blocks else 1)
    last, inner = boxes[column[-1].name], boxes[INNER]
    shapes.append(Way(points=((last.x, last.y), (last.x, last.y - 24))))
    shapes.append(
        Label(
            x=width + 2 * SHIFT + 12,
            y=inner.y + inner.height / 2 + 2,
            text=f"h = {heads.times}",
            size=15,
            anchor="start",
            bold=True,
        )
    )
    return shapes, 24 - linear_top


# --- shapes -----------------------------------------------------------------------------------------------------------


def _details(structure: Structure, node: Block) -> tuple[str, ...]:
    """Returns a block's details and its number of parameters, which is per head if every head has such a block."""
    (heads,) = structure.layers
    if not node.parameters:
        return node.details
    if node.name in heads.blocks or node.column == INNER:
        return (*node.details, f"{heads.times} × {node.parameters // heads.times:,} parameters")
    return (*node.details, f"{node.parameters:,} parameters")


def _height(structure: Structure, node: Block, width: float) -> float:
    return lettering(node.title, _details(structure, node), width).height


def _drawn(structure: Structure, box: _Box, depth: int = 1) -> list[Shape]:
    node = box.block
    if node.kind == "input":
        return [Label(x=box.x, y=box.y + 15, text=node.title, size=15, bold=True)]
    role: Role = node.kind
    x = box.x - box.width / 2
    shapes: list[Shape] = [
        Panel(x=x + place * SHIFT, y=box.y - place * SHIFT, width=box.width, height=box.height, role=role)
        for place in range(depth - 1, 0, -1)
    ]
    lines = lettering(node.title, _details(structure, node), box.width)
    return [*shapes, *block(lines, role, x, box.y, box.width, box.height, "")]


def _description(structure: Structure) -> str:
    (heads,) = structure.layers
    parts = []
    for column, name in ((INNER, structure.block(INNER).title), (OUTER, "Multi-head attention")):
        steps = [_step_text(structure, node) for node in structure.column(column) if node.kind != "input"]
        parts.append(f"{name}, from below: {'; '.join(steps)}.")
    return f"{' '.join(parts)} The linear layers below and the attention are there {heads.times} times, once a head."


def _step_text(structure: Structure, node: Block) -> str:
    titles: Sequence[str] = [structure.block(edge.source).title for edge in structure.edges if edge.target == node.name]
    details = _details(structure, node)
    note = f" ({', '.join(details)})" if details else ""
    return f"{node.title}{note} of {' and '.join(titles)}"

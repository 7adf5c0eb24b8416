"""What a diagram shows, before anything has a place: blocks, what flows between them, and which of them repeat."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Boxed = Literal[
    "embedding", "positions", "told", "sum", "attention", "mixing", "feed-forward", "norm", "linear", "softmax", "step"
]
"""Kinds of blocks that are drawn as boxes, or as the circle of a sum."""
Kind = Literal["input", Boxed]
"""What a block is, which its colour says too."""
BESIDE: tuple[Kind, ...] = ("positions", "told")
"""Blocks that do not stand above each other, but beside the sum that they are added to."""
Role = Literal["flow", "residual", "memory", "addend"]
"""What an edge is: the way up; past some blocks, to be added; from one stack to the other; from beside, to be added."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A part of the model that does one thing."""

    name: str
    """Its own in the structure, as `encoder_layers.self_attention`."""
    kind: Kind
    title: str
    details: tuple[str, ...] = ()
    """Sizes and choices, a line each."""
    column: str
    """`encoder` or `decoder`, or the like: what stands above each other."""
    parameters: int = 0
    """Trained numbers, of all layers that the block stands for; what several blocks share counts at the first."""


@dataclass(frozen=True, kw_only=True)
class Edge:
    """What one block gives to another."""

    source: str
    target: str
    role: Role


@dataclass(frozen=True, kw_only=True)
class Layers:
    """Layers that are alike, drawn once."""

    name: str
    times: int
    blocks: tuple[str, ...]
    """In the order of the way up."""


@dataclass(frozen=True, kw_only=True)
class Structure:
    """A model as blocks."""

    title: str
    blocks: tuple[Block, ...]
    """In the order in which they run."""
    edges: tuple[Edge, ...]
    layers: tuple[Layers, ...]

    @property
    def parameters(self) -> int:
        """Trained numbers of all blocks."""
        return sum(block.parameters for block in self.blocks)

    def block(self, name: str) -> Block:
        """The block of that name."""
        return next(block for block in self.blocks if block.name == name)

    def column(self, name: str) -> tuple[Block, ...]:
        """The blocks of one column, from below."""
        return tuple(block for block in self.blocks if block.column == name)

    def to_json(self) -> dict[str, Any]:
        """All of it, for machines."""
        return {**asdict(self), "parameters": self.parameters}

    def to_text(self) -> str:
        """For who does not see a picture: each column from below, what repeats, and what comes from where."""
        columns = list(dict.fromkeys(block.column for block in self.blocks))
        return " ".join([f"{self.title}.", *(self._column_text(column) for column in columns)])

    def _column_text(self, column: str) -> str:
        own = self.column(column)
        parts: list[str] = []
        for block in own:
            group = next((layers for layers in self.layers if block.name in layers.blocks), None)
            if group is None:
                parts.append(self._block_text(block))
            elif block.name == group.blocks[0]:
                inner = ", then ".join(self._block_text(self.block(name)) for name in group.blocks)
                parts.append(f"{group.times} times ({inner})")
        return f"{column.capitalize()}, from below: {'; '.join(parts)}."

    def _block_text(self, block: Block) -> str:
        told = {"residual": "adds what came out of", "memory": "reads the output of", "addend": "adds"}
        past = [
            f"{told[edge.role]} {self.block(edge.source).title}"
            for edge in self.edges
            if edge.target == block.name and edge.role != "flow"
        ]
        notes = [*block.details, *past]
        return f"{block.title} ({', '.join(notes)})" if notes else block.title


def joined_details(layers: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The details of blocks that differ in a number at most: `dilation 1, 3, 9` of `dilation 1` and so on."""
    lines = []
    for variants in zip(*layers, strict=True):
        different = list(dict.fromkeys(variants))
        if len(different) > 1:
            head = different[0].rpartition(" ")[0]
            values = [line.rpartition(" ")[2] for line in different]
            shown = values if len(values) <= 4 else [*values[:3], "…", values[-1]]
            lines.append(f"{head} {', '.join(shown)}")
        else:
            lines.append(different[0])
    return tuple(lines)

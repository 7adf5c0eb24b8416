"""The content of a diagram, before its layout: blocks, the connections between them, and layers that repeat."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Boxed = Literal[
    "embedding", "positions", "told", "sum", "attention", "mixing", "feed-forward", "norm", "linear", "softmax", "step"
]
"""Kinds of blocks that are drawn as boxes, or as the circle of a sum; `told`: what a decoder is given beside its
tokens."""
Kind = Literal["input", Boxed]
"""Kind of a block, which determines its colour."""
BESIDE: tuple[Kind, ...] = ("positions", "told")
"""Kinds of blocks that are drawn beside the sum that they are added to, not above each other."""
Role = Literal["flow", "residual", "memory", "addend"]
"""Kind of an edge: upwards; past some blocks to an addition; from one stack to the other; from the side to an
addition."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A part of the model that does one thing."""

    name: str
    """Unique name in the structure, such as `encoder_layers.self_attention`."""
    kind: Kind
    title: str
    details: tuple[str, ...] = ()
    """Sizes and variants, one line each."""
    column: str
    """Name of the column in which it is drawn, such as `encoder` or `decoder`."""
    parameters: int = 0
    """Number of parameters in all layers that the block stands for; those shared by several blocks count at the
    first."""


@dataclass(frozen=True, kw_only=True)
class Edge:
    """A connection from one block to another."""

    source: str
    target: str
    role: Role


@dataclass(frozen=True, kw_only=True)
class Layers:
    """A group of layers that are alike, drawn once."""

    name: str
    times: int
    blocks: tuple[str, ...]
    """Names of the blocks of one layer, from below."""


@dataclass(frozen=True, kw_only=True)
class Structure:
    """A model, or its attention, as blocks."""

    title: str
    blocks: tuple[Block, ...]
    """The blocks in the order in which they run."""
    edges: tuple[Edge, ...]
    layers: tuple[Layers, ...]

    @property
    def parameters(self) -> int:
        """Number of parameters of all blocks."""
        return sum(block.parameters for block in self.blocks)

    def block(self, name: str) -> Block:
        """Returns the block with this name."""
        return next(block for block in self.blocks if block.name == name)

    def column(self, name: str) -> tuple[Block, ...]:
        """Returns the blocks of one column, from below."""
        return tuple(block for block in self.blocks if block.column == name)

    def to_json(self) -> dict[str, Any]:
        """Returns the structure as JSON values."""
        return {**asdict(self), "parameters": self.parameters}

    def to_text(self) -> str:
        """Describes the structure for readers who cannot see it: columns from below, repetitions, connections."""
        columns = list(dict.fromkeys(block.column for block in self.blocks))
        return " ".join([f"{self.title}.", *(self._column_text(column) for column in columns)])

    def _column_text(self, column: str) -> str:
        blocks = self.column(column)
        parts: list[str] = []
        for block in blocks:
            group = next((layers for layers in self.layers if block.name in layers.blocks), None)
            if group is None:
                parts.append(self._block_text(block))
            elif block.name == group.blocks[0]:
                inner = ", then ".join(self._block_text(self.block(name)) for name in group.blocks)
                parts.append(f"{group.times} times ({inner})")
        return f"{column.capitalize()}, from below: {'; '.join(parts)}."

    def _block_text(self, block: Block) -> str:
        phrases = {"residual": "adds what came out of", "memory": "reads the output of", "addend": "adds"}
        incoming = [
            f"{phrases[edge.role]} {self.block(edge.source).title}"
            for edge in self.edges
            if edge.target == block.name and edge.role != "flow"
        ]
        notes = [*block.details, *incoming]
        return f"{block.title} ({', '.join(notes)})" if notes else block.title


def joined_details(layers: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Joins the details of blocks that differ in at most a number: `dilation 1, 3, 9` from `dilation 1` and so on."""
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

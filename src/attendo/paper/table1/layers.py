"""Table 1 of the paper: six layer types, what the paper says of each, and the real layer to measure."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from attendo.model.config import EncoderLayerType, ModelConfig
from attendo.model.layer_types import mixing_sub_layer

D_K = 64
"""Width of a head, the base model's: h grows with d."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What the cost of a layer depends on, by Table 1's names."""

    n: int
    """Positions."""
    d: int
    """Width of a position."""
    k: int
    """Positions that a convolution sees."""
    r: int
    """Positions that restricted self-attention sees."""

    def to_text(self) -> str:
        """For names of files."""
        return f"n{self.n}-d{self.d}-k{self.k}-r{self.r}"


@dataclass(frozen=True, kw_only=True)
class Layer:
    """A row of the table."""

    name: EncoderLayerType
    """A recipe's `model.encoder_layer`."""
    work: str
    """Operations a layer, as the paper has them."""
    steps: str
    """Sequential steps, as the paper has them."""
    path: str
    """The longest path, as the paper has it."""
    operations: Callable[[Sizes], float]
    """What the paper's formula of the work comes to, without its constant."""
    reach: Callable[[Sizes, int], int]
    """How many positions to either side so many layers see, by the geometry of one layer."""
    variable: str = ""
    """`k` or `r`, where the work depends on one."""
    leaves_out_projections: bool = False
    """Whether the paper's formula leaves out the matrices W_Q, W_K, W_V and W_O that the layer has."""


LAYERS = (
    Layer(
        name="self-attention",
        work="n² d",
        steps="1",
        path="1",
        operations=lambda s: s.n**2 * s.d,
        reach=lambda s, count: s.n,
        leaves_out_projections=True,
    ),
    Layer(
        name="recurrent",
        work="n d²",
        steps="n",
        path="n",
        operations=lambda s: s.n * s.d**2,
        reach=lambda s, count: s.n,
    ),
    Layer(
        name="convolutional",
        work="k n d²",
        steps="1",
        path="n / k",
        operations=lambda s: s.k * s.n * s.d**2,
        reach=lambda s, count: count * (s.k // 2),
        variable="k",
    ),
    Layer(
        name="dilated-convolutional",
        work="k n d²",
        steps="1",
        path="log_k n",
        operations=lambda s: s.k * s.n * s.d**2,
        reach=lambda s, count: s.k // 2 * sum(s.k**index for index in range(count)),
        variable="k",
    ),
    Layer(
        name="separable-convolutional",
        work="k n d + n d²",
        steps="1",
        path="as convolutional",
        operations=lambda s: s.k * s.n * s.d + s.n * s.d**2,
        reach=lambda s, count: count * (s.k // 2),
        variable="k",
    ),
    Layer(
        name="restricted-self-attention",
        work="r n d",
        steps="1",
        path="n / r",
        operations=lambda s: s.r * s.n * s.d,
        reach=lambda s, count: count * ((s.r - 1) // 2),
        variable="r",
        leaves_out_projections=True,
    ),
)
BY_NAME = {layer.name: layer for layer in LAYERS}


def num_heads(d: int) -> int:
    """Heads of an attention of width d, as many as the base model has for its width."""
    return max(1, d // D_K)


def sub_layer(name: EncoderLayerType, sizes: Sizes, index: int = 0) -> nn.Module:
    """The part of an encoder layer that mixes positions, with weights that are the same each time.

    Args:
        name: of the layer type.
        sizes: its d, k and r; the dilation grows with `index` alone.
        index: of the layer in its stack, 0 the lowest.

    Returns:
        What takes `hidden`, `(batch, n, d)`, and a mask or None, and gives `(batch, n, d)`.
    """
    config = ModelConfig(
        d_model=sizes.d,
        num_heads=num_heads(sizes.d),
        encoder_layer=name,
        kernel_size=sizes.k,
        window=sizes.r,
        num_layers=1,
        dropout=0.0,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(index)
        return mixing_sub_layer(config, index)


def layers_that_reach(layer: Layer, sizes: Sizes, distance: int) -> int:
    """The fewest layers that see so far to either side, by the geometry of one layer.

    Args:
        layer: the type.
        sizes: its own.
        distance: in positions.
    """
    count = 1
    while layer.reach(sizes, count) < distance:
        count += 1
    return count


def stacked(layer: Layer, sizes: Sizes, index: int) -> nn.Module:
    """A layer of a stack of any height.

    Dilations grow until a position in the middle sees the whole sequence, and start anew then, as in the models that
    have such layers: a dilation beyond the sequence sees padding alone.

    Args:
        layer: the type.
        sizes: of layer and sequence.
        index: of the layer, 0 the lowest.
    """
    return sub_layer(layer.name, sizes, index % layers_that_reach(layer, sizes, sizes.n // 2))

"""How many operations a layer makes, by torch's own counter, and where self-attention overtakes recurrence."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from attendo.model.config import EncoderLayerType
from attendo.paper.table1.layers import BY_NAME, Sizes, sub_layer


@dataclass(frozen=True, kw_only=True)
class Operations:
    """Additions and multiplications of a layer's matrix products and convolutions, forward, for one sequence."""

    mixing: int
    """Those that the paper's formula is about."""
    projections: int
    """Those of W_Q, W_K, W_V and W_O, which it leaves out; 0 in layers without them."""

    @property
    def total(self) -> int:
        """All of the sub-layer."""
        return self.mixing + self.projections


@dataclass(frozen=True, kw_only=True)
class Crossing:
    """The shortest sequences for which self-attention makes no fewer operations than recurrence."""

    d: int
    alone: int
    """Positions, where the projections of self-attention are left out as in the paper."""
    with_projections: int
    """Positions, where they are counted."""


def count_operations(name: EncoderLayerType, sizes: Sizes) -> Operations:
    """Counts a layer's operations. They are not made: tensors without content pass through the real layer.

    A recurrence alone is really run, on the processor, where torch makes it step by step, each with a product that is
    counted; without content its steps would be the same, and take many times as long.

    Args:
        name: of the layer type.
        sizes: of layer and sequence.
    """
    with torch.no_grad(), torch.device("cpu" if name == "recurrent" else "meta"):
        layer = sub_layer(name, sizes)
        hidden = torch.zeros(1, sizes.n, sizes.d)
        total, linear = counted(layer, lambda: layer(hidden, None))
    projections = linear if BY_NAME[name].leaves_out_projections else 0
    return Operations(mixing=total - projections, projections=projections)


def counted(module: nn.Module, call: Callable[[], object]) -> tuple[int, int]:
    """Operations of a call, and those of them that the `nn.Linear` of a module make.

    torch counts its matrix products and convolutions. A kernel for a whole recurrence, as graphics cards have one, and
    that of the processor for attention would go uncounted: call it where there are none.

    Args:
        module: whose linear layers they are.
        call: what calls it.
    """
    with FlopCounterMode(display=False) as counter:
        call()
    counts, root = counter.get_flop_counts(), type(module).__name__
    names = [name for name, part in module.named_modules() if isinstance(part, nn.Linear)]
    linear = sum(sum(counts.get(f"{root}.{name}", {}).values()) for name in names)
    return counter.get_total_flops(), linear


def find_crossing(d: int) -> Crossing:
    """Finds by counting where self-attention of width d makes as many operations as recurrence or more.

    Args:
        d: the width of both.
    """

    def overtakes(n: int, *, with_projections: bool) -> bool:
        sizes = Sizes(n=n, d=d, k=3, r=3)
        attention, recurrence = count_operations("self-attention", sizes), count_operations("recurrent", sizes)
        return (attention.total if with_projections else attention.mixing) >= recurrence.mixing

    return Crossing(
        d=d,
        alone=first_true(lambda n: overtakes(n, with_projections=False)),
        with_projections=first_true(lambda n: overtakes(n, with_projections=True)),
    )


def first_true(holds: Callable[[int], bool]) -> int:
    """The smallest number from 1 on of which something holds that, once it does, holds of all larger ones."""
    low, high = 0, 1
    while not holds(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high

"""How far signals go, against the whole Jacobian of small stacks and against graphs that are known."""

from collections.abc import Callable, Sequence

import pytest
import torch
from torch import Tensor, nn

from attendo.paper.table1.layers import LAYERS, Layer, Sizes, stacked, sub_layer
from attendo.paper.table1.paths import fewest_layers, from_end_to_end, from_the_middle, operations_on_the_way

D, K, R = 4, 3, 5


def reach(layers: Sequence[nn.Module], n: int) -> Tensor:
    """Which outputs depend on which inputs, boolean `(n, n)`, by the Jacobian of everything."""

    def through(hidden: Tensor) -> Tensor:
        for layer in layers:
            hidden = layer(hidden, None)
        return hidden[0]

    generator = torch.Generator().manual_seed(5)
    hidden = torch.randn(1, n, D, generator=generator, dtype=torch.float64)
    jacobian: Tensor = torch.func.jacrev(through)(hidden)  # (n, D, 1, n, D)
    return (jacobian != 0).any(dim=4).any(dim=1).squeeze(1)


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
@pytest.mark.parametrize("n", [2, 5, 8])
def test_the_fewest_layers_are_those_of_the_jacobian(layer: Layer, n: int) -> None:
    sizes = Sizes(n=n, d=D, k=K, r=R)
    for pairs in (from_end_to_end(n), from_the_middle(n)):
        layers: list[nn.Module] = []
        while True:
            layers.append(stacked(layer, sizes, len(layers)).double())
            joined = reach(layers, n)
            if all(joined[pair] for pair in pairs):
                break
        assert fewest_layers(lambda index: stacked(layer, sizes, index), n, D, pairs) == len(layers)


def test_dilations_that_only_grow_do_not_join_the_ends() -> None:
    # 7 = 9 - 3 + 1 is the only way from position 0 to position 7 by steps of 1, 3, 9, and it leads over position -2.
    sizes = Sizes(n=8, d=D, k=3, r=R)
    layers = [sub_layer("dilated-convolutional", sizes, index).double() for index in range(4)]
    joined = reach(layers, 8)
    assert not joined[7, 0]
    assert joined[:, 4].all()
    found = fewest_layers(lambda index: sub_layer("dilated-convolutional", sizes, index), 8, D, from_end_to_end(8))
    assert found is None


class Shift(nn.Module):
    """Each position becomes the sum of its own and the one before: three operations."""

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        return hidden + torch.cat((torch.zeros_like(hidden[:, :1]), hidden[:, :-1]), dim=1)


class Running(nn.Module):
    """h of a position is tanh(h of the one before * 0.5 + its input)."""

    def __init__(self, prepare: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.prepare = prepare

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        inputs = self.prepare(hidden)
        state, states = torch.zeros_like(hidden[:, 0]), []
        for place in range(hidden.shape[1]):
            state = torch.tanh(state * 0.5 + inputs[:, place])
            states.append(state)
        return torch.stack(states, dim=1)


@pytest.mark.parametrize("n", [2, 3, 9])
def test_the_way_through_a_recurrence_is_step_by_step(n: int) -> None:
    # The stack; tanh, addition and product of each step but the first; of that tanh, addition, its part of the input.
    steps = 1 + 3 * (n - 1) + 2 + 1
    assert operations_on_the_way([Running(lambda hidden: hidden)], n, D) == steps
    # An operation on all positions at once is no short cut, though the last step needs it as well as the first.
    assert operations_on_the_way([Running(lambda hidden: hidden * 2)], n, D) == steps + 1


def test_the_way_through_a_stack_is_layer_by_layer() -> None:
    # A slice, the joining and an addition move a signal on by one; two slices of the same layer's input would not do.
    for n in (2, 3, 6):
        assert operations_on_the_way([Shift() for _ in range(n - 1)], n, D) == 3 * (n - 1)


def test_no_way_where_nothing_comes() -> None:
    assert operations_on_the_way([Shift()], 4, D) is None

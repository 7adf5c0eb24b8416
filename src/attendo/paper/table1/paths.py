"""How far a signal has to go from one end of a sequence to the other, found by where gradients come."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, Node

MakeLayer = Callable[[int], nn.Module]
"""Gives the layer of an index in a stack, 0 the lowest."""

_SEED = 1


def from_end_to_end(n: int) -> tuple[tuple[int, int], ...]:
    """An output and an input position at either end of a sequence, both ways round."""
    return ((n - 1, 0), (0, n - 1))


def from_the_middle(n: int) -> tuple[tuple[int, int], ...]:
    """The outputs at the ends of a sequence, and the input in its middle."""
    return ((n - 1, n // 2), (0, n // 2))


def fewest_layers(make: MakeLayer, n: int, d: int, pairs: Sequence[tuple[int, int]]) -> int | None:
    """The fewest layers on top of each other in which some positions know of others.

    That is where the gradients of the outputs come to the inputs; in a stack of one layer less, one of them does not.

    Args:
        make: gives the layers, each of which sees its own position too, so that more of them see no less.
        n: positions.
        d: their width.
        pairs: positions of an output and of the input that it is to know of.

    Returns:
        Layers; None where 2 n of them are not enough.
    """
    layers: list[nn.Module] = []

    def are_joined(count: int) -> bool:
        layers.extend(make(index).double() for index in range(len(layers), count))
        return joined(layers[:count], n, d, pairs)

    low, high = 0, 1
    while not are_joined(high):
        if high >= 2 * n:
            return None
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if are_joined(middle) else (middle, high)
    return high


def joined(layers: Sequence[nn.Module], n: int, d: int, pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether in a stack of float64 layers the gradients of all outputs of some pairs come to their inputs."""
    hidden = _random(1, n, d).requires_grad_()
    output = _through(layers, hidden)
    for seen_from, seen in pairs:
        (gradient,) = torch.autograd.grad(output[0, seen_from] @ _random(d), hidden, retain_graph=True)
        if not gradient[0, seen].any():
            return False
    return True


def operations_on_the_way(layers: Sequence[nn.Module], n: int, d: int) -> int | None:
    """The fewest operations by which a signal comes from the first input of a stack to its last output.

    They are counted along the graph that autograd keeps of the real computation, from operation to operation, and only
    where a part of the gradient that really comes to the first input flows.

    Args:
        layers: the stack, from the lowest on; its weights are made float64 and get no gradients.
        n: positions.
        d: their width.

    Returns:
        Operations, those that only move numbers among them; None where no gradient comes to the first input.
    """
    for layer in layers:
        layer.double().requires_grad_(False)
    first = _random(1, 1, d).requires_grad_()
    output = _through(layers, torch.cat((first, _random(1, n - 1, d)), dim=1))
    root = output.grad_fn
    assert root is not None
    seed = torch.zeros_like(output)
    seed[0, -1] = _random(d)
    flowing = _flowing(output, seed, first)
    distances, waiting = {root: 1}, deque([root])
    while waiting:
        node = waiting.popleft()
        for (following, number), part in zip(node.next_functions, flowing.get(node, ()), strict=False):
            if following is None or part is None or following in distances or not part.any():
                continue
            if following.name().endswith("AccumulateGrad"):  # the first input itself; before it, the one that joins it
                return distances[node] - 1
            if _comes_to(GradientEdge(following, number), part, first):
                distances[following] = distances[node] + 1
                waiting.append(following)
    return None


def _flowing(output: Tensor, seed: Tensor, source: Tensor) -> dict[Node, tuple[Tensor | None, ...]]:
    """The gradient along each edge of the graph, by the operation that it comes from."""
    found: dict[Node, tuple[Tensor | None, ...]] = {}

    def keep(node: Node) -> Callable[[Any, Any], None]:
        def hook(grad_inputs: tuple[Tensor | None, ...], grad_outputs: tuple[Tensor | None, ...]) -> None:
            found[node] = tuple(grad_inputs)

        return hook

    handles = [node.register_hook(keep(node)) for node in _nodes(output.grad_fn)]
    torch.autograd.grad(output, source, seed, retain_graph=True)
    for handle in handles:
        handle.remove()
    return found


def _nodes(root: Node | None) -> list[Node]:
    found, waiting = {root}, [root] if root is not None else []
    for node in waiting:
        for following, _ in node.next_functions:
            if following is not None and following not in found:
                found.add(following)
                waiting.append(following)
    return waiting


def _comes_to(edge: GradientEdge, part: Tensor, source: Tensor) -> bool:
    """Whether of a part of the gradient something comes to the source."""
    (gradient,) = torch.autograd.grad(edge, source, part, retain_graph=True, allow_unused=True)
    return gradient is not None and bool(gradient.any())


def _through(layers: Sequence[nn.Module], hidden: Tensor) -> Tensor:
    for layer in layers:
        hidden = layer(hidden, None)
    return hidden


def _random(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(_SEED)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)

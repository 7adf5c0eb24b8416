"""Sequential operations and longest paths of a layer, found in its graph of dependencies and by gradients."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, Node
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

# --- sequential operations --------------------------------------------------------------------------------------------

_OVERWRITING = (torch.ops.aten.copy_, torch.ops.aten.fill_, torch.ops.aten.zero_)
"""What writes without reading what was there."""


@dataclass(frozen=True, kw_only=True)
class Chain:
    """The longest chain of operations that each need the one before."""

    operations: int
    """Of all kinds that compute or copy; a view of a tensor is none."""
    products: int
    """Matrix products and convolutions alone."""


class DependencyDepth(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps, for every number in memory, the longest chain of operations that it was made by.

    All operations that torch hands to its kernels while this is active are seen, whatever module, loop or library
    function they come from. Numbers are told apart by where they lie, so that writing the parts of a tensor one
    by one makes no chain, and reading a part waits for that part alone.

    Args:
        counts: whether an operation makes a chain longer.
    """

    def __init__(self, counts: Callable[[Any], bool]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._counts = counts
        self._depths: dict[int, tuple[torch.UntypedStorage, Tensor]] = {}

    def of(self, tensors: Iterable[Tensor]) -> int:
        """The longest chain that one of some tensors' numbers was made by."""
        return max((int(self._view(tensor).max()) for tensor in tensors if tensor.numel()), default=0)

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Makes the operation, and notes how deep it lies."""
        kwargs = kwargs or {}
        written = _written(func, args, kwargs)
        is_overwriting = func.overloadpacket in _OVERWRITING
        read = [tensor for tensor in _tensors((args, kwargs)) if not (is_overwriting and _is_in(tensor, written))]
        depth = self.of(read) + int(self._counts(func))
        known = {_place(tensor) for tensor in _tensors((args, kwargs))}
        result = func(*args, **kwargs)
        # What shares the memory of an argument without having written it is a view: it was made with what it shows.
        made = [tensor for tensor in _tensors(result) if _place(tensor) not in known]
        for tensor in [*written, *made]:
            self._view(tensor).fill_(depth)
        return result

    def _view(self, tensor: Tensor) -> Tensor:
        """The depths of a tensor's numbers, in its shape."""
        storage, place = tensor.untyped_storage(), _place(tensor)
        if place not in self._depths:  # kept with the storage itself, so that its place is not taken by another
            self._depths[place] = (storage, torch.zeros(storage.nbytes() // tensor.element_size(), dtype=torch.int32))
        return self._depths[place][1].as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def longest_chain(call: Callable[[], Tensor]) -> Chain:
    """The longest chain of dependent operations that a result was made by.

    Args:
        call: what makes it; called twice.
    """
    lengths = []
    for counts in (lambda func: True, _is_product):
        with torch.no_grad(), DependencyDepth(counts) as depth:
            result = call()
        lengths.append(depth.of([result]))
    return Chain(operations=lengths[0], products=lengths[1])


def _is_product(func: Any) -> bool:
    return func.overloadpacket in flop_registry


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _written(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    """The arguments that an operation writes to, by its schema."""
    found = []
    for place, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = kwargs.get(argument.name, args[place] if place < len(args) else None)
            found += _tensors(value)
    return found


def _is_in(tensor: Tensor, tensors: Iterable[Tensor]) -> bool:
    return any(tensor is other for other in tensors)


def _place(tensor: Tensor) -> int:
    place: int = tensor.untyped_storage()._cdata
    return place


# --- longest paths ----------------------------------------------------------------------------------------------------

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

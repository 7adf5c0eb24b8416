"""Sequential operations and longest paths of a layer, from its graph of dependencies and from gradients."""

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
"""Operations that overwrite their output without reading its previous content."""


@dataclass(frozen=True, kw_only=True)
class Chain:
    """The lengths of the longest chains of operations that each depend on the one before."""

    operations: int
    """Largest number of operations in a chain, of all that compute or copy; views of tensors do not count."""
    products: int
    """Largest number of matrix products and convolutions in a chain."""


class DependencyDepth(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Tracks, for every number in memory, the longest chain of operations that led to it.

    It sees all operations that torch hands to its kernels while it is active, whatever module, loop or library function
    they come from. Numbers are identified by their memory location, so that writing the parts of a tensor one by one
    makes no chain, and reading a part depends on that part alone.

    Args:
        counts: returns whether an operation makes a chain longer.
    """

    def __init__(self, counts: Callable[[Any], bool]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._counts = counts
        self._depths: dict[int, tuple[torch.UntypedStorage, Tensor]] = {}

    def of(self, tensors: Iterable[Tensor]) -> int:
        """Returns the longest chain behind any number of some tensors."""
        return max((int(self._view(tensor).max()) for tensor in tensors if tensor.numel()), default=0)

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Runs the operation and records the depth of its results."""
        kwargs = kwargs or {}
        written = _written(func, args, kwargs)
        is_overwriting = func.overloadpacket in _OVERWRITING
        read = [tensor for tensor in _tensors((args, kwargs)) if not (is_overwriting and _is_in(tensor, written))]
        depth = self.of(read) + int(self._counts(func))
        known = {_storage_id(tensor) for tensor in _tensors((args, kwargs))}
        result = func(*args, **kwargs)
        # A result that shares the memory of an argument that was not written is a view: its depths are known already.
        created = [tensor for tensor in _tensors(result) if _storage_id(tensor) not in known]
        for tensor in [*written, *created]:
            self._view(tensor).fill_(depth)
        return result

    def _view(self, tensor: Tensor) -> Tensor:
        """The depths of a tensor's numbers, as a tensor of the same shape."""
        storage, storage_id = tensor.untyped_storage(), _storage_id(tensor)
        if storage_id not in self._depths:  # kept with the storage itself, so that its id is not reused
            self._depths[storage_id] = (
                storage,
                torch.zeros(storage.nbytes() // tensor.element_size(), dtype=torch.int32),
            )
        return self._depths[storage_id][1].as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())


def longest_chain(call: Callable[[], Tensor]) -> Chain:
    """Measures the longest chain of dependent operations behind a result.

    Args:
        call: returns the result; called twice.
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
    """The tensors among the arguments that an operation writes to, according to its schema."""
    tensors = []
    for index, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = kwargs.get(argument.name, args[index] if index < len(args) else None)
            tensors += _tensors(value)
    return tensors


def _is_in(tensor: Tensor, tensors: Iterable[Tensor]) -> bool:
    return any(tensor is other for other in tensors)


def _storage_id(tensor: Tensor) -> int:
    storage_id: int = tensor.untyped_storage()._cdata
    return storage_id


# --- longest paths ----------------------------------------------------------------------------------------------------

MakeLayer = Callable[[int], nn.Module]
"""Returns the layer with an index in a stack, 0 for the lowest."""

_SEED = 1


def from_end_to_end(n: int) -> tuple[tuple[int, int], ...]:
    """Pairs of an output position at one end of a sequence and the input position at the other end, both ways."""
    return ((n - 1, 0), (0, n - 1))


def from_the_middle(n: int) -> tuple[tuple[int, int], ...]:
    """Pairs of an output position at an end of a sequence and the input position in its middle, for both ends."""
    return ((n - 1, n // 2), (0, n // 2))


def fewest_layers(make: MakeLayer, n: int, d: int, pairs: Sequence[tuple[int, int]]) -> int | None:
    """Finds the height of the lowest stack of layers in which some outputs depend on some inputs.

    In that stack the gradient of each output reaches its input; with one layer less, one of them does not.

    Args:
        make: returns the layers, each of which sees its own position too, so that a higher stack sees no less.
        n: number of positions.
        d: width of a position.
        pairs: positions of an output and of the input that it has to depend on.

    Returns:
        The number of layers; None if even 2 n layers are not enough.
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
    """Whether the gradient of every pair's output reaches its input through a stack of float64 layers."""
    hidden = _random(1, n, d).requires_grad_()
    output = _output_of(layers, hidden)
    for seen_from, seen in pairs:
        (gradient,) = torch.autograd.grad(output[0, seen_from] @ _random(d), hidden, retain_graph=True)
        if not gradient[0, seen].any():
            return False
    return True


def operations_on_the_way(layers: Sequence[nn.Module], n: int, d: int) -> int | None:
    """Counts the fewest operations on a path from the first input of a stack to its last output.

    The path follows autograd's graph of the real computation, and only along edges whose gradient really reaches the
    first input.

    Args:
        layers: the stack, from the lowest layer up; its weights become float64 and get no gradients.
        n: number of positions.
        d: width of a position.

    Returns:
        The number of operations, including those that only move numbers; None if no gradient reaches the first input.
    """
    for layer in layers:
        layer.double().requires_grad_(False)
    first = _random(1, 1, d).requires_grad_()
    output = _output_of(layers, torch.cat((first, _random(1, n - 1, d)), dim=1))
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
            # AccumulateGrad is the first input itself; the node before it concatenates the inputs.
            if following.name().endswith("AccumulateGrad"):
                return distances[node] - 1
            if _reaches(GradientEdge(following, number), part, first):
                distances[following] = distances[node] + 1
                waiting.append(following)
    return None


def _flowing(output: Tensor, seed: Tensor, source: Tensor) -> dict[Node, tuple[Tensor | None, ...]]:
    """The gradients that each node of the graph passes on, one for each of its edges."""
    gradients: dict[Node, tuple[Tensor | None, ...]] = {}

    def keep(node: Node) -> Callable[[Any, Any], None]:
        def hook(grad_inputs: tuple[Tensor | None, ...], grad_outputs: tuple[Tensor | None, ...]) -> None:
            gradients[node] = tuple(grad_inputs)

        return hook

    handles = [node.register_hook(keep(node)) for node in _nodes(output.grad_fn)]
    torch.autograd.grad(output, source, seed, retain_graph=True)
    for handle in handles:
        handle.remove()
    return gradients


def _nodes(root: Node | None) -> list[Node]:
    seen, waiting = {root}, [root] if root is not None else []
    for node in waiting:
        for following, _ in node.next_functions:
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return waiting


def _reaches(edge: GradientEdge, part: Tensor, source: Tensor) -> bool:
    """Whether a part of the gradient at an edge reaches the source."""
    (gradient,) = torch.autograd.grad(edge, source, part, retain_graph=True, allow_unused=True)
    return gradient is not None and bool(gradient.any())


def _output_of(layers: Sequence[nn.Module], hidden: Tensor) -> Tensor:
    for layer in layers:
        hidden = layer(hidden, None)
    return hidden


def _random(*shape: int) -> Tensor:
    generator = torch.Generator().manual_seed(_SEED)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)

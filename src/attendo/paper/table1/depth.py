"""How many operations of a computation have to wait for each other: the depth of its real graph of dependencies."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

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

"""What a model does, step by step, recorded while it does it: modules by hooks, operations by torch's own dispatch.

Nothing is computed: the model lies on the meta device, where tensors have shapes and no numbers. What is drawn from a
trace is therefore what `forward` does, in its order and with its data flow, whatever a config may say.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

_PARAMETERS = {"linear": (1, 2), "embedding": (1,)}
"""Where functions take weights, by the functions' names."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a tensor comes from."""

    step: int
    """The number of the step that made it."""
    output: int = 0
    """Which of its outputs it is, where it made several."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A module that ran, or an operation outside of all modules that are taken whole."""

    operation: str
    """`module`, `input`, or the name of torch's function, such as `add`."""
    path: str
    """The module's name in the model, or that of the module in whose `forward` the operation stands; an input's own."""
    module: nn.Module | None = None
    """The module that ran whole."""
    inputs: tuple[Source, ...]
    """Where what it reads comes from, in its order; weights, masks and constants are none."""
    weights: tuple[str, ...] = ()
    """Names of the parameters that an operation reads."""
    factor: float | None = None
    """What a `mul` multiplies by."""
    mask_shape: tuple[int, ...] = ()
    """The shape of the boolean tensor among the arguments: what may be seen."""


def traced(
    model: nn.Module, run: Callable[[], object], inputs: Mapping[str, Tensor], *, whole: tuple[type[nn.Module], ...]
) -> tuple[Step, ...]:
    """Lets a model run and tells what it did.

    Args:
        model: whose modules are named.
        run: runs it, or a part of it.
        inputs: the tensors given to it, by their names; the first steps.
        whole: modules that are one step, whatever goes on inside. A module without children is one too.

    Returns:
        The steps in the order in which they began to have a result.
    """
    recorder = _Recorder(model, whole)
    for name, tensor in inputs.items():
        recorder.add(Step(operation="input", path=name, inputs=()), tensor)
    with torch.no_grad(), recorder.hooked(), recorder:
        run()
    return tuple(recorder.steps)


class _Recorder(TorchFunctionMode):
    """Sees every function of torch that runs, and by hooks every module."""

    def __init__(self, model: nn.Module, whole: tuple[type[nn.Module], ...]) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self._model, self._whole = model, whole
        self._names = {module: name for name, module in model.named_modules()}
        self._weights = {id(each): name for name, each in model.named_parameters()}
        self._open: list[tuple[nn.Module, bool]] = []
        """Modules that run, outermost first, and whether each is a step or stands in one."""
        self._sources: dict[int, Source] = {}
        self._kept: list[Any] = []
        """All tensors met, so that none gets the number of one that is gone."""

    def add(self, step: Step, output: Any) -> None:
        """Appends a step; what reads its output reads this step."""
        self.steps.append(step)
        for number, tensor in enumerate(_tensors(output)):
            self._remember(tensor, Source(step=len(self.steps) - 1, output=number))

    @contextmanager
    def hooked(self) -> Iterator[None]:
        """Watches the model's modules as long as it lasts."""
        handles = []
        for module in self._names:
            handles.append(module.register_forward_pre_hook(self._entered, with_kwargs=True))
            handles.append(module.register_forward_hook(self._left, with_kwargs=True))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if self._is_inside():
            return result
        name = getattr(func, "__name__", "")
        operation = _OPERATIONS.get(name)
        given = [*args, *(kwargs or {}).values()]
        factor = next((float(each) for each in given if isinstance(each, int | float)), None)
        inputs = self._inputs(given)
        # What reads nothing that was traced makes masks and places; what multiplies by a mask is no scale.
        if operation is None or not inputs or (operation == "mul" and factor is None):
            self._hand_on(given, result)
            return result
        weights = tuple(
            self._weights[id(args[place])]
            for place in _PARAMETERS.get(operation, ())
            if place < len(args) and id(args[place]) in self._weights
        )
        self.add(
            Step(
                operation=operation,
                path=self._names[self._open[-1][0]] if self._open else "",
                inputs=inputs,
                weights=weights,
                factor=factor if operation == "mul" else None,
                mask_shape=_mask_shape(given),
            ),
            result,
        )
        return result

    def _entered(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._open.append((module, self._is_inside() or self._is_step(module) or self._belongs_to_step(module)))

    def _left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        self._open.pop()
        if self._is_inside():
            return
        given = [*args, *kwargs.values()]
        if self._is_step(module) and not self._belongs_to_step(module):
            name = self._names[module]
            inputs, shape = self._inputs(given), _mask_shape(given)
            # What does not change its input in evaluation, as dropout, may give the very tensor back.
            self.add(Step(operation="module", path=name, module=module, inputs=inputs, mask_shape=shape), output)
        elif self._belongs_to_step(module):
            self._hand_on(given, output)

    def _is_inside(self) -> bool:
        """Whether what runs is a part of a step."""
        return bool(self._open) and self._open[-1][1]

    def _is_step(self, module: nn.Module) -> bool:
        if module is self._model:
            return False
        return isinstance(module, self._whole) or not any(True for _ in module.children())

    def _belongs_to_step(self, module: nn.Module) -> bool:
        """Whether a module is a part of one that is a step, and may be called before that runs: keys of the memory."""
        parents = self._names[module].split(".")[:-1]
        return any(
            isinstance(self._model.get_submodule(".".join(parents[:depth])), self._whole)
            for depth in range(1, len(parents) + 1)
        )

    def _inputs(self, given: Any) -> tuple[Source, ...]:
        found = (self._sources.get(id(tensor)) for tensor in _tensors(given))
        return tuple(dict.fromkeys(source for source in found if source is not None))

    def _hand_on(self, given: Any, result: Any) -> None:
        """What is made of a tensor by an operation that is no step comes from where that comes from."""
        sources = self._inputs(given)
        if not sources:
            return
        results = _tensors(result)
        for number, tensor in enumerate(results):
            if id(tensor) not in self._sources:
                # A product cut into queries, keys and values: which of them each is matters.
                own = replace(sources[0], output=number) if len(results) > 1 else sources[0]
                self._remember(tensor, own)

    def _remember(self, tensor: Tensor, source: Source) -> None:
        self._kept.append(tensor)
        self._sources[id(tensor)] = source


_OPERATIONS = {
    "add": "add",
    "__add__": "add",
    "__radd__": "add",
    "mul": "mul",
    "__mul__": "mul",
    "__rmul__": "mul",
    "linear": "linear",
    "embedding": "embedding",
    "matmul": "matmul",
    "masked_fill": "masked_fill",
    "softmax": "softmax",
    "flatten": "flatten",
}
"""Functions that are steps, by the names that torch has for them; all others only move numbers, or make masks."""


def _tensors(values: Any) -> list[Tensor]:
    """The tensors in arguments or results, those in tuples too, in their order."""
    if isinstance(values, Tensor):
        return [values]
    if isinstance(values, tuple | list):
        return [tensor for value in values for tensor in _tensors(value)]
    return []


def _mask_shape(given: Any) -> tuple[int, ...]:
    masks = [tuple(tensor.shape) for tensor in _tensors(given) if tensor.dtype == torch.bool]
    return masks[0] if masks else ()

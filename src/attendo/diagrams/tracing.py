"""Recording the steps of a model while it runs: modules by hooks, operations by torch's own dispatch.

Nothing is computed: the model is on the meta device, where tensors have shapes but no values. A picture drawn from a
trace therefore shows what `forward` does, in its order and with its data flow, not what a config says.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

_PARAMETERS = {"linear": (1, 2), "embedding": (1,)}
"""Positions of the weights among the arguments of torch's functions, by name."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """The origin of a tensor."""

    step: int
    """Number of the step that made it."""
    output: int = 0
    """Index of the tensor among the step's outputs."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A module that ran, or an operation outside of all modules that are recorded as one step."""

    operation: str
    """`module`, `input`, or the name of torch's function, such as `add`."""
    path: str
    """Name of the module, or of the module whose `forward` has the operation; for an input, the name of the input."""
    module: nn.Module | None = None
    """The module that is one step; None for an operation or an input."""
    inputs: tuple[Source, ...]
    """Sources of the tensors that it reads, in order, without weights, masks and constants."""
    weights: tuple[str, ...] = ()
    """Names of the parameters that an operation reads."""
    factor: float | None = None
    """Factor of a `mul`; None for any other operation."""
    mask_shape: tuple[int, ...] = ()
    """Shape of the boolean tensor among the arguments, the attention mask; empty if there is none."""


def traced(
    model: nn.Module, run: Callable[[], object], inputs: Mapping[str, Tensor], *, whole: tuple[type[nn.Module], ...]
) -> tuple[Step, ...]:
    """Runs a model and records its steps.

    Args:
        model: the model, whose module names are recorded.
        run: runs the model, or a part of it.
        inputs: the tensors given to it, by name; they are the first steps.
        whole: classes of modules that are one step, whatever happens inside; a module without children is one, too.

    Returns:
        The steps in the order in which they returned their results.
    """
    recorder = _Recorder(model, whole)
    for name, tensor in inputs.items():
        recorder.add(Step(operation="input", path=name, inputs=()), tensor)
    with torch.no_grad(), recorder.hooked(), recorder:
        run()
    return tuple(recorder.steps)


class _Recorder(TorchFunctionMode):
    """Observes every function of torch that runs, and by hooks every module."""

    def __init__(self, model: nn.Module, whole: tuple[type[nn.Module], ...]) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self._model, self._whole = model, whole
        self._names = {module: name for name, module in model.named_modules()}
        self._weights = {id(parameter): name for name, parameter in model.named_parameters()}
        self._open: list[tuple[nn.Module, bool]] = []
        """The running modules, outermost first, each with whether it is a step or part of one."""
        self._sources: dict[int, Source] = {}
        self._kept: list[Any] = []
        """All recorded tensors, kept so that no later tensor gets the `id` of a deleted one."""

    def add(self, step: Step, output: Any) -> None:
        """Appends a step and records it as the source of its output."""
        self.steps.append(step)
        for number, tensor in enumerate(_tensors(output)):
            self._remember(tensor, Source(step=len(self.steps) - 1, output=number))

    @contextmanager
    def hooked(self) -> Iterator[None]:
        """Observes the model's modules within the block."""
        handles = []
        for module in self._names:
            handles.append(module.register_forward_pre_hook(self._before_forward, with_kwargs=True))
            handles.append(module.register_forward_hook(self._after_forward, with_kwargs=True))
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
        arguments = [*args, *(kwargs or {}).values()]
        factor = next((float(argument) for argument in arguments if isinstance(argument, int | float)), None)
        inputs = self._inputs(arguments)
        # Functions without a traced input make masks and positions; a product without a number is no scaling.
        if operation is None or not inputs or (operation == "mul" and factor is None):
            self._pass_on(arguments, result)
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
                mask_shape=_mask_shape(arguments),
            ),
            result,
        )
        return result

    def _before_forward(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._open.append((module, self._is_inside() or self._is_step(module) or self._belongs_to_step(module)))

    def _after_forward(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        self._open.pop()
        if self._is_inside():
            return
        arguments = [*args, *kwargs.values()]
        if self._is_step(module) and not self._belongs_to_step(module):
            name = self._names[module]
            inputs, shape = self._inputs(arguments), _mask_shape(arguments)
            # A module that does not change its input, such as dropout in evaluation, may return the same tensor.
            self.add(Step(operation="module", path=name, module=module, inputs=inputs, mask_shape=shape), output)
        elif self._belongs_to_step(module):
            self._pass_on(arguments, output)

    def _is_inside(self) -> bool:
        """Whether the running code is part of a step."""
        return bool(self._open) and self._open[-1][1]

    def _is_step(self, module: nn.Module) -> bool:
        if module is self._model:
            return False
        return isinstance(module, self._whole) or not any(True for _ in module.children())

    def _belongs_to_step(self, module: nn.Module) -> bool:
        """Whether a module is part of one that is a step; it may run before that one, as for the keys of the memory."""
        parents = self._names[module].split(".")[:-1]
        return any(
            isinstance(self._model.get_submodule(".".join(parents[:depth])), self._whole)
            for depth in range(1, len(parents) + 1)
        )

    def _inputs(self, values: Any) -> tuple[Source, ...]:
        sources = (self._sources.get(id(tensor)) for tensor in _tensors(values))
        return tuple(dict.fromkeys(source for source in sources if source is not None))

    def _pass_on(self, arguments: Any, result: Any) -> None:
        """Records the source of an operation's input as that of its results, if the operation is not a step."""
        sources = self._inputs(arguments)
        if not sources:
            return
        results = _tensors(result)
        for number, tensor in enumerate(results):
            if id(tensor) not in self._sources:
                # If a product is split into queries, keys and values, the index says which of them a tensor is.
                source = replace(sources[0], output=number) if len(results) > 1 else sources[0]
                self._remember(tensor, source)

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
"""Functions that are steps, by torch's names for them; all others only rearrange values, or make masks."""


def _tensors(values: Any) -> list[Tensor]:
    """Returns the tensors in arguments or results in order, including those in tuples and lists."""
    if isinstance(values, Tensor):
        return [values]
    if isinstance(values, tuple | list):
        return [tensor for value in values for tensor in _tensors(value)]
    return []


def _mask_shape(values: Any) -> tuple[int, ...]:
    masks = [tuple(tensor.shape) for tensor in _tensors(values) if tensor.dtype == torch.bool]
    return masks[0] if masks else ()

"""Combining the recorded steps of a model into the parts that a figure shows, such as three steps into `Add & Norm`."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from torch import nn

from attendo.diagrams.described import described
from attendo.diagrams.structure import Kind
from attendo.diagrams.tracing import Step
from attendo.model.dropout import Dropout
from attendo.model.next_word import NextWord
from attendo.model.parser_stack import ParserStack
from attendo.model.positions import LearnedPositions, SinusoidalPositions
from attendo.model.transformer import Transformer

_BESIDE = (SinusoidalPositions, LearnedPositions, NextWord, ParserStack)
"""Modules whose output is added to the input of the first layer."""
_STACKS = {"encoder_layers": "encoder", "decoder_layers": "decoder"}
"""The lists of a model whose entries are layers."""
_INPUTS = {"source": "Inputs", "target": "Outputs (shifted right)"}


@dataclass(kw_only=True)
class Part:
    """A block of a single layer while it is assembled, with the steps that it stands for."""

    steps: list[int]
    kind: Kind
    title: str
    details: list[str] = field(default_factory=list)
    column: str = ""
    stack: str = ""
    layer: int = -1
    """Number of its layer in the stack, from 0; -1 outside of the stacks."""
    local: str = ""
    """Name within its layer."""
    parameters: int = 0

    @property
    def name(self) -> str:
        """Name within the model, with stack and layer."""
        return f"{self.stack}.{self.layer}.{self.local}" if self.stack else self.local


def parts_of(steps: Sequence[Step], model: Transformer) -> list[Part]:
    """Returns the parts of all layers, in the order in which they run.

    Args:
        steps: the recorded steps of the model.
        model: the model.
    """
    gathering = _Gathering(steps, model)
    for number in range(len(steps)):
        gathering.take(number)
    _place(gathering.parts, steps)
    _count(gathering.parts, steps, model)
    return gathering.parts


class _Gathering:
    """Combines steps into parts, one step after the other."""

    def __init__(self, steps: Sequence[Step], model: Transformer) -> None:
        self.parts: list[Part] = []
        self._steps, self._model = steps, model
        self._of_step: dict[int, Part] = {}
        self._held: list[int] = []
        """Steps of dropout of a sub-layer's output, which are joined to the addition after it."""
        self._readers: dict[int, list[Step]] = {number: [] for number in range(len(steps))}
        for step in steps:
            for source in step.inputs:
                self._readers[source.step].append(step)

    def take(self, number: int) -> None:
        """Makes the next step a part, or joins it to one."""
        step = self._steps[number]
        before = self._of_step.get(step.inputs[0].step) if step.inputs else None
        if isinstance(step.module, Dropout):
            self._dropout(number, before)
        elif step.operation == "add":
            self._add(number)
        elif isinstance(step.module, nn.LayerNorm):
            self._norm(number, before)
        elif step.operation == "mul" and before is not None and before.kind == "embedding":
            self._join(number, before)
            before.details.append(f"times {self._factor(step)}")
        elif step.operation == "input":
            self._begin(number, "input", _INPUTS.get(step.path, step.path))
        else:
            description = described(step, self._model)
            self._begin(number, description.kind, description.title, description.details)

    def _dropout(self, number: int, before: Part | None) -> None:
        is_output = before is not None and before.kind != "sum"
        if before is None or (is_output and {reader.operation for reader in self._readers[number]} == {"add"}):
            self._held.append(number)
        else:
            self._join(number, before)
            before.details += _probability(self._steps[number])

    def _add(self, number: int) -> None:
        modules = [self._steps[source.step].module for source in self._steps[number].inputs]
        is_sum = any(isinstance(module, _BESIDE) for module in modules)
        part = self._begin(number, "sum" if is_sum else "norm", "+" if is_sum else "Add")
        for dropout in self._held:
            self._join(dropout, part)
            part.details += _probability(self._steps[dropout])
        self._held.clear()

    def _norm(self, number: int, before: Part | None) -> None:
        """Joins a norm to the sum before it if nothing else reads that sum, as after a sub-layer; else it is a part."""
        if before is not None and before.title == "Add" and len(self._readers[before.steps[0]]) == 1:
            self._join(number, before)
            before.title = "Add & Norm"
        else:
            self._begin(number, "norm", "Norm")

    def _factor(self, step: Step) -> str:
        assert step.factor is not None
        width = self._model.config.d_model
        return f"√{width:,}" if math.isclose(step.factor, math.sqrt(width)) else f"{step.factor:g}"

    def _begin(self, number: int, kind: Kind, title: str, details: Sequence[str] = ()) -> Part:
        part = Part(steps=[number], kind=kind, title=title, details=list(details))
        self.parts.append(part)
        self._of_step[number] = part
        return part

    def _join(self, number: int, part: Part) -> None:
        part.steps.append(number)
        self._of_step[number] = part


def _probability(step: Step) -> list[str]:
    assert isinstance(step.module, Dropout)
    return [f"dropout {step.module.p:g}"] if step.module.p else []


def _place(parts: Sequence[Part], steps: Sequence[Step]) -> None:
    """Sets each part's column, stack, layer and name; parts computed from the target are in the decoder's column."""
    of_step = {number: part for part in parts for number in part.steps}
    reached: dict[int, bool] = {}
    for number, step in enumerate(steps):
        is_reached = any(reached[source.step] for source in step.inputs)
        reached[number] = is_reached or (step.operation == "input" and step.path == "target")
    for number, step in enumerate(steps):  # positions have no input: they belong to the step that reads them
        for source in step.inputs:
            if not steps[source.step].inputs and steps[source.step].operation != "input":
                reached[source.step] = reached[number]
    for part in parts:
        main = steps[part.steps[0]]
        part.column = "decoder" if reached[part.steps[0]] else "encoder"
        top, _, rest = main.path.partition(".")
        if top in _STACKS:
            part.stack, part.column = top, _STACKS[top]
            layer, _, part.local = rest.partition(".")
            part.layer, part.local = int(layer), part.local or main.operation
        else:
            part.local = main.path or main.operation
    taken: Counter[str] = Counter()
    for part in parts:  # an embedding and the sum after it are in the same `forward`
        taken[part.name] += 1
        if taken[part.name] > 1:
            part.local += f".{part.title.lower().replace(' ', '_') if part.kind != 'sum' else 'sum'}"
    assert len(of_step) == len(steps)


def _count(parts: Sequence[Part], steps: Sequence[Step], model: Transformer) -> None:
    """Counts each part's parameters, each matrix only at the first part that reads it."""
    by_name = dict(model.named_parameters(remove_duplicate=False))
    counted: dict[int, str] = {}
    for part in parts:
        for number in part.steps:
            step = steps[number]
            parameters = [by_name[name] for name in step.weights]
            parameters += step.module.parameters() if step.module is not None else []
            for parameter in parameters:
                if id(parameter) in counted:
                    note = f"one matrix with {counted[id(parameter)]}"
                    part.details.append(note)
                else:
                    counted[id(parameter)] = part.title
                    part.parameters += parameter.numel()

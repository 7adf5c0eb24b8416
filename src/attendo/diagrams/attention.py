"""Figure 2 of any model: the steps of its attention, found by running one."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from attendo.diagrams.structure import Block, Edge, Kind, Layers, Structure
from attendo.diagrams.tracing import Source, Step, traced
from attendo.model.additive import AdditiveLogits
from attendo.model.attention import MultiHeadAttention, SelfAttention
from attendo.model.config import ModelConfig
from attendo.model.dropout import Dropout
from attendo.model.mixing.restricted import RestrictedSelfAttention
from attendo.model.transformer import Transformer

INNER, OUTER = "attention", "multi-head attention"
"""The two columns: one head, and all of them."""
_BATCH, _LENGTH = 2, 3
_NAMES = ("Q", "K", "V")


@dataclass(frozen=True, kw_only=True)
class _Projection:
    """The linear layer, or a part of one, that makes queries, keys or values."""

    name: str
    """`Q`, `K` or `V`."""
    module: nn.Linear
    path: str
    outputs: int
    """Number of outputs of all heads together."""


def attention_of(config: ModelConfig, title: str) -> Structure:
    """Returns the structure of a model's self-attention: the encoder's, or the decoder's if the encoder has none.

    Args:
        config: the architecture.
        title: title of the picture.

    Raises:
        ValueError: the config is invalid.
    """
    with torch.device("meta"), torch.random.fork_rng(devices=[]):
        model = Transformer(config, 1, 1)
    attention = next(module for module in model.modules() if isinstance(module, SelfAttention))
    return attention_structure(attention, title)


def attention_structure(attention: SelfAttention, title: str) -> Structure:
    """Returns the structure of a self-attention, of one head and of all heads.

    Args:
        attention: an attention on the meta device.
        title: title of the picture.
    """
    steps = attention_steps(attention)
    projections = _projections(steps, attention)
    inner, inner_edges = _inner(steps, attention, projections)
    outer, outer_edges = _outer(steps, attention, projections, function_name(attention))
    heads = tuple(block.name for block in outer if block.kind in ("linear", "attention") and block.name != "output")
    return Structure(
        title=title,
        blocks=(*inner, *outer),
        edges=(*inner_edges, *outer_edges),
        layers=(Layers(name="heads", times=attention.num_heads, blocks=heads),),
    )


def attention_steps(attention: SelfAttention) -> tuple[Step, ...]:
    """Records the steps of a self-attention on a padded batch in training mode, from `hidden` to its output."""
    device = torch.device("meta")
    width = attention.query_key_value.in_features
    hidden = torch.empty(_BATCH, _LENGTH, width, device=device)
    mask = torch.ones(_BATCH, 1, 1, _LENGTH, dtype=torch.bool, device=device)
    was_training = attention.training
    attention.train()
    try:
        return traced(attention, lambda: attention(hidden, mask), {"hidden": hidden}, whole=(AdditiveLogits,))
    finally:
        attention.train(was_training)


def function_name(attention: MultiHeadAttention) -> str:
    """Returns the name of an attention's function (Section 3.2.1)."""
    if attention.additive is not None:
        return "Additive Attention"
    return "Dot-Product Attention" if attention.scale == 1 else "Scaled Dot-Product Attention"


# --- one head ---------------------------------------------------------------------------------------------------------


def _is_projection(step: Step) -> bool:
    return isinstance(step.module, nn.Linear)


def _fit(steps: Sequence[Step]) -> int:
    """Returns the number of the step that combines queries and keys."""
    return next(
        number
        for number, step in enumerate(steps)
        if step.operation == "matmul" or isinstance(step.module, AdditiveLogits)
    )


def _origin(source: Source, steps: Sequence[Step]) -> Source:
    """Returns the output of a projection from which a source is derived."""
    while not _is_projection(steps[source.step]):
        source = steps[source.step].inputs[0]
    return source


def _projections(steps: Sequence[Step], attention: SelfAttention) -> dict[Source, _Projection]:
    """Returns queries, keys and values by source; the first that are combined are queries and keys, in this order."""
    order = [_origin(source, steps) for source in steps[_fit(steps)].inputs]
    order += [
        source
        for step in steps
        if step.operation == "matmul"
        for source in step.inputs
        if _is_projection(steps[source.step]) and source not in order
    ]
    sizes = {"Q": attention.d_k, "K": attention.d_k, "V": attention.d_v}
    projections = {}
    for name, source in zip(_NAMES, order, strict=True):
        module = steps[source.step].module
        assert isinstance(module, nn.Linear)
        outputs = attention.num_heads * sizes[name]
        projections[source] = _Projection(name=name, module=module, path=steps[source.step].path, outputs=outputs)
    return projections


def _inner(
    steps: Sequence[Step], attention: SelfAttention, projections: dict[Source, _Projection]
) -> tuple[list[Block], list[Edge]]:
    blocks = [
        Block(name=projection.name, kind="input", title=projection.name, column=INNER)
        for projection in projections.values()
    ]
    edges: list[Edge] = []
    names: dict[int, str] = {}
    for number, step in enumerate(steps):
        if step.operation in ("input", "flatten") or _is_projection(step):
            continue
        input_names = [
            projections[source].name if source in projections else names[source.step] for source in step.inputs
        ]
        if _does_nothing(step):
            names[number] = input_names[0]
            continue
        names[number] = f"step-{number}"
        kind, title, details = _described(step, attention, input_names)
        parameters = sum(weight.numel() for weight in step.module.parameters()) if step.module is not None else 0
        blocks.append(
            Block(name=names[number], kind=kind, title=title, details=details, column=INNER, parameters=parameters)
        )
        edges += [Edge(source=input_name, target=names[number], role="flow") for input_name in input_names]
    return blocks, edges


def _does_nothing(step: Step) -> bool:
    is_kept = isinstance(step.module, Dropout) and not step.module.p
    return is_kept or (step.operation == "mul" and step.factor == 1)


def _described(step: Step, attention: SelfAttention, input_names: Sequence[str]) -> tuple[Kind, str, tuple[str, ...]]:
    match step.operation:
        case "mul":
            assert step.factor is not None
            is_usual = math.isclose(step.factor, attention.d_k**-0.5)
            return "norm", "Scale", (f"by 1/√{attention.d_k}" if is_usual else f"by {step.factor:g}",)
        case "matmul":
            return "linear", "MatMul", ("Q Kᵀ" if "V" not in input_names else "weights times V",)
        case "masked_fill":
            if isinstance(attention, RestrictedSelfAttention):
                return "embedding", "Mask", (f"{attention.behind:,} behind, {attention.ahead:,} ahead",)
            return "embedding", "Mask (opt.)", ()
        case "softmax":
            return "softmax", "SoftMax", ()
    if isinstance(step.module, AdditiveLogits):
        return "feed-forward", "Additive", ("v·tanh(q + k)",)
    if isinstance(step.module, Dropout):
        return "step", "Dropout", (f"{step.module.p:g}",)
    return "step", step.operation if step.module is None else type(step.module).__name__, ()


# --- all heads --------------------------------------------------------------------------------------------------------


def _outer(
    steps: Sequence[Step], attention: SelfAttention, projections: dict[Source, _Projection], function: str
) -> tuple[list[Block], list[Edge]]:
    blocks: list[Block] = []
    edges: list[Edge] = []
    shown = sorted(projections.values(), key=lambda projection: "VKQ".index(projection.name))
    for projection in shown:
        input_name, linear_name = f"given {projection.name}", f"linear {projection.name}"
        size = projection.outputs // attention.num_heads
        bias = projection.outputs if projection.module.bias is not None else 0
        blocks.append(Block(name=input_name, kind="input", title=projection.name, column=OUTER))
        blocks.append(
            Block(
                name=linear_name,
                kind="linear",
                title="Linear",
                details=(f"{projection.module.in_features:,} → {size:,}",),
                column=OUTER,
                parameters=projection.outputs * projection.module.in_features + bias,
            )
        )
        edges.append(Edge(source=input_name, target=linear_name, role="flow"))
        edges.append(Edge(source=linear_name, target=INNER, role="flow"))
    blocks.append(Block(name=INNER, kind="attention", title=function, column=OUTER))
    last = INNER
    for step in steps[_fit(steps) + 1 :]:
        if step.operation == "flatten":
            size = attention.num_heads * attention.d_v
            details = (f"{attention.num_heads} × {attention.d_v:,} = {size:,}",)
            blocks.append(Block(name="concat", kind="step", title="Concat", details=details, column=OUTER))
        elif isinstance(step.module, nn.Linear):
            sizes = f"{step.module.in_features:,} → {step.module.out_features:,}"
            parameters = sum(weight.numel() for weight in step.module.parameters())
            blocks.append(
                Block(
                    name="output",
                    kind="linear",
                    title="Linear",
                    details=(sizes,),
                    column=OUTER,
                    parameters=parameters,
                )
            )
        else:
            continue
        edges.append(Edge(source=last, target=blocks[-1].name, role="flow"))
        last = blocks[-1].name
    return blocks, edges

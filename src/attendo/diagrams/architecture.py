"""Figure 1 of any model: its blocks, found by running a Transformer and recording its steps."""

from collections.abc import Sequence
from itertools import groupby, pairwise

import torch

from attendo.diagrams.parts import Part, parts_of
from attendo.diagrams.structure import BESIDE, Block, Edge, Layers, Role, Structure, joined_details
from attendo.diagrams.tracing import Step, traced
from attendo.model.attention import MultiHeadAttention
from attendo.model.batch import collate
from attendo.model.config import ModelConfig
from attendo.model.layers import FeedForward
from attendo.model.mixing.convolution import Convolution, SeparableConvolution
from attendo.model.mixing.recurrent import Recurrence
from attendo.model.next_word import NextWord
from attendo.model.parser_stack import ParserStack
from attendo.model.transformer import Transformer

WHOLE = (MultiHeadAttention, FeedForward, Recurrence, Convolution, SeparableConvolution, NextWord, ParserStack)
"""Modules drawn as one block, whatever happens inside."""
_SOURCE, _TARGET = [[1, 2, 0], [1, 0]], [[1, 2, 3, 0], [1, 0]]
"""Two pairs of unequal length, so that there is padding to be masked."""


def architecture(config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int, title: str) -> Structure:
    """Returns the structure of a model with this config, without allocating its weights.

    Args:
        config: the architecture.
        src_vocab_size: size of the source vocabulary.
        tgt_vocab_size: size of the target vocabulary.
        title: title of the picture.

    Raises:
        ValueError: the config is invalid.
    """
    return structure_of(without_numbers(config, src_vocab_size, tgt_vocab_size), title)


def without_numbers(config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int) -> Transformer:
    """Returns a model on the meta device, with shapes but no weights; its arguments are those of `architecture`."""
    with torch.device("meta"), torch.random.fork_rng(devices=[]):
        return Transformer(config, src_vocab_size, tgt_vocab_size)


def structure_of(model: Transformer, title: str) -> Structure:
    """Returns the structure of a model.

    Args:
        model: a model on the meta device; it is run in training mode, so that dropout is included.
        title: title of the picture.
    """
    return structure_from(steps_of(model), model, title)


def structure_from(steps: Sequence[Step], model: Transformer, title: str) -> Structure:
    """Returns the structure of a model from recorded steps."""
    parts = parts_of(steps, model)
    return _structure(title, parts, steps, _groups(parts))


def steps_of(model: Transformer) -> tuple[Step, ...]:
    """Records the steps of a model on two sentence pairs, from ids to logits."""
    batch = collate(_SOURCE, _TARGET, start=model.config.start_id, masked=model.config.masks_targets)
    batch = batch.to(torch.device("meta"))
    was_training = model.training
    model.train()
    try:
        return traced(model, lambda: model(batch), {"source": batch.src_ids, "target": batch.tgt_in_ids}, whole=WHOLE)
    finally:
        model.train(was_training)


# --- from parts to blocks ---------------------------------------------------------------------------------------------


def _groups(parts: Sequence[Part]) -> dict[str, list[list[list[Part]]]]:
    """Returns for each stack its groups of consecutive layers that are alike, each layer as a list of parts."""
    groups: dict[str, list[list[list[Part]]]] = {}
    for stack in dict.fromkeys(part.stack for part in parts if part.stack):
        stack_parts = [part for part in parts if part.stack == stack]
        layers = [list(layer_parts) for _, layer_parts in groupby(stack_parts, key=lambda part: part.layer)]
        groups[stack] = [list(alike) for _, alike in groupby(layers, key=_signature)]
    return groups


def _signature(layer: Sequence[Part]) -> tuple[tuple[str, ...], ...]:
    return tuple((part.local, part.kind, part.title, str(part.parameters), str(len(part.details))) for part in layer)


def _structure(
    title: str, parts: Sequence[Part], steps: Sequence[Step], groups: dict[str, list[list[list[Part]]]]
) -> Structure:
    names = {part.name: part.name for part in parts}
    blocks: dict[str, Block] = {}
    layers: list[Layers] = []
    for stack, stack_groups in groups.items():
        for number, group in enumerate(stack_groups):
            name = stack if len(stack_groups) == 1 else f"{stack}.{number}"
            layers.append(
                Layers(name=name, times=len(group), blocks=tuple(f"{name}.{part.local}" for part in group[0]))
            )
            for counterparts in zip(*group, strict=True):
                block = _block(f"{name}.{counterparts[0].local}", counterparts)
                names |= {part.name: block.name for part in counterparts}
                blocks[counterparts[0].name] = block
    ordered = tuple(
        blocks.get(part.name) or _block(part.name, (part,)) for part in parts if part.name in blocks or not part.stack
    )
    softmax = Block(name="softmax", kind="softmax", title="Softmax", column=ordered[-1].column)
    edges = [
        *_edges(parts, steps, names, {block.name: place for place, block in enumerate(ordered)}),
        Edge(source=ordered[-1].name, target=softmax.name, role="flow"),
    ]
    return Structure(title=title, blocks=(*ordered, softmax), edges=tuple(edges), layers=tuple(layers))


def _block(name: str, parts: Sequence[Part]) -> Block:
    first = parts[0]
    return Block(
        name=name,
        kind=first.kind,
        title=first.title,
        details=joined_details([tuple(dict.fromkeys(part.details)) for part in parts]),
        column=first.column,
        parameters=sum(part.parameters for part in parts),
    )


def _edges(parts: Sequence[Part], steps: Sequence[Step], names: dict[str, str], order: dict[str, int]) -> list[Edge]:
    """Returns the edges between blocks, without those from a layer to the next one of its group."""
    of_step = {number: part for part in parts for number in part.steps}
    below: dict[str, str] = {}
    for column in dict.fromkeys(part.column for part in parts):
        column_parts = [part for part in parts if part.column == column and part.kind not in BESIDE]
        below |= {second.name: first.name for first, second in pairwise(column_parts)}
    edges: dict[tuple[str, str], Edge] = {}
    for part in parts:
        for source in (source for number in part.steps for source in steps[number].inputs):
            producer = of_step[source.step]
            start, end = names[producer.name], names[part.name]
            if producer is part or order[start] >= order[end]:
                continue
            if producer.kind == "input" and part.kind in BESIDE:  # all of these are derived from the tokens
                continue
            role: Role = "residual"
            if producer.kind in BESIDE:
                role = "addend"
            elif producer.column != part.column:
                role = "memory"
            elif below.get(part.name) == producer.name:
                role = "flow"
            edges.setdefault((start, end), Edge(source=start, target=end, role=role))
    return list(edges.values())

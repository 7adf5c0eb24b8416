"""Export of a Transformer to ONNX: an encoder, and a decoder with and without keys and values of earlier positions.

Files, names and axes are those of Hugging Face's exporters (their `MarianOnnxConfig`), which their ONNX runtimes
expect. The graphs are written operation by operation as in the paper, with operators that every runtime of opset 17
has. The padding token and the decoder's start are Marian's: a row of zeros after the vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from attendo.errors import ModelError
from attendo.interop.huggingface import MAX_POSITIONS, NEVER, padding_id
from attendo.model.attention import MultiHeadAttention
from attendo.model.layers import AddAndNorm, DecoderLayer, EncoderLayer
from attendo.model.positions import LearnedPositions, sinusoids
from attendo.model.transformer import Embedding, Transformer

ENCODER, DECODER, DECODER_WITH_PAST = "encoder_model.onnx", "decoder_model.onnx", "decoder_with_past_model.onnx"
OPSET = 17
"""The first opset with an operator for layer normalisation."""
_IR_VERSION = 8
"""The file format of the time of that opset, which older runtimes can read too."""
_LOWEST = float(np.finfo(np.float32).min)
"""The number added to the logits of masked positions."""


def write_graphs(model: Transformer, folder: Path) -> None:
    """Writes the three graphs, checked by ONNX.

    Args:
        model: a float32 model on the CPU, with heads of any width and positions of any kind.
        folder: an existing folder.

    Raises:
        ModelError: the model has layers that cannot be exported.
    """
    import onnx

    if others := model.config.other_layers:
        raise ModelError(
            f"{' and '.join(others)}: only self-attention over all positions can be written as ONNX; take a model that "
            "has it"
        )

    graphs = {
        ENCODER: _encoder(model),
        DECODER: _decoder(model, past=False),
        DECODER_WITH_PAST: _decoder(model, past=True),
    }
    for name, graph in graphs.items():
        message = graph.model()
        onnx.checker.check_model(message)
        onnx.save_model(message, str(folder / name))


class _Graph:
    """An ONNX graph under construction; each operation returns the name of its result."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[Any] = []
        self._tensors: dict[str, npt.NDArray[Any]] = {}
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def input(self, name: str, kind: str, axes: Sequence[str | int]) -> str:
        """Adds an input; `kind` is `int64` or `float32`, and an axis is a name or a size."""
        self._inputs.append(_value(name, kind, axes))
        return name

    def output(self, name: str, value: str, axes: Sequence[str | int]) -> None:
        """Adds a float32 output."""
        self._nodes.append(_node("Identity", [value], name))
        self._outputs.append(_value(name, "float32", axes))

    def tensor(self, name: str, value: Tensor | npt.NDArray[Any]) -> str:
        """Adds a weight or constant, unless one of its name has been added already."""
        if name not in self._tensors:
            array = value.detach().numpy() if isinstance(value, Tensor) else value
            self._tensors[name] = np.ascontiguousarray(array)
        return name

    def numbers(self, *values: int) -> str:
        """Adds a constant of whole numbers, int64 `(len(values),)`."""
        return self.tensor("numbers_" + "_".join(map(str, values)), np.array(values, dtype=np.int64))

    def number(self, value: float) -> str:
        """Adds a float32 constant without axes."""
        return self.tensor(f"number_{value!r}", np.array(value, dtype=np.float32))

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Adds an operation with one result."""
        result = f"{kind.lower()}_{len(self._nodes)}"
        self._nodes.append(_node(kind, inputs, result, **attributes))
        return result

    def size(self, value: str, axis: int) -> str:
        """Adds the length of an axis, int64 `(1,)`."""
        return self.op("Shape", value, start=axis, end=axis + 1)

    def model(self) -> Any:
        """Returns the graph as an ONNX `ModelProto`."""
        from onnx import helper, numpy_helper

        weights = [numpy_helper.from_array(value, name) for name, value in self._tensors.items()]
        graph = helper.make_graph(self._nodes, self._name, self._inputs, self._outputs, weights)
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="attendo")


def _node(kind: str, inputs: Sequence[str], output: str, **attributes: Any) -> Any:
    from onnx import helper

    return helper.make_node(kind, list(inputs), [output], **attributes)


def _value(name: str, kind: str, axes: Sequence[str | int]) -> Any:
    from onnx import TensorProto, helper

    types = {"int64": TensorProto.INT64, "float32": TensorProto.FLOAT}
    return helper.make_tensor_value_info(name, types[kind], list(axes))


def _encoder(model: Transformer) -> _Graph:
    graph = _Graph("encoder")
    ids = graph.input("input_ids", "int64", ("batch", "src_len"))
    seen = _seen(graph, graph.input("attention_mask", "int64", ("batch", "src_len")))
    hidden = _embed(graph, model.source_embedding, ids, graph.numbers(0), padding_id(model) + 1)
    for number, layer in enumerate(model.encoder_layers):
        assert isinstance(layer, EncoderLayer)
        heads, name = layer.self_attention.num_heads, f"layer{number}"
        own = layer.self_attention
        sizes = (own.num_heads * own.d_k, own.num_heads * own.d_k, own.num_heads * own.d_v)
        query, key, value = _projections(graph, f"{name}.self", own.query_key_value, hidden, sizes, heads)
        attended = _attend(graph, f"{name}.self", own, (query, key, value), seen)
        hidden = _add_and_norm(graph, f"{name}.self.norm", layer.self_attention_norm, hidden, attended)
        hidden = _feed_forward(graph, f"{name}.ffn", layer, hidden)
    graph.output("last_hidden_state", hidden, ("batch", "src_len", model.config.d_model))
    return graph


@dataclass(frozen=True, kw_only=True)
class _AttentionInputs:
    """The names of the inputs of attention in a decoder's layers."""

    memory: str | None
    """The encoder's output; None if its keys and values are given."""
    source: str
    """The mask that is added to the logits of encoder-decoder attention."""
    causal: str
    """The mask that is added to the logits of self-attention."""


def _decoder(model: Transformer, *, past: bool) -> _Graph:
    """Builds the decoder of a whole target, or of the positions after a past."""
    config, graph = model.config, _Graph("decoder_with_past" if past else "decoder")
    source = _seen(graph, graph.input("encoder_attention_mask", "int64", ("batch", "src_len")))
    ids = graph.input("input_ids", "int64", ("batch", "tgt_len"))
    memory = None if past else graph.input("encoder_hidden_states", "float32", ("batch", "src_len", config.d_model))
    before = [_past(graph, number, model) for number in range(config.decoder_layers)] if past else []
    first = graph.size(before[0][0], 2) if past else graph.numbers(0)
    hidden = _embed(graph, model.target_embedding, ids, first, padding_id(model) + 1)
    inputs = _AttentionInputs(memory=memory, source=source, causal=_causal(graph, first, graph.size(ids, 1)))
    presents: list[str] = []
    for number, layer in enumerate(model.decoder_layers):
        assert isinstance(layer, DecoderLayer)
        hidden, present = _decoder_layer(graph, number, layer, hidden, inputs, before[number] if past else None)
        presents += present
    rows = padding_id(model) + 1
    graph.output("logits", _project(graph, model, hidden), ("batch", "tgt_len", rows))
    per_layer = [("decoder", "written"), ("encoder", "src_len")][: 1 if past else 2]
    names = [
        (f"present.{number}.{side}.{part}", length, width)
        for number in range(config.decoder_layers)
        for side, length in per_layer
        for part, width in (("key", config.key_size), ("value", config.value_size))
    ]
    for (name, length, width), value in zip(names, presents, strict=True):
        graph.output(name, value, ("batch", config.num_heads, length, width))
    return graph


def _decoder_layer(
    graph: _Graph,
    number: int,
    layer: DecoderLayer,
    hidden: str,
    inputs: _AttentionInputs,
    before: tuple[str, ...] | None,
) -> tuple[str, list[str]]:
    """Adds one layer of the decoder.

    Args:
        graph: the graph.
        number: number of the layer, from 0.
        layer: the layer with its weights.
        hidden: input of the layer, `(batch, tgt_len, d_model)`.
        inputs: the inputs of attention.
        before: keys and values of the written positions and of the memory; None without a past.

    Returns:
        The output of the layer, `(batch, tgt_len, d_model)`, and keys and values of all written positions; without a
        past also those of the memory.
    """
    own, across, name = layer.self_attention, layer.encoder_attention, f"layer{number}"
    heads, size_k, size_v = own.num_heads, own.num_heads * own.d_k, own.num_heads * own.d_v
    query, key, value = _projections(
        graph, f"{name}.self", own.query_key_value, hidden, (size_k, size_k, size_v), heads
    )
    if before is not None:
        key, value = (graph.op("Concat", old, new, axis=2) for old, new in zip(before[:2], (key, value), strict=True))
    attended = _attend(graph, f"{name}.self", own, (query, key, value), inputs.causal)
    hidden = _add_and_norm(graph, f"{name}.self.norm", layer.self_attention_norm, hidden, attended)
    (query,) = _projections(graph, f"{name}.cross.query", across.query, hidden, (size_k,), heads)
    if before is not None:
        seen_key, seen_value = before[2:]
    else:
        assert inputs.memory is not None
        sizes = (size_k, size_v)
        seen_key, seen_value = _projections(graph, f"{name}.cross", across.key_value, inputs.memory, sizes, heads)
    parts = (query, seen_key, seen_value)
    attended = _attend(graph, f"{name}.cross", across, parts, inputs.source)
    hidden = _add_and_norm(graph, f"{name}.cross.norm", layer.encoder_attention_norm, hidden, attended)
    hidden = _feed_forward(graph, f"{name}.ffn", layer, hidden)
    return hidden, [key, value] if before is not None else [key, value, seen_key, seen_value]


def _past(graph: _Graph, number: int, model: Transformer) -> tuple[str, str, str, str]:
    """Adds a layer's inputs of the past: keys and values of the written positions, keys and values of the memory."""
    config = model.config
    sizes = {"key": config.key_size, "value": config.value_size}
    first, second, third, fourth = (
        graph.input(
            f"past_key_values.{number}.{side}.{part}", "float32", ("batch", config.num_heads, length, sizes[part])
        )
        for side, length in (("decoder", "past_len"), ("encoder", "src_len"))
        for part in ("key", "value")
    )
    return first, second, third, fourth


def _seen(graph: _Graph, mask: str) -> str:
    """Returns the mask to add to logits of attention, `(batch, 1, 1, src_len)`, for a mask that is 1 at tokens."""
    tokens = graph.op("Cast", graph.op("Unsqueeze", mask, graph.numbers(1, 2)), to=9)  # 9 is boolean
    return graph.op("Where", tokens, graph.number(0.0), graph.number(_LOWEST))


def _causal(graph: _Graph, first: str, length: str) -> str:
    """Returns the mask to add so that `length` positions from `first` on see none after themselves, `(length, all)`."""
    zero, one = (graph.tensor(name, np.array(value, dtype=np.int64)) for name, value in (("zero", 0), ("one", 1)))
    places = graph.op("Range", zero, graph.op("Squeeze", graph.op("Add", first, length)), one)
    own = graph.op("Slice", places, first, graph.op("Add", first, length))
    visible = graph.op("LessOrEqual", places, graph.op("Unsqueeze", own, graph.numbers(1)))
    return graph.op("Where", visible, graph.number(0.0), graph.number(_LOWEST))


def _embed(graph: _Graph, embedding: Embedding, ids: str, first: str, rows: int) -> str:
    """Adds embeddings times sqrt(d_model) plus positions (Sections 3.4 and 3.5), `(batch, length, d_model)`."""
    weight = graph.tensor("embedding", _with_rows(embedding.weight, rows))
    looked_up = graph.op("Mul", graph.op("Gather", weight, ids), graph.number(embedding.scale))
    positions = embedding.positions
    table = (
        positions.table
        if isinstance(positions, LearnedPositions)
        else sinusoids(MAX_POSITIONS, positions.d_model, positions.layout)
    )
    end = graph.op("Add", first, graph.size(ids, 1))
    return graph.op("Add", looked_up, graph.op("Slice", graph.tensor("positions", table), first, end))


def _project(graph: _Graph, model: Transformer, hidden: str) -> str:
    """Adds the logits, `(batch, tgt_len, padding_id + 1)`; ids beyond the target vocabulary are never chosen."""
    rows = padding_id(model) + 1
    shared = model.output_weight is model.target_embedding.weight
    weight = graph.tensor("embedding" if shared else "projection", _with_rows(model.output_weight, rows))
    bias = torch.full((rows,), NEVER)
    bias[: model.tgt_vocab_size] = 0.0 if model.output_bias is None else model.output_bias.detach()
    return graph.op(
        "Add", graph.op("MatMul", hidden, graph.op("Transpose", weight, perm=[1, 0])), graph.tensor("logits.bias", bias)
    )


def _with_rows(weight: Tensor, rows: int) -> Tensor:
    return torch.cat((weight.detach(), torch.zeros(rows - len(weight), weight.shape[1])))


def _projections(
    graph: _Graph, name: str, linear: nn.Linear, value: str, sizes: Sequence[int], num_heads: int
) -> tuple[str, ...]:
    """Adds a product and splits it into parts by heads, `(batch, num_heads, length, size / num_heads)` each."""
    product = _linear(graph, name, linear, value)
    ends = [sum(sizes[: place + 1]) for place in range(len(sizes))]
    heads = []
    for size, end in zip(sizes, ends, strict=True):
        part = graph.op("Slice", product, graph.numbers(end - size), graph.numbers(end), graph.numbers(2))
        split = graph.op("Reshape", part, graph.numbers(0, 0, num_heads, size // num_heads))
        heads.append(graph.op("Transpose", split, perm=[0, 2, 1, 3]))
    return tuple(heads)


def _attend(graph: _Graph, name: str, attention: MultiHeadAttention, parts: tuple[str, str, str], added: str) -> str:
    """Adds softmax(QK^T / sqrt(d_k) + mask) V of every head, joined by W_O (Section 3.2)."""
    query, key, value = parts
    logits = _logits(graph, name, attention, query, key)
    weights = graph.op("Softmax", graph.op("Add", logits, added), axis=-1)
    context = graph.op("Transpose", graph.op("MatMul", weights, value), perm=[0, 2, 1, 3])
    output = attention.output
    joined = graph.op("Reshape", context, graph.numbers(0, 0, output.in_features))
    return _linear(graph, f"{name}.output", output, joined)


def _logits(graph: _Graph, name: str, attention: MultiHeadAttention, query: str, key: str) -> str:
    """Adds the logits of attention, `(batch, num_heads, tgt_len, src_len)` (Section 3.2.1)."""
    if attention.additive is None:
        scaled = graph.op("Mul", query, graph.number(attention.scale))
        return graph.op("MatMul", scaled, graph.op("Transpose", key, perm=[0, 1, 3, 2]))
    pairs = graph.op(
        "Add", *(graph.op("Unsqueeze", side, graph.numbers(axis)) for side, axis in ((query, 3), (key, 2)))
    )
    vectors = graph.tensor(f"{name}.additive.weight", attention.additive.weight[:, None, :, None])
    return graph.op("Squeeze", graph.op("MatMul", graph.op("Tanh", pairs), vectors), graph.numbers(4))


def _feed_forward(graph: _Graph, name: str, layer: EncoderLayer | DecoderLayer, hidden: str) -> str:
    inner = _linear(graph, f"{name}.inner", layer.feed_forward.inner, hidden)
    if layer.feed_forward.activation is nn.functional.relu:
        active = graph.op("Relu", inner)
    else:
        active = graph.op("Mul", inner, graph.op("Sigmoid", inner))
    outer = _linear(graph, f"{name}.outer", layer.feed_forward.outer, active)
    return _add_and_norm(graph, f"{name}.norm", layer.feed_forward_norm, hidden, outer)


def _linear(graph: _Graph, name: str, linear: nn.Linear, value: str) -> str:
    product = graph.op("MatMul", value, graph.tensor(f"{name}.weight", linear.weight.T))
    return product if linear.bias is None else graph.op("Add", product, graph.tensor(f"{name}.bias", linear.bias))


def _add_and_norm(graph: _Graph, name: str, norm: AddAndNorm, hidden: str, output: str) -> str:
    """Adds LayerNorm(x + Sublayer(x)) (Section 3.1)."""
    weight, bias = (graph.tensor(f"{name}.{part}", getattr(norm.norm, part)) for part in ("weight", "bias"))
    return graph.op("LayerNormalization", graph.op("Add", hidden, output), weight, bias, axis=-1, epsilon=norm.norm.eps)

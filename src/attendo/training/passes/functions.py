"""The native kernels of training as differentiable functions of torch.

Rows are the tokens of all sentences, one sentence after the other. `Rows` are the input of a sub-layer: in float32 for
the residual connection, and in the type of the matrix products, float32 or bfloat16.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from attendo.model.attention import MultiHeadAttention
from attendo.model.layers import AddAndNorm
from attendo.native.library import PADDED
from attendo.native.training import (
    GAIN_PARTS,
    AddAndNormArguments,
    AddAndNormBackArguments,
    AttentionArguments,
    AttentionBackArguments,
    BiasBackArguments,
    DropoutArguments,
    EmbedArguments,
    EmbedBackArguments,
    make_dropout,
)
from attendo.training.passes.kernels import TrainingKernels, address


class Rows(NamedTuple):
    """The hidden state of all tokens, twice; in float32 both are the same tensor."""

    exact: Tensor
    """float32 `(tokens, d_model)`."""
    low: Tensor
    """`(tokens, d_model)`, float32 or bfloat16."""


class Spans(NamedTuple):
    """The rows of each sentence."""

    starts: Tensor
    """int32 `(sentences + 1,)`: the beginning of each sentence's rows, and the end."""
    longest: int
    """Rows of the longest."""


def _seeded(p: float) -> DropoutArguments:
    """Dropout with a seed from torch's generator, if there is any dropout."""
    return make_dropout(p, int(torch.empty((), dtype=torch.int64).random_()) if p else 0)


def _packed(tensor: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """A gradient as the kernels read it."""
    return None if tensor is None else tensor.to(dtype).contiguous()


class _AddAndNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        kernels: TrainingKernels,
        residual: Tensor,
        output: Tensor,
        gain: Tensor,
        bias: Tensor,
        epsilon: float,
        p: float,
    ) -> tuple[Tensor, Tensor | None]:
        ctx.set_materialize_grads(False)
        residual, output = residual.contiguous(), output.contiguous()
        rows, width = residual.shape
        normed, centred = torch.empty_like(residual), torch.empty_like(residual)
        low = None if output.dtype == torch.float32 else torch.empty_like(output)
        inverse = residual.new_empty(rows)
        dropout = _seeded(p)
        arguments = AddAndNormArguments(
            rows, width, residual.data_ptr(), output.data_ptr(), dropout, gain.data_ptr(), bias.data_ptr(), epsilon,
            normed.data_ptr(), address(low), centred.data_ptr(), inverse.data_ptr(),
        )  # fmt: skip
        kernels.call("add_and_norm", output, arguments)
        ctx.save_for_backward(centred, inverse, gain)
        ctx.kernels, ctx.dropout, ctx.dtype = kernels, dropout, output.dtype
        return normed, low

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        centred, inverse, gain = ctx.saved_tensors
        rows, width = centred.shape
        grad, grad_low = _packed(grads[0], torch.float32), _packed(grads[1], ctx.dtype)
        grad_residual = torch.empty_like(centred)
        grad_output = torch.empty_like(centred, dtype=ctx.dtype)
        parts = centred.new_empty(GAIN_PARTS, 2, width)
        grad_gain, grad_bias = torch.empty_like(gain), torch.empty_like(gain)
        arguments = AddAndNormBackArguments(
            rows, width, address(grad), address(grad_low), centred.data_ptr(), inverse.data_ptr(), gain.data_ptr(),
            ctx.dropout, grad_residual.data_ptr(), grad_output.data_ptr(), parts.data_ptr(), grad_gain.data_ptr(),
            grad_bias.data_ptr(),
        )  # fmt: skip
        ctx.kernels.call("add_and_norm_back", grad_output, arguments)
        return None, grad_residual, grad_output, grad_gain, grad_bias, None, None


def add_and_norm(kernels: TrainingKernels, hidden: Rows, output: Tensor, layer: AddAndNorm) -> Rows:
    """LayerNorm(x + Dropout(Sublayer(x))) (Section 3.1).

    Args:
        kernels: the kernels that compute it.
        hidden: the input of the sub-layer.
        output: the output of the sub-layer, `(tokens, d_model)`, in the type of `hidden.low`.
        layer: the norm and its dropout, which is drawn while the layer is in training mode.
    """
    p = layer.dropout.p if layer.training else 0.0
    norm = layer.norm
    exact, low = _AddAndNorm.apply(kernels, hidden.exact, output, norm.weight, norm.bias, norm.eps, p)  # type: ignore[no-untyped-call]
    return Rows(exact, exact if low is None else low)


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, kernels: TrainingKernels, rows: Tensor, weight: Tensor, bias: Tensor | None, relu: bool
    ) -> Tensor:
        low, turned = kernels.turned(weight, rows.dtype)
        output = rows @ turned if bias is None else torch.addmm(bias.to(rows.dtype), rows, turned)
        if relu:
            output.relu_()
        ctx.save_for_backward(rows, low, output if relu else None)
        ctx.kernels, ctx.has_bias = kernels, bias is not None
        return output

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        rows, low, output = ctx.saved_tensors
        grad, grad_bias = grads[0].contiguous(), None
        if ctx.has_bias:
            grad, grad_bias = _bias_back(ctx.kernels, grad, output)
        elif output is not None:
            grad = grad * (output > 0)
        return None, grad @ low, (grad.t() @ rows).float(), grad_bias, None


def _bias_back(kernels: TrainingKernels, grad: Tensor, output: Tensor | None) -> tuple[Tensor, Tensor]:
    """Computes the gradient before a ReLU with the result `output`, None for no ReLU, and its sum over the rows."""
    masked = grad if output is None else torch.empty_like(grad)
    rows, width = grad.shape
    parts, grad_bias = torch.empty(GAIN_PARTS, width), torch.empty(width)
    arguments = BiasBackArguments(
        rows, width, grad.data_ptr(), address(output), masked.data_ptr(), parts.data_ptr(), grad_bias.data_ptr()
    )
    kernels.call("bias_back", grad, arguments)
    return masked, grad_bias


def linear(kernels: TrainingKernels, rows: Tensor, layer: nn.Linear, *, relu: bool = False) -> Tensor:
    """A linear layer, followed by max(0, x) if `relu` is set (Section 3.3).

    Args:
        kernels: the kernels that compute everything except the products.
        rows: `(tokens, in_features)`, whose type the products use.
        layer: its weights are float32; both sizes are multiples of 16.
        relu: whether negative outputs become 0.

    Returns:
        `(tokens, out_features)`, of the type of `rows`.
    """
    output: Tensor = _Linear.apply(kernels, rows, layer.weight, layer.bias, relu)  # type: ignore[no-untyped-call]
    return output


class _Embed(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        kernels: TrainingKernels,
        weight: Tensor,
        ids: Tensor,
        positions: Tensor,
        table: Tensor,
        scale: float,
        p: float,
        dtype: torch.dtype,
    ) -> tuple[Tensor, Tensor | None]:
        ctx.set_materialize_grads(False)
        rows, width = len(ids), weight.shape[1]
        embedded = weight.new_empty(rows, width)
        low = None if dtype == torch.float32 else torch.empty_like(embedded, dtype=dtype)
        dropout = _seeded(p)
        arguments = EmbedArguments(
            rows, width, ids.data_ptr(), positions.data_ptr(), weight.data_ptr(), table.data_ptr(), scale, dropout,
            embedded.data_ptr(), address(low),
        )  # fmt: skip
        kernels.embed(arguments)
        ctx.save_for_backward(ids)
        ctx.kernels, ctx.dropout, ctx.dtype, ctx.scale, ctx.shape = kernels, dropout, dtype, scale, weight.shape
        return embedded, low

    @staticmethod
    def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
        (ids,) = ctx.saved_tensors
        grad, grad_low = _packed(grads[0], torch.float32), _packed(grads[1], ctx.dtype)
        grad_weight = torch.zeros(ctx.shape)
        arguments = EmbedBackArguments(
            len(ids), ctx.shape[1], ids.data_ptr(), address(grad), address(grad_low), ctx.scale, ctx.dropout,
            grad_weight.data_ptr(),
        )  # fmt: skip
        ctx.kernels.call("embed_back", torch.empty(0, dtype=ctx.dtype), arguments)
        return None, grad_weight, None, None, None, None, None, None


def embed(
    kernels: TrainingKernels,
    weight: Tensor,
    ids: Tensor,
    positions: Tensor,
    table: Tensor,
    p: float,
    dtype: torch.dtype,
) -> Rows:
    """Embeddings times sqrt(d_model), plus positions, then dropout (Sections 3.4, 3.5 and 5.4).

    Args:
        kernels: the kernels that compute it.
        weight: float32 `(vocab_size, d_model)`.
        ids: int64 `(tokens,)`, ids of the vocabulary, or negative for the zero vector.
        positions: int64 `(tokens,)`, each token's in its sentence.
        table: float32 `(positions, d_model)`, the encodings.
        p: the probability to drop an element.
        dtype: the type of `Rows.low`.
    """
    exact, low = _Embed.apply(kernels, weight, ids, positions, table, math.sqrt(weight.shape[1]), p, dtype)  # type: ignore[no-untyped-call]
    return Rows(exact, exact if low is None else low)


@dataclass(frozen=True, kw_only=True)
class _Look:
    """The shape of an attention: heads, scale and spans."""

    heads: int
    d_k: int
    d_v: int
    scale: float
    queries: Spans
    keys: Spans
    causal: bool
    dropout: DropoutArguments


class _Attention(torch.autograd.Function):
    """Attention with queries, keys and values side by side in `query`, or from `query` to `key_value`."""

    @staticmethod
    def forward(ctx: Any, kernels: TrainingKernels, query: Tensor, key_value: Tensor | None, look: _Look) -> Tensor:
        query = query.contiguous()
        key_value = None if key_value is None else key_value.contiguous()
        context = query.new_empty(len(query), look.heads * look.d_v)
        softmax = torch.empty(look.heads, len(query), 2)
        arguments = _attention_arguments(query, key_value, look, context, softmax)
        kernels.call("attention", query, arguments)
        ctx.save_for_backward(query, key_value, context, softmax)
        ctx.kernels, ctx.look = kernels, look
        return context

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        query, key_value, context, softmax = ctx.saved_tensors
        grad = grads[0].contiguous()
        its = _attention_arguments(query, key_value, ctx.look, context, softmax)
        grad_query = torch.empty_like(query)
        grad_key_value = None if key_value is None else torch.empty_like(key_value)
        places = _places(grad_query, grad_key_value, ctx.look)
        arguments = AttentionBackArguments(
            its, grad.data_ptr(), *(place.address for place in places), *(place.stride for place in places)
        )
        ctx.kernels.call("attention_back", query, arguments)
        return None, grad_query, grad_key_value, None


class _Place(NamedTuple):
    address: int
    stride: int


def _places(query: Tensor, key_value: Tensor | None, look: _Look) -> tuple[_Place, _Place, _Place]:
    """Returns the offsets of queries, keys and values and the distance of their rows, in elements."""
    size = query.element_size()
    keys_at = look.heads * look.d_k
    beside, before = (query, keys_at) if key_value is None else (key_value, 0)
    return (
        _Place(query.data_ptr(), query.shape[1]),
        _Place(beside.data_ptr() + before * size, beside.shape[1]),
        _Place(beside.data_ptr() + (before + keys_at) * size, beside.shape[1]),
    )


def _attention_arguments(
    query: Tensor, key_value: Tensor | None, look: _Look, context: Tensor, softmax: Tensor
) -> AttentionArguments:
    places = _places(query, key_value, look)
    return AttentionArguments(
        len(look.queries.starts) - 1, look.heads, look.d_k, look.d_v, int(look.causal), look.queries.longest,
        look.keys.longest, look.queries.starts.data_ptr(), look.keys.starts.data_ptr(),
        *(place.address for place in places), *(place.stride for place in places), look.scale, look.dropout,
        context.data_ptr(), softmax.data_ptr(),
    )  # fmt: skip


def attention(
    kernels: TrainingKernels,
    layer: MultiHeadAttention,
    query: Tensor,
    key_value: Tensor | None,
    queries: Spans,
    keys: Spans,
    *,
    causal: bool,
) -> Tensor:
    """Dot-product attention of every head, with the layer's scale (Section 3.2).

    Args:
        kernels: the kernels that compute it.
        layer: has the heads' sizes, the scale, and dropout of the weights; it is not additive.
        query: `(query tokens, num_heads * d_k)`, or `(tokens, num_heads * (2 d_k + d_v))` with keys and values after
            the queries in each row.
        key_value: `(key tokens, num_heads * (d_k + d_v))`, or None.
        queries: the spans of the queries.
        keys: the spans of the keys, of as many sentences.
        causal: whether a query sees only the keys up to its own position.

    Returns:
        The contexts of all heads side by side, `(query tokens, num_heads * d_v)`.
    """
    p = layer.dropout.p if layer.training else 0.0
    d_k, d_v = _padded(layer.d_k), _padded(layer.d_v)
    is_wider = (d_k, d_v) != (layer.d_k, layer.d_v)
    if is_wider and key_value is None:
        query = _widened(query, layer, layer.d_k, layer.d_k, layer.d_v)
    elif is_wider and key_value is not None:
        query, key_value = _widened(query, layer, layer.d_k), _widened(key_value, layer, layer.d_k, layer.d_v)
    look = _Look(
        heads=layer.num_heads,
        d_k=d_k,
        d_v=d_v,
        scale=layer.scale,
        queries=queries,
        keys=keys,
        causal=causal,
        dropout=_seeded(p),
    )
    context: Tensor = _Attention.apply(kernels, query, key_value, look)  # type: ignore[no-untyped-call]
    if is_wider:
        context = context.view(len(context), layer.num_heads, d_v)[:, :, : layer.d_v].flatten(1)
    return context


def _padded(size: int) -> int:
    return -(-size // PADDED) * PADDED


def _widened(rows: Tensor, layer: MultiHeadAttention, *sizes: int) -> Tensor:
    """Pads heads narrower than the kernels' block size with zeros, which add nothing to any product."""
    parts = torch.split(rows, [layer.num_heads * size for size in sizes], dim=1)
    wide = [
        functional.pad(part.reshape(len(rows), layer.num_heads, size), (0, _padded(size) - size)).flatten(1)
        for part, size in zip(parts, sizes, strict=True)
    ]
    return torch.cat(wide, dim=1)

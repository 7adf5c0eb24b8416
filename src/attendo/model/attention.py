"""Attention (Section 3.2): scaled dot-product attention, its alternatives, and the two multi-head uses.

Axes: `batch` (sentences), `num_heads`, `tgt_len` (queries), `src_len` (keys), `d_k`, `d_v`.
"""

import math
from contextlib import nullcontext
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from attendo.model.additive import AdditiveLogits
from attendo.model.config import ModelConfig
from attendo.model.dropout import Dropout

_FUSED = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
"""Without cuDNN's backend, which needs milliseconds to plan each new shape: nearly every batch of text has one."""

MANY_LOGITS = 1 << 20
"""Numbers, 4 MiB: attention that has more of them is fused on a processor too, which then keeps none of them."""


class Attended(NamedTuple):
    """The result of attention: the context `(batch, num_heads, tgt_len, d_v)` and the attention weights."""

    context: Tensor
    weights: Tensor


class KeysValues(NamedTuple):
    """Keys `(batch, num_heads, length, d_k)` and values `(batch, num_heads, length, d_v)` to attend to."""

    keys: Tensor
    values: Tensor


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout: Dropout | None = None,
    *,
    scale: float | None = None,
) -> Attended:
    """Weighs the values by how well each key fits the query: softmax(QK^T / sqrt(d_k)) V (Section 3.2.1, Equation 1).

    Args:
        query: `(batch, num_heads, tgt_len, d_k)`.
        key: `(batch, num_heads, src_len, d_k)`.
        value: `(batch, num_heads, src_len, d_v)`.
        mask: boolean, True where the query may look; broadcasts to `(batch, num_heads, tgt_len, src_len)`; each query
            must see at least one key. None: every key is visible.
        dropout: the dropout of weights while training; the paper has none here.
        scale: the factor of the products; None for the paper's 1 / sqrt(d_k), 1 for the unscaled function.

    Returns:
        The context, `(batch, num_heads, tgt_len, d_v)`, and the weights, `(batch, num_heads, tgt_len, src_len)`.
    """
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    return _weighed(torch.matmul(query * scale, key.transpose(-2, -1)), value, mask, dropout)


def additive_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    fit: AdditiveLogits,
    mask: Tensor | None,
    dropout: Dropout | None = None,
) -> Attended:
    """Weighs the values by a learned function: softmax(v^T tanh(q + k)) V (Section 3.2.1; Bahdanau et al., 2015).

    Args:
        query: `(batch, num_heads, tgt_len, d_k)`.
        key: `(batch, num_heads, src_len, d_k)`.
        value: `(batch, num_heads, src_len, d_v)`.
        fit: the function, with a vector v for each head.
        mask: as for `scaled_dot_product_attention`.
        dropout: the dropout of weights while training.

    Returns:
        As there.
    """
    return _weighed(fit(query, key), value, mask, dropout)


def _weighed(logits: Tensor, value: Tensor, mask: Tensor | None, dropout: Dropout | None) -> Attended:
    """softmax(logits) V."""
    if mask is not None:
        logits = logits.masked_fill(~mask, -math.inf)
    weights = logits.softmax(dim=-1)
    return Attended(torch.matmul(weights if dropout is None else dropout(weights), value), weights)


def fused_attention(
    query: Tensor, seen: KeysValues, mask: Tensor | None, p: float, *, scale: float | None = None
) -> Tensor:
    """The context of `scaled_dot_product_attention`, fused by torch: on a GPU the weights need not be written.

    Args:
        query: `(batch, num_heads, tgt_len, d_k)`.
        seen: the keys and values.
        mask: boolean, True where the query may look, or None.
        p: the probability to drop a weight.
        scale: as for `scaled_dot_product_attention`.
    """
    with sdpa_kernel(_FUSED) if query.is_cuda else nullcontext():
        return F.scaled_dot_product_attention(query, seen.keys, seen.values, attn_mask=mask, dropout_p=p, scale=scale)


class MultiHeadAttention(nn.Module):
    """The common part of multi-head attention: the split into heads, and W_O that joins them (Section 3.2.2).

    `scale` is the factor of the products of queries and keys, and `additive` is None except for additive attention.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.num_heads, self.d_k, self.d_v = config.num_heads, config.key_size, config.value_size
        self.scale = config.attention_scale
        self.additive = AdditiveLogits(self.num_heads, self.d_k) if config.attention_function == "additive" else None
        self.dropout = Dropout(config.attention_dropout)
        self.output = nn.Linear(self.num_heads * self.d_v, config.d_model, bias=config.attention_bias)

    def heads(self, projected: Tensor) -> Tensor:
        """`(batch, length, num_heads * size)` to `(batch, num_heads, length, size)`."""
        batch, length, _ = projected.shape
        return projected.view(batch, length, self.num_heads, -1).transpose(1, 2)

    def attend(self, query: Tensor, seen: KeysValues, mask: Tensor | None) -> Tensor:
        """Attends with every head and joins the outputs: `(batch, tgt_len, d_model)`."""
        joined: Tensor = self.output(self.context(query, seen, mask).transpose(1, 2).flatten(2))
        return joined

    def context(self, query: Tensor, seen: KeysValues, mask: Tensor | None) -> Tensor:
        """Computes the heads' outputs, `(batch, num_heads, tgt_len, d_v)`."""
        p = self.dropout.p if self.training else 0.0
        # On a CPU torch's fused attention pays only from a certain size on, and it draws dropout numbers one by one.
        is_large = p == 0 and query[..., 0].numel() * seen.keys.shape[2] > MANY_LOGITS
        if self.additive is None and (query.is_cuda or is_large):
            return fused_attention(query, seen, mask, p, scale=self.scale)
        return self._attended(query, seen, mask, self.dropout).context

    def weights(self, query: Tensor, seen: KeysValues, mask: Tensor | None) -> Tensor:
        """Computes the attention weights, `(batch, num_heads, tgt_len, src_len)`."""
        return self._attended(query, seen, mask, None).weights

    def _attended(self, query: Tensor, seen: KeysValues, mask: Tensor | None, dropout: Dropout | None) -> Attended:
        if self.additive is not None:
            return additive_attention(query, seen.keys, seen.values, self.additive, mask, dropout)
        return scaled_dot_product_attention(query, seen.keys, seen.values, mask, dropout, scale=self.scale)


class SelfAttention(MultiHeadAttention):
    """Queries, keys and values of one sequence; W_Q, W_K and W_V in one matrix, for one product."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        outputs = self.num_heads * (2 * self.d_k + self.d_v)
        self.query_key_value = nn.Linear(config.d_model, outputs, bias=config.attention_bias)

    def project(self, hidden: Tensor) -> tuple[Tensor, KeysValues]:
        """The queries, and the keys and values, of `hidden` `(batch, length, d_model)`, by heads."""
        size_k, size_v = self.num_heads * self.d_k, self.num_heads * self.d_v
        query, key, value = self.query_key_value(hidden).split((size_k, size_k, size_v), dim=-1)
        return self.heads(query), KeysValues(self.heads(key), self.heads(value))

    def still_seen(self, past: KeysValues) -> KeysValues:
        """Returns the keys and values that the next position attends to: those of all positions so far."""
        return past

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """Attends from each position to the positions that its mask allows.

        Args:
            hidden: `(batch, length, d_model)`.
            mask: boolean, True where attention may go; broadcasts to `(batch, num_heads, length, length)`.

        Returns:
            `(batch, length, d_model)`.
        """
        query, seen = self.project(hidden)
        return self.attend(query, seen, mask)


class MemoryAttention(MultiHeadAttention):
    """Multi-head attention of queries to precomputed keys and values of the encoder's memory."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.query = nn.Linear(config.d_model, self.num_heads * self.d_k, bias=config.attention_bias)

    def forward(self, hidden: Tensor, seen: KeysValues, mask: Tensor | None) -> Tensor:
        """Attends from each target position to the source.

        Args:
            hidden: `(batch, tgt_len, d_model)`.
            seen: the keys and values of `EncoderDecoderAttention.look_at` for the memory.
            mask: boolean, True where attention may go; broadcasts to `(batch, num_heads, tgt_len, src_len)`.

        Returns:
            `(batch, tgt_len, d_model)`.
        """
        return self.attend(self.heads(self.query(hidden)), seen, mask)

    def look(self, hidden: Tensor, seen: KeysValues, mask: Tensor | None) -> Tensor:
        """Computes the attention weights over the source, `(batch, num_heads, tgt_len, src_len)`."""
        return self.weights(self.heads(self.query(hidden)), seen, mask)


class EncoderDecoderAttention(MemoryAttention):
    """Queries of the decoder; keys and values of the encoder's memory (Section 3.2.3)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        outputs = self.num_heads * (self.d_k + self.d_v)
        self.key_value = nn.Linear(config.d_model, outputs, bias=config.attention_bias)

    def look_at(self, memory: Tensor) -> KeysValues:
        """The keys and values of `memory` `(batch, src_len, d_model)`: made once a sentence."""
        sizes = (self.num_heads * self.d_k, self.num_heads * self.d_v)
        key, value = self.key_value(memory).split(sizes, dim=-1)
        return KeysValues(self.heads(key), self.heads(value))

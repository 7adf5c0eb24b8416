"""Attention (Section 3.2): scaled dot-product attention and its two multi-head uses.

Axes: `batch` (sentences), `num_heads`, `tgt_len` (where it looks from), `src_len` (where it looks), `d_k`, `d_v`.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attendo.model.dropout import Dropout


class Attended(NamedTuple):
    """What attention gives: the context `(batch, num_heads, tgt_len, d_v)` and the weights it was summed with."""

    context: Tensor
    weights: Tensor


class KeysValues(NamedTuple):
    """Keys `(batch, num_heads, length, d_k)` and values `(batch, num_heads, length, d_v)` of what is looked at."""

    keys: Tensor
    values: Tensor


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: Dropout | None = None
) -> Attended:
    """Weighs the values by how well each key fits the query: softmax(QK^T / sqrt(d_k)) V (Section 3.2.1, Equation 1).

    Args:
        query: `(batch, num_heads, tgt_len, d_k)`.
        key: `(batch, num_heads, src_len, d_k)`.
        value: `(batch, num_heads, src_len, d_v)`.
        mask: boolean, True where the query may look; broadcasts to `(batch, num_heads, tgt_len, src_len)`; each query
            must see at least one key. None: everything may be seen.
        dropout: what drops weights while training; the paper has none here.

    Returns:
        The context, `(batch, num_heads, tgt_len, d_v)`, and the weights, `(batch, num_heads, tgt_len, src_len)`.
    """
    logits = torch.matmul(query * (1 / math.sqrt(query.shape[-1])), key.transpose(-2, -1))
    if mask is not None:
        logits = logits.masked_fill(~mask, -math.inf)
    weights = logits.softmax(dim=-1)
    return Attended(torch.matmul(weights if dropout is None else dropout(weights), value), weights)


def fused_attention(query: Tensor, seen: KeysValues, mask: Tensor | None, p: float) -> Tensor:
    """The context of `scaled_dot_product_attention`, fused by torch: on a GPU the weights need not be written.

    Args:
        query: `(batch, num_heads, tgt_len, d_k)`.
        seen: the keys and values.
        mask: boolean, True where the query may look, or None.
        p: the probability to drop a weight.
    """
    return F.scaled_dot_product_attention(query, seen.keys, seen.values, attn_mask=mask, dropout_p=p)


class MultiHeadAttention(nn.Module):
    """What both multi-head attentions share: the split into heads, and W_O that joins them (Section 3.2.2)."""

    def __init__(self, d_model: int, num_heads: int, d_k: int, d_v: int, *, bias: bool, dropout: float) -> None:
        super().__init__()
        self.num_heads, self.d_k, self.d_v = num_heads, d_k, d_v
        self.dropout = Dropout(dropout)
        self.output = nn.Linear(num_heads * d_v, d_model, bias=bias)

    def heads(self, projected: Tensor) -> Tensor:
        """`(batch, length, num_heads * size)` to `(batch, num_heads, length, size)`."""
        batch, length, _ = projected.shape
        return projected.view(batch, length, self.num_heads, -1).transpose(1, 2)

    def attend(self, query: Tensor, seen: KeysValues, mask: Tensor | None) -> Tensor:
        """Looks with every head and joins what they found: `(batch, tgt_len, d_model)`."""
        if query.is_cuda:
            context = fused_attention(query, seen, mask, self.dropout.p if self.training else 0.0)
        else:
            context = scaled_dot_product_attention(query, seen.keys, seen.values, mask, self.dropout).context
        joined: Tensor = self.output(context.transpose(1, 2).flatten(2))
        return joined

    def weights(self, query: Tensor, seen: KeysValues, mask: Tensor | None) -> Tensor:
        """Where every head looks: `(batch, num_heads, tgt_len, src_len)`."""
        return scaled_dot_product_attention(query, seen.keys, seen.values, mask).weights


class SelfAttention(MultiHeadAttention):
    """Queries, keys and values of one sequence; W_Q, W_K and W_V in one matrix, for one product."""

    def __init__(self, d_model: int, num_heads: int, d_k: int, d_v: int, *, bias: bool, dropout: float) -> None:
        super().__init__(d_model, num_heads, d_k, d_v, bias=bias, dropout=dropout)
        self.query_key_value = nn.Linear(d_model, num_heads * (2 * d_k + d_v), bias=bias)

    def project(self, hidden: Tensor) -> tuple[Tensor, KeysValues]:
        """The queries, and the keys and values, of `hidden` `(batch, length, d_model)`, by heads."""
        size_k, size_v = self.num_heads * self.d_k, self.num_heads * self.d_v
        query, key, value = self.query_key_value(hidden).split((size_k, size_k, size_v), dim=-1)
        return self.heads(query), KeysValues(self.heads(key), self.heads(value))

    def forward(self, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """Each position looks at the positions its mask allows.

        Args:
            hidden: `(batch, length, d_model)`.
            mask: boolean, True where attention may go; broadcasts to `(batch, num_heads, length, length)`.

        Returns:
            `(batch, length, d_model)`.
        """
        query, seen = self.project(hidden)
        return self.attend(query, seen, mask)


class EncoderDecoderAttention(MultiHeadAttention):
    """Queries of the decoder; keys and values of the encoder's memory (Section 3.2.3)."""

    def __init__(self, d_model: int, num_heads: int, d_k: int, d_v: int, *, bias: bool, dropout: float) -> None:
        super().__init__(d_model, num_heads, d_k, d_v, bias=bias, dropout=dropout)
        self.query = nn.Linear(d_model, num_heads * d_k, bias=bias)
        self.key_value = nn.Linear(d_model, num_heads * (d_k + d_v), bias=bias)

    def look_at(self, memory: Tensor) -> KeysValues:
        """The keys and values of `memory` `(batch, src_len, d_model)`: made once a sentence."""
        sizes = (self.num_heads * self.d_k, self.num_heads * self.d_v)
        key, value = self.key_value(memory).split(sizes, dim=-1)
        return KeysValues(self.heads(key), self.heads(value))

    def forward(self, hidden: Tensor, seen: KeysValues, mask: Tensor | None) -> Tensor:
        """Each target position looks at the source.

        Args:
            hidden: `(batch, tgt_len, d_model)`.
            seen: what `look_at` gave for the memory.
            mask: boolean, True where attention may go; broadcasts to `(batch, num_heads, tgt_len, src_len)`.

        Returns:
            `(batch, tgt_len, d_model)`.
        """
        return self.attend(self.heads(self.query(hidden)), seen, mask)

    def look(self, hidden: Tensor, seen: KeysValues, mask: Tensor | None) -> Tensor:
        """Where every head looks in the source, `(batch, num_heads, tgt_len, src_len)`; takes what `forward` takes."""
        return self.weights(self.heads(self.query(hidden)), seen, mask)

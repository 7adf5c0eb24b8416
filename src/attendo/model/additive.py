"""Additive attention (Section 3.2.1): a feed-forward network with one hidden layer scores how well a key fits a query.

Bahdanau et al. (2015) have v^T tanh(W q + U k), with a vector v and matrices W and U that are learned. In multi-head
form a head's W_Q and W_K already are W and U, so only one vector per head remains to be learned.
"""

from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

_PART = 1 << 18
"""Numbers of the hidden layer at once on a processor, whose cache they should fit; a query's at the least."""
_GPU_PART = 1 << 25
"""Size of a part on a GPU, which has more memory and needs larger pieces of work."""


class AdditiveLogits(nn.Module):
    """Additive compatibility of queries and keys: v^T tanh(q + k), with a vector v per head.

    Args:
        num_heads: number of heads of the attention.
        d_k: width of a head's queries and keys, and so of the hidden layer.
    """

    def __init__(self, num_heads: int, d_k: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(num_heads, d_k))
        bound = (6 / (d_k + 1)) ** 0.5  # Glorot's rule for a matrix of one output
        nn.init.uniform_(self.weight, -bound, bound)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        """Logits `(batch, num_heads, tgt_len, src_len)`, in the memory of queries, keys and logits.

        The hidden layer has d_k times as many numbers as the logits. They are computed a few queries at a time and not
        kept: the backward pass recomputes them. bfloat16 inputs are converted to float32, the type of the logits.

        Args:
            query: `(batch, num_heads, tgt_len, d_k)`.
            key: `(batch, num_heads, src_len, d_k)`, of the same type.
        """
        dtype = torch.promote_types(query.dtype, torch.float32)
        kind = query.device.type
        with torch.autocast(kind, enabled=False) if torch.amp.is_autocast_available(kind) else nullcontext():
            logits: Tensor = _AdditiveLogits.apply(query.to(dtype), key.to(dtype), self.weight.to(dtype))  # type: ignore[no-untyped-call]
        return logits

    def extra_repr(self) -> str:
        """The sizes, for `print(model)`."""
        return f"num_heads={self.weight.shape[0]}, d_k={self.weight.shape[1]}"


class _AdditiveLogits(torch.autograd.Function):
    """v^T tanh(q + k) by tanh(x) = 2 s - 1 with s = sigmoid(2 x), as torch's sigmoid is ten times as fast as its tanh.

    Heads come first inside: the product with the heads' vectors is then one product per head.
    """

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
        ctx.save_for_backward(query, key, weight)
        queries, keys = 2 * query.transpose(0, 1), 2 * key.transpose(0, 1)
        logits = query.new_empty(*queries.shape[:3], key.shape[2])
        for part in _parts(queries, keys):
            hidden = _hidden(queries[:, :, part], keys)
            logits[:, :, part] = (hidden.flatten(1, 3) @ weight[:, :, None]).view(hidden.shape[:-1])
        return (2 * logits - weight.sum(1)[:, None, None, None]).transpose(0, 1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, key, weight = ctx.saved_tensors
        queries, keys, grad = 2 * query.transpose(0, 1), 2 * key.transpose(0, 1), grads[0].transpose(0, 1)
        grad_queries, grad_keys = torch.empty_like(queries), torch.zeros_like(keys)
        grad_weight = -grad.sum((1, 2, 3))[:, None].expand_as(weight)
        for part in _parts(queries, keys):
            hidden = _hidden(queries[:, :, part], keys)
            its = grad[:, :, part].contiguous()
            grad_weight = grad_weight + 2 * (its.flatten(1)[:, None] @ hidden.flatten(1, 3))[:, 0]
            torch.addcmul(hidden, hidden, hidden, value=-1, out=hidden)  # tanh' = 4 (s - s^2)
            hidden *= its[..., None]
            grad_queries[:, :, part] = hidden.sum(3)
            grad_keys += hidden.sum(2)
        scale = 4 * weight[:, None, None]
        return (grad_queries * scale).transpose(0, 1), (grad_keys * scale).transpose(0, 1), grad_weight


def _parts(queries: Tensor, keys: Tensor) -> list[slice]:
    """Divides queries into parts whose hidden layer has about the desired size."""
    length, most = queries.shape[2], _PART if queries.device.type == "cpu" else _GPU_PART
    step = max(1, most // max(1, keys.numel()))
    return [slice(first, first + step) for first in range(0, length, step)]


def _hidden(queries: Tensor, keys: Tensor) -> Tensor:
    """sigmoid(q + k) of every pair, whole: `(num_heads, batch, tgt_len, src_len, d_k)`."""
    hidden = queries.new_empty(*queries.shape[:3], *keys.shape[2:])
    return torch.add(queries[:, :, :, None], keys[:, :, None], out=hidden).sigmoid_()

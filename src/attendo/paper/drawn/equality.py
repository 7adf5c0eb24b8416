"""Whether what is drawn is what Equation 1 and Section 3.2.2 say: worked out again, apart from the model's code."""

import math
from dataclasses import asdict, dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from attendo.model.attention import SelfAttention, scaled_dot_product_attention
from attendo.model.config import ModelConfig

_BATCH, _LENGTH, _HIDDEN = 2, 23, 5
"""Two sentences of some length, the second of which ends so many positions earlier."""


@dataclass(frozen=True, kw_only=True)
class Equality:
    """The largest differences that were found over all seeds; activations are near 1."""

    seeds: int
    equation: float
    """Between the model's function and Equation 1 in float64 as it is printed, products first and then the scale."""
    heads: float
    """Between the model's attention and one head after the other with matrices of its own, side by side, times W_O."""

    def to_json(self) -> dict[str, float]:
        """All of it."""
        return asdict(self)


def measured_equality(config: ModelConfig, seeds: int) -> Equality:
    """Compares on random numbers.

    Args:
        config: whose attention it is; its function is the scaled one.
        seeds: how many times.
    """
    equation, heads = 0.0, 0.0
    for seed in range(1, seeds + 1):
        generator = torch.Generator().manual_seed(seed)
        equation = max(equation, _of_equation(config, generator))
        heads = max(heads, _of_heads(config, generator, seed))
    return Equality(seeds=seeds, equation=equation, heads=heads)


def _mask() -> Tensor:
    mask = torch.ones(_BATCH, 1, 1, _LENGTH, dtype=torch.bool)
    mask[1, :, :, -_HIDDEN:] = False
    return mask


def _printed(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Equation 1 in the order in which Figure 2 has it: products, scale, mask, softmax, products."""
    logits = torch.einsum("...qd,...kd->...qk", query.double(), key.double()) / math.sqrt(query.shape[-1])
    weights = torch.softmax(torch.where(mask, logits, -math.inf), dim=-1)
    return torch.einsum("...qk,...kd->...qd", weights, value.double())


def _of_equation(config: ModelConfig, generator: torch.Generator) -> float:
    sizes = (config.key_size, config.key_size, config.value_size)
    shape = (_BATCH, config.num_heads, _LENGTH)
    query, key, value = (torch.randn(*shape, size, generator=generator) for size in sizes)
    ours = scaled_dot_product_attention(query, key, value, _mask()).context
    return float((ours - _printed(query, key, value, _mask())).abs().max())


def _of_heads(config: ModelConfig, generator: torch.Generator, seed: int) -> float:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        attention = SelfAttention(config).eval()
    hidden = torch.randn(_BATCH, _LENGTH, config.d_model, generator=generator)
    h, d_k, d_v = config.num_heads, config.key_size, config.value_size
    weight, bias = attention.query_key_value.weight, attention.query_key_value.bias
    joined = []
    with torch.no_grad():
        for head in range(h):
            starts = (head * d_k, h * d_k + head * d_k, 2 * h * d_k + head * d_v)
            rows = [slice(start, start + size) for start, size in zip(starts, (d_k, d_k, d_v), strict=True)]
            query, key, value = (
                F.linear(hidden.double(), weight[own].double(), None if bias is None else bias[own].double())
                for own in rows
            )
            joined.append(_printed(query, key, value, _mask()[:, 0]))
        output = attention.output
        own_bias = None if output.bias is None else output.bias.double()
        expected = F.linear(torch.cat(joined, dim=-1), output.weight.double(), own_bias)
        return float((attention(hidden, _mask()) - expected).abs().max())

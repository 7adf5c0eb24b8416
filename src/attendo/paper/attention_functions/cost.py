"""What the attention functions take on this machine: seconds forward and back, and memory, as ratios in one run."""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import torch
from torch import Tensor

from attendo.model.attention import KeysValues, MultiHeadAttention
from attendo.model.config import AttentionFunction, ModelConfig
from attendo.paper.attention_functions.rows import ADDITIVE, FUNCTIONS, SCALED, UNSCALED
from attendo.paper.experiment import Scale
from attendo.paper.table1.layers import peak_bytes, time_passes

WHOLE: Final = "additive, whole"
"""Additive attention as it is usually written, whose hidden layer of n x n x d_k numbers is there all at once."""

Measured = AttentionFunction | Literal["additive, whole"]

_NAMES: tuple[Measured, ...] = (*FUNCTIONS, WHOLE)
_BATCH, _HEADS = 2, 4


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Sizes that are measured."""

    n: int
    """Queries, and keys."""
    d_k: int
    """And d_v."""


SETTINGS: Mapping[Scale, tuple[Setting, ...]] = {
    "tiny": (Setting(n=16, d_k=4), Setting(n=16, d_k=16)),
    "small": (
        *(Setting(n=64, d_k=d_k) for d_k in (4, 16, 64, 256)),
        *(Setting(n=n, d_k=64) for n in (16, 256)),
    ),
    "paper": (
        *(Setting(n=256, d_k=d_k) for d_k in (4, 16, 64, 256, 512)),
        *(Setting(n=n, d_k=64) for n in (16, 64, 1024)),
    ),
}
_ROUNDS = {"tiny": 3, "small": 9, "paper": 15}


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Of some measurements."""

    low: float
    """The lower quartile."""
    median: float
    high: float
    """The upper quartile."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Of the functions at one setting."""

    setting: Setting
    scaled_s: float
    """Median seconds of the scaled function, forward and back."""
    ratios: Mapping[str, Spread]
    """Seconds of a function by those of the scaled one in the same round."""
    bytes: Mapping[str, int]
    """At the most, above inputs and parameters."""


def measure_cost(scale: Scale, setting: Setting, device: torch.device) -> Cost:
    """Measures the functions by turns, round after round, so that whatever else the machine does meets them all.

    Args:
        scale: how many rounds.
        setting: the sizes.
        device: where.
    """
    passages = {name: _passage(name, setting, device) for name in _NAMES}
    # The shortest of a few calls: the others have waited for something else.
    rounds = [
        {name: min(time_passes(passages[name], device, repeats=5, most_s=0.2)) for name in FUNCTIONS}
        for _ in range(_ROUNDS[scale])
    ]
    return Cost(
        setting=setting,
        scaled_s=statistics.median(each[SCALED] for each in rounds),
        ratios={name: spread([each[name] / each[SCALED] for each in rounds]) for name in (UNSCALED, ADDITIVE)},
        bytes={name: peak_bytes(passage, device) for name, passage in passages.items()},
    )


def spread(values: list[float]) -> Spread:
    """Median and quartiles of at least two values."""
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(low=low, median=median, high=high)


def _passage(name: Measured, setting: Setting, device: torch.device) -> Callable[[], None]:
    """A passage forward and back, with the gradients of queries, keys, values and what else is learned."""
    generator = torch.Generator().manual_seed(1)
    shape = (_BATCH, _HEADS, setting.n, setting.d_k)
    query, key, value = (torch.randn(shape, generator=generator).to(device).requires_grad_() for _ in range(3))
    towards = torch.randn(shape, generator=generator).to(device)
    function = ADDITIVE if name == WHOLE else name  # the parameters are the same
    shape_of_heads = ModelConfig(
        d_model=2, num_heads=_HEADS, d_k=setting.d_k, d_v=setting.d_k, attention_function=function
    )
    attention = MultiHeadAttention(shape_of_heads).to(device)

    def call() -> None:
        if name == WHOLE:
            assert attention.additive is not None
            context = _whole(query, key, value, attention.additive.weight)
        else:
            context = attention.context(query, KeysValues(key, value), None)
        torch.autograd.backward(context, towards)
        attention.zero_grad(set_to_none=True)
        for tensor in (query, key, value):
            tensor.grad = None

    return call


def _whole(query: Tensor, key: Tensor, value: Tensor, weight: Tensor) -> Tensor:
    """Additive attention as it is usually written."""
    hidden = (query[:, :, :, None] + key[:, :, None]).tanh()
    logits = torch.matmul(hidden, weight[:, None, :, None]).squeeze(-1)
    return torch.matmul(logits.softmax(-1), value)

"""The footnote of Section 3.2.1 as an experiment: what d_k does to q·k, and what that does to the softmax.

For components of q and k that are independent, with mean 0 and variance 1, q·k has mean 0 and variance d_k. Nothing
else of their distribution matters, so it is measured for two that have little in common: normal, and signs, -1 or 1.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from attendo.paper.experiment import Scale
from attendo.paper.statistics import Estimate, estimate

WIDTHS = tuple(1 << power for power in range(11))
"""d_k, 1 to 1024."""
NUM_KEYS = 64
"""That a query chooses from."""

_REPLICATES = 30
_PAIRS = {"tiny": 50, "small": 1000, "paper": 20_000}
_QUERIES = {"tiny": 5, "small": 50, "paper": 1000}
"""Of each replicate."""

Draw = Callable[[tuple[int, ...], torch.Generator], Tensor]


def _normal(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.randn(shape, generator=generator)


def _signs(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.randint(0, 2, shape, generator=generator).float() * 2 - 1


DISTRIBUTIONS: dict[str, Draw] = {"normal": _normal, "signs": _signs}
"""Of the components."""


@dataclass(frozen=True, kw_only=True)
class Products:
    """q·k of independent q and k, by d_k."""

    distribution: str
    d_k: int
    mean: Estimate
    variance: Estimate
    """About the mean that is expected, 0."""


@dataclass(frozen=True, kw_only=True)
class Sharpness:
    """What a softmax over keys is like; means over queries unless they are called medians."""

    entropy: Estimate
    """As a share of the largest there is, ln of the number of keys."""
    largest: Estimate
    """The largest weight."""
    jacobian: Estimate
    """Frobenius norm of the softmax's derivative by its logits."""
    jacobian_median: Estimate
    """The same, the median query's."""
    to_query: Estimate
    """Frobenius norm of the derivative of the weights by the query: what is left of a gradient on its way there."""


@dataclass(frozen=True, kw_only=True)
class Softmax:
    """A softmax over random keys, by d_k."""

    d_k: int
    scaled: Sharpness
    unscaled: Sharpness


def measure_products(scale: Scale) -> tuple[Products, ...]:
    """Mean and variance of q·k for each distribution and each d_k, over independent replicates."""
    pairs = _PAIRS[scale]
    found = []
    for distribution, draw in DISTRIBUTIONS.items():
        for d_k in WIDTHS:
            generator = torch.Generator().manual_seed(d_k)
            means, variances = [], []
            for _ in range(_REPLICATES):
                products = (draw((pairs, d_k), generator) * draw((pairs, d_k), generator)).sum(1).double()
                means.append(float(products.mean()))
                variances.append(float(products.square().mean()))
            found.append(
                Products(distribution=distribution, d_k=d_k, mean=estimate(means), variance=estimate(variances))
            )
    return tuple(found)


def measure_softmax(scale: Scale) -> tuple[Softmax, ...]:
    """What the softmax over `NUM_KEYS` random normal keys is like, scaled and unscaled, for each d_k."""
    return tuple(_softmax(d_k, _QUERIES[scale]) for d_k in WIDTHS)


def _softmax(d_k: int, queries: int) -> Softmax:
    generator = torch.Generator().manual_seed(d_k)
    found: dict[float, list[tuple[float, ...]]] = {d_k**-0.5: [], 1.0: []}
    for _ in range(_REPLICATES):
        query, keys = torch.randn(queries, d_k, generator=generator), torch.randn(NUM_KEYS, d_k, generator=generator)
        for scale, rows in found.items():
            rows.append(_replicate(query, keys, scale))
    scaled, unscaled = (_sharpness(found[scale]) for scale in (d_k**-0.5, 1.0))
    return Softmax(d_k=d_k, scaled=scaled, unscaled=unscaled)


def _sharpness(rows: Sequence[tuple[float, ...]]) -> Sharpness:
    entropy, largest, jacobian, median, to_query = (estimate(column) for column in zip(*rows, strict=True))
    return Sharpness(entropy=entropy, largest=largest, jacobian=jacobian, jacobian_median=median, to_query=to_query)


def _replicate(query: Tensor, keys: Tensor, scale: float) -> tuple[float, ...]:
    """The five measures of `Sharpness` for queries `(queries, d_k)` and keys `(num_keys, d_k)`."""
    weights = (query @ keys.t() * scale).double().softmax(-1)
    norms = jacobian_norm(weights)
    # The weights' derivative by the query is scale * J K; its columns are weighed keys less their mean.
    keys = keys.double()
    centred = keys - (weights @ keys)[:, None]
    to_query = scale * (weights[:, :, None] * centred).square().sum((1, 2)).sqrt()
    return (
        float(entropy_share(weights).mean()),
        float(weights.amax(-1).mean()),
        float(norms.mean()),
        float(norms.median()),
        float(to_query.mean()),
    )


def jacobian_norm(weights: Tensor) -> Tensor:
    """Frobenius norm of a softmax's derivative by its logits, diag(w) - w w^T, `(...)` of weights `(..., num_keys)`.

    Its square is the sum of w_i^2 (1 - w_i)^2 over the diagonal, and of w_i^2 w_j^2 over all the rest.
    """
    squares = weights.square()
    rest = squares.sum(-1).square() - squares.square().sum(-1)
    return ((squares * (1 - weights).square()).sum(-1) + rest.clamp(min=0)).sqrt()


def entropy_share(weights: Tensor) -> Tensor:
    """Entropy as a share of that of equal weights, `(...)` of weights `(..., num_keys)`, of more than one key."""
    entropy: Tensor = torch.special.entr(weights).sum(-1)
    return entropy / math.log(weights.shape[-1])

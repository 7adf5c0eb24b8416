"""The variance of attention's logits: of vectors drawn at random, and of the heads of models, new and trained."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from pydantic import TypeAdapter
from torch import Tensor

from attendo.checkpoint.model_folder import load_model
from attendo.errors import ModelError
from attendo.model.batch import Ids, collate
from attendo.model.transformer import Transformer
from attendo.paper.experiment import Scale
from attendo.paper.statistics import Estimate, estimate
from attendo.paper.study_folder import measured_once
from attendo.text.prepared import PreparedData

# --- logits of vectors drawn at random: the footnote ------------------------------------------------------------------

WIDTHS = tuple(1 << power for power in range(11))
"""d_k, 1 to 1024."""
NUM_KEYS = 64
"""That a query chooses from."""

_REPLICATES = 30
_DRAWN_PAIRS = {"tiny": 50, "small": 1000, "paper": 20_000}
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
    pairs = _DRAWN_PAIRS[scale]
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


# --- logits of models' heads, new and trained -------------------------------------------------------------------------

MEASURED = "heads.json"
"""In a run's folder, beside its result."""

_PAIRS = 50
"""Of the validation set."""


@dataclass(frozen=True, kw_only=True)
class HeadMeasures:
    """Means over the queries of all heads, layers and attentions; each query has two keys at least."""

    variance: float
    """Of a query's logits over the keys that it sees."""
    entropy: float
    """As a share of that of equal weights."""
    largest: float
    """The largest weight."""
    jacobian: float
    """Frobenius norm of the softmax's derivative by its logits."""


@dataclass(frozen=True, kw_only=True)
class MeasuredHeads:
    """Of a run."""

    new: HeadMeasures
    """With new random weights."""
    trained: HeadMeasures


_KEPT = TypeAdapter(MeasuredHeads)


def heads_of_run(run: Path, seed: int, prepared: PreparedData) -> MeasuredHeads:
    """Measures a run that has ended, once; afterwards it is read.

    Args:
        run: the run's folder.
        seed: of the new weights that the trained ones are held beside.
        prepared: its data.

    Raises:
        ModelError: the data has no validation set, or the model cannot be read.
        OSError: the folder cannot be written to.
    """

    def measure() -> MeasuredHeads:
        if prepared.valid is None:
            raise ModelError(f"{prepared.folder}: has no validation set to measure on")
        valid = prepared.valid
        pairs = [(valid.source(number), valid.target(number)) for number in range(min(_PAIRS, len(valid)))]
        trained = load_model(run / "model").transformer
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            new = Transformer(trained.config, trained.src_vocab_size, trained.tgt_vocab_size)
        return MeasuredHeads(new=measure_heads(new, pairs), trained=measure_heads(trained, pairs))

    return measured_once(run / MEASURED, _KEPT, measure)


@torch.no_grad()
def measure_heads(model: Transformer, pairs: Iterable[tuple[Ids, Ids]]) -> HeadMeasures:
    """Reads pairs and looks at every head.

    A softmax is the same whatever is added to a query's logits, and their variance is that of the weights' logarithms;
    in float64 those are there down to logits that are 700 apart.

    Args:
        model: is left in float64 and in evaluation mode.
        pairs: ids of source and target, each with its `</s>`.
    """
    model.double().eval()
    rows = [row for source, target in pairs for row in _rows(model, source, target)]
    if not rows:
        raise ModelError("no text of two tokens or more to measure attention on")
    count = sum(size for _, size in rows)
    variance, entropy, largest, jacobian = (torch.stack([sums for sums, _ in rows]).sum(0) / count).tolist()
    return HeadMeasures(variance=variance, entropy=entropy, largest=largest, jacobian=jacobian)


def _rows(model: Transformer, source: Ids, target: Ids) -> Iterator[tuple[Tensor, int]]:
    """Sums of the four measures over queries that see as many keys, and how many queries they are."""
    attention = model.attention(collate([source], [target], start=model.config.start_id))
    for weights in (attention.encoder, attention.encoder_decoder):
        if weights.shape[-1] > 1:
            yield _sums(weights.flatten(0, -2))
    for seen in range(2, attention.decoder.shape[-1] + 1):
        yield _sums(attention.decoder[..., seen - 1, :seen].flatten(0, -2))


def _sums(weights: Tensor) -> tuple[Tensor, int]:
    """Of weights `(queries, keys)`."""
    tiny = torch.finfo(weights.dtype).tiny
    measures = (
        weights.clamp(min=tiny).log().var(-1),
        entropy_share(weights),
        weights.amax(-1),
        jacobian_norm(weights),
    )
    return torch.stack([measure.sum() for measure in measures]), len(weights)

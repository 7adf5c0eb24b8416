"""Measurements of the attention functions: logits of random vectors and of models' heads, time and memory."""

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

import torch
from pydantic import TypeAdapter
from torch import Tensor

from attendo.checkpoint.model_folder import load_model
from attendo.errors import ModelError
from attendo.evaluation.estimates import Estimate, estimate
from attendo.model.attention import KeysValues, MultiHeadAttention
from attendo.model.batch import Ids, collate
from attendo.model.config import AttentionFunction, ModelConfig
from attendo.model.transformer import Transformer
from attendo.paper.declared import declared
from attendo.paper.experiment import Scale
from attendo.paper.study_folder import measured_once
from attendo.paper.table1.layers import peak_bytes, time_passes
from attendo.text.prepared import PreparedData

FUNCTIONS: tuple[AttentionFunction, ...] = get_args(AttentionFunction)
"""The attention functions, the paper's own first."""
SCALED, UNSCALED, ADDITIVE = FUNCTIONS

# --- logits of vectors drawn at random: the footnote ------------------------------------------------------------------

WIDTHS = tuple(1 << power for power in range(11))
"""Values of d_k, 1 to 1024."""
NUM_KEYS = 64
"""Number of keys that a query chooses from."""

_REPLICATES = 30
_DRAWN_PAIRS = {"tiny": 50, "small": 1000, "paper": 20_000}
_QUERIES = {"tiny": 5, "small": 50, "paper": 1000}
"""Number of queries of each replicate, by scale."""

Draw = Callable[[tuple[int, ...], torch.Generator], Tensor]


def _normal(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.randn(shape, generator=generator)


def _signs(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.randint(0, 2, shape, generator=generator).float() * 2 - 1


DISTRIBUTIONS: dict[str, Draw] = {"normal": _normal, "signs": _signs}
"""Distributions of the components, with mean 0 and variance 1."""


@dataclass(frozen=True, kw_only=True)
class Products:
    """Mean and variance of q·k for independent q and k, at one d_k."""

    distribution: str
    d_k: int
    mean: Estimate
    variance: Estimate
    """Mean square of q·k: its variance about the expected mean, 0."""


@dataclass(frozen=True, kw_only=True)
class Sharpness:
    """The sharpness of a softmax over keys: means over queries, except for `jacobian_median`."""

    entropy: Estimate
    """Entropy as a share of its maximum, ln of the number of keys."""
    largest: Estimate
    """Largest weight."""
    jacobian: Estimate
    """Frobenius norm of the softmax's derivative with respect to its logits."""
    jacobian_median: Estimate
    """The same norm for the median query."""
    to_query: Estimate
    """Frobenius norm of the weights' derivative with respect to the query: the part of a gradient that reaches it."""


@dataclass(frozen=True, kw_only=True)
class Softmax:
    """The sharpness of a softmax over random keys, scaled and unscaled, at one d_k."""

    d_k: int
    scaled: Sharpness
    unscaled: Sharpness


def measure_products(scale: Scale) -> tuple[Products, ...]:
    """Measures mean and variance of q·k for each distribution and each d_k, over independent replicates."""
    pairs = _DRAWN_PAIRS[scale]
    measured = []
    for distribution, draw in DISTRIBUTIONS.items():
        for d_k in WIDTHS:
            generator = torch.Generator().manual_seed(d_k)
            means, variances = [], []
            for _ in range(_REPLICATES):
                products = (draw((pairs, d_k), generator) * draw((pairs, d_k), generator)).sum(1).double()
                means.append(float(products.mean()))
                variances.append(float(products.square().mean()))
            measured.append(
                Products(distribution=distribution, d_k=d_k, mean=estimate(means), variance=estimate(variances))
            )
    return tuple(measured)


def measure_softmax(scale: Scale) -> tuple[Softmax, ...]:
    """Measures the sharpness of a softmax over `NUM_KEYS` random normal keys, scaled and unscaled, for each d_k."""
    return tuple(_softmax(d_k, _QUERIES[scale]) for d_k in WIDTHS)


def _softmax(d_k: int, queries: int) -> Softmax:
    generator = torch.Generator().manual_seed(d_k)
    replicates: dict[float, list[tuple[float, ...]]] = {d_k**-0.5: [], 1.0: []}
    for _ in range(_REPLICATES):
        query, keys = torch.randn(queries, d_k, generator=generator), torch.randn(NUM_KEYS, d_k, generator=generator)
        for scale, rows in replicates.items():
            rows.append(_replicate(query, keys, scale))
    scaled, unscaled = (_sharpness(replicates[scale]) for scale in (d_k**-0.5, 1.0))
    return Softmax(d_k=d_k, scaled=scaled, unscaled=unscaled)


def _sharpness(rows: Sequence[tuple[float, ...]]) -> Sharpness:
    entropy, largest, jacobian, median, to_query = (estimate(column) for column in zip(*rows, strict=True))
    return Sharpness(entropy=entropy, largest=largest, jacobian=jacobian, jacobian_median=median, to_query=to_query)


def _replicate(query: Tensor, keys: Tensor, scale: float) -> tuple[float, ...]:
    """Returns the five measures of `Sharpness` for queries `(queries, d_k)` and keys `(num_keys, d_k)`."""
    weights = (query @ keys.t() * scale).double().softmax(-1)
    norms = jacobian_norm(weights)
    # The weights' derivative with respect to the query is scale * J K; its row i is scale * w_i * (k_i - mean key).
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
    """Returns the Frobenius norm of a softmax's Jacobian diag(w) - w w^T, `(...)` for weights `(..., num_keys)`.

    Its square is the sum of w_i^2 (1 - w_i)^2 over the diagonal and of w_i^2 w_j^2 over all other entries.
    """
    squares = weights.square()
    rest = squares.sum(-1).square() - squares.square().sum(-1)
    return ((squares * (1 - weights).square()).sum(-1) + rest.clamp(min=0)).sqrt()


def entropy_share(weights: Tensor) -> Tensor:
    """Returns the entropy as a share of that of equal weights, `(...)` for weights `(..., num_keys)`, num_keys > 1."""
    entropy: Tensor = torch.special.entr(weights).sum(-1)
    return entropy / math.log(weights.shape[-1])


# --- logits of models' heads, new and trained -------------------------------------------------------------------------

MEASURED = "heads.json"
"""Name of the file in a run's folder, beside its result."""

_PAIRS = 50
"""Number of pairs of the validation set that are measured."""


@dataclass(frozen=True, kw_only=True)
class HeadMeasures:
    """Means over the queries of all heads, layers and kinds of attention, without queries that see a single key."""

    variance: float
    """Variance of a query's logits over the keys that it sees."""
    entropy: float
    """Entropy as a share of that of equal weights."""
    largest: float
    """Largest weight."""
    jacobian: float
    """Frobenius norm of the softmax's derivative with respect to its logits."""


@dataclass(frozen=True, kw_only=True)
class MeasuredHeads:
    """The measures of the heads of a run's model."""

    new: HeadMeasures
    """Measures with new random weights."""
    trained: HeadMeasures
    """Measures with the trained weights."""


_KEPT = TypeAdapter(MeasuredHeads)


def heads_of_run(run: Path, seed: int, prepared: PreparedData) -> MeasuredHeads:
    """Measures the heads of a run that has ended, or reads the measures if they are kept.

    Args:
        run: the run's folder.
        seed: seed of the new weights, which are compared with the trained ones.
        prepared: data of the run.

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
    """Measures every head of a model on some pairs.

    A softmax does not change if a constant is added to a query's logits, so the logits' variance is that of the
    weights' logarithms; float64 represents these for logits up to 700 apart.

    Args:
        model: the model; it is left in float64 and in evaluation mode.
        pairs: ids of source and target, each with its `</s>`.

    Raises:
        ModelError: no text has two tokens or more.
    """
    model.double().eval()
    rows = [row for source, target in pairs for row in _rows(model, source, target)]
    if not rows:
        raise ModelError("no text of two tokens or more to measure attention on")
    count = sum(size for _, size in rows)
    variance, entropy, largest, jacobian = (torch.stack([sums for sums, _ in rows]).sum(0) / count).tolist()
    return HeadMeasures(variance=variance, entropy=entropy, largest=largest, jacobian=jacobian)


def _rows(model: Transformer, source: Ids, target: Ids) -> Iterator[tuple[Tensor, int]]:
    """Yields the sums of the four measures over queries that see equally many keys, with the number of queries."""
    attention = model.attention(collate([source], [target], start=model.config.start_id))
    for weights in (attention.encoder, attention.encoder_decoder):
        if weights.shape[-1] > 1:
            yield _sums(weights.flatten(0, -2))
    for seen in range(2, attention.decoder.shape[-1] + 1):
        yield _sums(attention.decoder[..., seen - 1, :seen].flatten(0, -2))


def _sums(weights: Tensor) -> tuple[Tensor, int]:
    """The sums of the four measures over queries, and their number, for weights `(queries, keys)`."""
    tiny = torch.finfo(weights.dtype).tiny
    measures = (
        weights.clamp(min=tiny).log().var(-1),
        entropy_share(weights),
        weights.amax(-1),
        jacobian_norm(weights),
    )
    return torch.stack([measure.sum() for measure in measures]), len(weights)


# --- time and memory --------------------------------------------------------------------------------------------------

WHOLE: Final = "additive, whole"
"""Additive attention in its usual form, which holds the whole hidden layer of n x n x d_k numbers at once."""

Measured = AttentionFunction | Literal["additive, whole"]

_NAMES: tuple[Measured, ...] = (*FUNCTIONS, WHOLE)
_BATCH, _HEADS = 2, 4


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The sizes of one measurement of time and memory."""

    n: int
    """Number of queries, and of keys."""
    d_k: int
    """Width of queries, keys and values."""


SETTINGS: Mapping[Scale, tuple[Setting, ...]] = declared(
    "attention_functions/settings.toml", "settings", dict[Scale, tuple[Setting, ...]]
)
"""The measured sizes of each scale."""
_ROUNDS = {"tiny": 3, "small": 9, "paper": 15}


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The quartiles of some measurements."""

    low: float
    """Lower quartile."""
    median: float
    high: float
    """Upper quartile."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The time and memory of the functions at one setting."""

    setting: Setting
    scaled_s: float
    """Median seconds of the scaled function, forward and backward."""
    ratios: Mapping[str, Spread]
    """Seconds of a function divided by those of the scaled one in the same round, by function."""
    bytes: Mapping[str, int]
    """Peak memory of each function in bytes, above inputs and parameters."""

    @property
    def memory(self) -> Mapping[str, float]:
        """Peak memory of each function divided by that of the scaled one."""
        return {name: most / self.bytes[SCALED] for name, most in self.bytes.items()}


def measure_cost(scale: Scale, setting: Setting, device: torch.device) -> Cost:
    """Measures the functions in turn, round after round, so that other load on the machine affects all of them.

    Args:
        scale: scale of the study, which sets the number of rounds.
        setting: the sizes.
        device: device of the computation.
    """
    passages = {name: _passage(name, setting, device) for name in _NAMES}
    # The shortest of a few calls: the others were delayed by other work.
    rounds = [
        {name: min(time_passes(passages[name], device, repeats=5, most_s=0.2)) for name in FUNCTIONS}
        for _ in range(_ROUNDS[scale])
    ]
    return Cost(
        setting=setting,
        scaled_s=statistics.median(times[SCALED] for times in rounds),
        ratios={name: spread([times[name] / times[SCALED] for times in rounds]) for name in (UNSCALED, ADDITIVE)},
        bytes={name: peak_bytes(passage, device) for name, passage in passages.items()},
    )


def spread(values: list[float]) -> Spread:
    """Returns the median and the quartiles of at least two values."""
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return Spread(low=low, median=median, high=high)


def _passage(name: Measured, setting: Setting, device: torch.device) -> Callable[[], None]:
    """Returns a call that runs a function forward and backward, with the gradients of queries, keys and parameters."""
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
    """Computes additive attention in its usual form."""
    hidden = (query[:, :, :, None] + key[:, :, None]).tanh()
    logits = torch.matmul(hidden, weight[:, None, :, None]).squeeze(-1)
    return torch.matmul(logits.softmax(-1), value)

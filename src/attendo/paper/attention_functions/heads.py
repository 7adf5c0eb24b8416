"""How large the logits of a trained model's heads are, and how sharp its attention, beside the same model untrained."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from pydantic import TypeAdapter
from torch import Tensor

from attendo.checkpoint.model_folder import load_model
from attendo.errors import ModelError
from attendo.model.batch import Ids, collate
from attendo.model.transformer import Transformer
from attendo.paper.attention_functions.variance import entropy_share, jacobian_norm
from attendo.paper.kept import measured_once
from attendo.text.prepared import PreparedData

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

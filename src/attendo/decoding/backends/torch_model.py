"""A Transformer decoded in plain torch, on any device."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn import functional as F

from attendo.decoding.backends.array_attention import PairAttention
from attendo.decoding.backends.steps import TransformerStep
from attendo.decoding.step import FloatArray, Step
from attendo.model.batch import Batch, collate, pad_source
from attendo.model.config import ModelConfig
from attendo.model.products import fast_float32_products
from attendo.model.transformer import Transformer
from attendo.model.weights.arrays import ModelArrays
from attendo.model.weights.building import built
from attendo.model.weights.quantization import quantized

Ids = Sequence[Sequence[int]]

_POSITIONS = 512
"""Number of target positions projected to the vocabulary at once: logits are by far the largest tensor."""


def torch_model(model: Transformer | ModelArrays, *, dtype: str, device: str) -> "TorchModel":
    """A model that decodes in plain torch.

    Args:
        model: a Transformer, which bfloat16 and another device change in place; or the arrays to build one.
        dtype: the dtype of the matrix products: float32, bfloat16 or int8.
        device: the device.
    """
    transformer = built(model) if isinstance(model, ModelArrays) else model
    transformer = transformer.to(device)
    if dtype == "bfloat16":
        return TorchModel(transformer.to(torch.bfloat16), kernel="torch bfloat16")
    if dtype == "int8":
        return TorchModel(quantized(transformer), kernel="torch int8")
    return TorchModel(transformer, kernel="torch float32")


class TorchModel:
    """Decodes in plain torch, on any device.

    Args:
        transformer: may be in training; it decodes without dropout and trains on afterwards.
        kernel: its name for display.
    """

    concurrent = False

    def __init__(self, transformer: Transformer, *, kernel: str = "torch") -> None:
        self.transformer, self.kernel = transformer, kernel

    @property
    def config(self) -> ModelConfig:
        """The architecture."""
        return self.transformer.config

    @property
    def src_vocab_size(self) -> int:
        """Ids of the source."""
        return self.transformer.src_vocab_size

    @property
    def tgt_vocab_size(self) -> int:
        """Ids of the target."""
        return self.transformer.tgt_vocab_size

    @property
    def device(self) -> torch.device:
        """The device that holds the model."""
        return self.transformer.device

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Without dropout and with torch's fastest products inside; afterwards as before."""
        was_training = self.transformer.training
        self.transformer.eval()
        try:
            with fast_float32_products(self.device):
                yield
        finally:
            self.transformer.train(was_training)

    def step(self, sources: Ids, *, threads: int = 1) -> Step:
        """Starts a batch; torch has its own threads."""
        src_ids, src_mask = pad_source(sources)
        src_mask = None if src_mask is None else src_mask.to(self.device)
        return TransformerStep(self.transformer, src_ids.to(self.device), src_mask)

    @torch.no_grad()
    def token_log_probs(
        self, sources: Ids, targets: Ids, *, between: Callable[[], object] = lambda: None
    ) -> FloatArray:
        """Teacher forcing: all target positions at once, where padding and the rest of the batch change nothing."""
        found: FloatArray = _token_log_probs(self.transformer, self._collated(sources, targets)).cpu().numpy()
        return found

    @torch.no_grad()
    def encoder_decoder_attention(
        self, sources: Ids, targets: Ids, layer: int, *, between: Callable[[], object] = lambda: None
    ) -> list[FloatArray]:
        """Computes the attention of every head of a decoder layer; see `DecodingModel`."""
        with self.at_work():
            heads = self.transformer.encoder_decoder_attention(self._collated(sources, targets), layer)
        every: FloatArray = heads.float().cpu().numpy()
        pairs = zip(sources, targets, strict=True)
        return [every[row, :, : len(target), : len(source)] for row, (source, target) in enumerate(pairs)]

    @torch.no_grad()
    def attention(
        self, source: Sequence[int], target: Sequence[int], *, between: Callable[[], object] = lambda: None
    ) -> PairAttention:
        """Computes the attention of every head and layer; see `DecodingModel`."""
        batch = collate([source], [target], start=self.config.start_id).to(self.device)
        with self.at_work():
            weights = self.transformer.attention(batch)
        return PairAttention(
            encoder=_numpy(weights.encoder) if len(weights.encoder) else None,
            decoder=_numpy(weights.decoder),
            encoder_decoder=_numpy(weights.encoder_decoder),
        )

    def free_unused(self, most: int) -> int:
        """Keeps no memory; see `DecodingModel`."""
        return 0

    def _collated(self, sources: Ids, targets: Ids) -> Batch:
        return collate(sources, targets, start=self.config.start_id, masked=self.config.masks_targets).to(self.device)


def _numpy(weights: Tensor) -> FloatArray:
    """The weights of a single pair as an array, `(num_layers, num_heads, ...)`."""
    found: FloatArray = weights[:, 0].float().cpu().numpy()
    return found


def _token_log_probs(model: Transformer, batch: Batch) -> Tensor:
    """Log-probabilities of all target tokens of a batch, row after row without the padding, float32 `(tokens,)`."""
    hidden = batch.at_tokens(model.hidden(batch))
    ids = batch.at_tokens(batch.tgt_ids)
    parts = [
        -F.cross_entropy(model.project(some_hidden).float(), some_ids, reduction="none")
        for some_hidden, some_ids in zip(torch.split(hidden, _POSITIONS), torch.split(ids, _POSITIONS), strict=True)
    ]
    return torch.cat(parts)

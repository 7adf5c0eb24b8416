"""A Transformer made ready for decoding: on the native kernels where they can run it, else in plain torch."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, get_args

import torch
from torch import Tensor
from torch.nn import functional as F

from attendo.decoding.native_model import Dtype, NativeModel, can_run
from attendo.decoding.step import Step
from attendo.decoding.steps import TransformerStep
from attendo.errors import ModelError
from attendo.model.batch import Batch, collate, pad_source
from attendo.model.products import fast_float32_products
from attendo.model.quantization import quantized
from attendo.model.transformer import Transformer
from attendo.native.library import find_kernels

Ids = Sequence[Sequence[int]]

_POSITIONS = 512
"""Target positions projected to the vocabulary at a time: logits are by far the largest tensor."""


class DecodingModel(Protocol):
    """What searching and scoring need of a model."""

    @property
    def transformer(self) -> Transformer:
        """The model itself, whose attention can be looked at."""

    @property
    def kernel(self) -> str:
        """What it runs on, for people."""

    @property
    def concurrent(self) -> bool:
        """Whether several threads may run batches of their own at the same time, and gain by it."""

    def at_work(self) -> AbstractContextManager[None]:
        """What the following are called within."""

    def step(self, sources: Ids, *, threads: int = 1) -> Step:
        """A batch at its start.

        Args:
            sources: each sentence's ids with its `</s>`.
            threads: that work on it together, where the model is `concurrent`.
        """

    def token_log_probs(self, sources: Ids, targets: Ids, *, between: Callable[[], object] = lambda: None) -> Tensor:
        """Log-probabilities of given translations, float32 `(all target tokens,)`, one sentence behind the other.

        Args:
            sources: each sentence's ids with its `</s>`.
            targets: the same of their translations.
            between: called between two steps, where it takes several; what it raises ends the scoring.
        """


def decoding_model(
    transformer: Transformer, *, dtype: Dtype = "float32", device: torch.device | None = None, native: bool = True
) -> DecodingModel:
    """The fastest that there is for a model, here and now.

    Args:
        transformer: float32; without kernels bfloat16 changes it in place, and so does another device.
        dtype: of the products.
        device: where to work; where the model is if left out.
        native: whether the native kernels may be used.

    Raises:
        ModelError: an unknown dtype, int8 on a GPU, or `ATTENDO_KERNELS` names kernels that are not there.
    """
    if dtype not in get_args(Dtype):
        raise ModelError(f"dtype = {dtype!r} is unknown; take one of {', '.join(get_args(Dtype))}")
    device = device or transformer.device
    if dtype == "int8" and device.type != "cpu":
        raise ModelError(f"int8 is for processors, not for {device.type}; take bfloat16")
    transformer = transformer.to(device)
    kernels = find_kernels().kernels if native and device.type == "cpu" else None
    if kernels is not None and can_run(transformer):
        return NativeModel(transformer, dtype=dtype, kernels=kernels)
    if dtype == "bfloat16":
        return TorchModel(transformer.to(torch.bfloat16), kernel="torch bfloat16")
    if dtype == "int8":
        return TorchModel(quantized(transformer), kernel="torch int8")
    return TorchModel(transformer, kernel="torch float32")


class TorchModel:
    """Decodes in plain torch, on any device.

    Args:
        transformer: may be in training; it decodes without dropout and trains on afterwards.
        kernel: how it is called.
    """

    concurrent = False

    def __init__(self, transformer: Transformer, *, kernel: str = "torch") -> None:
        self.transformer, self.kernel = transformer, kernel

    @property
    def device(self) -> torch.device:
        """Where the model is."""
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
        """A batch at its start; torch has its own threads."""
        src_ids, src_mask = pad_source(sources)
        src_mask = None if src_mask is None else src_mask.to(self.device)
        return TransformerStep(self.transformer, src_ids.to(self.device), src_mask)

    @torch.no_grad()
    def token_log_probs(self, sources: Ids, targets: Ids, *, between: Callable[[], object] = lambda: None) -> Tensor:
        """Teacher forcing: all target positions at once, where padding and the rest of the batch change nothing."""
        config = self.transformer.config
        batch = collate(sources, targets, start=config.start_id, masked=config.masks_targets).to(self.device)
        return _token_log_probs(self.transformer, batch).cpu()


def _token_log_probs(model: Transformer, batch: Batch) -> Tensor:
    """Log-probabilities of all target tokens of a batch, row after row without the padding, float32 `(tokens,)`."""
    hidden = batch.at_tokens(model.hidden(batch))
    ids = batch.at_tokens(batch.tgt_ids)
    parts = [
        -F.cross_entropy(model.project(some_hidden).float(), some_ids, reduction="none")
        for some_hidden, some_ids in zip(torch.split(hidden, _POSITIONS), torch.split(ids, _POSITIONS), strict=True)
    ]
    return torch.cat(parts)

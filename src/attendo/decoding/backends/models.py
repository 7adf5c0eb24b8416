"""A Transformer prepared for decoding: on the native kernels if they support it, otherwise in plain torch."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, get_args

from attendo.decoding.backends.array_attention import PairAttention
from attendo.decoding.backends.native_model import Dtype, NativeModel, can_run
from attendo.decoding.step import FloatArray, Step
from attendo.errors import ModelError
from attendo.model.config import ModelConfig
from attendo.model.weights.arrays import ModelArrays
from attendo.native.library import find_kernels

if TYPE_CHECKING:
    import torch

    from attendo.model.transformer import Transformer

Ids = Sequence[Sequence[int]]


class DecodingModel(Protocol):
    """The interface of a model for searching and scoring."""

    @property
    def config(self) -> ModelConfig:
        """The architecture."""

    @property
    def src_vocab_size(self) -> int:
        """Ids of the source."""

    @property
    def tgt_vocab_size(self) -> int:
        """Ids of the target."""

    @property
    def kernel(self) -> str:
        """The implementation and its instruction set, for display."""

    @property
    def concurrent(self) -> bool:
        """Whether several threads may run their own batches at the same time, and gain by it."""

    def at_work(self) -> AbstractContextManager[None]:
        """A context manager within which the following methods are called."""

    def step(self, sources: Ids, *, threads: int = 1) -> Step:
        """A batch at its start.

        Args:
            sources: each sentence's ids with its `</s>`.
            threads: number of threads that work on it together, if the model is `concurrent`.
        """

    def token_log_probs(
        self, sources: Ids, targets: Ids, *, between: Callable[[], object] = lambda: None
    ) -> FloatArray:
        """Log-probabilities of given translations, float32 `(all target tokens,)`, one sentence after the other.

        Args:
            sources: each sentence's ids with its `</s>`.
            targets: the same of their translations.
            between: called between two steps if there are several; an exception from it ends the scoring.
        """

    def encoder_decoder_attention(
        self, sources: Ids, targets: Ids, layer: int, *, between: Callable[[], object] = lambda: None
    ) -> list[FloatArray]:
        """Computes the encoder-decoder attention of one decoder layer, for every head.

        Args:
            sources: each sentence's ids with its `</s>`.
            targets: the same of their translations.
            layer: the layer's number, from 1, the lowest.
            between: as for `token_log_probs`.

        Returns:
            For each pair float32 `(num_heads, tgt_len, src_len)`.
        """

    def attention(
        self, source: Sequence[int], target: Sequence[int], *, between: Callable[[], object] = lambda: None
    ) -> PairAttention:
        """Computes the attention of every head and layer for a pair; both ids end with `</s>`.

        Args:
            source: the ids of the source.
            target: the ids of its translation.
            between: as for `token_log_probs`.
        """

    def free_unused(self, most: int) -> int:
        """Frees the memory kept for later batches if it exceeds `most` bytes; returns the number of bytes freed."""


def decoding_model(
    model: "Transformer | ModelArrays",
    *,
    dtype: Dtype = "float32",
    device: "torch.device | str | None" = None,
    native: bool = True,
) -> DecodingModel:
    """The fastest implementation of a model available on this machine.

    Torch is used, and imported, only for models that the native kernels cannot run.

    Args:
        model: a Transformer in float32, or its arrays; without the kernels, bfloat16 or another device changes the
            Transformer in place.
        dtype: the dtype of the matrix products.
        device: where to compute; by default a Transformer's own device, and the CPU for arrays.
        native: whether the native kernels may be used.

    Raises:
        ModelError: an unknown dtype, int8 on a GPU, or `ATTENDO_KERNELS` names kernels that are not there.
    """
    if dtype not in get_args(Dtype):
        raise ModelError(f"dtype = {dtype!r} is unknown; take one of {', '.join(get_args(Dtype))}")
    where = str(device or ("cpu" if isinstance(model, ModelArrays) else model.device))
    kind = where.split(":")[0]
    if dtype == "int8" and kind != "cpu":
        raise ModelError(f"int8 is for processors, not for {kind}; take bfloat16")
    if device is not None and not isinstance(model, ModelArrays):
        model = model.to(device)
    kernels = find_kernels().kernels if native and kind == "cpu" else None
    if kernels is not None and can_run(model):
        return NativeModel(model, dtype=dtype, kernels=kernels)
    from attendo.decoding.backends.torch_model import torch_model

    return torch_model(model, dtype=dtype, device=where)

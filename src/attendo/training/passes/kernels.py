"""The native kernels applied to tensors in training, and whether they support a model."""

from ctypes import Structure, byref
from dataclasses import dataclass

import torch
from torch import Tensor

from attendo.model.config import ModelConfig
from attendo.native.library import PADDED, Kernels, find_kernels
from attendo.native.training import CrossEntropyArguments, EmbedArguments, RDropArguments, TurnArguments, make_crew


@dataclass(frozen=True)
class TrainingKernels:
    """The kernels of one variant, called with tensors for training."""

    kernels: Kernels

    def call(self, name: str, tensor: Tensor, arguments: Structure) -> None:
        """Calls a function that is there for float32 and for bfloat16, for the type of `tensor`.

        Raises:
            MemoryError: no memory is left.
        """
        self.kernels.call(name, _crew(), int(tensor.dtype == torch.bfloat16), byref(arguments))

    def embed(self, arguments: EmbedArguments) -> None:
        """Looks up embeddings."""
        self.kernels.call("embed", _crew(), byref(arguments))

    def turned(self, weight: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
        """A float32 weight `(outputs, inputs)` in the type of the products, both plain and transposed.

        The forward product reads one of them sequentially, and the backward product the other.
        """
        rows, columns = weight.shape
        low = None if dtype == torch.float32 else torch.empty_like(weight, dtype=dtype)
        turned = weight.new_empty(columns, rows, dtype=dtype)
        arguments = TurnArguments(rows, columns, weight.data_ptr(), address(low), turned.data_ptr())
        self.call("turn", turned, arguments)
        return weight if low is None else low, turned

    def softmax_gradient(
        self, logits: Tensor, bias: Tensor | None, targets: Tensor, smoothing: float, *, needs_grad: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        """See `training.passes.loss.LossKernels`; the gradient is written over the logits."""
        logits, targets = logits.contiguous(), targets.contiguous()
        rows, vocab_size = logits.shape
        smoothed, log_loss = torch.empty(rows), torch.empty(rows)
        arguments = CrossEntropyArguments(
            rows, vocab_size, logits.data_ptr(), address(bias), targets.data_ptr(), smoothing, int(needs_grad),
            smoothed.data_ptr(), log_loss.data_ptr(),
        )  # fmt: skip
        self.call("cross_entropy", logits, arguments)
        return smoothed.sum(), log_loss.sum(), logits

    def r_drop_gradient(
        self,
        logits: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        smoothing: float,
        weight: float,
        *,
        needs_grad: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """See `training.passes.loss.LossKernels`; the gradient is written over the logits."""
        logits, targets = logits.contiguous(), targets.contiguous()
        minimised, log_loss = torch.empty(len(targets)), torch.empty(len(targets))
        arguments = RDropArguments(
            len(targets), logits.shape[1], logits.data_ptr(), address(bias), targets.data_ptr(), smoothing, weight,
            int(needs_grad), minimised.data_ptr(), log_loss.data_ptr(),
        )  # fmt: skip
        self.call("r_drop", logits, arguments)
        return minimised.sum(), log_loss.sum(), logits

    def add(self, total: Tensor, addend: Tensor) -> None:
        """Adds to a float32 tensor one of float32 or bfloat16; both are whole."""
        half = int(addend.dtype == torch.bfloat16)
        self.kernels.call("accumulate", _crew(), half, total.data_ptr(), addend.data_ptr(), total.numel())


def _crew() -> object:
    """Returns the number of torch's threads, by reference."""
    return byref(make_crew(torch.get_num_threads()))


def training_kernels(config: ModelConfig, device: torch.device) -> TrainingKernels | None:
    """The kernels, if there are any that can train a model; None leaves the work to torch.

    Args:
        config: the model's.
        device: the device of the model.
    """
    found = find_kernels().kernels
    known = config.attention_function != "additive" and not config.other_layers
    fits = known and config.d_model % PADDED == 0 and config.d_ff % PADDED == 0
    return TrainingKernels(found) if found is not None and fits and device.type == "cpu" else None


def address(tensor: Tensor | None) -> int | None:
    """Returns the address of a tensor's first number."""
    return None if tensor is None else tensor.data_ptr()

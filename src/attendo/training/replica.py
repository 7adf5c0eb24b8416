"""A model that several processes train together: a copy in each (DDP), or divided among them (FSDP2).

Gradients are sums over all processes. Every process knows the divisor, the update's number of target tokens, so any
number of processes makes the same update as one.
"""

from abc import ABC, abstractmethod
from contextlib import nullcontext

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from attendo.model.layers import DecoderLayer
from attendo.model.transformer import Transformer
from attendo.training.config import TrainingConfig
from attendo.training.passes.forward import TrainingBatch
from attendo.training.processes import Processes
from attendo.training.teacher import Teacher
from attendo.training.update import UpdateResult, batch_loss


class _Loss(nn.Module):
    """A model with its loss: the module that DDP and FSDP2 wrap, since they act around a `forward`."""

    def __init__(self, model: Transformer, config: TrainingConfig, teacher: Teacher | None) -> None:
        super().__init__()
        self.model = model
        self._config, self._teacher = config, teacher

    def forward(self, piece: TrainingBatch) -> UpdateResult:
        """The sums over a piece's target tokens."""
        config = self._config
        return batch_loss(self.model, piece, config.dtype, config.label_smoothing, self._teacher, config.r_drop)


class Replica(ABC):
    """One process' part of a model that several processes train together.

    Args:
        model: the model, on this process' device; sharded ones have `DTensor` parameters.
        processes: all processes of the training.
    """

    def __init__(self, model: Transformer, processes: Processes) -> None:
        self.model, self.processes = model, processes

    @abstractmethod
    def accumulate(self, piece: TrainingBatch, num_tokens: int, *, is_last: bool) -> UpdateResult:
        """Adds the gradient of a piece's loss, for `training.update.update`.

        All processes must have the same number of pieces.

        Args:
            piece: the piece, on the model's device.
            num_tokens: number of target tokens of the whole update, over all processes.
            is_last: whether it is the last piece, after which the gradients are summed over the processes.
        """

    def _scaled(self, loss: UpdateResult, num_tokens: int) -> Tensor:
        """Scales the loss: torch divides the gradients by the number of processes, which is wrong here."""
        return loss.smoothed * (self.processes.size / num_tokens if loss.num_tokens else 0.0)

    def full_weights(self) -> dict[str, Tensor]:
        """The whole weights by name, in main memory; empty except in the first process. All processes must call it."""
        found = {}
        for name, parameter in self.model.named_parameters():
            value = parameter.detach()
            whole = value.full_tensor() if isinstance(value, DTensor) else value
            if self.processes.is_main:
                found[name] = whole.cpu()
        return found


class CopiedModel(Replica):
    """A copy of the model in each process; gradients are summed while the backward pass still runs (DDP)."""

    def __init__(
        self, model: Transformer, config: TrainingConfig, processes: Processes, teacher: Teacher | None
    ) -> None:
        super().__init__(model, processes)
        self._loss = DistributedDataParallel(_Loss(model, config, teacher), gradient_as_bucket_view=True)

    def accumulate(self, piece: TrainingBatch, num_tokens: int, *, is_last: bool) -> UpdateResult:
        """Adds a piece's gradient; with one all-reduce per update."""
        with nullcontext() if is_last else self._loss.no_sync():
            loss: UpdateResult = self._loss(piece)
            self._scaled(loss, num_tokens).backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        return loss


class ShardedModel(Replica):
    """Weights, gradients and Adam's state divided among the processes, a layer put together when it works (FSDP2).

    The embeddings and the pre-softmax matrix, which may be shared, belong to the outermost group.
    """

    def __init__(
        self,
        model: Transformer,
        config: TrainingConfig,
        processes: Processes,
        device: torch.device,
        teacher: Teacher | None,
    ) -> None:
        mesh = init_device_mesh(device.type, (processes.size,))
        # Products in bfloat16 need weights of bfloat16 only: half of what has to be gathered.
        low = torch.bfloat16 if config.dtype == "bfloat16" else None
        policy = MixedPrecisionPolicy(
            param_dtype=low, reduce_dtype=None if low is None else torch.float32, cast_forward_inputs=False
        )
        for layer in (*model.encoder_layers, *model.decoder_layers):
            if isinstance(layer, DecoderLayer):
                # It reads the memory before its layer begins, and so is a separate group.
                fully_shard(layer.encoder_attention.key_value, mesh=mesh, mp_policy=policy)
            fully_shard(layer, mesh=mesh, mp_policy=policy)
        loss = fully_shard(_Loss(model, config, teacher), mesh=mesh, mp_policy=policy)
        assert isinstance(loss, FSDPModule)
        self._loss = loss
        super().__init__(model, processes)

    def accumulate(self, piece: TrainingBatch, num_tokens: int, *, is_last: bool) -> UpdateResult:
        """Adds a piece's gradient; with one reduce-scatter of each group per update."""
        self._loss.set_requires_gradient_sync(is_last)
        loss: UpdateResult = self._loss(piece)  # type: ignore[operator]  # it is a module as well
        self._scaled(loss, num_tokens).backward()  # type: ignore[no-untyped-call]
        return loss


def replica_of(
    model: Transformer,
    config: TrainingConfig,
    processes: Processes,
    device: torch.device,
    teacher: Teacher | None = None,
) -> Replica:
    """Makes each process's part of a model, of which all processes start with the same copy.

    Args:
        model: the model with its weights; its parameters are replaced if the recipe requires sharding.
        config: the sharding, the dtype and the loss.
        processes: two or more.
        device: this process' own.
        teacher: the model from which distilled tokens are learned, on that device, complete in each process; None for
            none.
    """
    if device.type == "cuda":
        torch.cuda.set_device(device)  # the device that NCCL uses
    if config.sharding == "full":
        return ShardedModel(model, config, processes, device, teacher)
    return CopiedModel(model.to(device), config, processes, teacher)

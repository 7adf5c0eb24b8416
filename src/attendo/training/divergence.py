"""Training that has left its course: a loss that is no number or far above the usual, and which batches led to it."""

import math
from collections import deque
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.distributed.tensor import DTensor

from attendo.errors import AttendoError
from attendo.training.config import TrainingConfig
from attendo.training.position import LossSums, Position


@dataclass(frozen=True, kw_only=True)
class UsedBatch:
    """A batch, and the update it was used for."""

    step: int
    epoch: int
    batch: int
    """The batch number, as in the `Position` after it."""


@dataclass(frozen=True, kw_only=True)
class Divergence:
    """A divergence of training."""

    position: Position
    """The position after the update at which the divergence was found."""
    what: str
    """A description of the divergence."""
    suspects: tuple[UsedBatch, ...]
    """The batches that may be the cause: those of the updates since the loss was usual, and the last one before, since
    an update's effect shows in the next loss."""

    def before(self) -> int:
        """The step below which a checkpoint is of the time before."""
        return self.suspects[0].step

    def gone_back(self, restored: Position) -> Position:
        """The position to continue from.

        Args:
            restored: the position of a checkpoint from before.
        """
        left_out = ((used.epoch, used.batch) for used in self.suspects)
        return replace(
            restored,
            elapsed_s=self.position.elapsed_s,
            skipped=tuple(sorted({*self.position.skipped, *left_out})),
            diverged_step=self.position.step,
            rollbacks=self.position.rollbacks + 1,
        )


class DivergenceError(Exception):
    """Training has left its course; caught where the run can go back."""

    def __init__(self, divergence: Divergence) -> None:
        super().__init__(divergence.what)
        self.divergence = divergence


class Watch:
    """Checks the losses of a run, and records the batches since the last usual loss.

    Args:
        position: the start of the run.
        config: the settings, with the maximum rise of the loss.
        vocab_size: the size of the target vocabulary.
    """

    def __init__(self, position: Position, config: TrainingConfig, vocab_size: int) -> None:
        self._config, self._guessing = config, math.log(vocab_size)
        self._since_well: deque[UsedBatch] = deque()
        if position.step:
            self.used(position)

    def used(self, position: Position) -> None:
        """Notes an update; the position is that after it."""
        self._since_well.append(UsedBatch(step=position.step, epoch=position.epoch, batch=position.batch))

    def look(self, position: Position, seen: LossSums) -> Position:
        """Compares the loss since the last check with its usual range, and returns the position that includes it.

        Raises:
            DivergenceError: it is outside the range.
        """
        usual, log_loss = position.usual_loss, seen.log_loss / seen.tokens
        if usual.is_left_by(log_loss, seen.tokens, self._config.max_loss_rise, self._guessing):
            known = f", where {usual.mean:.2f} was usual" if usual.looks else ""
            raise self.error(position, f"the loss is {log_loss:.2f} nats a token{known}")
        while len(self._since_well) > 1:
            self._since_well.popleft()
        return replace(position, usual_loss=usual.after(log_loss, seen.tokens))

    def error(self, position: Position, what: str) -> DivergenceError:
        """Describes other signs of divergence."""
        return DivergenceError(Divergence(position=position, what=what, suspects=tuple(self._since_well)))


def all_finite(tensors: dict[str, Tensor]) -> bool:
    """Whether all numbers of weights or of Adam's state are finite; of a sharded model, in this process' part."""
    own_parts = (value.to_local() if isinstance(value, DTensor) else value for value in tensors.values())
    return all(bool(torch.isfinite(part).all()) for part in own_parts)


def give_up(found: Divergence, config: TrainingConfig) -> AttendoError:
    """Returns the error for a run that has rolled back too often."""
    times = f" again, after going back {found.position.rollbacks} times" if found.position.rollbacks else ""
    return AttendoError(
        f"step {found.position.step}: {found.what}{times} (training.max_rollbacks = {config.max_rollbacks}); the last "
        "checkpoint is from before, and skipped.jsonl in the run folder names the pairs at hand: look whether they are "
        "odd. Otherwise continue with --resume and a lower learning rate (--set training.learning_rate_factor=0.5, or "
        "training.peak_learning_rate), a longer training.warmup_steps or training.max_gradient_norm=1.0"
    )

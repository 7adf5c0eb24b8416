"""The loss for the log: sums since it was last read, and since the last log line."""

import time
from dataclasses import dataclass, replace

import torch

from attendo.training.position import LossSums, Position
from attendo.training.processes import Processes
from attendo.training.update import UpdateResult


@dataclass(frozen=True, kw_only=True)
class StepMetrics:
    """The figures of a log line, as means since the previous one."""

    step: int
    loss: float
    """Label-smoothed, nats a target token: the minimised loss."""
    log_loss: float
    """Loss in nats per target token, without label smoothing."""
    learning_rate: float
    target_tokens_per_s: float
    """Target tokens per second, without padding."""
    elapsed_s: float
    epoch: int
    target_tokens: int
    """Trained on so far, without padding."""


class Meter:
    """Sums of losses, kept on the device of each process until they are read.

    Args:
        position: the position of the run, whose sums are continued.
        processes: all processes that train.
    """

    def __init__(self, position: Position, processes: Processes) -> None:
        self._processes = processes
        self._logged = position.logged
        unseen = position.unseen if processes.is_main else LossSums()
        self._smoothed = torch.tensor(unseen.smoothed, dtype=torch.float64)
        self._log_loss = torch.tensor(unseen.log_loss, dtype=torch.float64)
        self._tokens = unseen.tokens
        self._started, self._tokens_here = time.monotonic(), 0.0

    def add(self, result: UpdateResult) -> None:
        """Adds an update's sums without waiting for the device."""
        self._smoothed = self._smoothed.to(result.smoothed.device) + result.smoothed
        self._log_loss = self._log_loss.to(result.log_loss.device) + result.log_loss
        self._tokens += result.num_tokens

    def look(self) -> LossSums:
        """Returns the sums of all processes since the last call; must be called by every process."""
        seen = self._unseen()
        self._logged = self._logged.plus(seen)
        self._tokens_here += seen.tokens
        self._smoothed, self._log_loss = torch.zeros_like(self._smoothed), torch.zeros_like(self._log_loss)
        self._tokens = 0.0
        return seen

    def state(self, position: Position) -> Position:
        """The position including the present sums; must be called by every process."""
        return replace(position, logged=self._logged, unseen=self._unseen())

    def metrics(self, position: Position, rate: float) -> StepMetrics:
        """The means at the last look.

        Args:
            position: the position of the run.
            rate: the learning rate.
        """
        return StepMetrics(
            step=position.step,
            loss=self._logged.smoothed / self._logged.tokens,
            log_loss=self._logged.log_loss / self._logged.tokens,
            learning_rate=rate,
            target_tokens_per_s=self._tokens_here / max(time.monotonic() - self._started, 1e-9),
            elapsed_s=position.elapsed_s,
            epoch=position.epoch,
            target_tokens=position.target_tokens,
        )

    def start_line(self) -> None:
        """Begins another log line."""
        self._logged = LossSums()
        self._started, self._tokens_here = time.monotonic(), 0.0

    def pause(self, seconds: float) -> None:
        """Excludes seconds that were not training: the rate is training's alone."""
        self._started += seconds

    def _unseen(self) -> LossSums:
        sums = self._processes.sums(float(self._smoothed), float(self._log_loss), self._tokens)
        return LossSums(smoothed=sums[0], log_loss=sums[1], tokens=sums[2])

"""Functions that the training loop calls and results that it ends with; it has no folders, text or terminals."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from attendo.training.divergence import Divergence
from attendo.training.meter import StepMetrics
from attendo.training.position import Position


@dataclass(frozen=True, kw_only=True)
class Validation:
    """The result of a validation."""

    log_loss: float
    """Loss in nats per target token, without label smoothing."""
    bleu: float | None
    """BLEU of the translations; None if nothing was translated."""
    bleu_signature: str = ""
    """The sacreBLEU signature of the figure."""
    f1: float | None = None
    """F1 of a parser's trees, in percent; None if nothing was parsed."""
    f1_signature: str = ""
    """The definition of F1."""

    @property
    def perplexity(self) -> float:
        """A word piece's, exp of `log_loss`."""
        return math.exp(min(self.log_loss, 700.0))

    @property
    def score(self) -> float:
        """The figure that decides which model is best; higher is better."""
        return next((value for value in (self.f1, self.bleu) if value is not None), -self.log_loss)


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """Functions that the loop calls."""

    progress: Callable[[StepMetrics], None]
    """Called after each update with means since the last log line; must be cheap."""
    log: Callable[[StepMetrics], None]
    """Called every `log_steps` updates."""
    save: Callable[[Position, bool], None]
    """Writes a checkpoint; the flag is True for a regular one, which counts in the average. It may be written while
    training continues, but has the present state."""
    is_sound: Callable[[], bool]
    """Whether all values of a checkpoint are finite; each process checks its part."""
    validate: Callable[[Position], Validation | None] | None
    """Validates the mean of the last checkpoints, including the current one. Returns None if nothing can be validated,
    or if the user wants to stop."""
    keep_best: Callable[[Position, Validation], None]
    """Keeps the model just validated: it is the best so far."""
    validated: Callable[[Position, Validation, bool], None]
    """Tells of a validation, and whether it is the best so far."""
    roll_back: Callable[[Divergence], Position]
    """Reports the suspect pairs, restores the newest earlier checkpoint of model and optimiser, and returns its
    position."""
    split: Callable[[Position, int], None]
    """Reports that an update did not fit into memory, and the new maximum number of tokens of a piece; for several
    processes, which cannot continue, it is stored for the next start."""
    should_stop: Callable[[], bool]
    """Called between updates: whether the user wants to stop."""


class Ending(Enum):
    """Why the loop ended."""

    STEPS = "max_steps reached"
    MINUTES = "max_minutes reached"
    PATIENCE = "no better validation for long (patience)"
    INTERRUPTED = "interrupted"

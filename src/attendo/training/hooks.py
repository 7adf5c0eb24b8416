"""What the training loop calls, and what it ends with: it knows nothing of folders, text or terminals."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from attendo.training.divergence import Divergence
from attendo.training.meter import StepMetrics
from attendo.training.position import Position


@dataclass(frozen=True, kw_only=True)
class Validation:
    """What a validation found."""

    log_loss: float
    """Nats a target token, without smoothing."""
    bleu: float | None
    """None where nothing was translated."""
    bleu_signature: str = ""
    """What BLEU was counted with."""
    f1: float | None = None
    """Of a parser's trees, in percent; None where nothing was parsed."""
    f1_signature: str = ""
    """How F1 was counted."""

    @property
    def perplexity(self) -> float:
        """A word piece's, exp of `log_loss`."""
        return math.exp(min(self.log_loss, 700.0))

    @property
    def score(self) -> float:
        """What decides which model is best; higher is better."""
        return next((value for value in (self.f1, self.bleu) if value is not None), -self.log_loss)


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """What the loop calls."""

    progress: Callable[[StepMetrics], None]
    """After each update, with means since the last log line; must be cheap."""
    log: Callable[[StepMetrics], None]
    """Every `log_steps` updates."""
    save: Callable[[Position, bool], None]
    """Writes a checkpoint; the flag says whether it is a regular one, which counts in the average. It may be written
    while training goes on, but holds what is so now."""
    is_sound: Callable[[], bool]
    """Whether all that a checkpoint would hold are numbers; each process asks for its part."""
    validate: Callable[[Position], Validation | None] | None
    """Validates the mean of the last checkpoints, the present one among them; None where nothing can be validated. It
    gives None where the user wants to stop."""
    keep_best: Callable[[Position, Validation], None]
    """Keeps the model just validated: it is the best so far."""
    validated: Callable[[Position, Validation, bool], None]
    """Tells of a validation, and whether it is the best so far."""
    roll_back: Callable[[Divergence], Position]
    """Names the pairs at fault, puts the newest checkpoint from before into the model and the optimiser, and gives its
    position."""
    split: Callable[[Position, int], None]
    """Tells that an update did not fit into memory, and that pieces have so many tokens from now on; of several
    processes, which cannot go on from there, it remembers that for the next start."""
    should_stop: Callable[[], bool]
    """Asked between updates: whether the user wants to stop."""


class Ending(Enum):
    """Why the loop ended."""

    STEPS = "max_steps reached"
    MINUTES = "max_minutes reached"
    PATIENCE = "no better validation for long (patience)"
    INTERRUPTED = "interrupted"

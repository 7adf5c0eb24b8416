"""The state of a run: with the weights and the state of Adam, everything that an exact resumption needs."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from pydantic import ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError, with_config

from attendo.training.batches import Place

Count = Annotated[int, Field(ge=0, le=10**15)]
Amount = Annotated[FiniteFloat, Field(ge=0.0)]

_LEAST_LOOKS = 20
_LONGEST_MEMORY = 50


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, kw_only=True)
class LossSums:
    """Sums over target tokens of all processes together."""

    smoothed: FiniteFloat = 0.0
    """The loss that is minimised, in nats."""
    log_loss: FiniteFloat = 0.0
    """Loss without smoothing, in nats."""
    tokens: Amount = 0.0

    def plus(self, other: "LossSums") -> "LossSums":
        """Adds two sums."""
        return LossSums(
            smoothed=self.smoothed + other.smoothed,
            log_loss=self.log_loss + other.log_loss,
            tokens=self.tokens + other.tokens,
        )


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, kw_only=True)
class UsualLoss:
    """A moving average of the loss, against which spikes are detected."""

    mean: FiniteFloat = 0.0
    """Exponential moving average in nats per target token, without label smoothing."""
    tokens: Amount = 0.0
    """Mean target tokens per look, averaged in the same way."""
    looks: Count = 0
    """Number of losses in the average."""

    def is_left_by(self, loss: float, tokens: float, max_rise: float | None, guessing: float) -> bool:
        """Whether a loss is too high to continue.

        Args:
            loss: the loss in nats per target token.
            tokens: the number of tokens of the mean. With fewer tokens than usual a larger deviation is allowed, by the
                square root of the ratio: an epoch's last batch may be a single odd pair.
            max_rise: maximum usual rise above the mean; None rejects only values that are not finite.
            guessing: the loss of an untrained model, ln of the vocabulary; used until there is a reliable mean.
        """
        if not math.isfinite(loss):
            return True
        if max_rise is None:
            return False
        usual = self.mean if self.looks >= _LEAST_LOOKS else max(self.mean, guessing)
        return loss > usual + max_rise * math.sqrt(max(1.0, self.tokens / tokens))

    def after(self, loss: float, tokens: float) -> "UsualLoss":
        """Returns the average with a further loss."""
        weight = 1 / min(self.looks + 1, _LONGEST_MEMORY)
        return UsualLoss(
            mean=self.mean + weight * (loss - self.mean),
            tokens=self.tokens + weight * (tokens - self.tokens),
            looks=self.looks + 1,
        )


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, kw_only=True)
class Position:
    """The state of a run that, with the weights and Adam's state, an exact resumption needs."""

    step: Count = 0
    """Updates made."""
    epoch: Count = 0
    """The epoch being read, from 0."""
    batch: Count = 0
    """Number of its batches that are done."""
    windows: Count = 0
    """Number of its windows of rewritten lines that are done, as in `Place`."""
    window_batches: Count = 0
    """Batches in them."""
    target_tokens: Count = 0
    """Target tokens trained on, without padding."""
    elapsed_s: Amount = 0.0
    """Seconds of training, validation and saving, in all sessions."""
    checkpoint_s: Amount = 0.0
    """`elapsed_s` at the last regular checkpoint."""
    validation_due: bool = False
    """Whether a validation comes before the next update: the checkpoint is saved first, so that nothing can be lost."""
    best_score: FiniteFloat | None = None
    """The best validation so far; higher is better."""
    best_step: Count = 0
    """The step of the best validation."""
    evals_without_best: Count = 0
    """Validations since."""
    logged: LossSums = LossSums()
    """Sums since the last log line, as far as the loss was read."""
    unseen: LossSums = LossSums()
    """Sums since the loss was last read, which on a GPU does not happen after every update: reading waits for the
    device."""
    usual_loss: UsualLoss = UsualLoss()
    """Moving average of the loss before this position."""
    skipped: tuple[tuple[Count, Count], ...] = ()
    """Batches that are skipped, an epoch and a number as in `epoch` and `batch` after them: training diverged."""
    diverged_step: Count = 0
    """The last update at which it did."""
    rollbacks: Count = 0
    """Number of rollbacks since a checkpoint was last saved after `diverged_step`."""
    max_tokens_at_once: Annotated[Count, Field(ge=1)] | None = None
    """The size of pieces, if memory could not hold those of the recipe."""

    @property
    def place(self) -> Place:
        """The place of the next batch."""
        return Place(epoch=self.epoch, batch=self.batch, windows=self.windows, window_batches=self.window_batches)

    def at(self, place: Place) -> "Position":
        """Returns the position with another place of the next batch."""
        return replace(self, **asdict(place))


def position_of(content: Any) -> Position:
    """Reads a position from JSON, `dataclasses.asdict` of one.

    Raises:
        ValueError: it is not a position.
    """
    try:
        return TypeAdapter(Position).validate_python(content)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:3])
        raise ValueError(faults) from error

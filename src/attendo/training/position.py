"""Where a run stands: with the weights and Adam's state, all that going on takes, to the bit."""

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
    """Sums over target tokens, those of all processes together."""

    smoothed: FiniteFloat = 0.0
    """The loss that is minimised, in nats."""
    log_loss: FiniteFloat = 0.0
    """Without smoothing, in nats."""
    tokens: Amount = 0.0

    def plus(self, other: "LossSums") -> "LossSums":
        """Both together."""
        return LossSums(
            smoothed=self.smoothed + other.smoothed,
            log_loss=self.log_loss + other.log_loss,
            tokens=self.tokens + other.tokens,
        )


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, kw_only=True)
class UsualLoss:
    """What the loss has been of late, for a spike to be told from it."""

    mean: FiniteFloat = 0.0
    """Nats a target token, without smoothing; a mean that forgets."""
    tokens: Amount = 0.0
    """Target tokens a look, likewise."""
    looks: Count = 0
    """How often the loss was looked at."""

    def is_left_by(self, loss: float, tokens: float, max_rise: float | None, guessing: float) -> bool:
        """Whether a loss is none that this run goes on from.

        Args:
            loss: nats a target token.
            tokens: what it is the mean over. The mean of fewer than usual is allowed to be further off, by the square
                root, as means are: an epoch's last batch may be a single odd pair.
            max_rise: how far above the mean is still usual; None where only numbers that are not finite are no loss.
            guessing: the loss of a model that knows nothing, ln of the vocabulary; as long as there is no mean to speak
                of, it is in its place.
        """
        if not math.isfinite(loss):
            return True
        if max_rise is None:
            return False
        usual = self.mean if self.looks >= _LEAST_LOOKS else max(self.mean, guessing)
        return loss > usual + max_rise * math.sqrt(max(1.0, self.tokens / tokens))

    def after(self, loss: float, tokens: float) -> "UsualLoss":
        """With another loss in it."""
        weight = 1 / min(self.looks + 1, _LONGEST_MEMORY)
        return UsualLoss(
            mean=self.mean + weight * (loss - self.mean),
            tokens=self.tokens + weight * (tokens - self.tokens),
            looks=self.looks + 1,
        )


@with_config(ConfigDict(extra="forbid"))
@dataclass(frozen=True, kw_only=True)
class Position:
    """Where a run stands: with the weights and Adam's state, all that going on needs."""

    step: Count = 0
    """Updates made."""
    epoch: Count = 0
    """The epoch being read, from 0."""
    batch: Count = 0
    """Batches of it that are done."""
    windows: Count = 0
    """Windows of rewritten lines of it that are done, as in `Place`."""
    window_batches: Count = 0
    """Batches in them."""
    target_tokens: Count = 0
    """Target tokens trained on, without padding."""
    elapsed_s: Amount = 0.0
    """Seconds of training, validation and saving, in all sittings."""
    checkpoint_s: Amount = 0.0
    """`elapsed_s` at the last regular checkpoint."""
    validation_due: bool = False
    """Whether a validation comes before the next update: a checkpoint is saved first, so that nothing is lost in it."""
    best_score: FiniteFloat | None = None
    """The best validation so far; higher is better."""
    best_step: Count = 0
    """Where it was."""
    evals_without_best: Count = 0
    """Validations since."""
    logged: LossSums = LossSums()
    """Since the last log line, as far as the loss was looked at."""
    unseen: LossSums = LossSums()
    """Since it was looked at last: on a GPU not every update is, since each look waits for the device."""
    usual_loss: UsualLoss = UsualLoss()
    """What the loss was before."""
    skipped: tuple[tuple[Count, Count], ...] = ()
    """Batches that are left out, an epoch and a number as in `epoch` and `batch` behind them: training diverged."""
    diverged_step: Count = 0
    """The last update at which it did."""
    rollbacks: Count = 0
    """How often it went back since it was last past `diverged_step` with a checkpoint."""
    max_tokens_at_once: Annotated[Count, Field(ge=1)] | None = None
    """The size of pieces, where memory has turned out not to hold those of the recipe."""

    @property
    def place(self) -> Place:
        """Where the next batch is."""
        return Place(epoch=self.epoch, batch=self.batch, windows=self.windows, window_batches=self.window_batches)

    def at(self, place: Place) -> "Position":
        """With another place of the next batch."""
        return replace(self, **asdict(place))


def position_of(content: Any) -> Position:
    """A position as JSON has it, `dataclasses.asdict` of one.

    Raises:
        ValueError: it is none.
    """
    try:
        return TypeAdapter(Position).validate_python(content)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:3])
        raise ValueError(faults) from error

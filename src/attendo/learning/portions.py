"""Which corrections a training reads, and which are kept aside to choose and to judge by."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from attendo.learning.corrections import Correction

FINAL = "final"
"""The name of the training whose model is the new one."""
LEAST_CORRECTIONS = 100
"""Corrections that the gate judges by, at least."""
CROSS_VALIDATED_BELOW = 1000
"""With fewer corrections each of them is held out once, of one of several trainings."""
_MAX_SELECTION = 500


@dataclass(frozen=True, kw_only=True)
class Portion:
    """The corrections of one training."""

    name: str
    """What its folder is called."""
    train: tuple[Correction, ...]
    """Trained on."""
    selection: tuple[Correction, ...]
    """Never trained on; they decide how much of the fine-tuned weights is taken."""
    held_out: tuple[Correction, ...] = field(default=())
    """Neither trained on nor used to decide anything but the gate."""


def portions(corrections: Sequence[Correction], folds: int) -> tuple[Portion, ...]:
    """Divides corrections into those that are trained on and those that are not.

    Of 1,000 corrections and more a tenth is held out of one training. Of fewer, each one is held out of one of `folds`
    trainings, whose models stand for the new one when they translate what they have not seen; the new model itself is
    that of a further training with all of them. The order is that of a digest of the sources, so that what is held out
    of one round is hardly ever trained on in the next, which has more corrections.

    Args:
        corrections: at least `LEAST_CORRECTIONS`.
        folds: trainings of a cross-validation, at least 2.

    Returns:
        The trainings; the last one is `FINAL`.
    """
    ordered = sorted(corrections, key=lambda pair: hashlib.sha256(pair.source.encode("utf-8")).digest())
    if len(ordered) >= CROSS_VALIDATED_BELOW:
        aside = max(LEAST_CORRECTIONS, len(ordered) // 10)
        return (_portion(FINAL, ordered[aside:], ordered[:aside]),)
    parts = [ordered[number::folds] for number in range(folds)]
    crossed = tuple(
        _portion(f"fold-{number}", [pair for other in parts if other is not part for pair in other], part)
        for number, part in enumerate(parts, start=1)
    )
    return (*crossed, _portion(FINAL, ordered, ()))


def _portion(name: str, rest: Sequence[Correction], held_out: Sequence[Correction]) -> Portion:
    """A training on what is not held out, of which a tenth is for the selection."""
    every = max(10, len(rest) // _MAX_SELECTION)
    selection = rest[every - 1 :: every]
    train = [pair for number, pair in enumerate(rest) if number % every != every - 1]
    return Portion(name=name, train=tuple(train), selection=tuple(selection), held_out=tuple(held_out))

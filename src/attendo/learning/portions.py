"""Divides corrections into those of a training, those to choose a share by and those for the gate."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from attendo.learning.corrections import Correction

FINAL = "final"
"""Name of the training whose model becomes the new model."""
LEAST_CORRECTIONS = 100
"""Minimum number of corrections that the gate judges by."""
CROSS_VALIDATED_BELOW = 1000
"""Number of corrections below which there is a cross-validation, where each correction is held out of one training."""
_MAX_SELECTION = 500


@dataclass(frozen=True, kw_only=True)
class Portion:
    """The corrections of one training."""

    name: str
    """Name of the training and of its folder."""
    train: tuple[Correction, ...]
    """Corrections that are trained on."""
    selection: tuple[Correction, ...]
    """Corrections by which the share of the fine-tuned weights is chosen; never trained on."""
    held_out: tuple[Correction, ...] = field(default=())
    """Corrections that only the gate uses."""


def portions(corrections: Sequence[Correction], folds: int) -> tuple[Portion, ...]:
    """Divides corrections into those that are trained on and those that are not.

    With 1,000 or more corrections there is one training, and a tenth of them is held out. With fewer, each is held out
    of one of `folds` trainings, whose models represent the new model by translating what they were not trained on; the
    new model itself comes from a further training with all corrections. They are ordered by a digest of their sources,
    so that corrections held out in one round are rarely trained on in the next, which has more corrections.

    Args:
        corrections: at least `LEAST_CORRECTIONS` corrections.
        folds: number of trainings in a cross-validation, at least 2.

    Returns:
        A portion for each training; the last one is `FINAL`.
    """
    ordered = sorted(corrections, key=lambda pair: hashlib.sha256(pair.source.encode("utf-8")).digest())
    if len(ordered) >= CROSS_VALIDATED_BELOW:
        num_held_out = max(LEAST_CORRECTIONS, len(ordered) // 10)
        return (_portion(FINAL, ordered[num_held_out:], ordered[:num_held_out]),)
    parts = [ordered[number::folds] for number in range(folds)]
    folded = tuple(
        _portion(f"fold-{number}", [pair for other in parts if other is not part for pair in other], part)
        for number, part in enumerate(parts, start=1)
    )
    return (*folded, _portion(FINAL, ordered, ()))


def _portion(name: str, rest: Sequence[Correction], held_out: Sequence[Correction]) -> Portion:
    """Returns the portion of a training, with at most a tenth of the corrections that are not held out as selection."""
    every = max(10, len(rest) // _MAX_SELECTION)
    selection = rest[every - 1 :: every]
    train = [pair for number, pair in enumerate(rest) if number % every != every - 1]
    return Portion(name=name, train=tuple(train), selection=tuple(selection), held_out=tuple(held_out))

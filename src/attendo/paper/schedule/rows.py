"""The learning rate's warm-up (Section 5.3): which schedules are tried, and their recipes."""

import math
from dataclasses import dataclass, replace

from attendo.paper.experiment import Order, Scale
from attendo.paper.phrasebook_texts import corpora_folder, taken_from
from attendo.recipe import Recipe, load_recipe

_WARMUPS: dict[Scale, tuple[int, ...]] = {"tiny": (1, 40), "small": (1, 50, 200), "paper": (1, 1000, 4000, 16000)}
_FACTORS: dict[Scale, tuple[float, ...]] = {"tiny": (1.0, 4.0), "small": (0.25, 1.0, 4.0), "paper": (0.5, 1.0, 2.0)}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A schedule."""

    warmup_steps: int
    """Of Equation 3; 1 is none."""
    factor: float
    """Multiplies Equation 3; the paper's is 1."""

    @property
    def name(self) -> str:
        """That of its runs."""
        return f"warmup-{self.warmup_steps}-factor-{self.factor:g}"

    @property
    def title(self) -> str:
        """In words."""
        return "no warm-up" if self.warmup_steps == 1 else f"warm-up {self.warmup_steps:,}"

    def peak(self, d_model: int) -> float:
        """The highest learning rate, that of step `warmup_steps`: factor * d_model^-0.5 * warmup_steps^-0.5."""
        return self.factor / math.sqrt(d_model * self.warmup_steps)


def warmups_of(scale: Scale) -> tuple[int, ...]:
    """Warm-ups that are tried at a scale, the shortest first."""
    return _WARMUPS[scale]


def factors_of(scale: Scale) -> tuple[float, ...]:
    """Factors that are tried at a scale, the smallest first."""
    return _FACTORS[scale]


def rows_of(scale: Scale) -> tuple[Row, ...]:
    """The schedules that are tried at a scale: every factor with every warm-up, the longest first."""
    return tuple(
        Row(warmup_steps=warmup, factor=factor) for factor in _FACTORS[scale] for warmup in reversed(_WARMUPS[scale])
    )


def base_recipe(order: Order) -> Recipe:
    """The shipped recipe of a scale.

    Raises:
        RecipeError: `--data` was given where the data is attendo's own.
    """
    return load_recipe(f"schedule/{order.scale}", taken_from(corpora_folder(order)))


def recipes(order: Order) -> dict[str, Recipe]:
    """The rows' recipes by the rows' names.

    Raises:
        RecipeError: as for `base_recipe`.
    """
    base = base_recipe(order)
    return {row.name: _recipe(base, row) for row in rows_of(order.scale)}


def _recipe(base: Recipe, row: Row) -> Recipe:
    training = replace(base.training, warmup_steps=row.warmup_steps, learning_rate_factor=row.factor)
    return replace(base, name=f"{base.name}-{row.name}", training=training)

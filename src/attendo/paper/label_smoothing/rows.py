"""Section 5.4: the values of eps_ls that are trained, what the paper prints of them, and their recipes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from attendo.paper.experiment import Scale
from attendo.paper.phrasebook_texts import taken_from
from attendo.recipe import Recipe, load_recipe


@dataclass(frozen=True, kw_only=True)
class Printed:
    """A row of Table 3, on newstest2013."""

    row: str
    """Its recipe's name below `table3/`."""
    perplexity: float
    """Per word piece."""
    bleu: float


EPSILONS = (0.0, 0.1, 0.2, 0.3)
"""eps_ls of the rows; the first is what the others are held against."""
PAPER_EPSILON = 0.1
"""The paper's (Section 5.4); what it says of accuracy it says of this one."""
PRINTED: Mapping[float, Printed] = {
    0.0: Printed(row="d-ls0.0", perplexity=4.67, bleu=25.3),
    0.1: Printed(row="base", perplexity=4.92, bleu=25.8),
    0.2: Printed(row="d-ls0.2", perplexity=5.47, bleu=25.7),
}
"""Table 3's base row and those under D."""


def row_name(epsilon: float) -> str:
    """What a row is called, as its runs' folders are."""
    return f"eps-{epsilon}"


def recipes(scale: Scale, data: Path | None) -> dict[float, Recipe]:
    """The rows' recipes: they differ in eps_ls alone.

    At full size they are those of Table 3, WMT 2014 and 100,000 updates.

    Args:
        scale: the shipped recipe `label-smoothing/SCALE`, or `table3/base` for `paper`.
        data: the folder of the corpora; None for the recipe's.

    Raises:
        RecipeError: a recipe cannot be meant.
    """
    name = "table3/base" if scale == "paper" else f"label-smoothing/{scale}"
    return {
        epsilon: load_recipe(
            name,
            [
                f"name=label-smoothing-{scale}-{row_name(epsilon)}",
                *taken_from(data),
                f"training.label_smoothing={epsilon}",
            ],
        )
        for epsilon in EPSILONS
    }


def best_probability(epsilon: float, vocab_size: int) -> float:
    """The probability of the right token that the smoothed loss is least at, 1 - eps + eps / vocabulary (Section 5.4).

    The smoothed target gives so much to the right token and eps / vocabulary to every other one; by Gibbs'
    inequality cross-entropy is least where the model says just that.

    Args:
        epsilon: eps_ls.
        vocab_size: of the target.
    """
    return 1 - epsilon + epsilon / vocab_size

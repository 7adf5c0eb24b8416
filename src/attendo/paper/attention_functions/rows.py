"""Section 3.2.1: the attention functions that the paper compares, and the recipes that differ in them and in d_k."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from attendo.model.config import AttentionFunction
from attendo.paper.experiment import Order, Scale
from attendo.paper.phrasebook_texts import corpora_folder, taken_from
from attendo.recipe import Recipe, load_recipe

FUNCTIONS: tuple[AttentionFunction, ...] = get_args(AttentionFunction)
"""The paper's own first."""
SCALED, UNSCALED, ADDITIVE = FUNCTIONS

SHORT: Mapping[AttentionFunction, str] = {SCALED: "scaled", UNSCALED: "unscaled", ADDITIVE: "additive"}
"""What tables call them."""

KEY_SIZES: Mapping[Scale, tuple[int, ...]] = {"tiny": (4, 32), "small": (4, 64, 128), "paper": (16, 64, 256)}
"""d_k of the trained rows, from the smallest up; 64 is the paper's."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A function with a d_k."""

    function: AttentionFunction
    d_k: int

    @property
    def name(self) -> str:
        """That of its runs."""
        return f"{SHORT[self.function]}-dk{self.d_k}"


def rows(scale: Scale) -> tuple[Row, ...]:
    """What is trained, by d_k and then by function."""
    return tuple(Row(function=function, d_k=d_k) for d_k in KEY_SIZES[scale] for function in FUNCTIONS)


def recipe_name(scale: Scale) -> str:
    """The shipped recipe that rows change; at full size it is Table 3's base row."""
    return "table3/base" if scale == "paper" else f"attention-functions/{scale}"


def recipes(order: Order) -> dict[Row, Recipe]:
    """The rows' recipes, which differ in function and d_k alone.

    Args:
        order: the scale, and where the corpora are.

    Raises:
        RecipeError: a folder of corpora is given where the phrasebook is the text.
    """
    folder = taken_from(corpora_folder(order))
    return {
        row: load_recipe(
            recipe_name(order.scale),
            [
                f"name=attention-functions-{order.scale}-{row.name}",
                *folder,
                f"model.attention_function={row.function}",
                f"model.d_k={row.d_k}",
            ],
        )
        for row in rows(order.scale)
    }

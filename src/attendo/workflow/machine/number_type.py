"""The number type of training's products, where a recipe leaves the choice to the machine."""

from dataclasses import replace

import torch

from attendo.native.library import multiplies_bfloat16_fast
from attendo.recipe import Recipe
from attendo.workflow.machine.device import choose_device


def with_number_type(recipe: Recipe) -> Recipe:
    """A recipe whose `training.dtype` is one that products can have.

    `auto` becomes `bfloat16` where this machine multiplies it faster than float32: on a GPU that has such products, and
    on a processor with AMX, or AMD's with the bfloat16 instructions of AVX-512. Elsewhere it becomes `float32`.

    Raises:
        AttendoError: the recipe asks for a GPU, and there is none.
    """
    if recipe.training.dtype != "auto":
        return recipe
    if choose_device(recipe.training.device).type == "cuda":
        is_fast = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        is_fast = multiplies_bfloat16_fast()
    return replace(recipe, training=replace(recipe.training, dtype="bfloat16" if is_fast else "float32"))

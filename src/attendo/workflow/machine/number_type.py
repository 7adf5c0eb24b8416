"""The number type of training's products, where a recipe leaves the choice to the machine."""

from dataclasses import replace

import torch

from attendo.native.library import multiplies_bfloat16_fast
from attendo.recipe import Recipe
from attendo.workflow.machine.device import choose_device


def with_number_type(recipe: Recipe) -> Recipe:
    """A recipe with `training.dtype` resolved to an actual type.

    `auto` becomes `bfloat16` if this machine multiplies it faster than float32: on a GPU with such products, on a CPU
    with AMX, or on an AMD CPU with the bfloat16 instructions of AVX-512. Otherwise it becomes `float32`.

    Raises:
        AttendoError: the recipe requests a GPU, and there is none.
    """
    if recipe.training.dtype != "auto":
        return recipe
    if choose_device(recipe.training.device).type == "cuda":
        is_fast = torch.cuda.is_bf16_supported(including_emulation=False)
    else:
        is_fast = multiplies_bfloat16_fast()
    return replace(recipe, training=replace(recipe.training, dtype="bfloat16" if is_fast else "float32"))

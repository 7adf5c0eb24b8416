"""Checks whether a recipe's model fits this machine, before anything is allocated."""

import os

import torch

from attendo.errors import RecipeError
from attendo.model.weights.parameters import num_weights
from attendo.recipe import Recipe

BYTES_PER_PARAMETER = 16
"""Bytes of weight, gradient and Adam's two moments, in float32."""
_BYTES_OF_TEACHER = 4
"""Bytes per parameter of the model that distilled corpora are learned from, which each process has completely."""


def state_bytes(recipe: Recipe, weights: int, *, share: int = 1) -> int:
    """The bytes that a process needs besides a batch.

    Args:
        recipe: the resolved recipe.
        weights: number of parameters of the model.
        share: number of processes that divide the state (`training.sharding = "full"`).
    """
    is_distilled = recipe.data is not None and recipe.data.is_distilled
    return BYTES_PER_PARAMETER * weights // share + (_BYTES_OF_TEACHER * weights if is_distilled else 0)


def check_memory(
    recipe: Recipe, src_vocab_size: int, tgt_vocab_size: int, device: torch.device, *, share: int = 1
) -> None:
    """Rejects a model whose training state alone exceeds the device's memory; a batch needs memory in addition.

    Args:
        recipe: the resolved recipe.
        src_vocab_size: number of source ids.
        tgt_vocab_size: number of target ids.
        device: the device for training.
        share: number of processes that divide the state (`training.sharding = "full"`).

    Raises:
        RecipeError: it does not fit.
    """
    weights = num_weights(recipe.model, src_vocab_size, tgt_vocab_size)
    needed, available = state_bytes(recipe, weights, share=share), device_memory(device)
    if needed > available:
        raise RecipeError(
            f"{recipe.name}: the model has {weights:,} parameters, which need {needed / 2**30:,.1f} GiB for weights, "
            f"gradients and Adam, and there are {available / 2**30:,.1f} GiB here ({device.type}); take smaller "
            "model.d_model, model.d_ff, model.num_layers or tokenizer.vocab_size, or another machine"
        )


def device_memory(device: torch.device) -> int:
    """The bytes of a graphics card, or of main memory."""
    if device.type == "cuda":
        return int(torch.cuda.get_device_properties(device).total_memory)
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

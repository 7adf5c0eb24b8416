"""A new model between its ancestor and the fine-tuned model: the weighted mean of their weights."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attendo.checkpoint.checksums import CARD
from attendo.checkpoint.model_folder import LoadedModel, load_model
from attendo.checkpoint.saving import save_model
from attendo.checkpoint.weights import named_weights


def write_between(ancestor: Path, tuned: Path, share: float, folder: Path, facts: dict[str, Any]) -> None:
    """Writes the model whose weights are (1 - share) of the ancestor's and `share` of the fine-tuned model's.

    The new model is stored in the ancestor's number type.

    Args:
        ancestor: the folder of the model before learning.
        tuned: the folder of the fine-tuned model, of the same shape and vocabulary.
        share: share of the fine-tuned weights, above 0 and at most 1.
        folder: the model folder to write.
        facts: entries for `training` of the description, added to those of the fine-tuned model.

    Raises:
        ModelError: a folder cannot be read.
        OSError: the disk is full, or the folder cannot be written to.
    """
    old, new = load_model(ancestor), load_model(tuned)
    weights = _between(old, new, share)
    description = replace(new.description, dtype=old.description.dtype, training={**new.description.training, **facts})
    card = (tuned / CARD).read_text(encoding="utf-8")
    save_model(folder, description, weights, new.source_tokenizer, new.target_tokenizer, card)


def _between(old: LoadedModel, new: LoadedModel, share: float) -> dict[str, Tensor]:
    """Returns the mean of two models' weights, computed in float64, without extras of the old one such as a drafter."""
    old_weights, new_weights = named_weights(old.transformer), named_weights(new.transformer)
    with torch.no_grad():
        return {
            name: ((1.0 - share) * old_weights[name].double() + share * value.double()).to(value.dtype)
            for name, value in new_weights.items()
        }

"""The model that a run trains, with its first weights, and the one that it learns from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from attendo.checkpoint.checksums import WEIGHTS
from attendo.checkpoint.model_folder import ModelDescription, load_model
from attendo.checkpoint.weights import load_weights, named_weights
from attendo.checkpoint.words import word_tables
from attendo.errors import ModelError, RecipeError
from attendo.files import sha256
from attendo.model.transformer import Transformer
from attendo.model.weights.building import know_words
from attendo.recipe import Recipe
from attendo.text.prepared import PreparedData
from attendo.training.drafting import choose_shortlist
from attendo.training.teacher import Teacher

DRAFTER = "drafter."
"""Prefix of the names of the drafter's weights."""
_AT_ONCE = 10_000
"""Sentences whose tokens are counted together."""


def build_model(recipe: Recipe, prepared: PreparedData) -> Transformer:
    """A model of the recipe's shape for a prepared vocabulary, its weights random.

    Raises:
        RecipeError: the shape does not go with two vocabularies.
    """
    sizes = (prepared.source_tokenizer.vocab_size, prepared.target_tokenizer.vocab_size)
    try:
        model = Transformer(recipe.model, *sizes)
    except ValueError as error:
        raise RecipeError(f"{recipe.name}: model.{error}") from error
    know_words(model, word_tables(recipe.model, prepared.source_tokenizer, prepared.target_tokenizer))
    return model


def load_initial_weights(model: Transformer, folder: Path, prepared: PreparedData) -> ModelDescription:
    """Gives a model the weights of the one that is fine-tuned; int8 weights are dequantised.

    Returns:
        The description of the other model.

    Raises:
        ModelError: the other model cannot be read, or its weights or vocabulary do not fit.
    """
    other = load_model(folder)
    tokenizers = (
        (other.source_tokenizer, prepared.source_tokenizer),
        (other.target_tokenizer, prepared.target_tokenizer),
    )
    if any(theirs.serialized != ours.serialized for theirs, ours in tokenizers):
        raise ModelError(
            f"{folder}: training.init_from needs data that is prepared for the model's own vocabulary, but "
            f"{prepared.folder} has another; leave out --prepared, or prepare it with: attendo prepare RECIPE -o DIR"
        )
    theirs, ours = named_weights(other.transformer), named_weights(model)
    # A drafter is initialised again, unless one of the same size is trained further.
    sizes = [(shape.draft_tokens, shape.draft_vocabulary) for shape in (other.description.model, model.config)]
    shared = sizes[0] == sizes[1]
    kept = {name: value for name, value in theirs.items() if shared or not name.startswith(DRAFTER)}
    drawn = {name: value for name, value in ours.items() if name.startswith(DRAFTER) and not shared}
    load_weights(model, {**kept, **drawn}, folder)
    if model.drafter is not None and not shared:
        choose_shortlist(model, _target_counts(prepared))
    return other.description


def teacher_of(
    recipe: Recipe, prepared: PreparedData, origin: Mapping[str, Any], device: torch.device
) -> Teacher | None:
    """Reads the model that distilled corpora are learned from: the original of the fine-tuned model.

    Args:
        recipe: the resolved recipe.
        prepared: the recipe's data.
        origin: `run_folder.origin` of the run, which continues with exactly the weights that it began with.
        device: the device of the training.

    Returns:
        The teacher; None if no corpus is distilled.

    Raises:
        ModelError: the model cannot be read or does not fit, or has changed since.
    """
    if recipe.data is None or not recipe.data.is_distilled:
        return None
    assert recipe.training.init_from is not None, "Recipe refuses distilled corpora without it"
    folder = Path(recipe.training.init_from)
    model = build_model(recipe, prepared)
    load_initial_weights(model, folder, prepared)
    expected = origin.get("init_from", {}).get("weights_sha256")
    if expected is not None and sha256(folder / WEIGHTS) != expected:
        raise ModelError(
            f"{folder}: has other weights than when the run began, which goes on learning from it (distilled = true); "
            "put the model back, or start another run with -o RUN"
        )
    return Teacher(model.to(device))


def languages(translates: PreparedData | ModelDescription) -> str:
    """Returns the languages as `en-de`."""
    return f"{translates.source_language}-{translates.target_language}"


def what_is_trained(recipe: Recipe, initial: ModelDescription, ours: str) -> str:
    """Describes the training of an existing model in a line; `ours` are the run's languages."""
    folder, count = recipe.training.init_from, recipe.model.draft_tokens
    theirs, present_count = languages(initial), initial.model.draft_tokens
    if count:
        phrase = "the drafter of" if present_count == count else "a drafter for"
        alone = recipe.training.drafter == "alone"
        return f"training {phrase} {folder}, which " + ("stays as it is" if alone else "learns with it")
    other = f", which is {theirs} and no {ours}" if ours != theirs else ""
    left = "; its drafter is left out, since it knows the model as it was: train one anew" if present_count else ""
    return f"fine-tuning {folder}{other}{left}"


def _target_counts(prepared: PreparedData) -> npt.NDArray[np.int64]:
    """Counts each id in the targets of a prepared folder's corpora."""
    size = prepared.target_tokenizer.vocab_size
    counts = np.zeros(size, dtype=np.int64)
    for corpus in prepared.corpora.values():
        for first in range(0, len(corpus), _AT_ONCE):
            targets = [corpus.target(index) for index in range(first, min(first + _AT_ONCE, len(corpus)))]
            counts += np.bincount(np.concatenate(targets), minlength=size)
    return counts

"""Weights that a recipe trained, as a model folder: the description, the vocabulary and the card go with them."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from torch import Tensor

from attendo.checkpoint.model_folder import ModelDescription
from attendo.checkpoint.saving import save_model
from attendo.decoding.config import GuardConfig, SearchConfig
from attendo.recipe import Recipe
from attendo.text.prepared import PreparedData
from attendo.workflow.cards.card import model_card


def write_model(
    folder: Path, recipe: Recipe, prepared: PreparedData, weights: Mapping[str, Tensor], facts: Mapping[str, Any]
) -> None:
    """Writes weights trained by a recipe as a model folder, with everything that translating needs.

    Args:
        folder: the model folder; an existing one is replaced.
        recipe: the recipe by which the weights were trained.
        prepared: the recipe's data.
        weights: the weights by name, each shared matrix once.
        facts: facts about the training: steps and scores.
    """
    description = ModelDescription(
        task=recipe.task,
        parsing=recipe.parsing,
        word_tags=None if prepared.word_tags is None else {key: list(tags) for key, tags in prepared.word_tags.items()},
        source_language=prepared.source_language,
        target_language=prepared.target_language,
        src_vocab_size=prepared.source_tokenizer.vocab_size,
        tgt_vocab_size=prepared.target_tokenizer.vocab_size,
        model=recipe.model,
        search=_search(recipe.search),
        training={"recipe": recipe.name, **facts},
    )
    num_parameters = sum(value.numel() for value in weights.values())
    card = model_card(recipe, prepared.report, description, num_parameters)
    save_model(folder, description, weights, prepared.source_tokenizer, prepared.target_tokenizer, card)


def _search(search: SearchConfig) -> dict[str, Any]:
    """The search settings stored with a model.

    They include the meaning of lines that are no sentences: how long, and which guards are not for it.
    """
    own = {key: getattr(search, key) for key in ("beam_size", "length_penalty", "max_len_offset")}
    for key in ("completeness", "max_source_tokens"):
        if (value := getattr(search, key)) != getattr(SearchConfig, key):
            own[key] = value
    guards = {each.name: getattr(search.guards, each.name) for each in fields(GuardConfig)}
    if changed := {name: on for name, on in guards.items() if on != getattr(GuardConfig, name)}:
        own["guards"] = changed
    return own

"""Fine-tuning: a recipe that names a model in `training.init_from` takes over its shape, vocabulary and languages."""

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal

import sentencepiece

from attendo.checkpoint.checksums import CONFIG, WEIGHTS
from attendo.checkpoint.finding import find_model
from attendo.checkpoint.model_folder import ModelDescription, read_description
from attendo.decoding.config import SearchConfig
from attendo.errors import ModelError, RecipeError
from attendo.files import sha256
from attendo.model.config import ModelConfig
from attendo.recipe import Recipe
from attendo.text.corpora import DataConfig
from attendo.text.prepared import Vocabulary
from attendo.text.subwords.tokenization import TokenizerConfig
from attendo.workflow.engines.model_search import own_search

REGIME = ("dropout", "attention_dropout", "activation_dropout", "window")
"""Keys of `model` that are not part of its shape: a recipe may set them differently from the original model."""
_SETTINGS = ("beam_size", "length_penalty", "completeness", "max_len_offset", "max_source_tokens", "guards")
"""Keys of `search` that are taken from a model's description if a recipe does not set them."""


def with_initial_model(recipe: Recipe) -> Recipe:
    """The recipe used for training: if it fine-tunes a model, with that model's shape, vocabulary and languages.

    `training.init_from` becomes the path of the model's folder. It is looked up relative to the recipe's folder, then
    to the current one, then among the shipped models. Unset keys of `model`, `tokenizer` and `search` are taken from
    the model.

    Args:
        recipe: the recipe as loaded; one without `training.init_from` is returned unchanged.

    Raises:
        ModelError: there is no such model, or its files cannot be read.
        RecipeError: the recipe has another shape or vocabulary than the model; the message has all such keys.
    """
    if recipe.training.init_from is None:
        return recipe
    folder = _find(recipe.training.init_from, recipe.folder)
    description, vocabulary = read_description(folder), Vocabulary.of_model(folder)
    model = _with_regime(description.model, recipe)
    tokenizer = _tokenizer(vocabulary, recipe)
    if problems := [*_contradictions(recipe, "model", model), *_contradictions(recipe, "tokenizer", tokenizer)]:
        raise RecipeError(
            "\n".join(
                f"{recipe.name}: {key} = {ours}, but training.init_from keeps the model's: {folder} has {theirs}; "
                "leave the key out, or train a model from scratch"
                for key, ours, theirs in problems
            )
        )
    try:
        return replace(
            recipe,
            data=_data(description, recipe.data),
            model=model,
            tokenizer=tokenizer,
            search=_search(description, folder, recipe),
            training=replace(recipe.training, init_from=str(folder.resolve())),
        )
    except ValueError as error:  # the sections contradict each other
        raise RecipeError("\n".join(f"{recipe.name}: {line}" for line in str(error).splitlines())) from error


def initial_facts(recipe: Recipe) -> dict[str, Any]:
    """Describes the model that a resolved recipe fine-tunes, for the run and the new model.

    Returns:
        Its folder's name, how it was trained, and the SHA-256 of its weights' file; empty if none is fine-tuned.

    Raises:
        ModelError: its files cannot be read.
    """
    if recipe.training.init_from is None:
        return {}
    folder = Path(recipe.training.init_from)
    description = read_description(folder)
    try:
        checksum = sha256(folder / WEIGHTS)
    except OSError as error:
        raise ModelError(f"{folder / WEIGHTS}: cannot be read ({error.strerror}); copy the folder again") from error
    # A run's model is in RUN/model, so the run's name is more informative.
    name = folder.parent.name if folder.name == "model" else folder.name
    return {"init_from": {"model": name, "weights_sha256": checksum, "training": description.training}}


def _find(name: str, folder: Path) -> Path:
    beside = folder / name
    return find_model(str(beside if any((beside / part / CONFIG).is_file() for part in ("", "model")) else name))


def _with_regime(model: ModelConfig, recipe: Recipe) -> ModelConfig:
    """The model's shape, with the settings that the recipe may change: dropout, and the range of self-attention.

    The drafter is taken from the recipe: one in the model fits its present weights, not the fine-tuned ones.
    """
    keys = [*REGIME, *(key for key in ("encoder_layer", "decoder_layer") if _attends(model, key, recipe.model))]
    written = {key: getattr(recipe.model, key) for key in keys if f"model.{key}" in recipe.written}
    return replace(model, **written, draft_tokens=recipe.model.draft_tokens)


def _attends(model: ModelConfig, key: str, other: ModelConfig) -> bool:
    """Whether a stack's layers use attention in both shapes; restricted or not, the weights are the same."""
    return all(getattr(each, key) in ("self-attention", "restricted-self-attention") for each in (model, other))


def _tokenizer(vocabulary: Vocabulary, recipe: Recipe) -> TokenizerConfig:
    """Returns the tokenizer section that describes the model's vocabulary."""
    return replace(
        recipe.tokenizer,
        type=_type(vocabulary.source.serialized),
        vocab_size=vocabulary.source.vocab_size,
        joint=vocabulary.joint,
        placeholders=len(vocabulary.source.placeholders),
    )


def _type(serialized: bytes) -> Literal["bpe", "unigram"]:
    """Recognises a SentencePiece file's type: BPE scores pieces by rank, a unigram model by log-probability."""
    processor = sentencepiece.SentencePieceProcessor()
    processor.load_from_serialized_proto(serialized)
    return "bpe" if all(processor.get_score(i).is_integer() for i in range(len(processor))) else "unigram"


def _contradictions(
    recipe: Recipe, section: Literal["model", "tokenizer"], theirs: ModelConfig | TokenizerConfig
) -> Iterator[tuple[str, Any, Any]]:
    """The keys that a recipe's section writes another value for than the model has, with both values."""
    ours = getattr(recipe, section)
    for item in fields(theirs):
        written, present = getattr(ours, item.name), getattr(theirs, item.name)
        if (
            f"{section}.{item.name}" in recipe.written
            and written != present
            and not _same_size(ours, theirs, item.name)
        ):
            yield f"{section}.{item.name}", written, present


def _same_size(ours: Any, theirs: Any, key: str) -> bool:
    """Whether two values of a key, one of them unset, are equivalent."""
    effective = {"num_encoder_layers": "encoder_layers", "num_decoder_layers": "decoder_layers"}
    effective |= {"d_k": "key_size", "d_v": "value_size"}
    if key == "num_layers":
        stacks = ("encoder_layers", "decoder_layers")
        return all(getattr(ours, stack) == getattr(theirs, stack) for stack in stacks)
    return key in effective and getattr(ours, effective[key]) == getattr(theirs, effective[key])


def _data(description: ModelDescription, data: DataConfig | None) -> DataConfig | None:
    if data is None:
        return None
    return replace(
        data,
        source_language=data.source_language or description.source_language,
        target_language=data.target_language or description.target_language,
    )


def _search(description: ModelDescription, folder: Path, recipe: Recipe) -> SearchConfig:
    """Returns the recipe's search settings, with the model's values for unset keys."""
    left_out = [key for key in _SETTINGS if key in description.search and f"search.{key}" not in recipe.written]
    theirs = own_search(folder, description)
    try:
        return replace(recipe.search, **{key: getattr(theirs, key) for key in left_out})
    except ValueError as error:  # the recipe's settings and the model's contradict each other
        raise ModelError(f"{folder / CONFIG}: search: {error}") from error

"""The model that a run trains, with its first weights."""

from pathlib import Path

from attendo.checkpoint.model_folder import ModelDescription, load_model
from attendo.checkpoint.weights import load_weights, named_weights
from attendo.checkpoint.words import know_words
from attendo.errors import ModelError, RecipeError
from attendo.model.transformer import Transformer
from attendo.recipe import Recipe
from attendo.text.prepared import PreparedData


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
    know_words(model, prepared.source_tokenizer, prepared.target_tokenizer)
    return model


def load_initial_weights(model: Transformer, folder: Path, prepared: PreparedData) -> ModelDescription:
    """Gives a model the weights of the one that is fine-tuned; int8 weights as the numbers they stand for.

    Returns:
        What is said of the other model.

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
    load_weights(model, named_weights(other.transformer), folder)
    return other.description


def languages(translates: PreparedData | ModelDescription) -> str:
    """What is translated into what, as `en-de`."""
    return f"{translates.source_language}-{translates.target_language}"

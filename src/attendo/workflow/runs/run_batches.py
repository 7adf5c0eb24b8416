"""The batches that a run trains on."""

from functools import partial

import torch

from attendo.errors import RecipeError
from attendo.recipe import Recipe
from attendo.text.corpora import epoch_weights
from attendo.text.prepared import PreparedData
from attendo.threads import usable_cores
from attendo.training.batches import BatchStream
from attendo.training.rewriting import Rewriting
from attendo.workers import local_workers

_MOST_WORKERS = 8
"""Maximum number of rewriting processes; one rewrites about 100,000 tokens a second (docs/training-speed.md)."""


def batch_stream(recipe: Recipe, prepared: PreparedData, workers: int = 1) -> BatchStream:
    """The batches that a recipe trains on.

    Args:
        recipe: the recipe.
        prepared: the recipe's data.
        workers: number of processes that rewrite pairs, if they are rewritten; 1 for the calling thread.
    """
    config = recipe.training
    rewriting = None
    if recipe.tokenizer.bpe_dropout or not config.augmentation.is_off:
        rewriting = Rewriting(
            prepared.source_tokenizer,
            prepared.target_tokenizer,
            dropout=recipe.tokenizer.bpe_dropout,
            augmentation=config.augmentation,
            max_tokens=min(config.max_tokens, recipe.data.cleaning.max_tokens if recipe.data else config.max_tokens),
            source_tags=recipe.data.source_tags if recipe.data else (),
            target_symbols=recipe.tokenizer.target_symbols,
            languages=(prepared.source_language, prepared.target_language),
        )
    weights = mix(recipe, prepared)
    configs = {corpus.name: corpus for corpus in recipe.data.corpora} if recipe.data else {}
    tags = [configs[name].source_tag or "" for name in prepared.corpora]
    kinds = [tags.index(tag) for tag in tags]
    distilled = [configs[name].distilled for name in prepared.corpora]
    corpora = list(prepared.corpora.values())
    return BatchStream(corpora, weights, config, rewriting, kinds, partial(local_workers, workers), distilled)


def num_workers(setting: int | None, device: torch.device, processes: int) -> int:
    """Number of processes that rewrite the pairs of a training process.

    Args:
        setting: `training.workers`.
        device: the device of the training.
        processes: number of processes that train together; they are assumed to share this machine's cores.
    """
    if setting is not None:
        return setting
    if device.type == "cpu":
        return 1
    return max(1, min(_MOST_WORKERS, usable_cores() // processes - 1))


def mix(recipe: Recipe, prepared: PreparedData) -> list[float]:
    """Computes how often each pair of each corpus is read per epoch, in the order of the corpora.

    Raises:
        RecipeError: the data was prepared from other corpora than the recipe's.
    """
    configs = {corpus.name: corpus for corpus in recipe.data.corpora} if recipe.data else {}
    if set(configs) != set(prepared.corpora):
        raise RecipeError(
            f"{recipe.name}: data.corpora has {', '.join(configs) or 'none'}, but {prepared.folder} was prepared from "
            f"{', '.join(prepared.corpora)}; a run goes on with its own corpora, so start another one with -o RUN"
        )
    sizes = [len(shards) for shards in prepared.corpora.values()]
    return epoch_weights([configs[name] for name in prepared.corpora], sizes)

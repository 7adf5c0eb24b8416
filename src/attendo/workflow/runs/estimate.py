"""Estimates of a run before it starts: parameters, memory, batches per epoch, and measured time."""

import copy
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from attendo.model.batch import DistilledTokens
from attendo.model.products import fast_float32_products
from attendo.model.transformer import Transformer
from attendo.recipe import Recipe
from attendo.text.prepared import PreparedData, Vocabulary
from attendo.training.memory import kept_memory
from attendo.training.passes.forward import TrainingBatch, collate_for
from attendo.training.teacher import Teacher
from attendo.training.update import batch_loss, make_optimizer, update
from attendo.workflow.machine.brief_waits import brief_waits
from attendo.workflow.machine.device import choose_device, set_threads
from attendo.workflow.machine.number_type import with_number_type
from attendo.workflow.runs.model_memory import check_memory, state_bytes
from attendo.workflow.runs.run_batches import batch_stream, mix

_TRIAL_LENGTH = 25
_FEW_TOKENS, _MANY_TOKENS = 250, 2000
"""Target tokens of the updates that are tried."""
_TRIAL_S = 2.0
"""Seconds of measurement: many times the system's time slice for a program."""
_SLOW_UPDATE_S = 0.5
"""An update on few tokens that takes longer than this is enough for an estimate, and one on many tokens would take too
long."""


@dataclass(frozen=True, kw_only=True)
class MixPart:
    """The part of an epoch from one corpus."""

    corpus: str
    pairs: int
    """Number of its pairs in the first epoch; epochs differ by one at most."""
    share: float
    """Share of the epoch's pairs."""
    weight: float
    """Mean number of times that each of its pairs is read."""
    source_tag: str | None
    """Tag before its sources."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The cost of a recipe on this machine."""

    recipe: str
    parameters: int
    shapes: tuple[tuple[str, tuple[int, ...], int], ...]
    """Kinds of matrices: name, shape, and how many there are."""
    vocab_size: int
    exact_vocabulary: bool
    """Whether the vocabulary is learned already; otherwise its size is the recipe's."""
    state_bytes: int
    """Weights, gradients and Adam's state; the weights of the model that distilled corpora are learned from, too."""
    activation_bytes: int
    """Memory of the backward pass for one batch, or for one piece of it."""
    batches_per_epoch: int | None
    """Batches per epoch; None before the data is prepared."""
    padding_share: float | None
    target_tokens_per_update: float
    """Without padding; an upper bound before the data is prepared."""
    epochs: float | None
    target_tokens_per_s: float
    """Measured, in a few updates on made-up sentences of 25 tokens."""
    hours: float
    """Time for `max_steps` without validation and saving, at the current load of the machine."""
    processor_share: float
    """Share of the usable processor time that the updates got, from 0 to 1: less than 1 where other programs took the
    rest. Always 1 for a GPU, which is not shared so."""
    device: str
    threads: int
    mix: tuple[MixPart, ...] = ()
    """The parts of an epoch; empty before the data is prepared."""
    init_from: str | None = None
    """The model that is fine-tuned."""

    @property
    def quiet_hours(self) -> float:
        """The hours on a machine where no other program uses the processors."""
        return self.hours * self.processor_share


def estimate(recipe: Recipe, prepared: PreparedData | None) -> Estimate:
    """Builds the recipe's model, makes a few updates on made-up sentences, and works out the rest.

    Args:
        recipe: the resolved recipe, by `workflow.runs.initial_model` if it fine-tunes a model.
        prepared: its data, if that is prepared; no corpus need be there otherwise.

    Raises:
        RecipeError: the model is more than this machine's memory holds.
    """
    recipe = with_number_type(recipe)
    config = recipe.training
    set_threads(config.threads)
    sizes = _vocab_sizes(recipe, prepared)
    device = choose_device(config.device)
    check_memory(recipe, *sizes, device)
    with torch.random.fork_rng():
        model = Transformer(recipe.model, *sizes).to(device).train()
        trial = _try_out(model, recipe)
    tokens = float(config.max_tokens)
    batches = padding = epochs = None
    if prepared is not None:
        batches, padding, target_tokens = _plan(recipe, prepared)
        tokens = target_tokens / batches
        epochs = config.max_steps / batches
    return Estimate(
        recipe=recipe.name,
        parameters=model.num_parameters,
        shapes=_shapes(model),
        vocab_size=sizes[1],
        exact_vocabulary=prepared is not None or config.init_from is not None,
        state_bytes=state_bytes(recipe, model.num_parameters),
        activation_bytes=round(
            trial.bytes_per_token * min(config.max_tokens, config.max_tokens_at_once or config.max_tokens)
        ),
        batches_per_epoch=batches,
        padding_share=padding,
        target_tokens_per_update=tokens,
        epochs=epochs,
        target_tokens_per_s=trial.tokens_per_s,
        hours=config.max_steps * tokens / trial.tokens_per_s / 3600,
        processor_share=trial.processor_share,
        device=torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        threads=torch.get_num_threads(),
        mix=_mix(recipe, prepared) if prepared is not None else (),
        init_from=config.init_from,
    )


def _vocab_sizes(recipe: Recipe, prepared: PreparedData | None) -> tuple[int, int]:
    if prepared is None and recipe.training.init_from is not None:
        vocabulary = Vocabulary.of_model(Path(recipe.training.init_from))
        return vocabulary.source.vocab_size, vocabulary.target.vocab_size
    if prepared is None:
        return recipe.tokenizer.vocab_size, recipe.tokenizer.vocab_size
    return prepared.source_tokenizer.vocab_size, prepared.target_tokenizer.vocab_size


def _plan(recipe: Recipe, prepared: PreparedData) -> tuple[int, float, int]:
    """Batches, share of padding and target tokens of the first epoch."""
    plan = batch_stream(recipe, prepared).plan(0)
    return len(plan.batches), plan.padding_share, plan.target_tokens


def _mix(recipe: Recipe, prepared: PreparedData) -> tuple[MixPart, ...]:
    """The shares of the corpora in the first epoch, as in the batches."""
    tags = {corpus.name: corpus.source_tag for corpus in recipe.data.corpora} if recipe.data else {}
    weights = dict(zip(prepared.corpora, mix(recipe, prepared), strict=True))
    pairs = {name: round(weight * len(prepared.corpora[name])) for name, weight in weights.items()}
    epoch = sum(pairs.values())
    return tuple(
        MixPart(corpus=name, pairs=number, share=number / epoch, weight=weights[name], source_tag=tags[name])
        for name, number in pairs.items()
    )


@dataclass(frozen=True, kw_only=True)
class _Trial:
    """The cost of a few updates."""

    tokens_per_s: float
    """Target tokens a second in whole updates."""
    processor_share: float
    """See `Estimate`."""
    bytes_per_token: float
    """Memory that the backward pass keeps per target token."""


def _try_out(model: Transformer, recipe: Recipe) -> _Trial:
    """Makes updates on made-up sentences for some seconds."""
    optimizer = make_optimizer(model, recipe.training)
    device = model.output_weight.device
    teacher = Teacher(copy.deepcopy(model)) if recipe.data is not None and recipe.data.is_distilled else None

    def measured(batch: TrainingBatch, at_least_s: float) -> tuple[float, float]:
        """Seconds per update, and the share of them in which this thread had a processor.

        This thread works during the whole update, or waits for others in the same loop: actively for a moment, and
        asleep if one of them was suspended. So the time it misses is the time taken by other programs.
        """
        started, processor, updates = time.perf_counter(), time.thread_time(), 0
        while not updates or time.perf_counter() - started < at_least_s:
            result = update(model, optimizer, [batch], batch.num_tokens, 1, recipe.training, None, teacher)
            float(result.smoothed)  # waits for a GPU
            updates += 1
        seconds = time.perf_counter() - started
        return seconds / updates, (time.thread_time() - processor) / seconds

    small_batch, large_batch = (_made_up(tokens, model) for tokens in (_FEW_TOKENS, _MANY_TOKENS))
    if teacher is not None:
        small_batch, large_batch = _half_distilled(small_batch), _half_distilled(large_batch)
    small_batch, large_batch = small_batch.to(device), large_batch.to(device)
    with brief_waits(), kept_memory(), fast_float32_products(device):
        measured(small_batch, 0)  # warm-up
        slow = measured(small_batch, 0)[0] >= _SLOW_UPDATE_S
        batch = small_batch if slow else large_batch
        if not slow:
            measured(large_batch, 0)
        seconds, share = measured(batch, _TRIAL_S)
    return _Trial(
        tokens_per_s=batch.num_tokens / seconds,
        processor_share=min(1.0, share) if device.type == "cpu" else 1.0,
        bytes_per_token=_saved_bytes(model, recipe, small_batch, teacher) / _FEW_TOKENS,
    )


def _made_up(tokens: int, model: Transformer) -> TrainingBatch:
    rows = tokens // _TRIAL_LENGTH
    source = torch.randint(model.src_vocab_size, (rows, _TRIAL_LENGTH)).tolist()
    target = torch.randint(model.tgt_vocab_size, (rows, _TRIAL_LENGTH)).tolist()
    return collate_for(model)(source, target)


def _half_distilled(batch: TrainingBatch) -> TrainingBatch:
    """A batch of which half the tokens are distilled; the actual mix is unknown without the data."""
    return replace(batch, distilled=DistilledTokens.of(np.arange(batch.num_tokens) % 2 == 0))


def _saved_bytes(model: Transformer, recipe: Recipe, batch: TrainingBatch, teacher: Teacher | None) -> int:
    """Bytes of everything that a forward pass keeps for the backward pass, except weights."""
    known = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    sizes: dict[int, int] = {}
    kept: list[Tensor] = []

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in known:
            sizes[storage.data_ptr()] = storage.nbytes()
            kept.append(tensor)  # so that no other tensor gets its address meanwhile
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        training = recipe.training
        batch_loss(model, batch, training.dtype, training.label_smoothing, teacher, training.r_drop)
    # The last product keeps the gradient of the vocabulary matrix, for any batch: part of the state, not of this.
    return sum(size for size in sizes.values() if size < model.output_weight.nbytes)


def _shapes(model: Transformer) -> tuple[tuple[str, tuple[int, ...], int], ...]:
    """The matrices by kind: without layer numbers, equal ones counted."""
    counts: dict[tuple[str, tuple[int, ...]], int] = {}
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            kind = ".".join(part for part in name.split(".") if not part.isdigit())
            key = (kind.removesuffix(".weight"), tuple(parameter.shape))
            counts[key] = counts.get(key, 0) + 1
    return tuple((name, shape, count) for (name, shape), count in counts.items())

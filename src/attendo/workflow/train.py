"""Training a recipe in its run folder (`workflow.run_folder`), by one process or by several together."""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from attendo.checkpoint.model_folder import ModelDescription, load_model
from attendo.checkpoint.run_checkpoints import Checkpoint, Checkpoints
from attendo.checkpoint.sharded import ShardedSave
from attendo.checkpoint.weights import load_weights, mean_weights, named_weights
from attendo.errors import ModelError, RecipeError
from attendo.model.transformer import Transformer
from attendo.recipe import Recipe
from attendo.text.corpora import epoch_weights
from attendo.text.prepared import PreparedData
from attendo.training.batches import BatchStream, Rewriting
from attendo.training.loop import Ending, Hooks, Position, StepMetrics, Validation, run
from attendo.training.memory import kept_memory
from attendo.training.processes import Processes
from attendo.training.replica import replica_of
from attendo.training.state import blank_state, export_state
from attendo.training.update import make_optimizer
from attendo.workflow.curves import draw_curves
from attendo.workflow.device import choose_device
from attendo.workflow.metrics import MetricsLog
from attendo.workflow.model_folder import write_model
from attendo.workflow.preparation import PreparationReporter
from attendo.workflow.prepare import Progress
from attendo.workflow.run_folder import origin
from attendo.workflow.validation import Validator


class Reporter(PreparationReporter, Protocol):
    """Who is told how a run goes."""

    def training(self, metrics: StepMetrics, max_steps: int) -> None:
        """Another update is made."""

    def validated(self, position: Position, validation: Validation, is_best: bool) -> None:
        """A validation is done."""


class Silence:
    """A `Reporter` of the processes beside the first one, which tells for all."""

    def message(self, text: str) -> None:
        """Told by the first process."""

    def preparing(self, progress: Progress) -> None:
        """Told by the first process."""

    def training(self, metrics: StepMetrics, max_steps: int) -> None:
        """Told by the first process."""

    def validated(self, position: Position, validation: Validation, is_best: bool) -> None:
        """Told by the first process."""


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """What a sitting of training came to."""

    run: Path
    model: Path | None
    """The best averaged model, if there is one yet."""
    ending: Ending
    position: Position


class TrainingRun:
    """A run folder with a recipe, its data, its model and where it stands.

    Of several processes all have one; the first one writes, validates and tells.

    Args:
        recipe: as resolved.
        folder: the run folder, made by `start_run`.
        prepared: the data.
        reporter: who is told.
        processes: those that train together; None for this one alone.

    Raises:
        ModelError: no checkpoint of the folder is whole, or `training.init_from` does not fit.
        AttendoError: a GPU is asked for and there is none.
        LostProcessError: another process has ended.
    """

    def __init__(
        self,
        recipe: Recipe,
        folder: Path,
        prepared: PreparedData,
        reporter: Reporter,
        processes: Processes | None = None,
    ) -> None:
        self.recipe, self.folder, self.prepared = recipe, folder, prepared
        self._reporter, self._processes = reporter, processes or Processes()
        config = recipe.training
        if config.threads is not None:
            torch.set_num_threads(config.threads)
        device = choose_device(config.device, self._processes.local_rank)
        torch.manual_seed(config.seed)
        self.model = build_model(recipe, prepared)
        self._checkpoints = Checkpoints(folder / "checkpoints", config.average_last)
        self._saving: ShardedSave | None = None
        self.position = Position()
        newest = self._processes.main_first("checkpoint", self._newest_checkpoint)
        if not newest and config.init_from is not None:
            theirs = load_initial_weights(self.model, Path(config.init_from), prepared)
            ours, other = _languages(prepared), _languages(theirs)
            reporter.message(f"fine-tuning {config.init_from}{f', which is {other} and no {ours}' * (ours != other)}")
        if self._processes.size == 1:
            self.model.to(device)
            self._replica = None
        else:
            self._replica = replica_of(self.model, config, self._processes, device)
        self._optimizer = make_optimizer(self.model, config)
        if newest:
            self._go_on_from(self._checkpoints.named(newest))
        self._origin = origin(folder)
        self._stream = batch_stream(recipe, prepared)
        self._averaged: dict[str, Tensor] = {}  # what was validated last
        self._validator = self._metrics = None
        if self._processes.is_main:
            self._metrics = MetricsLog(folder, self.position.step, tensorboard=config.tensorboard)
            if prepared.valid is not None:
                valid_model = build_model(recipe, prepared).to(device)
                self._validator = Validator(valid_model, prepared, config, recipe.search)

    def train(self, should_stop: Callable[[], bool]) -> RunOutcome:
        """Trains on from where the run stands.

        Args:
            should_stop: asked between updates; when it says yes, in any process, the run is saved and ends.
        """
        hooks = Hooks(
            progress=lambda metrics: self._reporter.training(metrics, self.recipe.training.max_steps),
            log=self._log,
            save=self._save,
            validate=self._validate if self.prepared.valid is not None else None,
            keep_best=self._keep_best,
            validated=self._validated,
            should_stop=should_stop,
        )
        if self.recipe.training.init_from is not None and self.position == Position():
            self._validate_start()
        with kept_memory():
            self.position, ending = run(
                self.model, self._optimizer, self._stream, self.position, self.recipe.training, hooks, self._replica
            )
        self._finish_saving()
        model = self.folder / "model"
        (is_missing,) = self._processes.of_main([self.prepared.valid is None or not model.is_dir()])
        if self.position.step and is_missing:
            averaged = self._average(self.position)
            if self._processes.is_main:
                self._write_model(averaged, {"steps": self.position.step})
        self._draw()
        there = model if model.is_dir() else None
        return RunOutcome(run=self.folder, model=there, ending=ending, position=self.position)

    def _validate_start(self) -> None:
        """Validates the model that is fine-tuned: the gain is seen from there, and what is worse is not kept."""
        if self.prepared.valid is None:
            return
        started = time.monotonic()
        validation = self._validate(self.position)
        self.position = replace(self.position, best_score=validation.score, elapsed_s=time.monotonic() - started)
        self._keep_best(self.position, validation)
        self._validated(self.position, validation, True)

    def _newest_checkpoint(self) -> str:
        """The name of the checkpoint to go on from; empty where there is none."""
        self._checkpoints.remove_drafts()
        checkpoint = self._checkpoints.latest()
        return "" if checkpoint is None else checkpoint.folder.name

    def _go_on_from(self, checkpoint: Checkpoint) -> None:
        checkpoint.read(named_weights(self.model))
        if checkpoint.has_training_state:
            checkpoint.read(blank_state(self.model, self._optimizer))
        try:
            self.position = Position(**checkpoint.state["position"])
        except (KeyError, TypeError) as error:
            raise ModelError(f"{checkpoint.folder / 'state.json'}: not of this attendo ({error})") from error
        self._reporter.message(f"resuming at step {self.position.step} from {checkpoint.folder.name}")

    def _log(self, metrics: StepMetrics) -> None:
        if self._metrics is not None:
            self._metrics.append({"kind": "train", **asdict(metrics)})

    def _save(self, position: Position, regular: bool) -> None:
        state = {"position": asdict(position)}
        weights, training = named_weights(self.model), export_state(self.model, self._optimizer)
        if self._processes.saving is None:
            self._checkpoints.save(position.step, regular=regular, state=state, weights=weights, training=training)
            return
        self._finish_saving()
        self._saving = self._checkpoints.start_saving(
            position.step,
            regular=regular,
            state=state,
            weights=weights,
            training=training,
            group=self._processes.saving,
        )

    def _finish_saving(self) -> None:
        """Waits for the checkpoint that is being written, so that it is whole."""
        if self._saving is not None:
            self._saving.wait()
            self._saving = None

    def _average(self, position: Position) -> dict[str, Tensor]:
        """The mean of the last regular checkpoints and the present weights, `average_last` in all.

        All processes have to ask; those beside the first one get nothing.
        """
        if self._replica is None:
            present = {name: value.cpu() for name, value in named_weights(self.model).items()}
        else:
            present = self._replica.full_weights()
        if not self._processes.is_main:
            return {}
        self._finish_saving()
        earlier = self._checkpoints.last_weights(self.recipe.training.average_last - 1, before=position.step)
        return mean_weights([*earlier, present])

    def _validate(self, position: Position) -> Validation:
        """Validates in the first process; the others wait for what it finds, since it decides how all go on."""
        self._averaged = self._average(position)
        found = Validation(log_loss=math.nan, bleu=None)
        if self._processes.is_main:
            assert self._validator is not None
            found = self._validator(self._averaged)
        log_loss, bleu = self._processes.of_main([found.log_loss, math.nan if found.bleu is None else found.bleu])
        return replace(found, log_loss=log_loss, bleu=None if math.isnan(bleu) else bleu)

    def _keep_best(self, position: Position, validation: Validation) -> None:
        if not self._processes.is_main:
            return
        scores: dict[str, Any] = {"perplexity": validation.perplexity, "log_loss": validation.log_loss}
        if validation.bleu is not None:
            scores |= {"bleu": validation.bleu, "bleu_signature": validation.bleu_signature}
        self._write_model(self._averaged, {"steps": position.step, "valid": scores})

    def _validated(self, position: Position, validation: Validation, is_best: bool) -> None:
        if self._metrics is None:
            return
        self._metrics.append(
            {
                "kind": "valid",
                "step": position.step,
                "loss": validation.log_loss,
                "perplexity": validation.perplexity,
                "bleu": validation.bleu,
                "best": is_best,
                "elapsed_s": position.elapsed_s,
            }
        )
        self._draw()
        self._reporter.validated(position, validation, is_best)

    def _write_model(self, weights: dict[str, Tensor], facts: dict[str, Any]) -> None:
        facts = {"averaged": self.recipe.training.average_last, **facts, **self._origin}
        write_model(self.folder / "model", self.recipe, self.prepared, weights, facts)

    def _draw(self) -> None:
        if self._metrics is not None and self._metrics.path.exists() and self._metrics.path.stat().st_size:
            draw_curves(self._metrics.path, self.folder / "curves.png")


def build_model(recipe: Recipe, prepared: PreparedData) -> Transformer:
    """A model of the recipe's shape for a prepared vocabulary, its weights random.

    Raises:
        RecipeError: the shape does not go with two vocabularies.
    """
    sizes = (prepared.source_tokenizer.vocab_size, prepared.target_tokenizer.vocab_size)
    try:
        return Transformer(recipe.model, *sizes)
    except ValueError as error:
        raise RecipeError(f"{recipe.name}: model.{error}") from error


def _languages(translates: PreparedData | ModelDescription) -> str:
    return f"{translates.source_language}-{translates.target_language}"


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


def batch_stream(recipe: Recipe, prepared: PreparedData) -> BatchStream:
    """The batches that a recipe trains on."""
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
        )
    weights = mix(recipe, prepared)
    configs = {corpus.name: corpus for corpus in recipe.data.corpora} if recipe.data else {}
    tags = [configs[name].source_tag or "" for name in prepared.corpora]
    kinds = [tags.index(tag) for tag in tags]
    return BatchStream(list(prepared.corpora.values()), weights, config, rewriting, kinds)


def mix(recipe: Recipe, prepared: PreparedData) -> list[float]:
    """How often each pair of each corpus comes in an epoch, by the recipe's weights and shares, in the corpora's order.

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

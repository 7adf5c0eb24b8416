"""Training a recipe into a run folder.

RUN/recipe.toml     the recipe as resolved          RUN/metrics.jsonl   a line of figures every so many steps
RUN/run.json        prepared data, model tuned      RUN/curves.png      the same as pictures
RUN/checkpoints/    what to go on from              RUN/model/          the best averaged model so far
"""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from attendo.checkpoint import (
    Checkpoint,
    Checkpoints,
    ModelDescription,
    load_model,
    load_weights,
    mean_weights,
    named_weights,
)
from attendo.errors import ModelError, RecipeError
from attendo.files import write_json, write_text
from attendo.model.transformer import Transformer
from attendo.recipe import Recipe, load_recipe, to_toml
from attendo.text.corpora import epoch_weights
from attendo.text.prepared import PreparedData
from attendo.training.batches import BatchStream, Rewriting
from attendo.training.loop import Ending, Hooks, Position, StepMetrics, Validation, run
from attendo.training.state import export_state, import_state
from attendo.training.update import make_optimizer
from attendo.workflow.curves import draw_curves
from attendo.workflow.device import choose_device
from attendo.workflow.initial_model import initial_facts
from attendo.workflow.metrics import MetricsLog
from attendo.workflow.model_folder import write_model
from attendo.workflow.preparation import PreparationReporter
from attendo.workflow.validation import Validator


class Reporter(PreparationReporter, Protocol):
    """Who is told how a run goes."""

    def training(self, metrics: StepMetrics, max_steps: int) -> None:
        """Another update is made."""

    def validated(self, position: Position, validation: Validation, is_best: bool) -> None:
        """A validation is done."""


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """What a sitting of training came to."""

    run: Path
    model: Path | None
    """The best averaged model, if there is one yet."""
    ending: Ending
    position: Position


def check_new_run(folder: Path) -> None:
    """Refuses a folder that a new run would spoil.

    Raises:
        ModelError: there is a run already, or the path is a file.
    """
    if (folder / "checkpoints").is_dir() or (folder / "recipe.toml").exists():
        raise ModelError(f"{folder}: holds a run already; go on with --resume -o {folder}, or name another folder")
    if folder.exists() and not folder.is_dir():
        raise ModelError(f"{folder}: is a file; name a folder for the run with -o")


def start_run(recipe: Recipe, folder: Path, prepared: Path) -> None:
    """Makes a run folder for a recipe.

    Args:
        recipe: as resolved; where it fine-tunes a model, by `workflow.initial_model`.
        folder: the run folder to make.
        prepared: the folder of its prepared data.

    Raises:
        ModelError: there is a run already, or the model to fine-tune cannot be read.
    """
    check_new_run(folder)
    facts = initial_facts(recipe)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "run.json", {"format_version": 1, "prepared": str(prepared.resolve()), **facts})
    write_text(folder / "recipe.toml", to_toml(recipe))


def resume_run(folder: Path, overrides: list[str]) -> tuple[Recipe, Path]:
    """Reads a run folder's recipe and where its prepared data is.

    Raises:
        ModelError: the folder is no run.
    """
    if not (folder / "recipe.toml").is_file() or not (folder / "run.json").is_file():
        raise ModelError(f"{folder}: no run to resume (recipe.toml or run.json is missing); leave out --resume")
    try:
        prepared = Path(_read_run(folder)["prepared"])
    except (KeyError, TypeError) as error:
        raise ModelError(f"{folder / 'run.json'}: cannot be read ({error})") from error
    return load_recipe(str(folder / "recipe.toml"), overrides), prepared


def origin(folder: Path) -> dict[str, Any]:
    """What a run folder knows of the model it fine-tunes, under `init_from`; empty where it began from scratch.

    Raises:
        ModelError: the folder's run.json cannot be read.
    """
    content = _read_run(folder)
    return {"init_from": content["init_from"]} if "init_from" in content else {}


def _read_run(folder: Path) -> dict[str, Any]:
    path = folder / "run.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: cannot be read ({error})") from error
    if not isinstance(content, dict):
        raise ModelError(f"{path}: cannot be read (it holds no table)")
    return content


class TrainingRun:
    """A run folder with a recipe, its data, its model and where it stands.

    Args:
        recipe: as resolved.
        folder: the run folder, made by `start_run`.
        prepared: the data.
        reporter: who is told.

    Raises:
        ModelError: no checkpoint of the folder is whole, or `training.init_from` does not fit.
        AttendoError: a GPU is asked for and there is none.
    """

    def __init__(self, recipe: Recipe, folder: Path, prepared: PreparedData, reporter: Reporter) -> None:
        self.recipe, self.folder, self.prepared = recipe, folder, prepared
        self._reporter = reporter
        config = recipe.training
        if config.threads is not None:
            torch.set_num_threads(config.threads)
        device = choose_device(config.device)
        torch.manual_seed(config.seed)
        self.model = build_model(recipe, prepared).to(device)
        self._checkpoints = Checkpoints(folder / "checkpoints", config.average_last)
        self._optimizer = make_optimizer(self.model, config)
        self.position = Position()
        checkpoint = self._checkpoints.latest()
        if checkpoint is not None:
            self._go_on_from(checkpoint)
        elif config.init_from is not None:
            theirs = load_initial_weights(self.model, Path(config.init_from), prepared)
            ours, other = _languages(prepared), _languages(theirs)
            reporter.message(f"fine-tuning {config.init_from}{f', which is {other} and no {ours}' * (ours != other)}")
        self._origin = origin(folder)
        self._metrics = MetricsLog(folder, self.position.step, tensorboard=config.tensorboard)
        self._stream = batch_stream(recipe, prepared)
        self._averaged: dict[str, Tensor] = {}  # what was validated last
        self._validator = None
        if prepared.valid is not None:
            valid_model = build_model(recipe, prepared).to(device)
            self._validator = Validator(valid_model, prepared, config, recipe.search)
        if checkpoint is not None:
            # Building a second model drew random numbers: only now are the generators as the checkpoint left them.
            import_state(self.model, self._optimizer, checkpoint.training, str(checkpoint.folder))

    def train(self, should_stop: Callable[[], bool]) -> RunOutcome:
        """Trains on from where the run stands.

        Args:
            should_stop: asked between updates; when it says yes, the run is saved and ends.
        """
        hooks = Hooks(
            progress=lambda metrics: self._reporter.training(metrics, self.recipe.training.max_steps),
            log=self._log,
            save=self._save,
            validate=self._validate if self._validator is not None else None,
            keep_best=self._keep_best,
            validated=self._validated,
            should_stop=should_stop,
        )
        if self.recipe.training.init_from is not None and self.position == Position():
            self._validate_start()
        self.position, ending = run(
            self.model, self._optimizer, self._stream, self.position, self.recipe.training, hooks
        )
        model = self.folder / "model"
        if self.position.step and (self._validator is None or not model.is_dir()):
            self._write_model(self._average(self.position), {"steps": self.position.step})
        self._draw()
        there = model if model.is_dir() else None
        return RunOutcome(run=self.folder, model=there, ending=ending, position=self.position)

    def _validate_start(self) -> None:
        """Validates the model that is fine-tuned: the gain is seen from there, and what is worse is not kept."""
        if self._validator is None:
            return
        started = time.monotonic()
        validation = self._validate(self.position)
        self.position = replace(self.position, best_score=validation.score, elapsed_s=time.monotonic() - started)
        self._keep_best(self.position, validation)
        self._validated(self.position, validation, True)

    def _go_on_from(self, checkpoint: Checkpoint) -> None:
        load_weights(self.model, checkpoint.weights, checkpoint.folder / "weights.safetensors")
        try:
            self.position = Position(**checkpoint.state["position"])
        except (KeyError, TypeError) as error:
            raise ModelError(f"{checkpoint.folder / 'state.json'}: not of this attendo ({error})") from error
        self._reporter.message(f"resuming at step {self.position.step} from {checkpoint.folder.name}")

    def _log(self, metrics: StepMetrics) -> None:
        self._metrics.append({"kind": "train", **asdict(metrics)})

    def _save(self, position: Position, regular: bool) -> None:
        self._checkpoints.save(
            position.step,
            regular=regular,
            state={"position": asdict(position)},
            weights=named_weights(self.model),
            training=export_state(self.model, self._optimizer),
        )

    def _average(self, position: Position) -> dict[str, Tensor]:
        """The mean of the last regular checkpoints and the present weights, `average_last` in all."""
        earlier = self._checkpoints.last_weights(self.recipe.training.average_last - 1, before=position.step)
        present = {name: value.cpu() for name, value in named_weights(self.model).items()}
        return mean_weights([*earlier, present])

    def _validate(self, position: Position) -> Validation:
        assert self._validator is not None
        self._averaged = self._average(position)
        return self._validator(self._averaged)

    def _keep_best(self, position: Position, validation: Validation) -> None:
        scores: dict[str, Any] = {"perplexity": validation.perplexity, "log_loss": validation.log_loss}
        if validation.bleu is not None:
            scores |= {"bleu": validation.bleu, "bleu_signature": validation.bleu_signature}
        self._write_model(self._averaged, {"steps": position.step, "valid": scores})

    def _validated(self, position: Position, validation: Validation, is_best: bool) -> None:
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
        if self._metrics.path.exists() and self._metrics.path.stat().st_size:
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

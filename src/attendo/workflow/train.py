"""Training a recipe into a run folder.

RUN/recipe.toml     the recipe as resolved          RUN/metrics.jsonl   a line of figures every so many steps
RUN/run.json        where its prepared data is      RUN/curves.png      the same as pictures
RUN/checkpoints/    what to go on from              RUN/model/          the best averaged model so far
"""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from attendo.checkpoint import (
    Checkpoint,
    Checkpoints,
    find_model,
    load_model,
    load_weights,
    mean_weights,
    named_weights,
)
from attendo.errors import ModelError, RecipeError
from attendo.files import write_json, write_text
from attendo.model.transformer import Transformer
from attendo.recipe import Recipe, load_recipe, to_toml
from attendo.text.prepared import PreparedData
from attendo.training.batches import BatchStream, Segmentation
from attendo.training.loop import Ending, Hooks, Position, StepMetrics, Validation, run
from attendo.training.state import export_state, import_state
from attendo.training.update import make_optimizer
from attendo.workflow.curves import draw_curves
from attendo.workflow.device import choose_device
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

    Raises:
        ModelError: there is a run already.
    """
    check_new_run(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "run.json", {"format_version": 1, "prepared": str(prepared.resolve())})
    write_text(folder / "recipe.toml", to_toml(recipe))


def resume_run(folder: Path, overrides: list[str]) -> tuple[Recipe, Path]:
    """Reads a run folder's recipe and where its prepared data is.

    Raises:
        ModelError: the folder is no run.
    """
    if not (folder / "recipe.toml").is_file() or not (folder / "run.json").is_file():
        raise ModelError(f"{folder}: no run to resume (recipe.toml or run.json is missing); leave out --resume")
    try:
        prepared = Path(json.loads((folder / "run.json").read_text(encoding="utf-8"))["prepared"])
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{folder / 'run.json'}: cannot be read ({error})") from error
    return load_recipe(str(folder / "recipe.toml"), overrides), prepared


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
        self._metrics = MetricsLog(folder, self.position.step, tensorboard=config.tensorboard)
        self._stream = BatchStream(
            list(prepared.corpora.values()),
            [prepared.weights[name] for name in prepared.corpora],
            config,
            _segmentation(recipe, prepared),
        )
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
        self.position, ending = run(
            self.model, self._optimizer, self._stream, self.position, self.recipe.training, hooks
        )
        model = self.folder / "model"
        if self.position.step and (self._validator is None or not model.is_dir()):
            self._write_model(self._average(self.position), {"steps": self.position.step})
        self._draw()
        there = model if model.is_dir() else None
        return RunOutcome(run=self.folder, model=there, ending=ending, position=self.position)

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
        facts = {"averaged": self.recipe.training.average_last, **facts}
        write_model(self.folder / "model", self.recipe, self.prepared, weights, facts)

    def _draw(self) -> None:
        if self._metrics.path.exists() and self._metrics.path.stat().st_size:
            draw_curves(self._metrics.path, self.folder / "curves.png")


def build_model(recipe: Recipe, prepared: PreparedData) -> Transformer:
    """A model of the recipe's shape for a prepared vocabulary, its weights random or those of `training.init_from`.

    Raises:
        RecipeError: the shape does not go with two vocabularies.
        ModelError: the other model's weights or vocabulary do not fit.
    """
    sizes = (prepared.source_tokenizer.vocab_size, prepared.target_tokenizer.vocab_size)
    try:
        model = Transformer(recipe.model, *sizes)
    except ValueError as error:
        raise RecipeError(f"{recipe.name}: model.{error}") from error
    if recipe.training.init_from is None:
        return model
    other = load_model(find_model(recipe.training.init_from))
    tokenizers = (
        (other.source_tokenizer, prepared.source_tokenizer),
        (other.target_tokenizer, prepared.target_tokenizer),
    )
    if any(theirs.serialized != ours.serialized for theirs, ours in tokenizers):
        raise ModelError(f"{other.folder}: training.init_from needs the model's own vocabulary, but data has another")
    load_weights(model, named_weights(other.transformer), other.folder)
    return model


def _segmentation(recipe: Recipe, prepared: PreparedData) -> Segmentation | None:
    if not recipe.tokenizer.bpe_dropout:
        return None
    return Segmentation(
        source_tokenizer=prepared.source_tokenizer,
        target_tokenizer=prepared.target_tokenizer,
        dropout=recipe.tokenizer.bpe_dropout,
    )

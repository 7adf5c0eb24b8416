"""Training a recipe in its run folder (`workflow.runs.run_folder`), by one process or several."""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from attendo.checkpoint.run_checkpoints import Checkpoint, Checkpoints
from attendo.checkpoint.sharded import ShardedSave
from attendo.checkpoint.weights import mean_weights, named_weights
from attendo.errors import AttendoError, ModelError
from attendo.files import recover
from attendo.native.library import describe
from attendo.recipe import Recipe, Task
from attendo.text.prepared import PreparedData
from attendo.training.determinism import same_bits
from attendo.training.divergence import Divergence, all_finite
from attendo.training.drafting import train_drafter
from attendo.training.hooks import Ending, Hooks, Validation
from attendo.training.loop import run
from attendo.training.memory import kept_memory
from attendo.training.meter import StepMetrics
from attendo.training.position import Position, position_of
from attendo.training.processes import Processes
from attendo.training.replica import replica_of
from attendo.training.state import blank_state, export_state
from attendo.training.update import make_optimizer
from attendo.workflow.machine.brief_waits import brief_waits
from attendo.workflow.machine.device import choose_device, set_threads, waiting_advice
from attendo.workflow.runs.curves import draw_curves
from attendo.workflow.runs.metrics import MetricsLog
from attendo.workflow.runs.model_folder import write_model
from attendo.workflow.runs.model_memory import check_memory
from attendo.workflow.runs.reporting import Reporter
from attendo.workflow.runs.run_batches import batch_stream, num_workers
from attendo.workflow.runs.run_folder import origin, remember_split, remembered_split, require_run
from attendo.workflow.runs.run_model import build_model, languages, load_initial_weights, teacher_of, what_is_trained
from attendo.workflow.runs.skipped import SKIPPED, name_skipped
from attendo.workflow.runs.validation import Validator


@dataclass(frozen=True, kw_only=True)
class RunOutcome:
    """The result of a training session."""

    run: Path
    task: Task
    """The model's task."""
    model: Path | None
    """The best averaged model, if there is one yet."""
    ending: Ending
    position: Position


class TrainingRun:
    """A run folder with its recipe, data, model and position.

    Each of several processes has one; the first one writes, validates and reports. Hold `run_folder.run_lock`, so that
    nothing else trains in the folder.

    Args:
        recipe: the resolved recipe.
        folder: the run folder, made by `start_run`.
        prepared: the prepared data.
        reporter: receives progress and messages.
        processes: the processes that train together; None for a single process.

    Raises:
        ModelError: no checkpoint of the folder is complete, or `training.init_from` does not fit.
        AttendoError: the recipe needs a GPU and there is none.
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
        set_threads(config.threads)
        self._device = choose_device(config.device, self._processes.local_rank)
        if advice := waiting_advice(self._device):
            reporter.message(advice)
        share = self._processes.size if config.sharding == "full" else 1
        sizes = (prepared.source_tokenizer.vocab_size, prepared.target_tokenizer.vocab_size)
        check_memory(recipe, *sizes, self._device, share=share)
        torch.manual_seed(config.seed)
        self.model = build_model(recipe, prepared)
        # One more than an average needs, so that all its checkpoints exist after going back by one.
        self._checkpoints = Checkpoints(folder / "checkpoints", config.average_last + 1)
        self._saving: ShardedSave | None = None
        # A model to fine-tune is validated first: gains are measured from there, and a worse model is never kept.
        self.position = Position(validation_due=config.init_from is not None and prepared.valid is not None)
        newest = self._processes.main_first("checkpoint", self._newest_checkpoint)
        if not newest and config.init_from is not None:
            theirs = load_initial_weights(self.model, Path(config.init_from), prepared)
            reporter.message(what_is_trained(recipe, theirs, languages(prepared)))
        if self.model.drafter is not None:
            train_drafter(self.model, alone=config.drafter == "alone")
        self._origin = origin(folder)
        self._teacher = teacher_of(recipe, prepared, self._origin, self._device)
        if self._processes.size == 1:
            self.model.to(self._device)
            self._replica = None
        else:
            self._replica = replica_of(self.model, config, self._processes, self._device, self._teacher)
        self._optimizer = make_optimizer(self.model, config)
        blank_state(self.model, self._optimizer)
        self._is_new = not newest
        if newest:
            checkpoint = self._checkpoints.named(newest)
            self.position = self._restored(checkpoint)
            reporter.message(f"resuming at step {self.position.step} from {newest}")
            self._compare_circumstances(checkpoint)
        if self._processes.size > 1 and (split := remembered_split(folder)):
            self.position = replace(self.position, max_tokens_at_once=split)
        workers = num_workers(config.workers, self._device, self._processes.size)
        self._stream = batch_stream(recipe, prepared, workers)
        self._averaged: dict[str, Tensor] = {}  # the weights that were validated last
        self._num_rollbacks = 0
        is_main = self._processes.is_main
        self._metrics = self._open_metrics() if is_main else None
        self._validator = self._make_validator() if is_main and prepared.valid is not None else None

    def train(self, should_stop: Callable[[], bool]) -> RunOutcome:
        """Continues training from the current position.

        Args:
            should_stop: called between updates; when it returns True in any process, the run is saved and ends.
        """

        def validate(position: Position) -> Validation | None:
            return self._validate(position, should_stop)

        hooks = Hooks(
            progress=lambda metrics: self._reporter.training(metrics, self.recipe.training.max_steps),
            log=self._log,
            save=self._save,
            is_sound=self._is_sound,
            validate=validate if self.prepared.valid is not None else None,
            keep_best=self._keep_best,
            validated=self._validated,
            roll_back=self._roll_back,
            split=self._split,
            should_stop=should_stop,
        )
        config = self.recipe.training
        if self._is_new:  # so that training can always go back, and an unwritable disk is noticed at once
            self._save(self.position, False)
        with brief_waits(), kept_memory(), same_bits(self._device, config.deterministic):
            self.position, ending = run(
                self.model, self._optimizer, self._stream, self.position, config, hooks, self._replica, self._teacher
            )
        self._finish_saving()
        model = self.folder / "model"
        (is_missing,) = self._processes.of_main([self.prepared.valid is None or not model.is_dir()])
        if self.position.step and is_missing:
            averaged = self._average(self.position)
            if self._processes.is_main:
                self._write_model(averaged, {"steps": self.position.step})
        self._draw()
        best = model if model.is_dir() else None
        return RunOutcome(run=self.folder, task=self.recipe.task, model=best, ending=ending, position=self.position)

    def _open_metrics(self) -> MetricsLog:
        start, tensorboard = self.position, self.recipe.training.tensorboard
        metrics = MetricsLog(self.folder, start.step, validation_due=start.validation_due, tensorboard=tensorboard)
        if metrics.bad_lines:
            self._reporter.message(f"{metrics.path}: {metrics.bad_lines} lines could not be read, left out")
        return metrics

    def _make_validator(self) -> Validator:
        recipe = self.recipe
        model = build_model(recipe, self.prepared).to(self._device)
        return Validator(model, self.prepared, recipe.training, recipe.search, recipe.parsing)

    # --- resuming, and going back ---

    def _newest_checkpoint(self) -> str:
        """Returns the name of the checkpoint to resume from; empty if there is none."""
        recover(self.folder)
        self._checkpoints.remove_drafts()
        checkpoint = self._checkpoints.latest(self._reporter.message)
        if checkpoint is None:
            return ""
        # A process that was killed before it pruned has left checkpoints that are no longer needed.
        self._checkpoints.prune(checkpoint.step, _protected(_position_of(checkpoint)))
        return checkpoint.folder.name

    def _restored(self, checkpoint: Checkpoint) -> Position:
        """Restores the model and the optimiser from a checkpoint, and returns its position."""
        checkpoint.read(named_weights(self.model))
        training = export_state(self.model, self._optimizer)
        if checkpoint.has_training_state:
            checkpoint.read(training)
        else:  # a checkpoint that an earlier attendo wrote before the first update
            for value in training.values():
                value.zero_()
        return _position_of(checkpoint)

    def _roll_back(self, divergence: Divergence) -> Position:
        self._finish_saving()
        self._num_rollbacks += 1
        name = self._processes.main_first(f"rollback-{self._num_rollbacks}", lambda: self._find_way_back(divergence))
        checkpoint = self._checkpoints.named(name)
        position = self._restored(checkpoint)
        if self._metrics is not None:
            self._metrics.back_to(position.step, validation_due=position.validation_due)
        self._reporter.message(
            f"step {divergence.position.step}: {divergence.what}; going back to step {position.step} and leaving out "
            f"{len(divergence.suspects)} batches, whose pairs {self.folder / SKIPPED} names"
        )
        return position

    def _find_way_back(self, divergence: Divergence) -> str:
        """Returns the name of the newest checkpoint from before training diverged, and removes those after it."""
        require_run(self.folder)
        name_skipped(self.folder, divergence, self._stream, self.prepared)
        report = self._reporter.message
        checkpoint = self._checkpoints.latest(report, before=divergence.before()) or self._checkpoints.latest(report)
        if checkpoint is None:
            raise ModelError(f"{self._checkpoints.folder}: training diverged, and there is no checkpoint to go back to")
        self._checkpoints.drop_after(checkpoint.step)
        return checkpoint.folder.name

    def _split(self, position: Position, max_tokens: int) -> None:
        where = f"step {position.step + 1}: memory does not hold the update"
        if self._processes.size > 1:
            remember_split(self.folder, max_tokens)
            raise AttendoError(
                f"process {self._processes.rank + 1} of {self._processes.size}, {where}; the next start takes pieces "
                f"of {max_tokens:,} tokens, gradients added up: continue with --resume (torchrun --max-restarts does)"
            )
        self._reporter.message(
            f"{where} at once; from now on in pieces of {max_tokens:,} tokens, their gradients added up "
            f"(training.max_tokens_at_once = {max_tokens} begins so)"
        )

    def _compare_circumstances(self, checkpoint: Checkpoint) -> None:
        """Reports changes since the checkpoint that can alter the last bits of the resumed run's results."""
        then, now = checkpoint.state.get("circumstances"), self._circumstances()
        if isinstance(then, dict):
            changed = [f"{key} {then.get(key)}, now {value}" for key, value in now.items() if then.get(key) != value]
            if changed:
                self._reporter.message(f"the last bits may differ from an uninterrupted run's: {'; '.join(changed)}")

    def _circumstances(self) -> dict[str, str | int]:
        """Returns the circumstances on which the last bits of an update depend besides the recipe."""
        return {
            "processes": self._processes.size,
            "threads": torch.get_num_threads(),
            "device": torch.cuda.get_device_name(self._device) if self._device.type == "cuda" else self._device.type,
            "kernels": describe(),
            "torch": torch.__version__,
        }

    # --- saving ---

    def _save(self, position: Position, regular: bool) -> None:
        if self._metrics is not None:
            require_run(self.folder)
            self._metrics.flush()  # so that no line of a saved step can be lost
        state = {"position": asdict(position), "circumstances": self._circumstances()}
        weights, training = named_weights(self.model), export_state(self.model, self._optimizer)
        protected = _protected(position)
        if self._processes.saving is None:
            self._checkpoints.save(
                position.step, regular=regular, state=state, weights=weights, training=training, protected=protected
            )
            return
        self._finish_saving()
        self._saving = self._checkpoints.start_saving(
            position.step,
            regular=regular,
            state=state,
            weights=weights,
            training=training,
            group=self._processes.saving,
            protected=protected,
        )

    def _is_sound(self) -> bool:
        return all_finite({**named_weights(self.model), **export_state(self.model, self._optimizer)})

    def _finish_saving(self) -> None:
        """Waits for the checkpoint that is being written, so that it is whole."""
        if self._saving is not None:
            self._saving.wait()
            self._saving = None

    # --- validating ---

    def _average(self, position: Position) -> dict[str, Tensor]:
        """The mean of the last regular checkpoints and the current weights, `average_last` in all.

        Every process must call it; all but the first one receive an empty dictionary.
        """
        if self._replica is None:
            present = {name: value.cpu() for name, value in named_weights(self.model).items()}
        else:
            present = self._replica.full_weights()
        if not self._processes.is_main:
            return {}
        self._finish_saving()
        earlier = self._checkpoints.last_weights(
            self.recipe.training.average_last - 1, before=position.step, report=self._reporter.message
        )
        return mean_weights([*earlier, present])

    def _validate(self, position: Position, should_stop: Callable[[], bool]) -> Validation | None:
        """Validates in the first process; the others wait for the result, which decides how all continue."""
        self._averaged = self._average(position)
        result: Validation | None = Validation(log_loss=math.nan, bleu=None)
        if self._processes.is_main:
            assert self._validator is not None
            result = self._validator(self._averaged, should_stop)
        scores = [math.nan if value is None else value for value in (result.bleu, result.f1)] if result else [0.0, 0.0]
        is_done, log_loss, *scores = self._processes.of_main(
            [result is not None, result.log_loss if result else 0.0, *scores]
        )
        if not is_done or result is None:
            return None
        bleu, f1 = (None if math.isnan(value) else value for value in scores)
        return replace(result, log_loss=log_loss, bleu=bleu, f1=f1)

    def _keep_best(self, position: Position, validation: Validation) -> None:
        if not self._processes.is_main:
            return
        scores: dict[str, Any] = {"perplexity": validation.perplexity, "log_loss": validation.log_loss}
        if validation.bleu is not None:
            scores |= {"bleu": validation.bleu, "bleu_signature": validation.bleu_signature}
        if validation.f1 is not None:
            scores |= {"f1": validation.f1, "f1_signature": validation.f1_signature}
        self._write_model(self._averaged, {"steps": position.step, "valid": scores})

    def _write_model(self, weights: dict[str, Tensor], facts: dict[str, Any]) -> None:
        require_run(self.folder)
        facts = {"averaged": self.recipe.training.average_last, **facts, **self._origin}
        write_model(self.folder / "model", self.recipe, self.prepared, weights, facts)

    # --- reporting ---

    def _log(self, metrics: StepMetrics) -> None:
        if self._metrics is not None:
            self._metrics.append({"kind": "train", **asdict(metrics)})

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
                **({} if validation.f1 is None else {"f1": validation.f1}),
                "best": is_best,
                "elapsed_s": position.elapsed_s,
                "target_tokens": position.target_tokens,
            }
        )
        self._draw()
        self._reporter.validated(position, validation, is_best)

    def _draw(self) -> None:
        if self._metrics is None:
            return
        require_run(self.folder)
        if self._metrics.path.exists() and self._metrics.path.stat().st_size:
            draw_curves(self._metrics.path, self.folder / "curves.png")


def _position_of(checkpoint: Checkpoint) -> Position:
    try:
        return position_of(checkpoint.state["position"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"{checkpoint.folder / 'state.json'}: not of this attendo ({error})") from error


def _protected(position: Position) -> tuple[int, ...]:
    """The steps whose checkpoints are never pruned: that of the best validation, if there was one."""
    return () if position.best_score is None else (position.best_step,)

"""The training loop (Section 5): updates, and between them checkpoints, validation, going back and stopping."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import torch

from attendo.errors import AttendoError
from attendo.model.products import fast_float32_products
from attendo.model.transformer import Transformer
from attendo.training.batches import BatchStream
from attendo.training.config import TrainingConfig
from attendo.training.divergence import Divergence, DivergenceError, Watch, give_up
from attendo.training.hooks import Ending, Hooks
from attendo.training.loader import LoadedUpdate, Prefetched, idle_piece, load_updates
from attendo.training.memory import is_out_of_memory, smaller_pieces
from attendo.training.meter import Meter
from attendo.training.passes.forward import Collate, collate_for
from attendo.training.position import Position
from attendo.training.processes import Processes
from attendo.training.replica import Replica
from attendo.training.schedule import learning_rate
from attendo.training.teacher import Teacher
from attendo.training.update import UpdateResult, update

_GLANCE_STEPS = 10
"""Number of updates between two looks at the loss on a GPU: each check waits for the device."""


def run(
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    stream: BatchStream,
    position: Position,
    config: TrainingConfig,
    hooks: Hooks,
    replica: Replica | None = None,
    teacher: Teacher | None = None,
) -> tuple[Position, Ending]:
    """Trains from a position until the recipe, the validation or the user ends it.

    With several processes each runs the loop, and all take the same path: information of a single process, such as its
    clock or a signal, is shared before anything depends on it.

    When training diverges, it goes back to an earlier checkpoint and skips the batches that may be the cause; an update
    that does not fit into memory is repeated in smaller pieces.

    Args:
        model: the model, on its device.
        optimizer: the optimiser, with its state at the position.
        stream: the data of all processes together.
        position: the start; `Position()` for the beginning.
        config: the regime.
        hooks: the functions to call.
        replica: this process's part of a model that several train; None for a single process.
        teacher: the model that distilled lines are learned from, for one process; None for none.

    Returns:
        The position and why training ended. A checkpoint of that position has been saved.

    Raises:
        AttendoError: training diverges repeatedly, or a single pair does not fit into memory.
        LostProcessError: another process has ended.
    """
    processes = Processes() if replica is None else replica.processes
    collate = collate_for(model)
    trainee = _Trainee(model, optimizer, config, replica, collate, teacher)
    clock = _Clock(position.elapsed_s, processes)
    model.train()
    while True:
        size = position.max_tokens_at_once or config.max_tokens_at_once
        updates = load_updates(stream, position, size, collate, processes.rank, processes.size)
        found: Divergence | _DoesNotFit
        with Prefetched(updates) as loader:
            try:
                return _Session(trainee, loader, clock, hooks).train(position)
            except DivergenceError as error:
                found = error.divergence
            except _DoesNotFitError as error:
                found = error.where
        # Here the error is freed, and with it the activations and gradients held by its frames.
        if isinstance(found, Divergence):
            restored = hooks.roll_back(found)
            if found.position.rollbacks >= config.max_rollbacks:
                raise give_up(found, config)
            position = found.gone_back(restored)
        else:
            optimizer.zero_grad(set_to_none=True)
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            hooks.split(found.position, found.max_tokens_at_once)
            position = replace(found.position, max_tokens_at_once=found.max_tokens_at_once)


@dataclass(frozen=True, kw_only=True)
class _DoesNotFit:
    """An update that does not fit into memory."""

    position: Position
    """The position before the update."""
    max_tokens_at_once: int
    """The size of pieces to try next."""


class _DoesNotFitError(Exception):
    def __init__(self, where: _DoesNotFit) -> None:
        self.where = where


class _Trainee:
    """A model with everything that an update needs."""

    def __init__(
        self,
        model: Transformer,
        optimizer: torch.optim.Optimizer,
        config: TrainingConfig,
        replica: Replica | None,
        collate: Collate,
        teacher: Teacher | None,
    ) -> None:
        self.model, self.config = model, config
        self.processes = Processes() if replica is None else replica.processes
        self._optimizer, self._collate, self._teacher = optimizer, collate, teacher
        self._accumulate = None if replica is None else replica.accumulate

    def update(self, loaded: LoadedUpdate, num_pieces: int, step: int) -> UpdateResult:
        """Makes an update, in as many pieces as the process with the most pieces needs."""
        idle = [idle_piece(self._collate) for _ in range(num_pieces - len(loaded.pieces))]
        pieces = [*loaded.pieces, *idle]
        # Dropout depends on the step alone, so that resuming needs no states of generators.
        torch.manual_seed(dropout_seed(self.config.seed, step, self.processes.rank))
        with fast_float32_products(self.model.output_weight.device):
            return update(
                self.model,
                self._optimizer,
                pieces,
                loaded.num_tokens,
                step,
                self.config,
                self._accumulate,
                self._teacher,
            )


class _Session:
    """Training from a position until it ends or has to go back."""

    def __init__(self, trainee: _Trainee, loader: Iterator[LoadedUpdate], clock: "_Clock", hooks: Hooks) -> None:
        self._trainee, self._loader, self._clock, self._hooks = trainee, loader, clock, hooks
        self._config, self._processes = trainee.config, trainee.processes
        self._on_cpu = trainee.model.output_weight.device.type == "cpu"

    def train(self, position: Position) -> tuple[Position, Ending]:
        """Trains to an end.

        Raises:
            DivergenceError: training has diverged.
            _DoesNotFitError: an update does not fit into memory.
        """
        config, hooks = self._config, self._hooks
        self._meter = Meter(position, self._processes)
        self._watch = Watch(position, config, self._trainee.model.tgt_vocab_size)
        if position.validation_due:
            position, ending = self._validate(position, _ending(position, config))
            if ending:
                return position, ending
        if _is_out_of_patience(position, config):  # the run had ended before
            return position, Ending.PATIENCE
        while position.step < config.max_steps:
            loaded = self._load(position)
            stop, num_pieces = self._processes.largest(hooks.should_stop(), max(1, len(loaded.pieces)))
            if stop:
                return self._interrupted(position)
            position = self._update(loaded, int(num_pieces), position)
            ending, is_due = _ending(position, config), _is_due(position, config)
            position = self._check_loss(position, must=ending is not None or is_due)
            if ending or is_due:
                position, ending = self._checkpoint(position, ending)
            if ending:
                return position, ending
        return position, Ending.STEPS

    def _load(self, position: Position) -> LoadedUpdate:
        try:
            return next(self._loader)
        except MemoryError:
            raise AttendoError(
                f"step {position.step + 1}: not enough memory for the batches that are prepared for it; lower "
                "training.max_tokens, or provide more memory and continue with --resume"
            ) from None

    def _update(self, loaded: LoadedUpdate, num_pieces: int, position: Position) -> Position:
        step = position.step + 1
        try:
            result = self._trainee.update(loaded, num_pieces, step)
        except (RuntimeError, MemoryError) as error:
            if not is_out_of_memory(error):
                raise
            raise self._does_not_fit(loaded, position) from None
        self._meter.add(result)
        position = replace(
            position.at(loaded.place),
            step=step,
            target_tokens=position.target_tokens + loaded.num_tokens,
            elapsed_s=self._clock.read(),
        )
        self._watch.used(position)
        return position

    def _does_not_fit(self, loaded: LoadedUpdate, position: Position) -> Exception:
        size = smaller_pieces(loaded, position.max_tokens_at_once or self._config.max_tokens_at_once)
        if size is None:
            return AttendoError(
                f"step {position.step + 1}: not enough memory for one pair of {loaded.longest} tokens beside weights, "
                "gradients and Adam's state; take a smaller model or vocabulary, or lower data.cleaning.max_tokens"
            )
        return _DoesNotFitError(_DoesNotFit(position=position, max_tokens_at_once=size))

    def _check_loss(self, position: Position, *, must: bool) -> Position:
        """Checks and reports the loss, if that is due."""
        is_logged = position.step % self._config.log_steps == 0
        if not (self._on_cpu or must or is_logged or position.step % _GLANCE_STEPS == 0):
            return position
        position = self._watch.look(position, self._meter.look())
        rate = learning_rate(position.step, self._trainee.model.config.d_model, self._config)
        metrics = self._meter.metrics(position, rate)
        self._hooks.progress(metrics)
        if is_logged:
            self._hooks.log(metrics)
            self._meter.start_line()
        return position

    def _checkpoint(self, position: Position, ending: Ending | None) -> tuple[Position, Ending | None]:
        """Saves, then validates if due, and returns whether to end.

        In this order, a signal or a kill during the validation costs no update: resuming starts with the validation.
        """
        with self._pause():
            self._check_soundness(position)
            due = self._hooks.validate is not None and (ending is not None or _eval_is_due(position, self._config))
            if position.step > position.diverged_step:
                position = replace(position, rollbacks=0)
            position = replace(position, checkpoint_s=position.elapsed_s, validation_due=due)
            position = self._meter.state(position)
            self._hooks.save(position, True)
        return self._validate(position, ending) if due else (position, ending)

    def _validate(self, position: Position, ending: Ending | None) -> tuple[Position, Ending | None]:
        """Validates after a checkpoint; the result is saved with the next one, or here at the end."""
        hooks = self._hooks
        assert hooks.validate is not None
        with self._pause():
            validation = hooks.validate(position)
            self._trainee.model.train()
            if validation is None:
                return replace(position, elapsed_s=self._clock.read()), Ending.INTERRUPTED
            score = validation.score
            is_best = np.isfinite(score) and (position.best_score is None or score > position.best_score)
            position = replace(position, validation_due=False, evals_without_best=position.evals_without_best + 1)
            if is_best:
                position = replace(position, best_score=score, best_step=position.step, evals_without_best=0)
                hooks.keep_best(position, validation)
            hooks.validated(position, validation, bool(is_best))
            position = replace(position, elapsed_s=self._clock.read())
            ending = ending or (Ending.PATIENCE if _is_out_of_patience(position, self._config) else None)
            if ending:
                hooks.save(position, True)
        return position, ending

    def _interrupted(self, position: Position) -> tuple[Position, Ending]:
        self._check_soundness(position)
        position = self._meter.state(replace(position, elapsed_s=self._clock.read()))
        self._hooks.save(position, False)
        return position, Ending.INTERRUPTED

    def _check_soundness(self, position: Position) -> None:
        """Raises a DivergenceError if an update has made the weights infinite, before they are saved."""
        (spoiled,) = self._processes.largest(not self._hooks.is_sound())
        if spoiled:
            raise self._watch.error(position, "weights or Adam's state are no longer finite")

    @contextmanager
    def _pause(self) -> Iterator[None]:
        paused = time.monotonic()
        yield
        self._meter.pause(time.monotonic() - paused)


class _Clock:
    """Seconds of training over all sessions, equal in all processes."""

    def __init__(self, elapsed_s: float, processes: Processes) -> None:
        self._started = time.monotonic() - elapsed_s
        self._processes = processes

    def read(self) -> float:
        """The seconds so far; every process must call it."""
        (elapsed_s,) = self._processes.largest(time.monotonic() - self._started)
        return elapsed_s


def dropout_seed(seed: int, step: int, rank: int) -> int:
    """Returns the seed of an update's dropout on one process; it is the same if the update is repeated, and unique.

    Args:
        seed: the seed of the run.
        step: the update, from 1.
        rank: the process.
    """
    return int(np.random.SeedSequence([seed, step, rank]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _ending(position: Position, config: TrainingConfig) -> Ending | None:
    if position.step >= config.max_steps:
        return Ending.STEPS
    if config.max_minutes is not None and position.elapsed_s >= 60 * config.max_minutes:
        return Ending.MINUTES
    return None


def _is_out_of_patience(position: Position, config: TrainingConfig) -> bool:
    """Whether `patience` validations in a row have brought no better model."""
    return config.patience is not None and position.evals_without_best >= config.patience


def _is_due(position: Position, config: TrainingConfig) -> bool:
    """Whether a checkpoint is due: by steps, by time, or because a validation is due, which follows a checkpoint."""
    by_steps = config.checkpoint_steps is not None and position.step % config.checkpoint_steps == 0
    by_time = (
        config.checkpoint_steps is None
        and config.checkpoint_minutes is not None
        and position.elapsed_s - position.checkpoint_s >= 60 * config.checkpoint_minutes
    )
    return by_steps or by_time or _eval_is_due(position, config)


def _eval_is_due(position: Position, config: TrainingConfig) -> bool:
    return config.eval_steps is not None and position.step % config.eval_steps == 0

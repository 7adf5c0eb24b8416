"""The training loop (Section 5): updates, and between them checkpoints, validation and a way to stop.

The loop knows nothing of folders, text or terminals: what it does with them goes through the functions of `Hooks`.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
import torch

from attendo.errors import AttendoError
from attendo.model.products import fast_float32_products
from attendo.model.transformer import Transformer
from attendo.training.batches import BatchStream
from attendo.training.config import TrainingConfig
from attendo.training.forward import Collate, collate_for
from attendo.training.loader import LoadedUpdate, Prefetched, idle_piece, load_updates
from attendo.training.processes import Processes
from attendo.training.replica import Replica
from attendo.training.schedule import learning_rate
from attendo.training.update import UpdateResult, update

_GLANCE_STEPS = 10
"""On a GPU the loss is looked at only so often: each look waits for the device."""


@dataclass(frozen=True, kw_only=True)
class Position:
    """Where a run stands: with the weights and Adam's state, all that going on needs."""

    step: int = 0
    """Updates made."""
    epoch: int = 0
    """The epoch being read, from 0."""
    batch: int = 0
    """Batches of it that are done."""
    target_tokens: int = 0
    """Target tokens trained on, without padding."""
    elapsed_s: float = 0.0
    """Seconds of training, validation and saving, in all sittings."""
    checkpoint_s: float = 0.0
    """`elapsed_s` at the last regular checkpoint."""
    best_score: float | None = None
    """The best validation so far; higher is better."""
    best_step: int = 0
    """Where it was."""
    evals_without_best: int = 0
    """Validations since."""


@dataclass(frozen=True, kw_only=True)
class StepMetrics:
    """What a log line tells; means since the last one."""

    step: int
    loss: float
    """Label-smoothed, nats a target token: what is minimised."""
    log_loss: float
    """Without smoothing, nats a target token."""
    learning_rate: float
    target_tokens_per_s: float
    """Without padding."""
    elapsed_s: float
    epoch: int


@dataclass(frozen=True, kw_only=True)
class Validation:
    """What a validation found."""

    log_loss: float
    """Nats a target token, without smoothing."""
    bleu: float | None
    """None where nothing was translated."""
    bleu_signature: str = ""
    """What BLEU was counted with."""

    @property
    def perplexity(self) -> float:
        """A word piece's, exp of `log_loss`."""
        return math.exp(min(self.log_loss, 700.0))

    @property
    def score(self) -> float:
        """What decides which model is best; higher is better."""
        return -self.log_loss if self.bleu is None else self.bleu


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """What the loop calls."""

    progress: Callable[[StepMetrics], None]
    """After each update, with means since the last log line; must be cheap."""
    log: Callable[[StepMetrics], None]
    """Every `log_steps` updates."""
    save: Callable[[Position, bool], None]
    """Writes a checkpoint; the flag says whether it is a regular one, which counts in the average. It may be written
    while training goes on, but holds what is so now."""
    validate: Callable[[Position], Validation] | None
    """Validates the mean of the last checkpoints and the present weights; None where nothing can be validated."""
    keep_best: Callable[[Position, Validation], None]
    """Keeps the model just validated: it is the best so far."""
    validated: Callable[[Position, Validation, bool], None]
    """Tells of a validation, and whether it is the best so far."""
    should_stop: Callable[[], bool]
    """Asked between updates: whether the user wants to stop."""


class Ending(Enum):
    """Why the loop ended."""

    STEPS = "max_steps reached"
    MINUTES = "max_minutes reached"
    PATIENCE = "no better validation for long (patience)"
    INTERRUPTED = "interrupted"


class _Meter:
    """Means since the last log line."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self._num_tokens = 0
        self._smoothed = self._log_loss = torch.zeros((), dtype=torch.float64)

    def add(self, result: UpdateResult) -> None:
        self._num_tokens += result.num_tokens
        self._smoothed = self._smoothed.to(result.smoothed.device) + result.smoothed
        self._log_loss = self._log_loss.to(result.log_loss.device) + result.log_loss

    def metrics(self, position: Position, rate: float, processes: Processes) -> StepMetrics:
        smoothed, log_loss, num_tokens = processes.sums(
            float(self._smoothed), float(self._log_loss), float(self._num_tokens)
        )
        return StepMetrics(
            step=position.step,
            loss=smoothed / num_tokens,
            log_loss=log_loss / num_tokens,
            learning_rate=rate,
            target_tokens_per_s=num_tokens / max(time.monotonic() - self.started, 1e-9),
            elapsed_s=position.elapsed_s,
            epoch=position.epoch,
        )


def run(
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    stream: BatchStream,
    position: Position,
    config: TrainingConfig,
    hooks: Hooks,
    replica: Replica | None = None,
) -> tuple[Position, Ending]:
    """Trains from a position until the recipe, the validation or the user says that it is enough.

    Of several processes each runs the loop, and all come through it alike: what only one of them knows, such as its
    clock or a signal, is agreed on before anything follows from it.

    Args:
        model: on its device.
        optimizer: with its state, as of the position.
        stream: the data, of all processes together.
        position: where to start; `Position()` for the beginning.
        config: the regime.
        hooks: what to call.
        replica: what this process has of a model that several train; None for one process.

    Returns:
        Where the run stands, and why it ended. A checkpoint of that position has been saved.

    Raises:
        AttendoError: the loss is no longer a number.
        LostProcessError: another process has ended.
    """
    processes = Processes() if replica is None else replica.processes
    collate = collate_for(model)
    updates = load_updates(
        stream, position.epoch, position.batch, config.max_tokens_at_once, collate, processes.rank, processes.size
    )
    model.train()
    with Prefetched(updates) as loader:
        return _train(_Trainee(model, optimizer, config, replica, collate), loader, position, hooks)


class _Trainee:
    """A model with all that an update of it takes."""

    def __init__(
        self,
        model: Transformer,
        optimizer: torch.optim.Optimizer,
        config: TrainingConfig,
        replica: Replica | None,
        collate: Collate,
    ) -> None:
        self.model, self.config = model, config
        self.processes = Processes() if replica is None else replica.processes
        self._optimizer, self._collate = optimizer, collate
        self._accumulate = None if replica is None else replica.accumulate

    def update(self, loaded: LoadedUpdate, num_pieces: int, step: int) -> UpdateResult:
        """Makes an update, in as many pieces as the process with the most of them has."""
        idle = [idle_piece(self._collate) for _ in range(num_pieces - len(loaded.pieces))]
        pieces = [*loaded.pieces, *idle]
        # The numbers of dropout follow from the step alone, so that going on takes no generators' states.
        torch.manual_seed(dropout_seed(self.config.seed, step, self.processes.rank))
        with fast_float32_products(self.model.output_weight.device):
            return update(self.model, self._optimizer, pieces, loaded.num_tokens, step, self.config, self._accumulate)


def _train(
    trainee: _Trainee, loader: Iterator[LoadedUpdate], position: Position, hooks: Hooks
) -> tuple[Position, Ending]:
    model, config, processes = trainee.model, trainee.config, trainee.processes
    on_cpu = model.output_weight.device.type == "cpu"
    clock = _Clock(position.elapsed_s, processes)
    meter = _Meter()
    while position.step < config.max_steps:
        loaded = next(loader)
        stop, num_pieces = processes.largest(hooks.should_stop(), max(1, len(loaded.pieces)))
        if stop:
            hooks.save(replace(position, elapsed_s=clock.read()), False)
            return position, Ending.INTERRUPTED
        step = position.step + 1
        meter.add(trainee.update(loaded, int(num_pieces), step))
        position = replace(
            position,
            step=step,
            epoch=loaded.epoch,
            batch=loaded.batch,
            target_tokens=position.target_tokens + loaded.num_tokens,
            elapsed_s=clock.read(),
        )
        if on_cpu or step % _GLANCE_STEPS == 0 or step % config.log_steps == 0:
            metrics = meter.metrics(position, learning_rate(step, model.config.d_model, config), processes)
            _check_loss(metrics)
            hooks.progress(metrics)
            if step % config.log_steps == 0:
                hooks.log(metrics)
                meter = _Meter()
        ending = _ending(position, config)
        if ending or _is_due(position, config):
            paused = time.monotonic()
            position, bored = _checkpoint(model, position, config, hooks, last=ending is not None)
            meter.started += time.monotonic() - paused  # the rate is training's alone
            position = replace(position, elapsed_s=clock.read())
            ending = ending or (Ending.PATIENCE if bored else None)
        if ending:
            return position, ending
    return position, Ending.STEPS


class _Clock:
    """Seconds of training in all sittings, the same in all processes."""

    def __init__(self, elapsed_s: float, processes: Processes) -> None:
        self._started = time.monotonic() - elapsed_s
        self._processes = processes

    def read(self) -> float:
        """The seconds by now; each process has to ask."""
        (elapsed_s,) = self._processes.largest(time.monotonic() - self._started)
        return elapsed_s


def dropout_seed(seed: int, step: int, rank: int) -> int:
    """What a process draws an update's dropout from: the same when the update is made again, never another's.

    Args:
        seed: of the run.
        step: the update, from 1.
        rank: the process.
    """
    return int(np.random.SeedSequence([seed, step, rank]).generate_state(1, np.uint64)[0] >> np.uint64(1))


def _check_loss(metrics: StepMetrics) -> None:
    if not math.isfinite(metrics.loss):
        raise AttendoError(
            f"step {metrics.step}: the loss is {metrics.loss}; the last checkpoint is from before. Lower "
            "training.learning_rate_factor (or peak_learning_rate) or raise training.warmup_steps, and look for odd "
            "pairs in the corpora"
        )


def _ending(position: Position, config: TrainingConfig) -> Ending | None:
    if position.step >= config.max_steps:
        return Ending.STEPS
    if config.max_minutes is not None and position.elapsed_s >= 60 * config.max_minutes:
        return Ending.MINUTES
    return None


def _is_due(position: Position, config: TrainingConfig) -> bool:
    """Whether a checkpoint is due: by steps, by time, or because validation comes behind one."""
    by_steps = config.checkpoint_steps is not None and position.step % config.checkpoint_steps == 0
    by_time = (
        config.checkpoint_steps is None
        and config.checkpoint_minutes is not None
        and position.elapsed_s - position.checkpoint_s >= 60 * config.checkpoint_minutes
    )
    return by_steps or by_time or _eval_is_due(position, config)


def _eval_is_due(position: Position, config: TrainingConfig) -> bool:
    return config.eval_steps is not None and position.step % config.eval_steps == 0


def _checkpoint(
    model: Transformer, position: Position, config: TrainingConfig, hooks: Hooks, *, last: bool
) -> tuple[Position, bool]:
    """Validates where that is due, then saves, so that a checkpoint knows the best so far; says whether to end."""
    bored = False
    if hooks.validate is not None and (last or _eval_is_due(position, config)):
        validation = hooks.validate(position)
        model.train()
        is_best = position.best_score is None or validation.score > position.best_score
        if is_best:
            position = replace(position, best_score=validation.score, best_step=position.step, evals_without_best=0)
            hooks.keep_best(position, validation)
        else:
            position = replace(position, evals_without_best=position.evals_without_best + 1)
        hooks.validated(position, validation, is_best)
        bored = config.patience is not None and position.evals_without_best >= config.patience
    position = replace(position, checkpoint_s=position.elapsed_s)
    hooks.save(position, True)
    return position, bored

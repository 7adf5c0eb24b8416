"""The loop on a constructed problem: endings, what it calls and when, and that resumed equals uninterrupted."""

import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from attendo.errors import AttendoError
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.text.shards import PairShards, ShardWriter
from attendo.training.batches import BatchStream
from attendo.training.config import TrainingConfig
from attendo.training.loop import Ending, Hooks, Position, StepMetrics, Validation, dropout_seed, run
from attendo.training.state import blank_state, export_state
from attendo.training.update import make_optimizer

SHAPE = ModelConfig(d_model=16, d_ff=24, num_layers=1, num_heads=2, dropout=0.2)


@dataclass
class Recorder:
    """Hooks that write down what they are called with."""

    stop_after: int | None = None
    scores: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    losses: dict[int, float] = field(default_factory=dict)
    saved: list[tuple[int, bool, Position]] = field(default_factory=list)
    best: list[int] = field(default_factory=list)
    validated: list[tuple[int, bool]] = field(default_factory=list)
    logged: list[int] = field(default_factory=list)

    def hooks(self) -> Hooks:
        scores = iter(self.scores)

        def progress(metrics: StepMetrics) -> None:
            self.steps.append(metrics.step)
            self.losses[metrics.step] = metrics.loss

        def validate(position: Position) -> Validation:
            return Validation(log_loss=1.0, bleu=next(scores))

        return Hooks(
            progress=progress,
            log=lambda metrics: self.logged.append(metrics.step),
            save=lambda position, regular: self.saved.append((position.step, regular, position)),
            validate=validate if self.scores else None,
            keep_best=lambda position, validation: self.best.append(position.step),
            validated=lambda position, validation, is_best: self.validated.append((position.step, is_best)),
            should_stop=lambda: self.stop_after is not None and bool(self.steps) and self.steps[-1] >= self.stop_after,
        )


@pytest.fixture
def pairs(tmp_path: Path) -> PairShards:
    rng = np.random.default_rng(0)
    with ShardWriter(tmp_path, "digits", vocab_size=20) as writer:
        for _ in range(60):
            ids = rng.integers(2, 20, rng.integers(1, 8)).tolist()
            writer.add([*ids, 0], [*reversed(ids), 0])
    return PairShards.open(tmp_path, "digits")


def make(pairs: PairShards, config: TrainingConfig) -> tuple[Transformer, torch.optim.Optimizer, BatchStream]:
    torch.manual_seed(config.seed)
    model = Transformer(SHAPE, 20, 20)
    return model, make_optimizer(model, config), BatchStream([pairs], [1.0], config)


def test_ends_at_max_steps_and_saves(pairs: PairShards) -> None:
    config = TrainingConfig(
        max_steps=7, max_tokens=40, checkpoint_steps=3, log_steps=2, warmup_steps=5, eval_steps=None
    )
    recorder = Recorder()
    position, ending = run(*make(pairs, config), Position(), config, recorder.hooks())
    assert ending is Ending.STEPS
    assert recorder.steps == [1, 2, 3, 4, 5, 6, 7]
    assert recorder.logged == [2, 4, 6]
    assert [(step, regular) for step, regular, _ in recorder.saved] == [(3, True), (6, True), (7, True)]
    assert position.step == 7
    assert position.target_tokens > 7 * 20


@pytest.mark.parametrize("stop_after", [1, 4, 9, 11])
def test_resumed_equals_uninterrupted(pairs: PairShards, stop_after: int) -> None:
    config = TrainingConfig(
        max_steps=14, max_tokens=40, checkpoint_steps=5, warmup_steps=5, eval_steps=None, log_steps=1
    )
    whole = make(pairs, config)
    uninterrupted = Recorder()
    run(*whole, Position(), config, uninterrupted.hooks())

    model, optimizer, stream = make(pairs, config)
    first = Recorder(stop_after=stop_after)
    _, ending = run(model, optimizer, stream, Position(), config, first.hooks())
    assert ending is Ending.INTERRUPTED
    saved_step, regular, position = first.saved[-1]
    assert (saved_step, regular) == (stop_after, False)
    weights: dict[str, Tensor] = {name: value.detach().clone() for name, value in model.named_parameters()}
    state = {name: value.clone() for name, value in export_state(model, optimizer).items()}

    torch.manual_seed(99)  # a new process has other random numbers
    model, optimizer, stream = make(pairs, replace(config))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])
    blank = blank_state(model, optimizer)
    assert blank.keys() == state.keys()
    for name, value in blank.items():
        value.copy_(state[name])
    second = Recorder()
    run(model, optimizer, stream, position, config, second.hooks())

    assert first.losses | second.losses == uninterrupted.losses
    for (name, a), b in zip(model.named_parameters(), whole[0].parameters(), strict=True):
        assert torch.equal(a, b), name


def test_best_and_patience(pairs: PairShards) -> None:
    config = TrainingConfig(max_steps=100, max_tokens=40, checkpoint_steps=2, eval_steps=2, warmup_steps=5, patience=2)
    recorder = Recorder(scores=[10.0, 30.0, 20.0, 30.0, 50.0])
    position, ending = run(*make(pairs, config), Position(), config, recorder.hooks())
    assert ending is Ending.PATIENCE
    assert recorder.best == [2, 4]
    assert recorder.validated == [(2, True), (4, True), (6, False), (8, False)]
    assert (position.best_score, position.best_step, position.step) == (30.0, 4, 8)
    assert recorder.saved[-1][2].evals_without_best == 2, "a checkpoint knows what its validation found"


def test_time_ends_it_too_and_validates_at_the_end(pairs: PairShards) -> None:
    config = TrainingConfig(max_steps=10_000, max_minutes=0.001, max_tokens=40, warmup_steps=5, eval_steps=5000)
    recorder = Recorder(scores=[1.0])
    position, ending = run(*make(pairs, config), Position(), config, recorder.hooks())
    assert ending is Ending.MINUTES
    assert recorder.validated == [(position.step, True)]


def test_checkpoints_by_time(pairs: PairShards) -> None:
    config = TrainingConfig(max_steps=6, max_tokens=40, warmup_steps=5, eval_steps=None, checkpoint_minutes=1e-9)
    recorder = Recorder()
    run(*make(pairs, config), Position(), config, recorder.hooks())
    assert [step for step, _, _ in recorder.saved] == [1, 2, 3, 4, 5, 6]


def test_a_loss_that_is_no_number_ends_with_a_message(pairs: PairShards) -> None:
    config = TrainingConfig(max_steps=5, max_tokens=40, warmup_steps=5, eval_steps=None)
    model, optimizer, stream = make(pairs, config)
    with torch.no_grad():
        model.output_weight[3] = float("nan")
    with pytest.raises(AttendoError, match="step 1: the loss is nan"):
        run(model, optimizer, stream, Position(), config, Recorder().hooks())


def test_pieces_of_a_batch_train_alike(pairs: PairShards) -> None:
    """Accumulated pieces and whole batches give the same weights but for rounding (dropout 0)."""
    found = []
    for at_once in (None, 10):
        config = TrainingConfig(max_steps=5, max_tokens=60, max_tokens_at_once=at_once, warmup_steps=5, eval_steps=None)
        torch.manual_seed(1)
        model = Transformer(replace(SHAPE, dropout=0.0), 20, 20)
        stream = BatchStream([pairs], [1.0], config)
        run(model, make_optimizer(model, config), stream, Position(), config, Recorder().hooks())
        found.append(model)
    for a, b in zip(found[0].parameters(), found[1].parameters(), strict=True):
        assert torch.allclose(a, b, atol=1e-3)


def test_validation_is_left_out_of_the_rate(pairs: PairShards, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]

    def tick() -> float:
        clock[0] += 0.001
        return clock[0]

    monkeypatch.setattr(time, "monotonic", tick)
    config = TrainingConfig(
        max_steps=3, max_tokens=40, checkpoint_steps=2, eval_steps=2, warmup_steps=5, log_steps=3, average_last=1
    )
    rates: list[float] = []

    def validate(position: Position) -> Validation:
        clock[0] += 1000.0
        return Validation(log_loss=1.0, bleu=None)

    hooks = replace(
        Recorder().hooks(), validate=validate, log=lambda metrics: rates.append(metrics.target_tokens_per_s)
    )
    position, _ = run(*make(pairs, config), Position(), config, hooks)
    assert position.elapsed_s > 1000
    assert rates[0] > 1000, "some hundred tokens in some hundredths of a second of this clock"


def test_dropout_differs_by_update_and_process() -> None:
    seeds = {dropout_seed(seed, step, rank) for seed in (0, 1, 2) for step in range(1, 50) for rank in range(8)}
    assert len(seeds) == 3 * 49 * 8
    assert dropout_seed(1, 7, 3) == dropout_seed(1, 7, 3)
    torch.manual_seed(max(seeds))  # torch takes all of them

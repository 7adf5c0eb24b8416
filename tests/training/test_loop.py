"""The loop on a constructed problem: endings, what it calls and when, and that resumed equals uninterrupted."""

import json
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from torch import Tensor

from attendo.errors import AttendoError
from attendo.model.config import AttentionFunction, EncoderLayerType, ModelConfig
from attendo.model.transformer import Transformer
from attendo.text.shards import PairShards, ShardWriter
from attendo.training.batches import BatchStream, Place
from attendo.training.config import TrainingConfig
from attendo.training.divergence import Divergence, all_finite
from attendo.training.hooks import Ending, Hooks, Validation
from attendo.training.loop import dropout_seed, run
from attendo.training.meter import StepMetrics
from attendo.training.passes.forward import TrainingBatch
from attendo.training.position import Position, position_of
from attendo.training.state import blank_state, export_state
from attendo.training.update import UpdateResult, batch_loss, make_optimizer, update

SHAPE = ModelConfig(d_model=16, d_ff=24, num_layers=1, num_heads=2, dropout=0.2)


@dataclass(frozen=True, kw_only=True)
class Saved:
    """A checkpoint, in memory."""

    step: int
    regular: bool
    position: Position
    weights: dict[str, Tensor]
    state: dict[str, Tensor]


@dataclass
class Recorder:
    """Hooks that write down what they are called with, and keep checkpoints in memory."""

    stop_after: int | None = None
    scores: list[float | None] = field(default_factory=list)
    """What validations find; None where they are stopped."""
    steps: list[int] = field(default_factory=list)
    losses: dict[int, float] = field(default_factory=dict)
    saved: list[Saved] = field(default_factory=list)
    best: list[int] = field(default_factory=list)
    validated: list[tuple[int, bool]] = field(default_factory=list)
    logged: dict[int, StepMetrics] = field(default_factory=dict)
    diverged: list[Divergence] = field(default_factory=list)
    split: list[tuple[int, int]] = field(default_factory=list)

    def hooks(self, model: Transformer, optimizer: torch.optim.Optimizer) -> Hooks:
        scores = iter(self.scores)

        def progress(metrics: StepMetrics) -> None:
            self.steps.append(metrics.step)
            self.losses[metrics.step] = metrics.loss

        def save(position: Position, regular: bool) -> None:
            tensors = (dict(model.named_parameters()), export_state(model, optimizer))
            weights, state = ({name: value.detach().clone() for name, value in part.items()} for part in tensors)
            # What a checkpoint keeps of a position is its JSON.
            kept = position_of(json.loads(json.dumps(asdict(position))))
            assert kept == position
            self.saved.append(Saved(step=position.step, regular=regular, position=kept, weights=weights, state=state))

        def validate(position: Position) -> Validation | None:
            assert self.saved[-1].step == position.step, "what is validated is saved already"
            score = next(scores)
            return None if score is None else Validation(log_loss=1.0, bleu=score)

        def roll_back(found: Divergence) -> Position:
            self.diverged.append(found)
            before = [saved for saved in self.saved if saved.step < found.before()]
            self.saved = before
            restore(before[-1], model, optimizer)
            return before[-1].position

        return Hooks(
            progress=progress,
            log=lambda metrics: self.logged.update({metrics.step: metrics}),
            save=save,
            is_sound=lambda: all_finite({**dict(model.named_parameters()), **export_state(model, optimizer)}),
            validate=validate if self.scores else None,
            keep_best=lambda position, validation: self.best.append(position.step),
            validated=lambda position, validation, is_best: self.validated.append((position.step, is_best)),
            roll_back=roll_back,
            split=lambda position, size: self.split.append((position.step, size)),
            should_stop=lambda: self.stop_after is not None and bool(self.steps) and self.steps[-1] >= self.stop_after,
        )


def restore(saved: Saved, model: Transformer, optimizer: torch.optim.Optimizer) -> None:
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(saved.weights[name])
    state = export_state(model, optimizer)
    assert state.keys() == saved.state.keys()
    for name, value in state.items():
        value.copy_(saved.state[name])


@pytest.fixture
def pairs(tmp_path: Path) -> PairShards:
    rng = np.random.default_rng(0)
    with ShardWriter(tmp_path, "digits", vocab_size=20) as writer:
        for _ in range(60):
            ids = rng.integers(2, 20, rng.integers(1, 8)).tolist()
            writer.add([*ids, 0], [*reversed(ids), 0])
    return PairShards.open(tmp_path, "digits", (1 << 16, 1 << 16))


def make(
    pairs: PairShards, config: TrainingConfig, shape: ModelConfig | None = None
) -> tuple[Transformer, torch.optim.Optimizer, BatchStream]:
    torch.manual_seed(config.seed)
    model = Transformer(shape or SHAPE, 20, 20)
    optimizer = make_optimizer(model, config)
    blank_state(model, optimizer)
    return model, optimizer, BatchStream([pairs], [1.0], config)


def train(
    pairs: PairShards,
    config: TrainingConfig,
    recorder: Recorder,
    start: Saved | None = None,
    shape: ModelConfig | None = None,
) -> tuple[Transformer, Position, Ending]:
    """Trains from a checkpoint, or from the beginning, which is saved first."""
    model, optimizer, stream = make(pairs, config, shape)
    hooks = recorder.hooks(model, optimizer)
    if start is None:
        hooks.save(Position(), False)
    else:
        torch.manual_seed(99)  # a new process has other random numbers
        restore(start, model, optimizer)
        recorder.saved.append(start)
    position, ending = run(model, optimizer, stream, start.position if start else Position(), config, hooks)
    return model, position, ending


def saved_steps(recorder: Recorder) -> list[tuple[int, bool]]:
    """Behind the beginning."""
    return [(saved.step, saved.regular) for saved in recorder.saved if saved.step]


def untimed(metrics: StepMetrics) -> StepMetrics:
    return replace(metrics, elapsed_s=0.0, target_tokens_per_s=0.0)


def assert_same(a: Transformer, b: Transformer) -> None:
    for (name, one), other in zip(a.named_parameters(), b.parameters(), strict=True):
        assert torch.equal(one, other), name


def test_ends_at_max_steps_and_saves(pairs: PairShards) -> None:
    config = TrainingConfig(
        max_steps=7, max_tokens=40, checkpoint_steps=3, log_steps=2, warmup_steps=5, eval_steps=None
    )
    recorder = Recorder()
    _, position, ending = train(pairs, config, recorder)
    assert ending is Ending.STEPS
    assert recorder.steps == [1, 2, 3, 4, 5, 6, 7]
    assert list(recorder.logged) == [2, 4, 6]
    assert saved_steps(recorder) == [(3, True), (6, True), (7, True)]
    assert position.step == 7
    assert position.target_tokens > 7 * 20


@pytest.mark.parametrize("stop_after", [1, 4, 9, 11])
def test_resumed_equals_uninterrupted(pairs: PairShards, stop_after: int) -> None:
    """In weights, losses and log lines, which here are means over 3 updates and so begin before the interruption."""
    config = TrainingConfig(
        max_steps=14, max_tokens=40, checkpoint_steps=5, warmup_steps=5, eval_steps=None, log_steps=3
    )
    uninterrupted = Recorder()
    whole, end, _ = train(pairs, config, uninterrupted)
    first = Recorder(stop_after=stop_after)
    _, _, ending = train(pairs, config, first)
    assert ending is Ending.INTERRUPTED
    assert (first.saved[-1].step, first.saved[-1].regular) == (stop_after, False)
    second = Recorder()
    resumed, resumed_end, _ = train(pairs, config, second, first.saved[-1])
    assert first.losses | second.losses == uninterrupted.losses
    assert {step: untimed(line) for step, line in (first.logged | second.logged).items()} == {
        step: untimed(line) for step, line in uninterrupted.logged.items()
    }
    assert_same(resumed, whole)
    assert replace(resumed_end, elapsed_s=0, checkpoint_s=0) == replace(end, elapsed_s=0, checkpoint_s=0)


@pytest.mark.parametrize("function", get_args(AttentionFunction))
def test_every_attention_function_goes_on_as_if_uninterrupted(pairs: PairShards, function: AttentionFunction) -> None:
    shape = replace(SHAPE, attention_function=function, attention_dropout=0.2)
    config = TrainingConfig(max_steps=5, max_tokens=40, checkpoint_steps=5, warmup_steps=5, eval_steps=None)
    whole, first, second = Recorder(), Recorder(stop_after=2), Recorder()
    expected, *_ = train(pairs, config, whole, shape=shape)
    train(pairs, config, first, shape=shape)
    resumed, *_ = train(pairs, config, second, first.saved[-1], shape=shape)
    assert first.losses | second.losses == whole.losses
    assert_same(resumed, expected)


@pytest.mark.parametrize("encoder", get_args(EncoderLayerType))
def test_every_layer_type_goes_on_as_if_uninterrupted(pairs: PairShards, encoder: EncoderLayerType) -> None:
    shape = replace(
        SHAPE,
        num_layers=2,
        encoder_layer=encoder,
        decoder_layer="restricted-self-attention",
        window=3,
        attention_dropout=0.2,
    )
    config = TrainingConfig(max_steps=5, max_tokens=40, checkpoint_steps=5, warmup_steps=5, eval_steps=None)
    whole, first, second = Recorder(), Recorder(stop_after=2), Recorder()
    expected, *_ = train(pairs, config, whole, shape=shape)
    train(pairs, config, first, shape=shape)
    resumed, *_ = train(pairs, config, second, first.saved[-1], shape=shape)
    assert first.losses | second.losses == whole.losses
    assert_same(resumed, expected)


def test_best_and_patience(pairs: PairShards) -> None:
    config = TrainingConfig(max_steps=100, max_tokens=40, checkpoint_steps=2, eval_steps=2, warmup_steps=5, patience=2)
    recorder = Recorder(scores=[10.0, 30.0, 20.0, 30.0, 50.0])
    _, position, ending = train(pairs, config, recorder)
    assert ending is Ending.PATIENCE
    assert recorder.best == [2, 4]
    assert recorder.validated == [(2, True), (4, True), (6, False), (8, False)]
    assert (position.best_score, position.best_step, position.step) == (30.0, 4, 8)
    assert recorder.saved[-1].position.evals_without_best == 2, "the last checkpoint knows what its validation found"
    again = Recorder(scores=[99.0, 1.0, 1.0, 1.0])
    assert train(pairs, config, again, recorder.saved[-1])[1:] == (recorder.saved[-1].position, Ending.PATIENCE)
    _, position, ending = train(pairs, replace(config, patience=3), again, recorder.saved[-1])
    assert (position.best_step, again.validated[0]) == (10, (10, True)), "with more patience it goes on"


def test_a_validation_that_is_stopped_comes_first_when_going_on(pairs: PairShards) -> None:
    config = TrainingConfig(max_steps=6, max_tokens=40, checkpoint_steps=2, eval_steps=2, warmup_steps=5)
    uninterrupted = Recorder(scores=[10.0, 30.0, 20.0])
    whole, end, _ = train(pairs, config, uninterrupted)
    first = Recorder(scores=[10.0, None])
    _, stopped, ending = train(pairs, config, first)
    assert ending is Ending.INTERRUPTED
    assert (stopped.step, stopped.validation_due) == (4, True)
    assert first.validated == [(2, True)]
    # So does a run that was killed while it validated: the checkpoint is from before.
    assert (first.saved[-1].step, first.saved[-1].position.validation_due) == (4, True)
    second = Recorder(scores=[30.0, 20.0])
    resumed, resumed_end, _ = train(pairs, config, second, first.saved[-1])
    assert second.validated == [(4, True), (6, False)]
    assert (resumed_end.best_score, resumed_end.best_step, resumed_end.evals_without_best) == (30.0, 4, 1)
    assert end.best_score == resumed_end.best_score
    assert not second.saved[-1].position.validation_due
    assert_same(resumed, whole)
    again = Recorder(scores=[99.0])
    _, position, ending = train(pairs, config, again, second.saved[-1])
    assert (ending, again.validated, position.step) == (Ending.STEPS, [], 6), "what is done is not done twice"


def test_a_score_that_is_no_number_is_never_the_best(pairs: PairShards) -> None:
    config = TrainingConfig(max_steps=4, max_tokens=40, eval_steps=2, warmup_steps=5)
    recorder = Recorder(scores=[float("nan"), 1.0])
    _, position, _ = train(pairs, config, recorder)
    assert recorder.validated == [(2, False), (4, True)]
    assert position.best_score == 1.0


def test_time_ends_it_too_and_validates_at_the_end(pairs: PairShards) -> None:
    config = TrainingConfig(max_steps=10_000, max_minutes=0.001, max_tokens=40, warmup_steps=5, eval_steps=5000)
    recorder = Recorder(scores=[1.0])
    _, position, ending = train(pairs, config, recorder)
    assert ending is Ending.MINUTES
    assert recorder.validated == [(position.step, True)]


def test_checkpoints_by_time(pairs: PairShards) -> None:
    config = TrainingConfig(max_steps=6, max_tokens=40, warmup_steps=5, eval_steps=None, checkpoint_minutes=1e-9)
    recorder = Recorder()
    train(pairs, config, recorder)
    assert [step for step, _ in saved_steps(recorder)] == [1, 2, 3, 4, 5, 6]


def test_pieces_of_a_batch_train_alike(pairs: PairShards) -> None:
    """Accumulated pieces and whole batches give the same weights but for rounding (dropout 0)."""
    found = []
    for at_once in (None, 10):
        config = TrainingConfig(max_steps=5, max_tokens=60, max_tokens_at_once=at_once, warmup_steps=5, eval_steps=None)
        torch.manual_seed(1)
        model = Transformer(replace(SHAPE, dropout=0.0), 20, 20)
        optimizer = make_optimizer(model, config)
        hooks = Recorder().hooks(model, optimizer)
        run(model, optimizer, BatchStream([pairs], [1.0], config), Position(), config, hooks)
        found.append(model)
    for a, b in zip(found[0].parameters(), found[1].parameters(), strict=True):
        assert torch.allclose(a, b, atol=1e-3)


# --- divergence ---


Fault = Callable[[int, UpdateResult, Transformer], UpdateResult]
"""What becomes of an update: its number, what it gave, and the model behind it."""


def break_updates(monkeypatch: pytest.MonkeyPatch, fault: Fault, marked: int | None = None) -> list[int]:
    """Has updates go wrong behind the loop's back.

    Args:
        monkeypatch: undoes it.
        fault: what happens.
        marked: an id; only updates with it in their targets are broken. None for all.

    Returns:
        The steps that went wrong, as they do.
    """
    broken: list[int] = []

    def wrong(
        model: Transformer, optimizer: torch.optim.Optimizer, pieces: Iterable[TrainingBatch], num_tokens: int,
        step: int, *rest: Any,
    ) -> UpdateResult:  # fmt: skip
        kept = list(pieces)
        result = update(model, optimizer, kept, num_tokens, step, *rest)
        if marked is not None and not any(bool((piece.tgt_ids == marked).any()) for piece in kept):
            return result
        broken.append(step)
        return fault(step, result, model)

    monkeypatch.setattr("attendo.training.loop.update", wrong)
    return broken


def loss_is_nan(step: int, result: UpdateResult, model: Transformer) -> UpdateResult:
    return result._replace(log_loss=result.log_loss * float("nan"))


def loss_is_high(step: int, result: UpdateResult, model: Transformer) -> UpdateResult:
    return result._replace(log_loss=result.log_loss + 100.0 * result.num_tokens)


def weights_are_spoiled(step: int, result: UpdateResult, model: Transformer) -> UpdateResult:
    """As by a gradient that is not finite: this loss is fine, the next one is not."""
    with torch.no_grad():
        model.output_weight[3] = float("inf")
    return result


@pytest.fixture
def marked_pairs(tmp_path: Path) -> PairShards:
    """Pairs of ids up to 18, but for one, with a 19."""
    rng = np.random.default_rng(1)
    with ShardWriter(tmp_path / "marked", "digits", vocab_size=20) as writer:
        for number in range(300):
            ids = [19, 19, 19] if number == 150 else rng.integers(2, 19, rng.integers(1, 8)).tolist()
            writer.add([*ids, 0], [*reversed(ids), 0])
    return PairShards.open(tmp_path / "marked", "digits", (1 << 16, 1 << 16))


LONG = TrainingConfig(
    max_steps=40, max_tokens=40, checkpoint_steps=4, warmup_steps=50, eval_steps=None, log_steps=3, max_loss_rise=50.0
)


def marked_step(pairs: PairShards, mark: int) -> int:
    """The first update with a pair that has an id."""
    batches = BatchStream([pairs], [1.0], LONG).from_place(Place())
    return next(place.batch for place, batch in batches if any(mark in row for row in batch.target))


@pytest.mark.parametrize(
    ("fault", "shows_behind", "told"),
    [(loss_is_nan, 0, 0), (loss_is_high, 0, 0), (weights_are_spoiled, 1, 1), (weights_are_spoiled, 0, 1)],
    ids=["nan", "high", "spoiled", "spoiled at a checkpoint"],
)
def test_goes_back_and_leaves_out_what_made_it_diverge(
    marked_pairs: PairShards, fault: Fault, shows_behind: int, told: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run ends as one that never had the batches: the same weights, losses and log lines.

    `shows_behind` is how many updates later it shows, `told` how many of the updates at hand have been told.
    """
    step = marked_step(marked_pairs, 19)
    assert 24 < step < 36, "behind the first 20 losses, which nothing is held against"
    every = step if told > shows_behind else next(n for n in (4, 5) if step % n)
    config = replace(LONG, checkpoint_steps=every)
    with monkeypatch.context() as patch:
        broken = break_updates(patch, fault, marked=19)
        recorder = Recorder()
        model, position, ending = train(marked_pairs, config, recorder)
    assert (ending, position.step) == (Ending.STEPS, 40)
    assert broken == [step], "it is not met again"
    (found,) = recorder.diverged
    shown = found.position.step
    assert shown == step + shows_behind
    # What spoils the weights has had a usual loss itself; otherwise the update before may have done it.
    first = step if fault is weights_are_spoiled else step - 1
    left_out = tuple((0, number) for number in range(first, shown + 1))
    assert position.skipped == left_out
    restored = (first - 1) // every * every
    assert recorder.steps == [*range(1, step + told), *range(restored + 1, 41)]
    without = Recorder()
    start = Saved(
        step=0, regular=False, position=Position(skipped=left_out), weights=recorder.saved[0].weights,
        state=recorder.saved[0].state,
    )  # fmt: skip
    expected, _, _ = train(marked_pairs, config, without, start)
    assert_same(model, expected)
    assert recorder.losses == without.losses
    assert {n: untimed(line) for n, line in recorder.logged.items()} == {
        n: untimed(line) for n, line in without.logged.items()
    }


def test_a_high_loss_is_let_through_where_the_recipe_says_so(
    marked_pairs: PairShards, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = break_updates(monkeypatch, loss_is_high, marked=19)
    recorder = Recorder()
    train(marked_pairs, replace(LONG, max_loss_rise=None), recorder)
    assert recorder.diverged == []
    assert len(broken) == 1


@pytest.mark.parametrize("max_rollbacks", [0, 3])
def test_gives_up_when_it_recurs(pairs: PairShards, monkeypatch: pytest.MonkeyPatch, max_rollbacks: int) -> None:
    config = TrainingConfig(max_steps=30, max_tokens=40, checkpoint_steps=5, warmup_steps=5, eval_steps=None,
                            max_rollbacks=max_rollbacks)  # fmt: skip

    def from_twelve_on(step: int, result: UpdateResult, model: Transformer) -> UpdateResult:
        return loss_is_nan(step, result, model) if step >= 12 else result

    break_updates(monkeypatch, from_twelve_on)
    recorder = Recorder()
    with pytest.raises(AttendoError, match=r"step 12: the loss is nan .*skipped.jsonl.*learning_rate_factor") as told:
        train(pairs, config, recorder)
    assert ("again, after going back 3 times" in str(told.value)) == (max_rollbacks == 3)
    assert len(recorder.diverged) == max_rollbacks + 1, "the last one's pairs are named too"
    assert recorder.saved[-1].step == 10


def test_going_back_is_counted_anew_once_past_it(pairs: PairShards, monkeypatch: pytest.MonkeyPatch) -> None:
    config = TrainingConfig(max_steps=40, max_tokens=40, checkpoint_steps=5, warmup_steps=5, eval_steps=None,
                            max_rollbacks=1)  # fmt: skip
    left = [12, 23, 34]

    def now_and_then(step: int, result: UpdateResult, model: Transformer) -> UpdateResult:
        if left and step == left[0]:
            del left[0]
            return loss_is_nan(step, result, model)
        return result

    break_updates(monkeypatch, now_and_then)
    recorder = Recorder()
    _, position, ending = train(pairs, config, recorder)
    assert (ending, len(recorder.diverged), position.rollbacks) == (Ending.STEPS, 3, 0)


def test_a_divergence_in_a_resumed_run_is_that_of_the_uninterrupted_one(
    marked_pairs: PairShards, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = marked_step(marked_pairs, 19)
    break_updates(monkeypatch, loss_is_high, marked=19)
    whole, end, _ = train(marked_pairs, LONG, Recorder())
    for stop_after in (step - 1, step - 2, step - 5, step):
        first = Recorder(stop_after=stop_after)
        _, _, ending = train(marked_pairs, LONG, first)
        assert ending is Ending.INTERRUPTED
        second = Recorder()
        for saved in first.saved[:-1]:
            second.saved.append(saved)
        resumed, resumed_end, _ = train(marked_pairs, LONG, second, first.saved[-1])
        assert_same(resumed, whole)
        assert replace(resumed_end, elapsed_s=0, checkpoint_s=0) == replace(end, elapsed_s=0, checkpoint_s=0)


# --- memory ---


def test_an_update_that_does_not_fit_is_made_in_pieces(pairs: PairShards, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same weights as of one that fits, but for rounding (dropout 0), and of one with such pieces, to the bit."""
    config = TrainingConfig(max_steps=6, max_tokens=60, warmup_steps=50, eval_steps=None, checkpoint_steps=2)
    monkeypatch.setattr(sys.modules[__name__], "SHAPE", replace(SHAPE, dropout=0.0))
    whole, whole_end, _ = train(pairs, config, Recorder())

    def too_small(model: Transformer, batch: TrainingBatch, *rest: Any) -> UpdateResult:
        if batch.num_tokens > 12:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return batch_loss(model, batch, *rest)

    with monkeypatch.context() as patch:
        patch.setattr("attendo.training.update.batch_loss", too_small)
        recorder = Recorder()
        model, position, _ = train(pairs, config, recorder)
    sizes = [size for _, size in recorder.split]
    assert [step for step, _ in recorder.split] == sorted(step for step, _ in recorder.split)
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) > 1, "it is halved until it fits"
    assert position.max_tokens_at_once == sizes[-1] == recorder.saved[-1].position.max_tokens_at_once
    assert position.target_tokens == whole_end.target_tokens, "nothing is dropped"
    assert recorder.steps == [1, 2, 3, 4, 5, 6]
    for a, b in zip(model.parameters(), whole.parameters(), strict=True):
        assert torch.allclose(a, b, atol=1e-4)


def test_a_pair_that_does_not_fit_is_told(pairs: PairShards, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_small(*arguments: Any) -> UpdateResult:
        raise MemoryError

    monkeypatch.setattr("attendo.training.update.batch_loss", too_small)
    config = TrainingConfig(max_steps=6, max_tokens=60, warmup_steps=50, eval_steps=None)
    with pytest.raises(AttendoError, match=r"step 1: not enough memory for one pair of \d+ tokens"):
        train(pairs, config, Recorder())


# --- time and numbers ---


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

    model, optimizer, stream = make(pairs, config)
    hooks = replace(
        Recorder().hooks(model, optimizer),
        validate=validate,
        log=lambda metrics: rates.append(metrics.target_tokens_per_s),
    )
    position, _ = run(model, optimizer, stream, Position(), config, hooks)
    assert position.elapsed_s > 1000
    assert rates[0] > 1000, "some hundred tokens in some hundredths of a second of this clock"


def test_dropout_differs_by_update_and_process() -> None:
    seeds = {dropout_seed(seed, step, rank) for seed in (0, 1, 2) for step in range(1, 50) for rank in range(8)}
    assert len(seeds) == 3 * 49 * 8
    assert dropout_seed(1, 7, 3) == dropout_seed(1, 7, 3)
    torch.manual_seed(max(seeds))  # torch takes all of them

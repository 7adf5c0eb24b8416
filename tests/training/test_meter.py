"""The meter: means by hand, over looks, log lines and interruptions."""

from dataclasses import replace

import pytest
import torch

from attendo.training.meter import Meter
from attendo.training.position import LossSums, Position
from attendo.training.processes import Processes
from attendo.training.update import UpdateResult


def result(smoothed: float, log_loss: float, tokens: int) -> UpdateResult:
    return UpdateResult(torch.tensor(smoothed), torch.tensor(log_loss), tokens)


def test_means_since_the_last_line_and_sums_since_the_last_look() -> None:
    meter = Meter(Position(), Processes())
    meter.add(result(12.0, 8.0, 4))
    meter.add(result(6.0, 4.0, 2))
    assert meter.look() == LossSums(smoothed=18.0, log_loss=12.0, tokens=6.0)
    meter.add(result(2.0, 4.0, 2))
    assert meter.look() == LossSums(smoothed=2.0, log_loss=4.0, tokens=2.0)
    metrics = meter.metrics(Position(step=3, epoch=1, target_tokens=70, elapsed_s=5.0), 0.5)
    assert (metrics.loss, metrics.log_loss) == (20 / 8, 16 / 8)
    assert (metrics.step, metrics.epoch, metrics.elapsed_s, metrics.learning_rate) == (3, 1, 5.0, 0.5)
    assert metrics.target_tokens == 70
    meter.start_line()
    meter.add(result(1.0, 1.0, 1))
    meter.look()
    assert meter.metrics(Position(), 0.5).loss == 1.0


def test_going_on_is_going_on() -> None:
    """What is seen and what is not yet are in the position, so that the next line is the uninterrupted one's."""
    meter = Meter(Position(), Processes())
    meter.add(result(12.0, 8.0, 4))
    meter.look()
    meter.add(result(0.1, 0.2, 1))
    saved = meter.state(Position(step=2))
    assert saved.logged == LossSums(smoothed=12.0, log_loss=8.0, tokens=4.0)
    assert saved.unseen == LossSums(smoothed=float(torch.tensor(0.1)), log_loss=float(torch.tensor(0.2)), tokens=1.0)
    resumed = Meter(saved, Processes())
    for each in (meter, resumed):
        each.add(result(0.3, 0.4, 1))
    assert meter.look() == resumed.look()
    assert meter.metrics(saved, 1.0).loss == resumed.metrics(saved, 1.0).loss
    beside = Meter(saved, Processes(rank=1))
    assert beside.state(saved).unseen == LossSums(), "what all have not seen is counted once"


def test_the_rate_is_of_this_sitting_and_of_training_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [10.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    position = replace(Position(), logged=LossSums(smoothed=1.0, log_loss=1.0, tokens=1e6))
    meter = Meter(position, Processes())
    meter.add(result(1.0, 1.0, 300))
    meter.look()
    clock[0] += 15.0
    meter.pause(12.0)
    assert meter.metrics(position, 1.0).target_tokens_per_s == pytest.approx(100.0)

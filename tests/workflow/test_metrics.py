"""A run's figures: resumed runs write no step twice, torn lines are left out, TensorBoard's files can be read."""

import json
from pathlib import Path

import pytest

from attendo.workflow.metrics import MetricsLog


def steps(path: Path) -> list[int]:
    return [json.loads(line)["step"] for line in path.read_text().splitlines()]


def test_a_resumed_run_writes_no_step_twice(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path, 0, tensorboard=False)
    for step in (10, 20, 30):
        log.append({"kind": "train", "step": step, "loss": 1.0})
    with log.path.open("a") as file:
        file.write('{"kind": "train", "st')  # killed while it wrote
    log = MetricsLog(tmp_path, 20, tensorboard=False)
    assert steps(log.path) == [10, 20]
    log.append({"kind": "train", "step": 30, "loss": 2.0})
    assert steps(log.path) == [10, 20, 30]


def test_tensorboard_can_read_it(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="the extra tensorboard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    log = MetricsLog(tmp_path, 0, tensorboard=True)
    log.append({"kind": "train", "step": 10, "loss": 1.5, "epoch": 0})
    log.append({"kind": "valid", "step": 10, "bleu": 30.0, "best": True})
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    assert [(event.step, event.value) for event in events.Scalars("train/loss")] == [(10, 1.5)]
    assert [(event.step, event.value) for event in events.Scalars("valid/bleu")] == [(10, 30.0)]

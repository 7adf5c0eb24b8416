"""A run's figures: resumed runs write no step twice, torn lines are left out, TensorBoard's files can be read."""

import json
import os
import shutil
from pathlib import Path

import pytest
from tests.faults import no_file_above

from attendo.workflow.runs.metrics import MetricsLog


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


def test_the_validation_of_the_step_gone_on_from_comes_again_where_it_is_due(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path, 0, tensorboard=False)
    for step in (10, 20):
        log.append({"kind": "train", "step": step, "loss": 1.0})
        log.append({"kind": "valid", "step": step, "loss": 2.0})
    log = MetricsLog(tmp_path, 20, tensorboard=False, validation_due=False)
    assert steps(log.path) == [10, 10, 20, 20]
    log = MetricsLog(tmp_path, 20, tensorboard=False, validation_due=True)
    kinds = [(record["kind"], record["step"]) for record in map(json.loads, log.path.read_text().splitlines())]
    assert kinds == [("train", 10), ("valid", 10), ("train", 20)]
    log.back_to(10, validation_due=False)
    assert steps(log.path) == [10, 10]
    log.back_to(10, validation_due=True)
    log.append({"kind": "valid", "step": 10, "loss": 3.0})
    assert steps(log.path) == [10, 10]


def test_lines_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    good = b'{"kind": "train", "step": 1, "loss": NaN, "word": "\xc3\xa4"}'
    bad = [
        b"",
        b"null",
        b"[1]",
        b'{"kind": "train"}',
        b'{"kind": "train", "step": "1"}',
        b'{"kind": "train", "step": NaN}',
        b'{"kind": "train", "step": null}',
        b'{"step": 1}',
        b"\xff\xfe",
        b"\0" * 100,
        b"[" * 100_000,
        b'{"kind": "train", "step": 1, "loss": ' + b"9" * 5000 + b"}",
    ]
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b"\n".join([good, *bad, good, b'{"kind": "tr']))
    log = MetricsLog(tmp_path, 5, tensorboard=False)
    assert log.bad_lines == len(bad), "but not what a kill left"
    kept = [json.loads(line, parse_constant=pytest.fail) for line in path.read_text().splitlines()]
    assert kept == [{"kind": "train", "step": 1, "loss": None, "word": "ä"}] * 2
    log.append({"kind": "valid", "step": 6, "loss": float("inf"), "bleu": None})
    assert path.read_text().splitlines()[-1] == '{"kind": "valid", "step": 6, "loss": null, "bleu": null}'


def test_a_full_disk_and_what_is_no_file_are_named(tmp_path: Path) -> None:
    log = MetricsLog(tmp_path, 0, tensorboard=False)
    log.flush()  # nothing yet
    log.append({"kind": "train", "step": 1})
    log.flush()
    with no_file_above(50), pytest.raises(OSError, match="File too large") as caught:
        log.append({"kind": "train", "step": 2, "loss": "x" * 50})
    assert caught.value.filename == str(log.path)
    assert steps(MetricsLog(tmp_path, 2, tensorboard=False).path) == [1], "half a line is none"
    log.path.unlink()
    os.mkfifo(log.path)
    with pytest.raises(OSError, match="is not a regular file"):
        MetricsLog(tmp_path, 0, tensorboard=False)
    shutil.rmtree(tmp_path)
    with pytest.raises(FileNotFoundError) as missing:
        log.append({"kind": "train", "step": 3})
    assert missing.value.filename == str(log.path)
    tmp_path.mkdir()


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


def test_tensorboard_is_taken_back_too(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="the extra tensorboard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    log = MetricsLog(tmp_path, 0, tensorboard=True)
    for step in (10, 20):
        log.append({"kind": "train", "step": step, "loss": 1.0})
    log.back_to(10, validation_due=False)
    log.append({"kind": "train", "step": 20, "loss": 2.0})
    events = EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    assert [(event.step, event.value) for event in events.Scalars("train/loss")] == [(10, 1.0), (20, 2.0)]

"""`bench train` put together, with a model that takes no time."""

import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import replace

import pytest

from attendo.bench import training
from attendo.bench.training import TrainBench, TrainingSystem, TrainOptions, make_job
from attendo.bench.training_compare import Measurement
from attendo.bench.training_work import ModelShape
from attendo.errors import AttendoError

TINY = ModelShape(
    name="small",
    d_model=16,
    d_ff=32,
    num_layers=1,
    num_heads=2,
    vocab_size=60,
    group_steps={"equal": 1, "unequal": 2},
)
OPTIONS = TrainOptions(
    models=("small",),
    systems=("attendo", "torch"),
    dtypes=("float32",),
    batches=("equal",),
    switches=("installed", "onednn"),
    pythons={},
    repetitions=2,
    threads=1,
    device="cpu",
)


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "SHAPES", {"small": TINY})
    monkeypatch.setattr(training, "is_exact", lambda: True)


def test_a_whole_bench() -> None:
    told: list[float] = []
    bench = TrainBench(replace(OPTIONS, batches=("equal", "unequal")))
    done = list(bench.measure(lambda share, label: told.append(share)))
    report = bench.report(done, complete=True)
    assert [(row.system, row.switch, row.dtype, row.batches, row.repetitions) for row in report.rows] == [
        ("attendo", "installed", "float32", "equal", 2),
        ("torch", "installed", "float32", "equal", 2),
        ("torch", "onednn", "float32", "equal", 2),
        ("attendo", "installed", "float32", "unequal", 2),
        ("torch", "installed", "float32", "unequal", 2),
        ("torch", "onednn", "float32", "unequal", 2),
    ]
    assert all(row.tokens_per_s > 0 for row in report.rows)
    assert [one.losses[0] > one.losses[-1] for one in report.losses] == 2 * [True]
    assert report.versions.keys() == {"attendo", "torch"}
    assert "parameters: attendo" in report.models["small"]
    assert report.missing == ()
    assert told[0] == 0.0
    assert told == sorted(told)
    assert told[-1] < 1.0
    assert bench.estimate_s() > 0


def test_what_is_not_installed_is_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "onmt" else object())
    bench = TrainBench(replace(OPTIONS, systems=("attendo", "opennmt")))
    assert bench.systems == ["attendo"]
    assert bench.missing == [
        "opennmt is not installed here: pip install OpenNMT-py, or name the Python of an environment that has it: "
        "--python opennmt=PATH"
    ]
    with pytest.raises(AttendoError, match="opennmt is not installed here"):
        TrainBench(replace(OPTIONS, systems=("opennmt",)))


def test_the_rest_is_measured_where_some_cannot_start() -> None:
    pythons: Mapping[TrainingSystem, str] = {"joeynmt": "/nowhere/python", "eole": sys.executable}
    bench = TrainBench(replace(OPTIONS, systems=("torch", *pythons), pythons=pythons, repetitions=1))
    report = bench.report(list(bench.measure()), complete=True)
    assert [(row.system, row.switch) for row in report.rows] == [("torch", "installed"), ("torch", "onednn")]
    problems = (
        "joeynmt float32 is left out: joeynmt: /nowhere/python cannot be started",
        "eole float32 is left out: eole: ModuleNotFoundError: No module named",
    )
    assert len(report.missing) == len(problems)
    assert all(found.startswith(problem) for found, problem in zip(report.missing, problems, strict=True))


def test_without_exact_products_there_is_no_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "is_exact", lambda: False)
    bench = TrainBench(OPTIONS)
    assert bench.missing == ["oneDNN's float32 products are left out: here they are less exact than float32"]
    done = [Measurement(
        system="torch", dtype="float32", switch="installed", model="small", batches="equal", seconds=1.0, tokens=10,
        losses=(), warm_up=False,
    )]  # fmt: skip
    assert bench.report(done, complete=False).rows[0].ratio_switched is None


def test_every_system_is_told_the_same() -> None:
    job = make_job(TINY, "bfloat16", replace(OPTIONS, threads=3))
    assert (job.dropout, job.label_smoothing, job.dtype, job.threads) == (0.1, 0.1, "bfloat16", 3)
    assert (job.d_model, job.d_ff, job.num_layers, job.num_heads, job.vocab_size) == (16, 32, 1, 2, 60)

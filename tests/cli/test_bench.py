import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from attendo.bench import training
from attendo.bench.compare import Measurement
from attendo.bench.decode import DecodeBench
from attendo.bench.training import TrainBench
from attendo.bench.training_compare import Measurement as TrainingMeasurement
from attendo.bench.training_work import ModelShape

Command = Callable[..., Any]


@pytest.fixture
def command(model_folder: Path, tmp_path: Path) -> list[object]:
    """A bench of a second: attendo alone, in float32, on two sentences."""
    (tmp_path / "text").write_text("one red dogs see us.\nus.\n", encoding="utf-8")
    options = ["--systems", "attendo", "--dtypes", "float32", "--beam", "1", "--batch", "1,2", "--threads", "1"]
    return ["bench", "decode", model_folder, "--source", tmp_path / "text", *options, "--repetitions", "2"]


def test_help(attendo: Command) -> None:
    assert "bench" in attendo("--help").out
    assert "decode" in attendo("bench", "--help").out
    for command in ("decode", "train"):
        finished = attendo("bench", command, "--help")
        assert (finished.status, finished.err) == (0, "")


def test_the_table_goes_to_standard_output_and_the_rest_elsewhere(attendo: Command, command: list[object]) -> None:
    finished = attendo(*command)
    assert finished.status == 0
    assert "beam 1, one sentence at a time (latency); 50 sentences\n" in finished.out
    assert "beam 1, batches of 2; 2 sentences\n" in finished.out
    assert finished.out.count("attendo  float32  1x1") == 2
    assert "1 systems; this takes about a minute" in finished.err


def test_json(attendo: Command, command: list[object]) -> None:
    finished = attendo(*command, "--json")
    found = json.loads(finished.out)
    assert [(row["system"], row["batch"], row["agreement"]) for row in found["rows"]] == [
        ("attendo", 1, 1.0),
        ("attendo", 2, 1.0),
    ]
    assert found["complete"] is True


@pytest.mark.parametrize(("raised", "status"), [(KeyboardInterrupt(), 130), (SystemExit(143), 143)])
def test_a_signal_prints_what_is_done(
    attendo: Command, command: list[object], monkeypatch: pytest.MonkeyPatch, raised: BaseException, status: int
) -> None:
    measure = DecodeBench.measure

    def interrupted(self: DecodeBench, progress: Callable[[float, str], None]) -> Iterator[Measurement]:
        measurements = measure(self, progress)
        yield next(measurements)
        raise raised

    monkeypatch.setattr(DecodeBench, "measure", interrupted)
    finished = attendo(*command)
    assert finished.status == status
    assert finished.out.count("attendo  float32  1x1") == 1
    assert "interrupted: only what was done until then" in finished.out


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--systems", "attendo,marian"], "'marian' is not one of attendo, ctranslate2, huggingface"),
        (["--dtypes", "float8"], "'float8' is not one of float32, int8, bfloat16"),
        (["--beam", "1,0"], "'0' is not a whole number from 1 on"),
        (["--batch", "many"], "'many' is not a whole number from 1 on"),
        (["--source", "text"], "MODEL and --source go together"),
    ],
)
def test_wrong_usage(attendo: Command, options: list[str], problem: str) -> None:
    finished = attendo("bench", "decode", *options)
    assert (finished.status, finished.out) == (2, "")
    assert problem in " ".join(finished.err.replace("│", " ").split())


@pytest.fixture
def training_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[object]:
    """A bench of seconds: attendo alone, a model that is hardly one."""
    sizes = {"d_model": 16, "d_ff": 32, "num_layers": 1, "num_heads": 2, "vocab_size": 60}
    tiny = ModelShape(name="small", **sizes, group_steps={"equal": 1, "unequal": 1})
    monkeypatch.setattr(training, "SHAPES", {"small": tiny})
    options = ["--systems", "attendo", "--dtypes", "bfloat16", "--models", "small", "--threads", "1"]
    return ["bench", "train", *options, "--repetitions", "1", "-o", tmp_path / "speed.json"]


def test_training_prints_a_table_and_writes_json(
    attendo: Command, training_command: list[object], tmp_path: Path
) -> None:
    finished = attendo(*training_command)
    assert finished.status == 0
    assert "small, equal batches, bfloat16\n  system   type      products  tokens/s" in finished.out
    assert "1 systems; this takes about a minute" in finished.err
    found = json.loads((tmp_path / "speed.json").read_text(encoding="utf-8"))
    assert [(row["system"], row["model"], row["batches"]) for row in found["rows"]] == [
        ("attendo", "small", "equal"),
        ("attendo", "small", "unequal"),
    ]


@pytest.mark.parametrize(("raised", "status"), [(KeyboardInterrupt(), 130), (SystemExit(143), 143)])
def test_a_signal_while_training_prints_what_is_done(
    attendo: Command,
    training_command: list[object],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    raised: BaseException,
    status: int,
) -> None:
    def interrupted(self: TrainBench, progress: Callable[[float, str], None]) -> Iterator[TrainingMeasurement]:
        yield TrainingMeasurement(
            system="attendo",
            dtype="float32",
            switch="installed",
            model="small",
            batches="equal",
            seconds=2.0,
            tokens=100,
            losses=(4.0,),
            warm_up=False,
        )
        raise raised

    monkeypatch.setattr(TrainBench, "measure", interrupted)
    finished = attendo(*training_command, "--json")
    assert finished.status == status
    found = json.loads(finished.out)
    assert [row["tokens_per_s"] for row in found["rows"]] == [50.0]
    assert found["complete"] is False
    assert json.loads((tmp_path / "speed.json").read_text(encoding="utf-8")) == found


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--systems", "fairseq"], "'fairseq' is not one of attendo, torch, huggingface, joeynmt, opennmt, eole"),
        (["--dtypes", "int8"], "'int8' is not one of float32, bfloat16"),
        (["--models", "huge"], "'huge' is not one of base, small"),
        (["--batches", "odd"], "'odd' is not one of equal, unequal"),
        (["--switches", "all"], "'all' is not one of installed, onednn, mkl"),
        (["--source", "text"], "--source and --target go together"),
        (["--python", "joeynmt"], "'joeynmt' is not SYSTEM=PATH with one of torch, huggingface, joeynmt"),
        (["--python", "attendo=/bin/python"], "'attendo=/bin/python' is not SYSTEM=PATH"),
    ],
)
def test_wrong_usage_of_training(attendo: Command, options: list[str], problem: str) -> None:
    finished = attendo("bench", "train", *options)
    assert (finished.status, finished.out) == (2, "")
    assert problem in " ".join(finished.err.replace("│", " ").split())


def test_a_corpus_that_cannot_be_read(attendo: Command, training_command: list[object], tmp_path: Path) -> None:
    finished = attendo(*training_command, "--source", tmp_path / "no.en", "--target", tmp_path / "no.de")
    assert finished.status == 1
    assert "no.en" in finished.err

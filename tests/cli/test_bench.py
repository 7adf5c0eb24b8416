import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from attendo.bench.compare import Measurement
from attendo.bench.decode import DecodeBench

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
    finished = attendo("bench", "decode", "--help")
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

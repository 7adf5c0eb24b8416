"""A constructed problem whose answer is known: learn to write digits backwards, all through the command line."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from attendo.cli.main import run

RECIPE = """
[data]
source_language = "xx"
target_language = "xx"
[[data.corpora]]
name = "digits"
source = "train.source"
target = "train.target"
[data.valid]
source = "valid.source"
target = "valid.target"
[tokenizer]
vocab_size = 272
character_coverage = 1.0
[model]
d_model = 64
d_ff = 128
num_layers = 2
num_heads = 4
dropout = 0.0
[training]
max_steps = 800
max_tokens = 1000
warmup_steps = 150
learning_rate_factor = 0.3
cooldown_steps = 400
label_smoothing = 0.0
checkpoint_steps = 100
eval_steps = 400
average_last = 2
threads = 1
"""


def attendo(*arguments: str, text: str | None = None, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "attendo.cli.main", *arguments], input=text, cwd=cwd, capture_output=True, text=True
    )


def digits(number: int, seed: int) -> list[str]:
    generator = random.Random(seed)
    return [" ".join(generator.choices("0123456789", k=generator.randint(2, 6))) for _ in range(number)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("a folder with spaces")
    for name, lines in (("train", digits(4000, 1)), ("valid", digits(60, 2))):
        (path / f"{name}.source").write_text("".join(line + "\n" for line in lines))
        (path / f"{name}.target").write_text("".join(line[::-1] + "\n" for line in lines))
    (path / "reverse.toml").write_text(RECIPE)
    return path


def test_learns_to_reverse_survives_an_interruption_and_translates(folder: Path) -> None:
    command = [sys.executable, "-m", "attendo.cli.main", "train", "reverse.toml", "-o", "the run"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        while not (folder / "the run" / "checkpoints").is_dir():
            time.sleep(0.1)
            assert process.poll() is None, process.stderr and process.stderr.read()
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130, said
    assert "continue with: attendo train --resume -o the run" in said

    assert attendo("train", "reverse.toml", "-o", "the run", cwd=folder).returncode == 1, "a run is not overwritten"
    resumed = attendo("train", "--resume", "-o", "the run", "--json", cwd=folder)
    assert resumed.returncode == 0, resumed.stderr
    assert "resuming at step" in resumed.stderr
    assert json.loads(resumed.stdout)["step"] == 800

    test = digits(50, 3)
    translated = attendo("translate", "the run", text="".join(line + "\n" for line in test), cwd=folder)
    assert translated.returncode == 0, translated.stderr
    right = sum(line == given[::-1] for line, given in zip(translated.stdout.splitlines(), test, strict=True))
    assert right >= 48, f"{right} of 50 reversed"

    metrics = [json.loads(line) for line in (folder / "the run" / "metrics.jsonl").read_text().splitlines()]
    steps = [record["step"] for record in metrics if record["kind"] == "train"]
    assert steps == list(range(50, 801, 50)), "each log line once, across the interruption"
    assert (folder / "the run" / "curves.png").read_bytes().startswith(b"\x89PNG")

    averaged = attendo("average", "the run", "--last", "2", "-o", "averaged", cwd=folder)
    assert averaged.returncode == 0, averaged.stderr
    assert attendo("info", "averaged", "--verify", cwd=folder).returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_sigterm_saves_and_says_143(folder: Path) -> None:
    command = [sys.executable, "-m", "attendo.cli.main", "train", "reverse.toml", "-o", "terminated"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        while not (folder / "terminated" / "checkpoints").is_dir():
            time.sleep(0.1)
            assert process.poll() is None
        process.terminate()
        _, said = process.communicate()
    assert process.returncode == 143, said
    assert list((folder / "terminated" / "checkpoints").glob("step-*-interrupted"))


def test_a_dry_run_needs_no_corpus_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], quick_estimates: None
) -> None:
    """In this process, with an estimate of few tokens; `test_wheel.py` has a whole one of the installed command."""
    monkeypatch.chdir(tmp_path)
    assert run(["train", "tiny", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["parameters"] > 0
    assert list(tmp_path.iterdir()) == []


def test_a_missing_corpus_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "reverse.toml").write_text(RECIPE)
    found = attendo("train", "reverse.toml", cwd=tmp_path)
    assert found.returncode == 1
    assert "train.source" in found.stderr
    assert "valid.target" in found.stderr
    assert "Traceback" not in found.stderr
    assert not (tmp_path / "runs").exists()

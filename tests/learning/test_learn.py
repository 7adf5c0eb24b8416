"""`attendo learn` as people use it, with a tiny model: a day's work, poisoned corrections, interruptions."""

import hashlib
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.learning.conftest import CLOSE, Tiny
from tests.learning.language import WANTED, translated, write_lines, write_po
from tests.learning.rounds import arguments, environment, messages

from attendo.checkpoint.checksums import verify_folder
from attendo.checkpoint.finding import find_model
from attendo.checkpoint.versions import add_version, model_versions
from attendo.cli.main import run
from attendo.evaluation.scores import evaluate_output
from attendo.workflow.confidence import read_calibration


def edits(outputs: Sequence[str], references: Sequence[str]) -> float:
    """What a translator has to change: TER."""
    return evaluate_output(outputs, references, target_language="de").ter.score


def translate_catalogue(model: Path, lines: Sequence[str], folder: Path) -> list[str]:
    """Has the command translate a catalogue; gives its messages."""
    source, target = write_po(folder / "new.po", [(line, "") for line in lines]), folder / "translated.po"
    assert run(["translate", str(model), str(source), "-o", str(target), "--quiet"]) == 0
    found = [line[8:-1] for line in target.read_text("utf-8").splitlines() if line.startswith("msgstr ")]
    return found[1:]


@pytest.fixture(scope="module")
def day(tiny: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a catalogue was corrected as a translator would, `corrected.po`, and learned from: `new`."""
    folder = tmp_path_factory.mktemp("day")
    lines = messages(200, seed=11)
    write_po(folder / "corrected.po", [(line, translated(line, WANTED)) for line in lines])
    command = arguments(tiny, folder / "corrected.po", folder / "new", "--json")
    ended = subprocess.run(
        [sys.executable, "-m", "attendo", *command], capture_output=True, text=True, check=False, env=environment()
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (folder / "report.json").write_text(ended.stdout, encoding="utf-8")
    return folder


def test_the_next_catalogue_needs_fewer_edits(day: Path, tiny: Tiny, tmp_path: Path) -> None:
    lines = messages(60, seed=12)
    wanted = [translated(line, WANTED) for line in lines]
    before, after = (translate_catalogue(model, lines, tmp_path) for model in (tiny.model, day / "new"))
    assert edits(after, wanted) < 0.8 * edits(before, wanted)
    assert not verify_folder(day / "new")


def test_the_report_and_the_card_say_what_was_learned(day: Path, tiny: Tiny) -> None:
    report = json.loads((day / "report.json").read_text("utf-8"))
    assert report["verdict"]["outcome"] == "accepted"
    assert report["trainings"] == 3  # two folds, and the new model
    assert report["files"] == [{"name": "corrected.po", "used": 200, "dropped": {}}]
    card = (day / "new" / "README.md").read_text("utf-8")
    assert "### Corrections" in card
    assert f"Learned from 200 corrections. Ancestor: run, weights SHA-256 {report['ancestor_sha256']}." in card
    assert str(tiny.model) not in card
    assert "General set: general.tsv." in card
    assert "Replayed: 200 of train.en." in card
    assert "interval above -0.5" in card
    corrected = [line[8:-1] for line in (day / "corrected.po").read_text("utf-8").splitlines() if "msgstr" in line][1:]
    assert not any(text in card for text in corrected)  # counts, never text
    assert sorted(path.name for path in (day / "new.learning").iterdir()) == [".lock", "report.json", "round.json"]


def test_the_new_model_is_calibrated_anew(day: Path, tiny: Tiny) -> None:
    before, after = (read_calibration(model) for model in (tiny.model, day / "new"))
    assert before is not None
    assert after is not None
    weights = hashlib.sha256((day / "new" / "model.safetensors").read_bytes()).hexdigest()
    assert after.weights_sha256 == weights != before.weights_sha256
    assert after.close == before.close == CLOSE
    sets = [(each.name, each.confidence.sentences) for each in after.measured]
    assert sets == [("corrections kept aside", 200), ("general.tsv", 1000)]
    assert "Confidence: calibrated anew for these weights" in (day / "new" / "README.md").read_text("utf-8")


def test_a_round_that_is_over_is_not_run_again(day: Path, tiny: Tiny, capsys: pytest.CaptureFixture[str]) -> None:
    started = time.process_time()
    assert run(arguments(tiny, day / "corrected.po", day / "new", "--json")) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((day / "report.json").read_text("utf-8"))
    assert time.process_time() - started < 60  # a round trains for longer than this takes to read


def test_shuffled_corrections_are_refused(tiny: Tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = messages(200, seed=13)
    targets = [translated(line, WANTED) for line in lines]
    random.Random(1).shuffle(targets)
    write_po(tmp_path / "shuffled.po", list(zip(lines, targets, strict=True)))
    assert run(arguments(tiny, tmp_path / "shuffled.po", tmp_path / "new", "--json")) == 3
    report = json.loads(capsys.readouterr().out)
    assert report["verdict"]["outcome"] == "refused"
    assert report["model"] is None
    assert not (tmp_path / "new").exists()


def test_few_corrections_are_not_enough_to_tell(tiny: Tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = messages(40, seed=14)
    write_po(tmp_path / "few.po", [(line, translated(line, WANTED)) for line in lines])
    (tmp_path / "new").mkdir()
    assert run(arguments(tiny, tmp_path / "few.po", tmp_path / "new")) == 4
    assert "not enough to tell: too few corrections: 40" in capsys.readouterr().out
    assert not list((tmp_path / "new").iterdir())


@pytest.mark.slow
def test_an_interrupted_round_goes_on_to_the_same_model_as_the_next_version(
    day: Path, tiny: Tiny, tmp_path: Path
) -> None:
    output = tmp_path / "en-de"
    assert add_version(output, tiny.model) == 1
    command = [sys.executable, "-m", "attendo", *arguments(tiny, day / "corrected.po", output, "--json")]
    work = output / "versions" / "2.learning"
    # Ctrl-C while the first model is trained, then a kill while the choice is being made.
    for mark, number, status in (
        ("fold-1/run/checkpoints/step-*4", signal.SIGINT, 130),
        ("fold-2/trained", signal.SIGKILL, -9),
    ):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        wait_for(work, mark, process)
        process.send_signal(number)
        process.communicate(timeout=300)
        assert process.returncode == status
        assert find_model(str(output)).name == "1"
    ended = subprocess.run(command, capture_output=True, text=True, check=False, env=environment())
    assert ended.returncode == 0, ended.stderr
    assert [(version.number, version.is_current) for version in model_versions(output)] == [(1, False), (2, True)]
    learned = find_model(str(output)) / "model.safetensors"
    assert learned.read_bytes() == (day / "new" / "model.safetensors").read_bytes()
    found, expected = json.loads(ended.stdout), json.loads((day / "report.json").read_text("utf-8"))
    assert {**found, "model": None} == {**expected, "model": None}


def wait_for(folder: Path, mark: str, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 300
    while not list(folder.glob(mark)):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_dry_run_says_what_would_be_done(
    day: Path, tiny: Tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str], quick_estimates: None
) -> None:
    command = arguments(tiny, day / "corrected.po", tmp_path / "new", "--dry-run", "--json")
    assert run(command) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (found["corrections"], found["trainings"], found["held_out"], found["replayed"]) == (200, 3, 200, 200)
    assert found["steps"] == 180
    assert found["training_s"] > 0
    assert found["translating_s"] > 0
    assert not list(tmp_path.iterdir())


def test_wrong_usage_and_folders_of_others(tiny: Tiny, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_lines(tmp_path / "corrected.tsv", ["A door\tEine Tür"])
    assert run(["learn", str(tiny.model), "-o", str(tmp_path / "new")]) == 2
    assert "--corrections FILE" in capsys.readouterr().err
    assert run(["learn", str(tiny.model), "--corrections", str(path)]) == 2
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "mine.txt").write_text("mine", encoding="utf-8")
    assert run(arguments(tiny, path, tmp_path / "new")) == 1
    assert "name another folder, or replace all of it with --force" in capsys.readouterr().err
    (tmp_path / "other.learning").mkdir()
    (tmp_path / "other.learning" / "mine.txt").write_text("mine", encoding="utf-8")
    assert run(arguments(tiny, path, tmp_path / "other")) == 1
    assert "holds something else than a round of learning" in capsys.readouterr().err
    assert run(arguments(tiny, path, tmp_path / "fresh", "--glossary", "words.doc")) == 1
    assert "words.doc: " in capsys.readouterr().err
    empty = write_lines(tmp_path / "empty.tsv", ["same\tsame"])
    assert run(arguments(tiny, empty, tmp_path / "fresh")) == 1
    assert "no correction is left to learn from (empty.tsv: 1 identical)" in capsys.readouterr().err

"""`attendo calibrate`: from two files to a folder that knows how sure it is, and a picture of it."""

import json
import shutil
from pathlib import Path

import pytest

from attendo.checkpoint.checksums import verify_folder
from attendo.cli.main import run
from attendo.workflow.confidence import load_confidence
from attendo.workflow.engines.translate import load


@pytest.fixture
def folder(model_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model_folder, tmp_path / "mine"))


@pytest.fixture
def files(folder: Path, tmp_path: Path) -> list[str]:
    """120 sentences, of which every third has what the model makes of it for a reference."""
    sources = [f"{number} red dogs see us here." for number in range(120)]
    outputs = [translation.text for translation in load(folder).translate(sources)]
    references = [output if place % 3 else "♜" * 9 for place, output in enumerate(outputs)]
    for name, lines in (("source", sources), ("reference", references)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return ["--source", str(tmp_path / "source"), "--reference", str(tmp_path / "reference")]


def test_it_learns_writes_draws_and_tells(
    folder: Path, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "curve.svg"
    assert run(["calibrate", str(folder), *files, "--name", "mine", "-o", str(picture)]) == 0
    told = capsys.readouterr().out
    assert "mine (learned from it, each sentence judged by the others" in told
    assert "120 different sentences" in told
    assert "calibration error" in told
    assert "<svg" in picture.read_text(encoding="utf-8")
    assert verify_folder(folder) == []
    assert run(["calibrate", str(folder), *files, "--name", "again", "--check", "--json"]) == 0
    measured = json.loads(capsys.readouterr().out)["measured"]
    assert [(one["name"], one["learned_from"]) for one in measured] == [("mine", True), ("again", False)]


def test_several_sets_at_once(
    folder: Path, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("source", "reference"):
        lines = (tmp_path / name).read_text(encoding="utf-8").splitlines()
        (tmp_path / f"{name}2").write_text("".join(f"{line}\n" for line in lines[80:]), encoding="utf-8")
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines[:80]), encoding="utf-8")
    more = ["--source", str(tmp_path / "source2"), "--reference", str(tmp_path / "reference2")]
    assert run(["calibrate", str(folder), *files, *more, "--name", "large", "--name", "small"]) == 0
    told = capsys.readouterr().out
    assert "large (learned from it" in told
    assert "small (learned from it" in told
    assert told.count("calibration error") == 2


def test_familiar_text_and_weights_are_learned_from(folder: Path, files: list[str], tmp_path: Path) -> None:
    lines = (tmp_path / "source").read_text(encoding="utf-8").splitlines()
    for name, its_lines in (("docs", lines[1::3]), ("talk", ["we see the old dog"] * 9), ("news", ["the king"] * 5)):
        (tmp_path / f"{name} text").write_text("".join(f"{line}\n" for line in its_lines), encoding="utf-8")
    kinds = ["--familiar", "docs text", "--unfamiliar", "talk text", "--unfamiliar", "news text"]
    kinds = [part if part.startswith("--") else str(tmp_path / part) for part in kinds]
    assert run(["calibrate", str(folder), *files, *kinds, "--weight", "2", "-q"]) == 0
    words = json.loads((folder / "confidence.json").read_text(encoding="utf-8"))["learned"]["familiar_words"]
    assert words["red"] > 0 > words["king"]
    found = load_confidence(folder)
    assert found is not None
    assert found.familiar_words == words


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--weight", "1", "--weight", "2"], 2, "2 weights and 1 test sets; give one for each, or none"),
        (["--weight", "0"], 2, "greater than or equal to 0.001"),
        (["--weight", "1", "--check"], 2, "--weight: is fixed by the calibration"),
        (["--familiar", "other", "--check"], 2, "--familiar: is fixed by the calibration"),
        (["--familiar", "other"], 2, "needs the other one too"),
        (["--unfamiliar", "other"], 2, "needs the other one too"),
        (["--familiar", "missing", "--unfamiliar", "missing"], 1, "missing"),
        (["-o", "curve.pdf"], 1, "the name must end in one of .png, .svg"),
        (["--check"], 1, "not calibrated yet, so there is nothing to check"),
        (["--check", "--close", "40"], 2, "is fixed by the calibration"),
        (["--close", "0"], 1, "chrF2 goes from 0 to 100"),
        (["--name", "<b>"], 1, "take the test set's name"),
        (["--source", "other"], 2, "2 times --source, 1 times --reference and 0 times --name do not go together"),
    ],
)
def test_what_cannot_be_meant_is_told(
    arguments: list[str], status: int, message: str, folder: Path, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path.name for path in folder.iterdir())
    assert run(["calibrate", str(folder), *files, *arguments]) == status
    told = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert message in told
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_parser_has_no_such_confidence(
    parser_folder: Path, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["calibrate", str(parser_folder), *files]) == 1
    assert "is a parser; only models that translate can be calibrated" in capsys.readouterr().err

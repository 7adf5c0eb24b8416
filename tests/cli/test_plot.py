"""`attendo plot` and `attendo draw`: what is written, what is told, what is refused."""

import json
import struct
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]
STARTS = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".json": b"{"}
TRAIN = '{"kind": "train", "step": %d, "loss": 3.5, "learning_rate": 0.1, "elapsed_s": %d, "target_tokens": %d}\n'


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """Two runs: one validated, one in its first steps with a line that a crash has torn."""
    for name in ("one", "two"):
        (tmp_path / name / "checkpoints").mkdir(parents=True)
    lines = [TRAIN % (step, step, 9 * step) for step in (10, 20, 30)]
    valid = '{"kind": "valid", "step": 30, "loss": 2.0, "perplexity": 7.4, "bleu": 12.5, "elapsed_s": 31}\n'
    (tmp_path / "one" / "metrics.jsonl").write_text("".join(lines) + valid)
    (tmp_path / "two" / "metrics.jsonl").write_text(lines[0] + '{"kind": "tr\n' + lines[1])
    return tmp_path / "one", tmp_path / "two"


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_runs_are_plotted_as_the_name_says(
    attendo: Command, runs: tuple[Path, Path], tmp_path: Path, suffix: str
) -> None:
    output = tmp_path / f"curves{suffix}"
    finished = attendo("plot", *runs, "-o", output)
    told = "two: 1 line of metrics.jsonl cannot be read and left out (line 2)\n"
    assert (finished.status, finished.out, finished.err) == (0, "", f"{told}wrote {output}\n")
    assert output.read_bytes().startswith(STARTS[suffix])
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [output.name], "no draft is left"


def test_what_is_shown_is_chosen(attendo: Command, runs: tuple[Path, Path], tmp_path: Path) -> None:
    output = tmp_path / "curves.svg"
    finished = attendo("plot", *runs, "-o", output, "--by", "tokens", "--show", "loss")
    assert finished.status == 1
    assert "one: 1 of 4 lines of its metrics do not tell tokens" in finished.err
    assert not output.exists()
    assert attendo("plot", *runs, "-o", output, "--by", "hours", "--show", "bleu", "--show", "loss").status == 0
    text = output.read_text(encoding="utf-8")
    assert "hours of the run" in text
    assert text.index("Training loss") < text.index("Validation BLEU")
    assert "Validation perplexity" not in text


def test_runs_that_are_none_are_refused(attendo: Command, runs: tuple[Path, Path], tmp_path: Path) -> None:
    output = tmp_path / "curves.png"
    for given, status, message in (
        ((tmp_path / "three",), 1, "three: there is no such run folder"),
        ((runs[0], tmp_path), 1, "is not a run folder"),
        ((runs[0], runs[0]), 1, "is named twice"),
        ((), 2, "Missing argument"),
        ((*runs, "--by", "weeks"), 2, "weeks"),
    ):
        finished = attendo("plot", *given, "-o", output)
        assert (finished.status, output.exists()) == (status, False)
        assert message in finished.err
    finished = attendo("plot", *runs, "-o", tmp_path / "curves.gif")
    assert (finished.status, finished.err) == (
        1,
        f"attendo: error: {tmp_path / 'curves.gif'}: the name must end in one of .png, .svg\n",
    )


@pytest.mark.parametrize("what", ["architecture", "multi-head"])
@pytest.mark.parametrize("suffix", [".svg", ".png", ".json"])
def test_a_models_blocks_are_drawn(
    attendo: Command, model_folder: Path, tmp_path: Path, what: str, suffix: str
) -> None:
    output = tmp_path / f"blocks{suffix}"
    finished = attendo("draw", what, model_folder, "-o", output)
    assert finished.status == 0
    assert f"wrote {output}\n" in finished.err
    assert output.read_bytes().startswith(STARTS[suffix])


def test_a_changed_recipe_is_drawn(attendo: Command, tmp_path: Path) -> None:
    output = tmp_path / "blocks.json"
    given = ("draw", "architecture", "base", "-o", output, "--set", "model.encoder_layer=recurrent")
    finished = attendo(*given, "--set", "model.num_layers=2")
    assert finished.status == 0
    structure = json.loads(output.read_text(encoding="utf-8"))
    assert structure["title"] == "The Transformer: base, changed"
    assert [(layers["name"], layers["times"]) for layers in structure["layers"]] == [
        ("encoder_layers", 2), ("decoder_layers", 2),
    ]  # fmt: skip
    assert "Recurrence" in {block["title"] for block in structure["blocks"]}
    assert f"{structure['parameters']:,} parameters, of the recipe base" in finished.err


def test_positions_and_schedules_are_drawn(attendo: Command, tmp_path: Path) -> None:
    assert attendo("draw", "positions", "base", "-o", tmp_path / "p.svg", "--length", 20).status == 0
    assert attendo("draw", "schedule", "base", "big", "-o", tmp_path / "s.svg").status == 0
    for name, words in (("p", "Positional encodings of base"), ("s", "big: 0.000494 at step 4,000")):
        root = ElementTree.parse(tmp_path / f"{name}.svg").getroot()
        assert any(words in (element.text or "") for element in root.iter())


def test_pieces_are_printed_or_drawn(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    finished = attendo("draw", "pieces", model_folder, "one red dogs")
    assert finished.status == 0
    lines = [line.split("\t") for line in finished.out.splitlines()]
    assert "".join(piece for _, piece in lines) == "▁one▁red▁dogs</s>"
    assert lines[-1] == ["0", "</s>"]
    output = tmp_path / "pieces.png"
    assert attendo("draw", "pieces", model_folder, "one red dogs", "-o", output).status == 0
    width, height = struct.unpack(">II", output.read_bytes()[16:24])
    assert width > height > 100
    too_long = attendo("draw", "pieces", model_folder, "a b c " * 1000, "-o", output)
    assert (too_long.status, "more than a picture can show" in too_long.err) == (1, True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("architecture", "bass"), "bass: neither a recipe nor a model; did you mean base?"),
        (("architecture", "base", "--set", "model.no_such=1"), "no_such"),
        (("positions", "table3/learned-positions-nowhere"), "neither a recipe nor a model"),
        (("schedule", "bass"), "there is no such recipe"),
        (("pieces", "no-such-model", "text"), "no such model"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    attendo: Command, tmp_path: Path, given: tuple[str, ...], message: str
) -> None:
    finished = attendo("draw", *given, "-o", tmp_path / "out.svg")
    assert (finished.status, message in finished.err) == (1, True), finished.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", [("architecture", "base"), ("positions", "base"), ("pieces", "en-de", "a")])
def test_another_ending_is_refused_first(attendo: Command, tmp_path: Path, what: tuple[str, ...]) -> None:
    finished = attendo("draw", *what, "-o", tmp_path / "out.gif")
    assert (finished.status, "out.gif: the name must end in one of" in finished.err) == (1, True)

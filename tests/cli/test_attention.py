import json
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attendo.workflow.engines.engine import Engine

Command = Callable[..., Any]


@pytest.mark.parametrize(
    ("suffix", "start"),
    [(".html", b"<!doctype html"), (".svg", b"<?xml"), (".json", b"{"), (".png", b"\x89PNG\r\n\x1a\n")],
)
def test_attention_is_drawn_as_the_name_says(
    attendo: Command, model_folder: Path, tmp_path: Path, suffix: str, start: bytes
) -> None:
    output = tmp_path / f"map{suffix}"
    finished = attendo("attention", model_folder, "one red dogs", "--target", "sgod der", "-o", output)
    assert (finished.status, finished.err) == (0, f"wrote {output}\n")
    assert output.read_bytes().lower().startswith(start.lower())


def test_the_models_own_translation_is_taken(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    assert attendo("attention", model_folder, "one red dogs", "-o", tmp_path / "map.json").status == 0
    assert json.loads((tmp_path / "map.json").read_text())["target"][-1] == "</s>"


def test_words_are_joined_unless_pieces_are_asked_for(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "map.json"
    given = ("attention", model_folder, "one red dogs.", "--target", "sgod der", "-o", output)
    assert attendo(*given).status == 0
    words = json.loads(output.read_text())
    assert (words["unit"], words["source"]) == ("words", ["one", "red", "dogs", ".", "</s>"])
    assert attendo(*given, "--pieces").status == 0
    pieces = json.loads(output.read_text())
    assert pieces["unit"] == "pieces"
    assert "".join(pieces["source"]) == "▁one▁red▁dogs.</s>"


def test_a_view_is_chosen(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    given = ("--target", "sgod der", "--kind", "cross", "--layer", 2, "--head", 1, "--word", "der")
    output = tmp_path / "map.svg"
    assert attendo("attention", model_folder, "one red dogs", *given, "-o", output).status == 0
    assert "Encoder-decoder attention, layer 2 of 2, head 1 of 2: der" in output.read_text(encoding="utf-8")
    output = tmp_path / "map.html"
    assert attendo("attention", model_folder, "one red dogs", *given, "-o", output).status == 0
    assert "kind=cross&layer=2&heads=1&view=lines&unit=words&word=q2" in output.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("map.pdf", [], "map.pdf: the name must end in one of .html, .svg, .png, .json"),
        (
            "map.json",
            ["--layer", "1"],
            "JSON contains every weight; leave out --kind, --layer, --head, --style and --word",
        ),
        ("map.svg", ["--word", "der", "--style", "maps"], "--word selects lines, but --style maps draws heat maps"),
        ("map.svg", ["--layer", "3"], "encoder self-attention has no layer 3; take 1 to 2"),
        ("map.html", ["--word", "blue"], "there is no word 'blue'; there are: one, red, dogs, </s>, sgod, der"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    attendo: Command, model_folder: Path, tmp_path: Path, name: str, options: list[str], message: str
) -> None:
    output = tmp_path / name
    finished = attendo("attention", model_folder, "one red dogs", "--target", "sgod der", "-o", output, *options)
    assert finished.status == 1
    assert message in finished.err
    assert not output.exists()


def test_a_model_whose_encoder_has_no_attention_says_so(
    attendo: Command, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Engine.attention
    monkeypatch.setattr(Engine, "attention", lambda *given: replace(read(*given), encoder=None))
    output = tmp_path / "map.svg"
    finished = attendo("attention", model_folder, "one", "--target", "eno", "-o", output)
    assert finished.status == 0
    assert "without encoder self-attention: these layers of the model are not attention" in finished.err
    finished = attendo("attention", model_folder, "one", "--target", "eno", "-o", output, "--kind", "encoder")
    assert finished.status == 1
    assert "the encoder's layers are not attention, so there are no weights to show" in finished.err


@pytest.mark.slow
def test_every_command_of_the_document_runs(
    attendo: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "docs" / "attention.md").read_text(encoding="utf-8")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL) for line in block.splitlines()]
    for line in lines:
        name, *given = shlex.split(line)
        assert name == "attendo"
        assert attendo(*given).status == 0, line
        assert Path(given[-1]).is_file()
    [block] = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    exec(compile(block, "attention.md", "exec"), {})
    assert "('We', 'are', 'tired', '.', '</s>')" in capsys.readouterr().out

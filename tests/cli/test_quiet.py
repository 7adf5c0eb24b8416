"""`--quiet` and `--device` of the commands besides `translate`."""

import re
from pathlib import Path

import pytest
import torch
from tests.cli.conftest import Command
from tests.conftest import Corpus


@pytest.fixture
def pairs(tmp_path: Path, corpus: Corpus) -> list[object]:
    """Options for a test set of 20 pairs."""
    for name, path in (("source", corpus.source), ("target", corpus.target)):
        lines = path.read_text(encoding="utf-8").splitlines()[:20]
        (tmp_path / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return ["--source", tmp_path / "source.txt", "--reference", tmp_path / "target.txt"]


def commands(model: Path, parser: Path, pairs: list[object], folder: Path) -> dict[str, list[object]]:
    (folder / "words.txt").write_text("The cat sleeps .\n", encoding="utf-8")
    return {
        "score": ["score", model, *pairs[:2], "--target", pairs[3]],
        "evaluate": ["evaluate", model, *pairs, "--resamples", "0"],
        "parse": ["parse", parser, folder / "words.txt", "--input", "words"],
        "attention": ["attention", model, "one red dogs", "-o", folder / "out.json"],
    }


@pytest.mark.parametrize("name", ["score", "evaluate", "parse", "attention"])
def test_quiet_commands_say_nothing_beside_their_result(
    attendo: Command, model_folder: Path, parser_folder: Path, pairs: list[object], tmp_path: Path, name: str
) -> None:
    command = commands(model_folder, parser_folder, pairs, tmp_path)[name]
    usual, quiet = attendo(*command), attendo(*command, "--quiet", "--device", "cpu")
    assert (quiet.status, quiet.err) == (0, "")
    assert re.sub(r"[\d.,]+ (s|sentences/s|lines/s)\b", "", quiet.out) == (
        re.sub(r"[\d.,]+ (s|sentences/s|lines/s)\b", "", usual.out)
    )
    if name != "evaluate":  # whose progress comes after ten seconds
        assert usual.err


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
@pytest.mark.parametrize("name", ["score", "evaluate", "parse", "attention"])
def test_a_device_that_is_not_there_is_an_error(
    attendo: Command, model_folder: Path, parser_folder: Path, pairs: list[object], tmp_path: Path, name: str
) -> None:
    finished = attendo(*commands(model_folder, parser_folder, pairs, tmp_path)[name], "--device", "cuda")
    assert (finished.status, finished.out) == (1, "")
    assert 'device = "cuda", but torch sees no GPU here; take "auto" or "cpu"' in finished.err


def test_quiet_training(attendo: Command, recipe_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    finished = attendo("train", recipe_path, "-o", "run", "--quiet")
    assert finished.status == 0
    assert "validation perplexity" not in finished.err
    assert "the model is" not in finished.err
    again = attendo("train", recipe_path, "-o", "other")
    assert "validation perplexity" in again.err
    assert "the model is other/model" in again.err

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.fixture
def recipe(tmp_path: Path, corpus: Any) -> Path:
    """A recipe for the corpus, with one bad line added."""
    for name, path in (("source.txt", corpus.source), ("target.txt", corpus.target)):
        (tmp_path / name).write_bytes(path.read_bytes() + b"\n")
    path = tmp_path / "mine.toml"
    path.write_text(
        "[data]\n[[data.corpora]]\nname = 'mine'\nsource = 'source.txt'\ntarget = 'target.txt'\n"
        "[tokenizer]\nvocab_size = 300\n"
    )
    return path


def test_prepare_accounts_for_every_pair(
    attendo: Command, recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = attendo("prepare", recipe, "-o", tmp_path / "ready", "--json")
    assert finished.status == 0
    total = json.loads(finished.out)["total"]
    assert (total["read"], total["kept"], total["dropped"]["empty"]) == (217, 216, 1)
    monkeypatch.chdir(tmp_path)
    text = attendo("prepare", recipe).out.splitlines()
    assert [line.split()[-1] for line in text[1:4]] == ["217", "216", "1"]
    (folder,) = (tmp_path / "prepared").iterdir()
    assert (folder / "manifest.json").is_file()
    assert "is prepared already" in attendo("prepare", recipe).err


def test_a_recipe_without_corpora_cannot_be_prepared(attendo: Command, tmp_path: Path) -> None:
    (tmp_path / "empty.toml").write_text("")
    finished = attendo("prepare", tmp_path / "empty.toml")
    assert finished.status == 1
    assert "data.corpora names nothing to train on" in finished.err


def test_missing_files_are_listed(attendo: Command, recipe: Path, tmp_path: Path) -> None:
    (tmp_path / "source.txt").unlink()
    finished = attendo("prepare", recipe, "-o", tmp_path / "ready")
    assert finished.status == 1
    assert str(tmp_path / "source.txt") in finished.err
    assert not (tmp_path / "ready").exists()

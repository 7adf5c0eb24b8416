import json
import os
import signal
import subprocess
import sys
import time
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
    (folder,) = (tmp_path / "prepared").glob("mine-*")
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


def test_the_number_of_workers_is_an_option_and_changes_nothing(attendo: Command, recipe: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        assert attendo("prepare", recipe, "-o", tmp_path / str(number), "--workers", number).status == 0
    for name in ("source.spm", "dropped.tsv", "shards/mine-00000.source_ids.npy"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
    assert attendo("prepare", recipe, "--workers", 0).status == 2


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
@pytest.mark.parametrize(
    ("kill", "number", "status"), [(os.killpg, signal.SIGINT, 130), (os.kill, signal.SIGTERM, 143)]
)
def test_a_signal_ends_all_workers_and_leaves_nothing(
    tmp_path: Path, kill: Callable[[int, int], None], number: int, status: int
) -> None:
    # Ctrl-C in a terminal reaches the whole group, `kill` one process.
    for name, end in (("a.en", "."), ("a.de", "!")):
        lines = (
            f"the {n} ships sail to harbour {n * n % 9973} before the {n % 89} winds turn{end}\n"
            for n in range(100_000)
        )
        (tmp_path / name).write_text("".join(lines))
    (tmp_path / "r.toml").write_text("[data]\n[[data.corpora]]\nname = 'a'\nsource = 'a.en'\ntarget = 'a.de'\n")
    command = [sys.executable, "-m", "attendo", "prepare", "r.toml", "-o", "ready/it", "--workers", "2"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob("ready/.tmp-*/digests.tmp/*")):  # workers have cleaned a part
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        kill(process.pid, number)
        _, printed = process.communicate(timeout=300)
        assert process.returncode == status
        assert "Traceback" not in printed
        assert [path.name for path in (tmp_path / "ready").iterdir()] == [".lock-it"]
        while True:  # until none is left of its group
            try:
                os.killpg(process.pid, 0)
            except ProcessLookupError:
                break
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()


def test_a_cluster_has_no_number_of_workers(attendo: Any, recipe_path: Path) -> None:
    finished = attendo("prepare", recipe_path, "--ray", "local", "--workers", 2)
    assert (finished.status, finished.out) == (2, "")
    assert "not together with --ray" in finished.err

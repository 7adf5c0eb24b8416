import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.files import locked
from attendo.recipe import Recipe, load_recipe
from attendo.text.prepared import open_prepared
from attendo.workers import InProcess
from attendo.workflow.preparation.prepare import Progress
from attendo.workflow.preparation.prepared_data import open_if_prepared, prepare_if_missing, prepared_folder


class Listener:
    """A reporter that remembers what it is told."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def message(self, text: str) -> None:
        self.messages.append(text)

    def preparing(self, progress: Progress) -> None:
        pass


@pytest.fixture
def recipe(recipe_path: Path, tmp_path: Path, corpus: object) -> Recipe:
    """A recipe whose corpus is a copy that a test may change."""
    loaded = load_recipe(str(recipe_path))
    assert loaded.data is not None
    own = tmp_path / "own"
    own.mkdir()
    for name in ("source.txt", "target.txt"):
        (own / name).write_bytes((Path(loaded.data.folder) / name).read_bytes())
    return load_recipe(str(recipe_path), [f"data.folder={own}"])


def made(recipe: Recipe, folder: Path) -> list[str]:
    """Prepares, and gives what was told."""
    listener = Listener()
    prepare_if_missing(recipe, folder, listener, InProcess())
    return listener.messages


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_prepared_is_left_alone(recipe: Recipe, tmp_path: Path) -> None:
    folder = prepared_folder(recipe, tmp_path / "prepared")
    assert made(recipe, folder) == [f"data: preparing {folder}"]
    before = contents(folder)
    assert made(recipe, folder) == [f"data: {folder} is prepared already"]
    assert contents(folder) == before


def test_models_of_several_seeds_share_what_is_prepared(recipe: Recipe, tmp_path: Path) -> None:
    folder = prepared_folder(recipe, tmp_path / "prepared")
    made(recipe, folder)
    other = replace(recipe, training=replace(recipe.training, seed=2))
    assert prepared_folder(other, tmp_path / "prepared") == folder
    assert made(other, folder) == [f"data: {folder} is prepared already"]


def test_what_was_prepared_before_a_corpus_changed_stays(recipe: Recipe, tmp_path: Path) -> None:
    first = prepared_folder(recipe, tmp_path / "prepared")
    made(recipe, first)
    before = contents(first)
    source = tmp_path / "own" / "source.txt"
    original = source.read_text()
    source.write_text(original.replace("dogs", "cows"))
    second = prepared_folder(recipe, tmp_path / "prepared")
    assert second.name == f"{first.name}-2"
    assert made(recipe, second) == [
        f"data: {first} was prepared from another {source} than there is now; it stays for the runs that train on it",
        f"data: preparing {second}",
    ]
    assert contents(first) == before
    assert prepared_folder(recipe, tmp_path / "prepared") == second
    source.write_text(original.replace("dogs", "hens"))
    assert prepared_folder(recipe, tmp_path / "prepared").name == f"{first.name}-3"
    source.write_text(original)
    assert prepared_folder(recipe, tmp_path / "prepared") == first


def test_a_folder_of_something_else_is_not_replaced(recipe: Recipe, recipe_path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "ready"
    made(recipe, folder)
    before = contents(folder)
    other = load_recipe(str(recipe_path), [f"data.folder={tmp_path / 'own'}", "tokenizer.vocab_size=301"])
    with pytest.raises(
        DataError, match=r"ready: was prepared from other corpora or settings, .*attendo prepare --force"
    ):
        made(other, folder)
    source = tmp_path / "own" / "source.txt"
    source.write_text(source.read_text().replace("dogs", "cows"))
    with pytest.raises(DataError, match=rf"ready: was prepared from another {source} than there is now, and runs may"):
        made(recipe, folder)
    assert contents(folder) == before
    assert open_if_prepared(recipe, folder) is None


def test_force_replaces_what_a_folder_holds_and_says_so(recipe: Recipe, recipe_path: Path, tmp_path: Path) -> None:
    folder = tmp_path / "ready"
    made(recipe, folder)
    other = load_recipe(str(recipe_path), [f"data.folder={tmp_path / 'own'}", "tokenizer.vocab_size=301"])
    listener = Listener()
    prepare_if_missing(other, folder, listener, InProcess(), force=True)
    assert listener.messages[-1].startswith(f"data: what {folder} holds is replaced: dropped.tsv, manifest.json, ")
    assert open_if_prepared(other, folder) is not None


def test_files_beside_the_data_of_a_torn_folder_are_kept(recipe: Recipe, tmp_path: Path) -> None:
    folder = tmp_path / "ready"
    made(recipe, folder)
    (folder / "report.json").write_text("torn")
    (folder / "notes.txt").write_text("mine")
    message = r"ready: holds files beside the prepared data \(notes.txt\); move them, or replace all of it with attendo"
    with pytest.raises(DataError, match=message):
        made(recipe, folder)
    assert (folder / "notes.txt").read_text() == "mine"
    (folder / "notes.txt").unlink()
    made(recipe, folder)
    assert open_if_prepared(recipe, folder, verify=True) is not None


def test_a_link_to_the_prepared_folder_stays(recipe: Recipe, tmp_path: Path) -> None:
    (tmp_path / "big disk").mkdir()
    (tmp_path / "ready").symlink_to("big disk")
    made(recipe, tmp_path / "ready")
    assert (tmp_path / "ready").is_symlink()
    assert (tmp_path / "big disk" / "manifest.json").is_file()


def test_preparing_again_mends_a_folder(recipe: Recipe, tmp_path: Path) -> None:
    folder = tmp_path / "ready"
    made(recipe, folder)
    before = contents(folder)
    shard = folder / "shards" / "mine-00000.target_ids.npy"

    def flip() -> None:
        shard.write_bytes(shard.read_bytes()[:-1] + b"\xff")

    for damage in (shard.unlink, flip, lambda: (folder / "manifest.json").write_text("{")):
        damage()
        assert made(recipe, folder) == [f"data: preparing {folder}"]
        mended = contents(folder)
        assert {name for name in before if mended[name] != before[name]} <= {"report.json", "manifest.json"}
        open_prepared(folder, verify=True)


def test_where_a_corpus_is_missing_nothing_is_written(recipe: Recipe, tmp_path: Path) -> None:
    (tmp_path / "own" / "source.txt").unlink()
    with pytest.raises(DataError, match=r"source\.txt: there is no such file"):
        made(recipe, tmp_path / "new" / "ready")
    assert not (tmp_path / "new").exists()


def test_what_killed_ones_left_is_removed(recipe: Recipe, tmp_path: Path) -> None:
    drafts = [tmp_path / ".tmp-4194305-ready", tmp_path / ".old-4194305-ready", tmp_path / ".tmp-4194305-other"]
    for draft in drafts:
        (draft / "digests.tmp").mkdir(parents=True)
    (tmp_path / "ready").mkdir()
    made(recipe, tmp_path / "ready")
    assert [draft.exists() for draft in drafts] == [False, False, True]


def test_the_second_of_two_waits_and_takes_what_the_first_made(recipe: Recipe, tmp_path: Path) -> None:
    folder, listener = tmp_path / "ready", Listener()
    second = threading.Thread(target=lambda: prepare_if_missing(recipe, folder, listener, InProcess()))
    with locked(tmp_path / ".lock-ready"):
        second.start()
        while not listener.messages:
            time.sleep(0.01)
        assert listener.messages == [
            f"data: {folder} is in use by process {os.getpid()} on {os.uname().nodename}, which is preparing it; "
            "waiting for that"
        ]
        made(recipe, tmp_path / "elsewhere")
        (tmp_path / "elsewhere").rename(folder)
    second.join(timeout=120)
    assert listener.messages[1:] == [f"data: {folder} is prepared by now"]


def test_two_commands_at_once_make_one_folder(recipe_path: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "attendo", "prepare", str(recipe_path), "-o", "ready", "--json"]
    both = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    told = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], told
    one, other = (json.loads(out) for out, _ in told)
    assert one == other, "the report of one preparation, its seconds too"
    assert sorted("preparing ready" in err for _, err in told) == [False, True]
    assert sorted(path.name for path in tmp_path.iterdir()) == [".lock-ready", recipe_path.name, "ready"]

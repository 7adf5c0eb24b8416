"""Corpora prepared on a cluster are those prepared on one machine."""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.conftest import TwoNodes

from attendo.cluster import preparation
from attendo.recipe import load_recipe
from attendo.workers import InProcess
from attendo.workflow.preparation.prepare import Progress
from attendo.workflow.preparation.prepared_data import prepare_if_missing
from attendo.workflow.translation.part_files import PartsFolder


def write_recipe(folder: Path, num_pairs: int) -> Path:
    """A corpus of more than one part, with repeated, empty and long lines."""
    words = [
        f"{first}{last}" for first in ("ka", "lo", "mi", "nu", "so") for last in ("ren", "tas", "vid", "bul", "pek")
    ]
    with (folder / "source.txt").open("w") as source, (folder / "target.txt").open("w") as target:
        for number in range(num_pairs):
            length = 0 if number % 997 == 5 else 1 + number % 17
            line = [words[(number % 40_000 * 7 + place * place) % 25] for place in range(length)] + [
                str(number % 40_000)
            ]
            source.write(" ".join(line[: length + 1 if length else 0]) + "\n")
            target.write(" ".join(word[::-1] for word in line) + "\n")
    recipe = folder / "mine.toml"
    recipe.write_text(
        "[data]\nsource_language = 'en'\ntarget_language = 'de'\n[[data.corpora]]\nname = 'mine'\n"
        "source = 'source.txt'\ntarget = 'target.txt'\n[data.cleaning]\nmax_tokens = 40\n"
        "[tokenizer]\nvocab_size = 500\nsample_pairs = 3000\n",
        encoding="utf-8",
    )
    return recipe


def contents(folder: Path) -> dict[str, object]:
    """All that is prepared, but for the seconds that it took and for what hangs on them."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    report, manifest = (json.loads((folder / name).read_bytes()) for name in ("report.json", "manifest.json"))
    del report["seconds"], manifest["files"]["report.json"]
    return found | {"report.json": report, "manifest.json": manifest}


def command(recipe: Path, output: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "attendo", "prepare", str(recipe), "-o", str(output), *options]


class Told:
    """Takes down what is said; Ctrl-C comes when a stage has had so many reports."""

    def __init__(self, stage: str = "", reports: int = 0) -> None:
        self.lines: list[str] = []
        self.reports: Counter[str] = Counter()
        self._stop = stage, reports

    def message(self, text: str) -> None:
        self.lines.append(text)

    def preparing(self, progress: Progress) -> None:
        self.reports[progress.stage] += 1
        if (progress.stage, self.reports[progress.stage]) == self._stop:
            raise KeyboardInterrupt


class Working:
    """In place of a cluster: this process, which notes what it is given to do."""

    def __init__(self) -> None:
        self.units: Counter[str] = Counter()

    def map(self, unit: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
        for task in tasks:
            self.units[unit.__name__] += 1
            yield task, unit(task)


def test_an_interrupted_preparation_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attendo.workflow.preparation.stages.PART_BYTES", 1 << 17)  # parts of a block of each file
    monkeypatch.setattr(preparation, "connected", lambda address: nullcontext())
    monkeypatch.setattr(preparation, "alive_nodes", list)
    monkeypatch.setattr(preparation, "check_nodes", lambda nodes, files: None)
    recipe = load_recipe(str(write_recipe(tmp_path, 5000)), [])

    def prepare(told: Told) -> Counter[str]:
        working = Working()
        monkeypatch.setattr(preparation, "ClusterWorkers", lambda message: working)
        preparation.prepare_on_cluster(recipe, tmp_path / "ours", told, address="auto")
        return working.units

    for stage, reports in (("cleaning", 2), ("encoding", 2)):
        with pytest.raises(KeyboardInterrupt):
            prepare(Told(stage, reports))
        assert not (tmp_path / "ours").exists()
    # Ctrl-C came behind the second part that was encoded, which was kept already.
    told = Told()
    units = prepare(told)
    assert any(line.startswith("continuing from the parts in ") for line in told.lines)
    num_parts = told.reports["encoding"]
    assert num_parts > 4
    assert units["encode_part"] == num_parts - 2
    assert units["clean_part"] == units["sample_part"] == 0
    assert not (tmp_path / "ours.parts").exists()
    prepare_if_missing(recipe, tmp_path / "theirs", Told(), InProcess())
    assert contents(tmp_path / "ours") == contents(tmp_path / "theirs")
    units = prepare(told)
    assert told.lines[-1] == f"data: {tmp_path / 'ours'} is prepared already"
    assert not units


def test_parts_of_other_corpora_are_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = PartsFolder.beside(tmp_path / "ours")
    told = Told()
    path = write_recipe(tmp_path, 20)
    files = [tmp_path / "source.txt", tmp_path / "target.txt"]
    recipe = load_recipe(str(path), [])
    preparation._parts_folder(recipe, tmp_path / "ours", files, told)
    (parts.path / "clean_part-000000.npz").write_bytes(b"")
    preparation._parts_folder(recipe, tmp_path / "ours", files, told)
    files[0].write_bytes(files[0].read_bytes() + b"more\n")
    preparation._parts_folder(recipe, tmp_path / "ours", files, told)
    assert told.lines == [
        f"continuing from the parts in {parts.path}",
        "corpora or settings have changed since the last start: all parts are prepared again",
    ]
    assert [found.name for found in parts.path.iterdir()] == ["manifest.json"]


@pytest.mark.slow
def test_one_of_two_machines_is_killed(tmp_path: Path, two_nodes: TwoNodes) -> None:
    recipe = write_recipe(tmp_path, 300_000)
    subprocess.run(command(recipe, tmp_path / "theirs", "--workers", "1"), check=True, capture_output=True)
    arguments = command(recipe, tmp_path / "ours", "--ray", two_nodes.address)
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        while not list(tmp_path.glob(".tmp-*-ours/dropped.tsv")) and process.poll() is None:
            time.sleep(0.05)
        two_nodes.kill_one()
        assert not (tmp_path / "ours").exists()
        _, err = process.communicate()
    assert process.returncode == 0, err
    assert "2 processors on 2 machines" in err
    assert contents(tmp_path / "ours") == contents(tmp_path / "theirs")


@pytest.mark.slow
def test_an_error_is_the_one_line_of_one_machine(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    recipe = write_recipe(tmp_path, 100_000)
    with (tmp_path / "target.txt").open("a") as target:
        target.write("one more\n")
    alone = subprocess.run(command(recipe, tmp_path / "theirs"), check=False, capture_output=True, text=True)
    finished = subprocess.run(
        command(recipe, tmp_path / "ours", "--ray", "local"), check=False, capture_output=True, text=True
    )
    assert (alone.returncode, finished.returncode) == (1, 1)
    last = finished.stderr.splitlines()[-1]
    assert last == alone.stderr.splitlines()[-1]
    assert "source.txt has 100000 lines and" in last
    assert [path.name for path in tmp_path.glob("*ours*")] == ["ours.parts"]

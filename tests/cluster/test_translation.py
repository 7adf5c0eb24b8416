import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from tests.cluster.conftest import TwoNodes

from attendo.cli.main import run
from attendo.cli.translation_lines import WrittenLines
from attendo.cluster import translation
from attendo.cluster.nodes import Node
from attendo.cluster.pool import Share
from attendo.cluster.translation import num_workers, share_of, translate_on_cluster
from attendo.errors import AttendoError, DataError
from attendo.workflow.engines.translate import Decoding
from attendo.workflow.translation.file_translation import FileProgress
from attendo.workflow.translation.part_translation import Output
from attendo.workflow.translation.text_parts import TextFiles

WORDS = ("one", "two", "some", "red", "old", "small", "dogs", "birds", "men", "kings", "see", "hear", "us", "here")
NODES = [Node(id="a", address="1.2.3.4", cpus=cpus, gpus=gpus) for cpus, gpus in ((0, 0), (6, 1), (16, 2))]


def text_of(num_lines: int, path: Path) -> Path:
    """Lines of one to nine words, no two alike in a row; every seventh is empty."""
    lines = [
        " ".join(WORDS[(number * 5 + word * word) % len(WORDS)] for word in range(1 + number % 9)) if number % 7 else ""
        for number in range(num_lines)
    ]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


class Told:
    """Takes down what a translation says."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.starts: list[tuple[int, int]] = []
        self.done: list[int] = []

    def message(self, text: str) -> None:
        self.lines.append(text)

    def started(self, done: int, total: int) -> None:
        self.starts.append((done, total))

    def translated(self, done: int) -> None:
        self.done.append(done)


def here(max_tasks: int | None = None) -> Callable[..., Iterator[Any]]:
    """In place of a cluster: does the tasks in this process, the last first; Ctrl-C comes after so many."""

    def by_actors(opened: Any, tasks: Sequence[Any], share: Share, *, num_actors: int) -> Iterator[Any]:
        assert num_actors == 2
        unit = opened()
        for number, task in enumerate(reversed(tasks)):
            if number == max_tasks:
                raise KeyboardInterrupt
            yield unit(task)

    return by_actors


@pytest.fixture
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(translation, "connected", lambda address: nullcontext())
    monkeypatch.setattr(translation, "alive_nodes", lambda: [Node(id="a", address="here", cpus=2, gpus=0)])
    monkeypatch.setattr(translation, "watched", lambda results, told: results)
    monkeypatch.setattr(translation, "check_nodes", lambda nodes, files: None)
    monkeypatch.setattr(translation, "by_actors", here())
    return monkeypatch


def translate(model: Path, source: Path, output: Path, told: Told, **search: int) -> FileProgress:
    return translate_on_cluster(
        Decoding(model=str(model), search={"window_lines": 3, **search}),
        TextFiles(source=source),
        output,
        Output(format=WrittenLines(as_json=True, scores=False), settings={"as_json": True}, alignment=False),
        address="local",
        threads=1,
        reporter=told,
    )


def on_one_machine(model: Path, source: Path, output: Path) -> bytes:
    arguments = [str(each) for each in ("translate", model, source, "--json", "-o", output, "--threads", 1)]
    assert run(arguments) == 0
    return output.read_bytes()


def test_an_interrupted_translation_goes_on(model_folder: Path, tmp_path: Path, no_cluster: pytest.MonkeyPatch) -> None:
    source, output, told = text_of(20, tmp_path / "text.txt"), tmp_path / "out" / "ours.txt", Told()
    no_cluster.setattr(translation, "by_actors", here(max_tasks=4))
    with pytest.raises(KeyboardInterrupt):
        translate(model_folder, source, output, told)
    assert not output.exists()
    (output.parent / "ours.txt.parts" / "000005.json").unlink()  # as if it had been killed in the middle of that part
    no_cluster.setattr(translation, "by_actors", here())
    finished = translate(model_folder, source, output, told)
    # 7 parts of 3 lines, the last of 2. Ctrl-C came behind 2 + 3 + 3 + 3 lines; then 3 of them were lost.
    assert told.starts == [(0, 20), (8, 20)]
    assert told.done == [2, 5, 8, 11, 11, 14, 17, 20]
    assert (finished.lines_now, finished.counts.lines, finished.counts.empty) == (12, 20, 3)
    assert list(finished.kernels.values()) == [20]
    assert output.read_bytes() == on_one_machine(model_folder, source, tmp_path / "theirs.txt")
    assert [path.name for path in output.parent.iterdir()] == ["ours.txt"]


def test_parts_of_another_translation_are_refused(
    model_folders: tuple[Path, Path, Path], tmp_path: Path, no_cluster: pytest.MonkeyPatch
) -> None:
    model, another, _ = model_folders
    source, output, told = text_of(9, tmp_path / "text.txt"), tmp_path / "ours.txt", Told()
    no_cluster.setattr(translation, "by_actors", here(max_tasks=1))
    with pytest.raises(KeyboardInterrupt):
        translate(model, source, output, told)
    with pytest.raises(DataError, match="with another models; "):
        translate(another, source, output, told)
    with pytest.raises(DataError, match="with another search; "):
        translate(model, source, output, told, beam_size=2)
    text_of(10, source)
    with pytest.raises(DataError, match=r"with another files; choose another output, or remove the folder"):
        translate(model, source, output, told)


def test_a_text_that_changes_gives_no_output(
    model_folder: Path, tmp_path: Path, no_cluster: pytest.MonkeyPatch
) -> None:
    source, output = text_of(9, tmp_path / "text.txt"), tmp_path / "ours.txt"

    class Changes(Told):
        def started(self, done: int, total: int) -> None:
            source.write_bytes(source.read_bytes() + b"one more\n")

    with pytest.raises(DataError, match=r"text\.txt: was written to while it was being translated"):
        translate(model_folder, source, output, Changes())
    assert not output.exists()


def test_an_empty_text_has_an_empty_output(model_folder: Path, tmp_path: Path, no_cluster: pytest.MonkeyPatch) -> None:
    source, output = text_of(0, tmp_path / "text.txt"), tmp_path / "ours.txt"
    assert translate(model_folder, source, output, Told()).counts.lines == 0
    assert output.read_bytes() == b""


def test_engines_have_a_place() -> None:
    assert share_of(NODES, "cpu", None) == Share(cpus=4)
    assert share_of([Node(id="a", address="", cpus=3, gpus=0), *NODES], "cpu", None) == Share(cpus=3)
    assert num_workers(NODES, Share(cpus=4)) == 0 + 1 + 4
    assert num_workers(NODES, share_of(NODES, "cpu", 8)) == 0 + 0 + 2
    assert share_of(NODES, "cuda", None) == Share(cpus=1, gpus=1)
    assert num_workers(NODES, Share(cpus=1, gpus=1)) == 3
    with pytest.raises(AttendoError, match="17 threads does not fit: the largest machine of the cluster has 16 proc"):
        share_of(NODES, "cpu", 17)
    with pytest.raises(AttendoError, match="1 threads does not fit"):
        share_of(NODES[:1], "cpu", None)


def started(model: Path, source: Path, output: Path, address: str, *options: str) -> "subprocess.Popen[str]":
    command = ["translate", str(model), str(source), "--json", "-o", str(output), "--threads", "1", "--ray", address]
    arguments = [sys.executable, "-m", "attendo", *command, *options]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_cluster_of_this_machine(model_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray")
    source, output = text_of(1200, tmp_path / "text.txt"), tmp_path / "ours.txt"
    with started(model_folder, source, output, "local") as process:
        out, err = process.communicate()
    assert (process.returncode, out) == (0, ""), err
    assert "translated 1,200 lines in " in err
    assert output.read_bytes() == on_one_machine(model_folder, source, tmp_path / "theirs.txt")


@pytest.mark.slow
def test_one_of_two_machines_is_killed(model_folder: Path, tmp_path: Path, two_nodes: TwoNodes) -> None:
    source, output = text_of(1200, tmp_path / "text.txt"), tmp_path / "ours.txt"
    records = tmp_path / "ours.txt.parts"
    with started(model_folder, source, output, two_nodes.address, "--set", "search.window_lines=2") as process:
        while len(list(records.glob("0*.json"))) < 30 and process.poll() is None:
            time.sleep(0.1)
        two_nodes.kill_one()
        assert not output.exists()
        out, err = process.communicate()
    assert (process.returncode, out) == (0, ""), err
    assert "2 engines of 1 threads each, on 2 machines" in err
    assert "1 machines, 1 fewer than before" in err
    assert output.read_bytes() == on_one_machine(model_folder, source, tmp_path / "theirs.txt")
    assert len([json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]) == 1200

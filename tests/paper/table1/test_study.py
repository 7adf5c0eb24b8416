"""Table 1 as a command: all of it at the scale tiny, what is interrupted and goes on, and what is refused."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attendo.cli.main import run
from attendo.errors import DataError, ModelError
from attendo.files import locked
from attendo.paper.experiment import StudyRequest
from attendo.paper.table1.points import PLANS
from attendo.paper.table1.study import all_tasks, forecast, reproduce

FEW = replace(
    PLANS["tiny"],
    lengths=(8, 16),
    widths=(8, 16),
    length=8,
    counted_lengths=(8, 16),
    graph_lengths=(4, 8),
    way_lengths=(4,),
    counted_crossings=(2,),
    timed_crossings=(4,),
    crossing_lengths=(8, 16),
    memory_lengths=(8, 16),
)


class Notes:
    """A reporter that keeps what it is told."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def message(self, text: str) -> None:
        raise AssertionError

    def preparing(self, progress: object) -> None:
        raise AssertionError

    def running(self, done: int, total: int, note: str) -> None:
        self.names.append(note)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StudyRequest:
    monkeypatch.setitem(PLANS, "tiny", FEW)
    return StudyRequest(
        scale="tiny", folder=tmp_path / "page", seeds=1, jobs=1, data=None, command="attendo reproduce table1"
    )


def test_what_is_interrupted_goes_on_and_measures_nothing_twice(study: StudyRequest) -> None:
    tasks = all_tasks(study)
    assert len({task.name for task in tasks}) == len(tasks)
    points, asked = study.folder / "points", 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > len(tasks) // 2

    outcome = reproduce(study, Notes(), stop)
    assert outcome.interrupted
    assert outcome.report is None
    assert not (study.folder / "index.html").exists()
    done = {path: path.stat().st_mtime_ns for path in points.iterdir()}
    assert len(done) == len(tasks) // 2

    # One is torn: it alone is measured again.
    torn = points / f"{tasks[0].name}.json"
    whole = torn.read_text(encoding="utf-8")
    torn.write_text(whole[:-20], encoding="utf-8")
    assert forecast(study, Notes()).data["kept"] == len(done) - 1
    outcome = reproduce(study, Notes(), lambda: False)
    assert not outcome.interrupted
    assert torn.read_text(encoding="utf-8") == whole, "operations are the same each time"
    assert all(path.stat().st_mtime_ns == time_ns for path, time_ns in done.items() if path != torn)
    assert {path.stem for path in points.iterdir()} == {task.name for task in tasks}


def test_another_process_is_waited_for(study: StudyRequest) -> None:
    study.folder.mkdir()
    with locked(study.folder / ".lock"), pytest.raises(ModelError, match="already; wait until it has ended"):
        reproduce(study, Notes(), lambda: False)


def test_data_are_refused(study: StudyRequest, tmp_path: Path) -> None:
    for call in (lambda one: reproduce(one, Notes(), lambda: False), lambda one: forecast(one, Notes())):
        with pytest.raises(DataError, match=r"--data: table1 .* reads no corpora; leave it out"):
            call(replace(study, data=tmp_path))
    assert not study.folder.exists()


def test_the_command_at_the_scale_tiny(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "page"
    command = ["reproduce", "table1", "--scale", "tiny", "--seeds", "1", "-o", str(folder), "--json"]
    assert run([*command, "--dry-run"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["kept"] == 0
    assert plan["seconds"] > 0
    assert not folder.exists()

    assert run(command) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert len(list((folder / "points").iterdir())) == plan["measurements"]
    for name in ("index.html", "index.md", "operations.png", "time.png", "memory.png", "paths.png", "crossing.png"):
        assert (folder / name).is_file()

    # The formulas, which no one's figures are needed for.
    exponents = {(one["layer"], one["variable"]): one["exponent"] for one in printed["operation_exponents"]}
    formulas: dict[tuple[str, str], float] = {
        ("self-attention", "n"): 2, ("self-attention", "d"): 1, ("recurrent", "n"): 1, ("recurrent", "d"): 2,
        ("convolutional", "n"): 1, ("convolutional", "d"): 2, ("convolutional", "k"): 1,
        ("dilated-convolutional", "k"): 1, ("separable-convolutional", "n"): 1, ("restricted-self-attention", "d"): 1,
    }  # fmt: skip
    assert {key: exponents[key] for key in formulas} == pytest.approx(formulas)
    graphs: dict[str, list[dict[str, Any]]] = {}
    for graph in printed["graphs"]:
        graphs.setdefault(graph["layer"], []).append(graph)
    assert [graph["chain"]["products"] for graph in graphs["recurrent"]] == [4, 8, 16]
    assert [graph["chain"]["products"] for graph in graphs["self-attention"]] == [4, 4, 4]
    assert [graph["from_end_to_end"] for graph in graphs["convolutional"]] == [3, 7, 15]
    assert [graph["from_end_to_end"] for graph in graphs["self-attention"]] == [1, 1, 1]

"""`attendo reproduce attention-functions` from end to end: its forecast, and a study that stops and goes on."""

import json
from pathlib import Path

import pytest

from attendo.paper.attention_functions.study import ATTENTION_FUNCTIONS, MEASURED
from attendo.paper.experiment import StudyRequest


class Notes:
    """A reporter that keeps what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def message(self, text: str) -> None:
        self.lines.append(text)

    def preparing(self, progress: object) -> None:
        pass

    def running(self, done: int, total: int, note: str) -> None:
        pass


@pytest.fixture
def study(tmp_path: Path) -> StudyRequest:
    command = "attendo reproduce attention-functions --scale tiny --seeds 1"
    return StudyRequest(scale="tiny", folder=tmp_path / "study", seeds=1, jobs=2, data=None, command=command)


@pytest.mark.usefixtures("quick_estimates")
def test_a_forecast_trains_nothing(study: StudyRequest) -> None:
    report = ATTENTION_FUNCTIONS.forecast(study, Notes())
    rows = {row["row"]: row for row in report.data["rows"]}
    assert list(rows) == [f"{name}-dk{d_k}" for d_k in (4, 32) for name in ("scaled", "unscaled", "additive")]
    assert rows["scaled-dk4"]["parameters"] == rows["unscaled-dk4"]["parameters"]
    # Three attentions with two heads, each with a vector of d_k numbers.
    assert rows["additive-dk32"]["parameters"] - rows["scaled-dk32"]["parameters"] == 3 * 2 * 32
    assert report.data["hours"] == pytest.approx(sum(row["hours"] for row in rows.values()))
    assert study.command in report.to_text()
    assert not study.folder.exists()


def test_stopped_before_anything_is_measured(study: StudyRequest) -> None:
    outcome = ATTENTION_FUNCTIONS.reproduce(study, Notes(), lambda: True)
    assert outcome.interrupted
    assert outcome.report is None
    assert not (study.folder / MEASURED).exists()


@pytest.mark.slow
def test_an_interrupted_study_goes_on(study: StudyRequest) -> None:
    notes = Notes()

    def one_is_done() -> bool:
        return any("perplexity" in line for line in notes.lines)

    first = ATTENTION_FUNCTIONS.reproduce(study, notes, one_is_done)
    assert first.interrupted
    assert first.report is not None
    done = first.report.data["runs_done"]
    assert 1 <= done < 6
    assert "study in progress" in (study.folder / "index.md").read_text("utf-8")
    measured = (study.folder / MEASURED).read_bytes()

    notes = Notes()
    second = ATTENTION_FUNCTIONS.reproduce(study, notes, lambda: False)
    assert not second.interrupted
    assert not second.failures
    assert len([line for line in notes.lines if "perplexity" in line]) == 6 - done
    assert (study.folder / MEASURED).read_bytes() == measured, "what was measured is not measured again"
    result = json.loads((study.folder / "result.json").read_text("utf-8"))
    assert (result["runs_done"], len(result["rows"]), len(result["differences"])) == (6, 6, 6)
    # New unscaled heads are sharper than scaled ones where d_k is large: the footnote in a real model.
    by_row = {(row["function"], row["d_k"]): row["heads"][0]["new"]["variance"] for row in result["rows"]}
    assert by_row["dot-product", 32] == pytest.approx(32 * by_row["scaled-dot-product", 32], rel=0.5)
    assert (study.folder / "index.html").read_text("utf-8").count("<img") == 3

import io
import re
from functools import partial

import pytest

from attendo.cli.progress import JobProgress, clock
from attendo.cli.reporter import RunReporter
from attendo.training.meter import StepMetrics


def test_plain_lines_have_count_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    stream = io.StringIO()
    with JobProgress("translating", "lines", 1000, stream=stream, every_s=10) as progress:
        for now in range(101, 121):
            progress.update(20 * (now - 100))
    # No rate after 10 s, when one burst of results is there; 20 a second after 20 s, so that the other 600 take 30 s.
    assert stream.getvalue() == ("translating: 200 of 1,000 lines\ntranslating: 400 of 1,000 lines, 20/s, 0:30 left\n")


def test_a_new_stage_starts_its_rate_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    progress = JobProgress("cleaning", "MB", stream=io.StringIO())
    for now in (10.0, 20.0, 30.0):
        progress.update(100 * now)
    assert progress.figures() == "3,000 MB, 100/s"
    now = 100.0
    progress.update(0, label="learning", total=200)
    assert progress.figures() == "0 of 200 MB"
    for now in (110.0, 120.0, 130.0):
        progress.update(now - 100, label="learning", total=200, note="loss 3")
    assert progress.figures("loss 3") == "30 of 200 MB, 1.0/s, 2:50 left, loss 3"


def test_a_terminal_gets_a_bar() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    with JobProgress("translating", "lines", 10, stream=stream) as progress:
        progress.update(5)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())
    assert "translating" in shown


def test_quiet_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    stream = io.StringIO()
    with JobProgress("translating", "lines", 10, stream=stream, quiet=True) as progress:
        now = 1000.0
        progress.update(5)
    assert (stream.getvalue(), progress.seconds) == ("", 1000.0)


def test_each_training_of_several_counts_its_own_steps(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with RunReporter() as reporter:
        for now, step, steps in ((0.0, 1, 60), (20.0, 60, 60), (40.0, 1, 76), (60.0, 73, 76)):
            monkeypatch.setattr("time.monotonic", partial(float, now))
            metrics = StepMetrics(
                step=step, loss=1.0, log_loss=1.0, learning_rate=1e-4, target_tokens_per_s=1.0, elapsed_s=1.0, epoch=0,
                target_tokens=1,
            )  # fmt: skip
            reporter.training(metrics, steps)
    shown = capsys.readouterr().err
    assert "60 of 60 steps" in shown
    assert "73 of 76 steps" in shown


@pytest.mark.parametrize(("seconds", "shown"), [(0, "0:00"), (59.6, "1:00"), (3599, "59:59"), (3723, "1:02:03")])
def test_clock(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown

import io
import re

import pytest

from attendo.cli.progress import JobProgress, clock


def test_plain_lines_have_count_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    stream = io.StringIO()
    with JobProgress("translating", "lines", 1000, stream=stream, every_s=10) as progress:
        progress.update(1)
        now = 105.0
        progress.update(50)
        assert stream.getvalue() == ""
        now = 110.0
        progress.update(200)
    # 200 lines in 10 s are 20 a second, so the other 800 take 40 s.
    assert stream.getvalue() == "translating: 200 of 1,000 lines, 20/s, 0:40 left\n"


def test_a_new_stage_starts_its_rate_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    progress = JobProgress("cleaning", "MB", stream=io.StringIO())
    now = 100.0
    progress.update(0, label="learning", total=10)
    now = 102.0
    progress.update(5, label="learning", total=10, note="loss 3")
    assert progress.figures("loss 3") == "5 of 10 MB, 2.5/s, 0:02 left, loss 3"


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


@pytest.mark.parametrize(("seconds", "shown"), [(0, "0:00"), (59.6, "1:00"), (3599, "59:59"), (3723, "1:02:03")])
def test_clock(seconds: float, shown: str) -> None:
    assert clock(seconds) == shown

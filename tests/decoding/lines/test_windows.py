"""Lines in, windows out: the expected windows follow from the lines and the waits that each test makes."""

import io
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest

from attendo.decoding.lines import windows as windows_module
from attendo.decoding.lines.windows import read_lines, windows
from attendo.errors import DataError


def test_full_windows_and_the_rest() -> None:
    assert list(windows("abcdefg", 3, pause_s=30.0)) == [["a", "b", "c"], ["d", "e", "f"], ["g"]]
    assert list(windows([], 3)) == []


def test_a_pause_hands_over_what_is_there() -> None:
    goes_on = threading.Event()

    def lines() -> Iterator[str]:
        yield from ("a", "b")
        assert goes_on.wait(120)
        yield "c"

    arriving = windows(lines(), 100, pause_s=0.05)
    window = next(arriving)
    while len(window) < 2:  # the machine may be so busy that a pause came between the two
        window += next(arriving)
    assert window == ["a", "b"]
    goes_on.set()
    assert list(arriving) == [["c"]]


def test_dripping_lines_do_not_wait_for_a_full_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows_module, "PATIENCE_S", 0.1)

    def lines() -> Iterator[str]:
        for _ in range(6000):  # a minute
            yield "drip"
            time.sleep(0.01)

    arriving = windows(lines(), 10_000, pause_s=30.0)
    assert 0 < len(next(arriving)) < 6000
    arriving.close()


def test_huge_lines_fill_a_window_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(windows_module, "MAX_CHARACTERS", 10)
    assert list(windows(["x" * 6] * 5, 100, pause_s=30.0)) == [["x" * 6] * 2, ["x" * 6] * 2, ["x" * 6]]


def test_an_error_comes_after_the_lines_before_it() -> None:
    def lines() -> Iterator[str]:
        yield from "abc"
        raise DataError("line 4 is broken")

    arriving = windows(lines(), 2, pause_s=30.0)
    assert next(arriving) == ["a", "b"]
    assert next(arriving) == ["c"]
    with pytest.raises(DataError, match="line 4 is broken"):
        next(arriving)


def test_the_reader_ends_when_nobody_wants_more() -> None:
    before = set(threading.enumerate())
    arriving = windows(map(str, itertools.count()), 2)
    assert next(arriving) == ["0", "1"]
    [reader] = set(threading.enumerate()) - before
    arriving.close()
    reader.join(timeout=120)
    assert not reader.is_alive()


def test_read_lines_ends_lines_at_newlines_only() -> None:
    # A byte order mark, CRLF, a lone CR, an empty line; U+2028, vertical tab and NEL inside a line; no end at the end.
    text = "\ufeffone\r\ntwo\rtwo\n\nthree\u2028three\x0b\x85\nfour\r"
    assert list(read_lines(io.BytesIO(text.encode()), "test")) == [
        "one\r\n",
        "two\rtwo\n",
        "\n",
        "three\u2028three\x0b\x85\n",
        "four\r",
    ]


@pytest.mark.parametrize("chunk_bytes", [1, 2, 3, 7])
def test_chunks_cut_nothing(monkeypatch: pytest.MonkeyPatch, chunk_bytes: int) -> None:
    monkeypatch.setattr(windows_module, "_CHUNK_BYTES", chunk_bytes)
    lines = ["äöü\n", "\r\n", "日本語 text\n", "x" * 20 + "\r\n", "\n"]
    for text in (lines, [*lines, "end"]):
        assert list(read_lines(io.BytesIO("".join(text).encode()), "test")) == text


def test_text_that_is_not_utf8_is_refused_by_line() -> None:
    arriving = read_lines(io.BytesIO(b"fine\nna\xefve\nfine\n"), "standard input")
    assert next(arriving) == "fine\n"
    with pytest.raises(DataError, match=r"standard input: line 2 is not UTF-8 at its byte 3; .* iconv"):
        next(arriving)


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory() -> None:
    class Endless(io.RawIOBase):
        def __init__(self) -> None:
            self.given = 0

        def read(self, size: int = -1) -> bytes:
            self.given += size
            return b"fine\n" + b"x" * (size - 5) if self.given == size else b"x" * size

    source = Endless()
    arriving = read_lines(source, "standard input")  # type: ignore[arg-type]
    assert next(arriving) == "fine\n"
    with pytest.raises(DataError, match=r"^standard input: line 2 is longer than 4 MB; is this text\?"):
        next(arriving)
    assert source.given < 5 << 20
    long = "x" * (4 << 20)  # as much as a line of a file may have
    assert list(read_lines(io.BytesIO(f"{long}\n{long}".encode()), "test")) == [f"{long}\n", long]


def test_lines_of_a_pipe_come_at_once() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as source, os.fdopen(writing, "wb", buffering=0) as sink:
        arriving = read_lines(source, "test")
        sink.write(b"first\nsec")
        assert next(arriving) == "first\n"
        sink.write(b"ond\n")
        assert next(arriving) == "second\n"


@pytest.mark.parametrize("text", [b"one\rtwo", b"one\rtwo\r", b"one\r" * (2 << 20)])
def test_carriage_returns_alone_are_refused(text: bytes) -> None:
    with pytest.raises(
        DataError, match=r"^test: holds carriage returns and no line feed, .*: tr '\\r' '\\n' < OLD > N"
    ):
        list(read_lines(io.BytesIO(text), "test"))


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_while_waiting_for_input_ends_the_process() -> None:
    program = (
        "import sys\n"
        "from attendo.decoding.lines.windows import read_lines, windows\n"
        "try:\n"
        "    for window in windows(read_lines(sys.stdin.buffer, 'stdin'), 8):\n"
        "        print(window, flush=True)\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(130)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"a line\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"['a line\\n']\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b""

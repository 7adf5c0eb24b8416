"""Work of an engine that ends before it is done: by cancelling, by closing, by Ctrl-C."""

import signal
import subprocess
import sys
import threading
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

import pytest

from attendo.decoding.backends.native_model import NativeStep
from attendo.decoding.lines.translation import Translation
from attendo.decoding.watch import nobody
from attendo.errors import ModelError
from attendo.native.library import find_kernels
from attendo.workflow.engines.translate import load

needs_kernels = pytest.mark.skipif(find_kernels().kernels is None, reason="no native kernels")
LINES = ["one red dogs see us.", "some old kings hear them here.", "two small birds"]


def test_lines_are_cancelled_by_their_numbers(model_folder: Path) -> None:
    with load(model_folder, threads=1) as engine:
        expected = engine.translate_lines(LINES)
        assert engine.translate_watched(LINES, None, nobody) == expected
        assert engine.translate_watched(LINES, None, lambda: {2}) == [expected[0], None, expected[2]]


def test_sentences_are_cancelled_by_their_numbers(parser_folder: Path) -> None:
    with load(parser_folder, threads=1) as engine:
        expected = engine.parse_n_best(["one red dog", "", "two dogs"])
        assert engine.parse_watched(["one red dog", "", "two dogs"], nobody) == expected
        assert engine.parse_watched(["one red dog", "", "two dogs"], lambda: {1, 2}) == [None, *expected[1:]]


def test_attention_of_what_the_engine_finds_is_cancelled_too(model_folder: Path) -> None:
    with load(model_folder, threads=1) as engine:
        assert engine.attention_pair(LINES[0], None, lambda: {1}) is None
        pair = engine.attention_pair(LINES[0], None, nobody)
        assert pair is not None
        assert engine.attention_of(pair).target == engine.attention(LINES[0]).target


@needs_kernels
@pytest.mark.parametrize("threads", [1, 3])
def test_closing_ends_what_another_thread_has_in_work(
    model_folder: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    engine = load(model_folder, threads=threads, search={"max_batch_sentences": 1})
    other = engine.with_search()
    begun, closed, steps = threading.Event(), threading.Event(), []
    advance = NativeStep.advance

    def held(self: NativeStep, last_ids: Any) -> NativeStep:
        steps.append(1)
        begun.set()
        assert closed.wait(120)
        return advance(self, last_ids)

    told: list[object] = []

    def work() -> None:
        try:
            told.append(engine.translate(LINES))
        except ModelError as error:
            told.append(str(error))

    with monkeypatch.context() as patch:
        patch.setattr(NativeStep, "advance", held)
        thread = threading.Thread(target=work)
        thread.start()
        assert begun.wait(120)
        engine.close()
        closed.set()
        thread.join(120)
    [message] = told
    assert "is closed; load the model again" in str(message)
    assert len(steps) <= threads, "each thread was within one step, and has made no other"
    assert isinstance(other.translate(LINES[0]), Translation)


SCRIPT = """
import sys, attendo
threads = int(sys.argv[2])
engine = attendo.load(sys.argv[1], threads=threads, search={"max_batch_sentences": 16, "beam_size": 12})
print("ready", flush=True)
# Each thread has a batch for minutes, since its lines may not end.
engine.translate(["one red dogs see us."] * 16 * threads, min_len=10_000)
"""


@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_ctrl_c_ends_the_translation_of_a_long_line(model_folder: Path, threads: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(model_folder), str(threads)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(subprocess.TimeoutExpired):  # it is at work
            process.wait(1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert "KeyboardInterrupt" in errors
    assert process.returncode == -signal.SIGINT


def test_a_watch_may_answer_with_any_set(model_folder: Path) -> None:
    def between_steps() -> AbstractSet[int]:
        return {99: None}.keys()

    with load(model_folder, threads=1) as engine:
        assert engine.translate_watched(LINES, None, between_steps) == engine.translate_lines(LINES)

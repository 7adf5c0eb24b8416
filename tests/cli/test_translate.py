import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from attendo.workflow.translate import load

Command = Callable[..., Any]
LINES = ["one red dogs see us.", "", "some old kings hear them.", "two small birds see here."]
TEXT = "".join(f"{line}\n" for line in LINES).encode()


@pytest.fixture(scope="module")
def expected(model_folder: Path) -> list[str]:
    """What the library says; line ends, which random bytes may spell, as the command line has them."""
    return [t.text.replace("\r", " ").replace("\n", " ") for t in load(model_folder).translate(LINES)]


def test_a_line_in_a_line_out(attendo: Command, model_folder: Path, expected: list[str]) -> None:
    finished = attendo("translate", model_folder, stdin=TEXT)
    assert finished.status == 0
    assert finished.out.split("\n") == [*expected, ""]
    assert finished.err.startswith("translated 4 lines in ")


def test_from_file_to_file(attendo: Command, model_folder: Path, expected: list[str], tmp_path: Path) -> None:
    source, output = tmp_path / "source.txt", tmp_path / "new" / "output.txt"
    source.write_bytes(TEXT)
    finished = attendo("translate", model_folder, source, "-o", output, "--threads", "1")
    assert (finished.status, finished.out) == (0, "")
    assert output.read_text(encoding="utf-8").split("\n") == [*expected, ""]


def test_n_best_and_scores_have_columns(attendo: Command, model_folder: Path) -> None:
    finished = attendo("translate", model_folder, "--n-best", "2", "--scores", stdin=TEXT)
    rows = [line.split("\t", 3) for line in finished.out.removesuffix("\n").split("\n")]
    assert [row[0] for row in rows] == ["1", "1", "2", "3", "3", "4", "4"]  # an empty line has one translation
    translations = load(model_folder, search={"n_best": 2}).translate(LINES)
    candidates = [candidate for translation in translations for candidate in translation.n_best]
    assert [float(row[1]) for row in rows] == pytest.approx([c.score for c in candidates], abs=1e-3)
    assert [float(row[2]) for row in rows] == pytest.approx([c.log_prob for c in candidates], abs=1e-3)
    finished = attendo("translate", model_folder, "--scores", stdin=TEXT)
    assert [len(line.split("\t", 2)) for line in finished.out.removesuffix("\n").split("\n")] == [3] * 4


def test_settings_reach_the_search(attendo: Command, model_folder: Path) -> None:
    options = ["--beam-size", "1", "--length-penalty", "0", "--set", "search.max_len_offset=0"]
    finished = attendo("translate", model_folder, *options, stdin=TEXT)
    engine = load(model_folder, search={"beam_size": 1, "length_penalty": 0.0, "max_len_offset": 0})
    assert finished.out.splitlines()[0] == engine.translate(LINES)[0].text
    assert "translations were ended by the length limit; to allow more: --set search.max_len_offset=N" in finished.err
    finished = attendo("translate", model_folder, "--set", "search.max_source_tokens=2", stdin=TEXT)
    assert "3 lines were too long, and only their beginning was translated" in finished.err


def test_n_best_can_be_a_setting_too(attendo: Command, model_folder: Path) -> None:
    by_option = attendo("translate", model_folder, "--n-best", "3", stdin=TEXT)
    by_setting = attendo("translate", model_folder, "--set", "search.n_best=3", stdin=TEXT)
    assert by_option.out == by_setting.out
    assert by_option.out.startswith("1\t")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_is_read_once(attendo: Command, model_folder: Path, expected: list[str], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    Thread(target=pipe.write_bytes, args=(TEXT,)).start()
    assert attendo("translate", model_folder, pipe).out.split("\n") == [*expected, ""]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--dtype", "int8"], 'dtype "int8" is not in this version; take float32 or bfloat16'),
        (["--set", "search.beam=3"], "--set: search.beam = 3: there is no such key; did you mean search.beam_size?"),
        (["--set", "model.d_model=3"], "--set model.d_model=3: only keys of search can be set here"),
        (["--n-best", "6"], "search.n_best = 6 is more than beam_size = 3 can hold; take beam_size = 6 or more"),
        (["--beam-size", "0"], "search.beam_size = 0 is too small; take 1 or more"),
        (["--ensemble", "nowhere"], "nowhere: no such model or run folder"),
        (["nowhere.txt"], "nowhere.txt: "),
    ],
)
def test_what_cannot_be_meant_is_refused(
    attendo: Command, model_folder: Path, options: list[str], problem: str
) -> None:
    finished = attendo("translate", model_folder, *options, stdin=TEXT)
    assert (finished.status, finished.out) == (1, "")
    assert problem in finished.err
    assert finished.err.count("\n") == 1


def test_broken_text_is_an_error_after_the_lines_before(attendo: Command, model_folder: Path) -> None:
    finished = attendo("translate", model_folder, stdin=b"us.\nsch\xf6n\n")
    assert finished.status == 1
    assert finished.out.count("\n") == 1
    assert "standard input: line 2 is not UTF-8 at its byte 4" in finished.err


def test_a_pause_of_the_input_brings_what_is_there(model_folder: Path) -> None:
    command = subprocess.Popen(
        [sys.executable, "-m", "attendo.cli.main", "translate", str(model_folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert command.stdin is not None
    assert command.stdout is not None
    for _ in range(2):  # the second line is only written when the first one's translation has come
        command.stdin.write(b"one red dogs see us.\n")
        command.stdin.flush()
        assert command.stdout.readline().endswith(b"\n")
    command.stdin.close()
    command.stdout.close()
    assert command.wait(timeout=60) == 0

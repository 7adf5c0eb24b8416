"""A translation of a file that is ended, in whatever way, goes on with the same command to the same bytes.

The expected bytes are what the same text gives through standard input, which keeps nothing and is never interrupted.
"""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Command

from attendo.workflow.translation import file_translation, part_translation
from attendo.workflow.translation.part_files import PartsFolder

WORDS = ("one", "two", "some", "red", "old", "small", "dogs", "birds", "men", "kings", "see", "hear", "us", "here")
NUM_LINES = 300
SMALL_WINDOWS = ("--threads", "1", "--set", "search.window_lines=2")
"""So that 300 lines are 150 parts."""


def text_of(num_lines: int) -> bytes:
    """Lines of one to nine words, every seventh empty, every third with CRLF, the last one without an end."""
    lines = [
        " ".join(WORDS[(number * 5 + word * word) % len(WORDS)] for word in range(1 + number % 9)) if number % 7 else ""
        for number in range(1, num_lines + 1)
    ]
    text = "".join(f"{line}\r\n" if number % 3 == 0 else f"{line}\n" for number, line in enumerate(lines))
    return text.rstrip("\r\n").encode()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_bytes(text_of(NUM_LINES))
    return path


def started(*arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "attendo", "translate", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def wait_for_parts(process: "subprocess.Popen[str]", parts: Path, number: int) -> None:
    """Waits until so many parts are there, or the process has ended."""
    while process.poll() is None and len(list(parts.glob("[0-9]*.json"))) < number:
        time.sleep(0.002)


@pytest.mark.parametrize(
    "options",
    [
        ["--scores"],
        pytest.param(
            ["--json", "--n-best", "2", "--alignment", "--set", "search.sampling=true", "--set", "search.seed=7"],
            marks=pytest.mark.slow,
        ),
    ],
)
def test_killed_at_random_moments_it_gives_the_same_bytes(
    attendo: Command, model_folder: Path, source: Path, tmp_path: Path, options: list[str]
) -> None:
    output, parts = tmp_path / "out.txt", tmp_path / "out.txt.parts"
    command = [model_folder, source, "-o", output, *SMALL_WINDOWS, *options]
    chance = random.Random(len(options))
    kept = [0]
    for more in (1, chance.randrange(5, 25), chance.randrange(5, 25)):
        with started(*command) as process:
            wait_for_parts(process, parts, kept[-1] + more)
            time.sleep(chance.random() / 20)
            process.kill()
            process.wait()
        assert process.returncode == -signal.SIGKILL
        assert not output.exists()
        kept.append(len(list(parts.glob("[0-9]*.json"))))
    assert kept == sorted(set(kept)), "each start has added some"
    assert kept[-1] < NUM_LINES / 2
    with started(*command) as process:
        _, err = process.communicate()
    assert process.returncode == 0, err
    assert re.search(rf"^going on: {2 * kept[-1]} of 300 lines are there already$", err, re.MULTILINE)
    assert re.search(
        rf"^translated {NUM_LINES - 2 * kept[-1]} lines in .* s \(.* s of it translating, .* lines/s\)$", err, re.M
    )
    assert "300 lines in all, including those of earlier starts\n" in err
    uninterrupted = attendo("translate", model_folder, *SMALL_WINDOWS, *options, stdin=source.read_bytes())
    assert output.read_bytes() == uninterrupted.out.encode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.txt", "text.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_says_how_to_go_on(
    model_folder: Path, source: Path, tmp_path: Path, number: signal.Signals, status: int
) -> None:
    output, parts = tmp_path / "out.txt", tmp_path / "out.txt.parts"
    with started(model_folder, source, "-o", output, *SMALL_WINDOWS, "--quiet") as process:
        wait_for_parts(process, parts, 3)
        process.send_signal(number)
        _, err = process.communicate()
    assert process.returncode == status
    assert f"what is translated so far is kept in {parts}; run the same command again to continue\n" in err
    assert len(list(parts.glob("[0-9]*.json"))) >= 3
    assert not output.exists()


LONG = text_of(20)


def interrupted(attendo: Command, monkeypatch: pytest.MonkeyPatch, arguments: Sequence[object]) -> None:
    """Has Ctrl-C come behind three parts."""
    translate_part = part_translation.translate_part
    numbers = iter(range(3))

    def three_parts(*given: Any, **named: Any) -> Any:
        if next(numbers, None) is None:
            raise KeyboardInterrupt
        return translate_part(*given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(file_translation, "translate_part", three_parts)
        assert attendo(*arguments).status == 130


@pytest.fixture
def interruption(attendo: Command, model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """A command that has been interrupted behind 6 of 20 lines."""
    (tmp_path / "text.txt").write_bytes(LONG)
    arguments = ["translate", model_folder, tmp_path / "text.txt", "-o", tmp_path / "out.txt", *SMALL_WINDOWS]
    interrupted(attendo, monkeypatch, arguments)
    assert len(list((tmp_path / "out.txt.parts").glob("[0-9]*.json"))) == 3
    return arguments


def test_the_same_command_goes_on(attendo: Command, interruption: list[object], tmp_path: Path) -> None:
    finished = attendo(*interruption)
    assert finished.status == 0
    assert finished.err.startswith("going on: 6 of 20 lines are there already\n")
    assert "translated 14 lines in " in finished.err
    assert (tmp_path / "out.txt").read_bytes() == attendo(*interruption[:2], stdin=LONG).out.encode()


@pytest.mark.parametrize(
    ("change", "what"), [("setting", "search"), ("model", "models"), ("text", "files"), ("form", "output")]
)
def test_another_command_starts_anew_and_says_so(
    attendo: Command,
    interruption: list[object],
    model_folders: tuple[Path, Path, Path],
    tmp_path: Path,
    change: str,
    what: str,
) -> None:
    text, model, options = LONG, interruption[1], []
    if change == "text":
        text = LONG.replace(b"one", b"two")
        (tmp_path / "text.txt").write_bytes(text)
    elif change == "model":
        model = model_folders[1]
    else:
        options = ["--beam-size", "2"] if change == "setting" else ["--scores"]
    finished = attendo("translate", model, *interruption[2:], *options)
    assert finished.status == 0
    parts = tmp_path / "out.txt.parts"
    assert finished.err.startswith(f"{parts}: holds another translation, with another {what}; starting anew\n")
    assert "translated 20 lines in " in finished.err
    assert (tmp_path / "out.txt").read_bytes() == attendo("translate", model, *options, stdin=text).out.encode()
    assert not parts.exists()


def test_a_model_is_known_by_its_content(
    attendo: Command, interruption: list[object], model_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere").symlink_to(model_folder)
    finished = attendo("translate", tmp_path / "elsewhere", *interruption[2:])
    assert finished.err.startswith("going on: 6 of 20 lines are there already\n")


def test_a_part_that_is_torn_is_translated_again(attendo: Command, interruption: list[object], tmp_path: Path) -> None:
    """Cut at every byte of its two files, a part is not there; a run after some of the cuts gives the same bytes."""
    folder = PartsFolder.beside(tmp_path / "out.txt")
    assert list(folder.done(10)) == [0, 1, 2]
    for path in (folder.text(2), folder.record(2)):
        whole = path.read_bytes()
        assert len(whole) > 10
        for size in range(len(whole)):
            path.write_bytes(whole[:size])
            assert list(folder.done(10)) == [0, 1], f"{path.name} of {size} bytes"
        path.write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
        assert list(folder.done(10)) == [0, 1]
        path.write_bytes(whole)
    folder.text(2).write_bytes(b"torn")
    finished = attendo(*interruption)
    assert finished.err.startswith("going on: 4 of 20 lines are there already\n")
    assert (tmp_path / "out.txt").read_bytes() == attendo(*interruption[:2], stdin=LONG).out.encode()


def test_parts_without_their_manifest_are_not_taken(
    attendo: Command, interruption: list[object], tmp_path: Path
) -> None:
    (tmp_path / "out.txt.parts" / "manifest.json").unlink()
    finished = attendo(*interruption)
    assert "going on" not in finished.err
    assert "translated 20 lines in " in finished.err


def test_two_commands_do_not_write_one_output(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_bytes(LONG)
    arguments = ["translate", model_folder, tmp_path / "text.txt", "-o", tmp_path / "out.txt"]
    with PartsFolder.beside(tmp_path / "out.txt").opened():
        finished = attendo(*arguments)
    assert finished.status == 1
    assert finished.err == (
        f"attendo: error: {tmp_path / 'out.txt.parts'}: in use by process {os.getpid()} on {os.uname().nodename}, "
        "which writes the same output; wait for its end, or choose another output\n"
    )
    assert attendo(*arguments).status == 0


def test_files_of_others_stay(attendo: Command, interruption: list[object], tmp_path: Path) -> None:
    mine = tmp_path / "out.txt.parts" / "mine.odt"
    mine.write_text("a year's work")
    assert attendo(*interruption).status == 0
    assert [path.name for path in mine.parent.iterdir()] == ["mine.odt"]


def test_a_mistake_leaves_no_folder(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_bytes(b"one\nna\xefve\n")
    arguments = ["translate", model_folder, tmp_path / "text.txt", "-o", tmp_path / "out.txt"]
    assert "line 2 is not UTF-8" in attendo(*arguments).err
    (tmp_path / "text.txt").write_bytes(LONG)
    assert attendo(*arguments, "--beam-size", "0").status == 1
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_can_be_read_only_once_is_translated_at_once(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", 'printf "one\ntwo" > "$0"', str(pipe)]) as writer:
        assert attendo("translate", model_folder, pipe, "-o", tmp_path / "out.txt").status == 0
        assert writer.wait() == 0
    assert (tmp_path / "out.txt").read_bytes() == attendo("translate", model_folder, stdin=b"one\ntwo").out.encode()
    assert attendo("translate", model_folder, "-o", tmp_path / "other.txt", stdin=b"one\ntwo").status == 0
    assert (tmp_path / "other.txt").read_bytes() == (tmp_path / "out.txt").read_bytes()

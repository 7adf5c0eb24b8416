import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attendo import __version__
from attendo.cli.commands import COMMANDS, GROUPS

Command = Callable[..., Any]
ATTENDO = [sys.executable, "-m", "attendo.cli.main"]


def test_every_command_has_help(attendo: Command) -> None:
    listed = attendo("--help").out
    for name in (*COMMANDS, *GROUPS):
        assert name in listed
        finished = attendo(name, "--help")
        assert (finished.status, finished.err) == (0, "")
        assert "Usage: attendo" in finished.out


def test_the_version(attendo: Command) -> None:
    assert attendo("--version").out == f"attendo {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["sing"], "No such command"),
        (["translate"], "Missing argument"),
        (["translate", "m", "--beam-size", "four"], "Invalid value"),
        (["translate", "m", "--dtype", "float8"], "Invalid value"),
        (["evaluate", "m", "--source", "s"], "or give --trees"),
        (["info", "--verify"], "needs a model or run folder"),
    ],
)
def test_wrong_usage_ends_with_2(attendo: Command, arguments: list[str], problem: str) -> None:
    finished = attendo(*arguments)
    assert finished.status == 2
    assert problem in finished.err
    assert finished.out == ""


def test_errors_of_the_users_are_one_line_and_1(attendo: Command, tmp_path: Path) -> None:
    finished = attendo("translate", tmp_path / "nowhere")
    assert finished.status == 1
    assert finished.err.startswith(f"attendo: error: {tmp_path / 'nowhere'}: no such model or run folder. ")
    assert f"train one with: attendo train RECIPE -o {tmp_path / 'nowhere'}" in finished.err
    assert finished.err.count("\n") == 1


def test_the_systems_errors_are_told_too(attendo: Command, model_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    finished = attendo("translate", model_folder, "-o", tmp_path / "file" / "below", stdin=b"us.\n")
    assert finished.status == 1
    assert finished.err.startswith(f"attendo: error: {tmp_path / 'file'}: ")
    assert finished.err.count("\n") == 1


def test_help_and_recipes_need_no_torch() -> None:
    code = (
        "import sys; from attendo.cli.main import run\n"
        "assert run(['--help']) == run(['recipe', 'base', '--resolved']) == run(['prepare', '--help']) == 0\n"
        "sys.exit('torch' in sys.modules)"
    )
    finished = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr


def test_a_closed_pipe_is_quiet() -> None:
    command = subprocess.Popen([*ATTENDO, "recipe"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert command.stdout is not None
    command.stdout.close()
    assert command.stderr is not None
    assert command.stderr.read() == b""
    command.stderr.close()
    assert command.wait() == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_leaves_no_half_written_file(
    model_folder: Path, tmp_path: Path, sent: signal.Signals, status: int
) -> None:
    output = tmp_path / "out"
    command = subprocess.Popen(
        [*ATTENDO, "translate", str(model_folder), "-o", str(output)], stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert command.stdin is not None
    assert command.stderr is not None
    command.stdin.write(b"one red dogs see us.\n")
    command.stdin.flush()
    deadline = time.monotonic() + 300
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    command.send_signal(sent)
    assert command.wait(timeout=300) == status
    assert b"Traceback" not in command.stderr.read()
    command.stdin.close()
    command.stderr.close()
    assert list(tmp_path.iterdir()) == []

"""Runs commands of `attendo` in this process as the command line would, and judges how they ended."""

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace

from attendo.cli.main import run
from attendo.errors import AttendoError, ModelError
from attendo.workflow.verification import verify

LINES = ["one red dog see us.", "old kings hear", ""]
TEXT = "".join(f"{line}\n" for line in LINES)


def attendo(*arguments: object, stdin: str = TEXT) -> str:
    """What a command prints.

    Raises:
        AttendoError: it ended with status 1 and one error of its own.
        AssertionError: it ended in another way, or told an error in more than the words of one.
    """
    out, err = io.StringIO(), io.StringIO()
    before, sys.stdin = sys.stdin, SimpleNamespace(buffer=io.BytesIO(stdin.encode()), isatty=lambda: False)
    try:
        with redirect_stdout(out), redirect_stderr(err):
            status = run([str(argument) for argument in arguments])
    finally:
        sys.stdin = before
    told = err.getvalue()
    assert "Traceback" not in told, told
    assert "\x1b" not in out.getvalue() + told, "a control character of a stranger's reaches the terminal"
    if status == 0:
        return out.getvalue()
    errors = [line for line in told.splitlines() if line.startswith("attendo: error: ")]
    assert (status, len(errors)) == (1, 1), f"status {status}: {told[-2000:]}"
    raise AttendoError(told[told.index(errors[0]) :])


def first_error_of(*steps: Callable[[], object]) -> None:
    """Does all of it, and then raises the first error of ours there was."""
    errors = []
    for step in steps:
        try:
            step()
        except AttendoError as error:
            errors.append(error)
    if errors:
        raise errors[0]


def whole(folder: Path) -> None:
    """Raises what `info --verify` tells."""
    if problems := verify(str(folder)).problems:
        raise ModelError("\n".join(problems))

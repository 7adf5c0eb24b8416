"""Running a command of `attendo` in this process."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from attendo.cli.main import run


@dataclass(frozen=True)
class Finished:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str


Command = Callable[..., Finished]


@pytest.fixture
def attendo(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a command line; `stdin` is what it reads there."""

    def attendo(*arguments: object, stdin: bytes = b"") -> Finished:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(stdin), isatty=lambda: False))
        capsys.readouterr()
        status = run([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Finished(status, printed.out, printed.err)

    return attendo

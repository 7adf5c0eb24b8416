"""Values of the command line read without pydantic are those that Typer itself reads, and so are all complaints."""

import contextlib
import io
import os
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
import typer

from attendo.cli.plain_values import PlainCommand, PlainGroup

WORDS = [
    [],
    ["name"],
    ["name", "a.txt", "b.txt"],
    ["name", "--count", "7", "--level", "3", "--share", "0.5"],
    ["name", "--count", "007"],
    ["name", "--count", " 7"],
    ["name", "--count", "+7"],
    ["name", "--count", "1_000"],
    ["name", "--count", "\u0663"],
    ["name", "--count", "12345678901234567890"],
    ["name", "--count", "seven"],
    ["name", "--count", "1.0"],
    ["name", "--level", "0"],
    ["name", "--level", "10"],
    ["name", "--level", "-1"],
    ["name", "--kind", "small", "--kind", "large"],
    ["name", "--kind", "Small"],
    ["name", "--kind", ""],
    ["name", "--text", ""],
    ["name", "--text", "ä b", "--text", "c"],
    ["name", "--text", "\udcff"],
    ["\udcff"],
    ["name", "--output", "missing/new.txt"],
    ["name", "--output", ""],
    ["name", "--output", "\udcff"],
    ["name", "--output", "."],
    ["name", "--output", "secret.txt"],
    ["name", "a.txt", "secret.txt"],
    ["name", "--quiet"],
    ["name", "--quiet", "--quiet"],
    ["name", "--share", "half"],
    ["name", "--nonsense"],
    ["name", "--count"],
    ["--help"],
]


def result_of(words: list[str], *, plain: bool) -> tuple[object, str, str]:
    """What a command is called with, or its exit status, and what is printed."""
    app = typer.Typer(cls=PlainGroup if plain else None, add_completion=False, callback=lambda: None)
    called: list[dict[str, Any]] = []

    def command(
        name: str,
        files: Annotated[list[Path] | None, typer.Argument()] = None,
        count: Annotated[int | None, typer.Option()] = None,
        level: Annotated[int, typer.Option(min=1, max=9)] = 2,
        share: Annotated[float, typer.Option()] = 0.25,
        kind: Annotated[Literal["small", "large"] | None, typer.Option()] = None,
        text: Annotated[list[str] | None, typer.Option()] = None,
        output: Annotated[Path, typer.Option(callback=lambda value: value)] = Path("out.txt"),
        quiet: Annotated[bool, typer.Option("--quiet")] = False,
    ) -> None:
        called.append(locals().copy())

    app.command("command", cls=PlainCommand if plain else None)(command)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
        app(["command", *words], prog_name="program")
    given = {key: value for key, value in called[0].items() if key != "called"} if called else None
    return given or ended.value.code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize("words", WORDS, ids=ascii)
def test_a_command_is_called_as_typer_calls_it(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "secret.txt").touch()
    really = os.access  # for a superuser every file is readable
    monkeypatch.setattr("os.access", lambda path, mode: Path(path).name != "secret.txt" and really(path, mode))
    assert result_of(words, plain=True) == result_of(words, plain=False)

"""The command `attendo`: its commands, and how it reports errors."""

import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from attendo import __version__
from attendo.cli.commands import COMMANDS, GROUPS
from attendo.cli.plain_values import PlainCommand, PlainGroup
from attendo.cli.signals import ending_at_signals
from attendo.errors import AttendoError
from attendo.reading import printable
from attendo.threads import set_up_openmp

_EXTRAS = {"torch": "train", "safetensors": "train", "matplotlib": "plot"}
"""Packages that translating does not need, each with the extra that installs it."""


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"attendo {__version__}")
        raise typer.Exit


def attendo(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """The options of `attendo` itself."""


def application(arguments: Sequence[str] = ()) -> typer.Typer:
    """Builds the command line: only the called command, or all commands if the arguments do not begin with one.

    Args:
        arguments: without the program's name.
    """
    app = typer.Typer(
        name="attendo",
        cls=PlainGroup,
        help="The Transformer of 'Attention Is All You Need': train, translate, parse, score, inspect.",
        callback=attendo,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    called = {*arguments[:1]} & {*COMMANDS, *GROUPS} or {*COMMANDS, *GROUPS}
    for name in (name for name in COMMANDS if name in called):
        app.command(name, cls=PlainCommand)(COMMANDS[name]())
    for name in (name for name in GROUPS if name in called):
        app.add_typer(GROUPS[name]())
    return app


def main() -> None:
    """Runs the command line of this process."""
    arguments = sys.argv[1:]
    # The bench measures peers as they are installed, both in this process and in the processes it starts.
    if arguments[:1] != ["bench"]:
        set_up_openmp()
    sys.exit(run(arguments))


def run(arguments: Sequence[str]) -> int:
    """Runs a command.

    Args:
        arguments: without the program's name.

    Returns:
        The exit status: 0 done, 1 an error of the user's data, files or recipe, 2 wrong usage, 130 after SIGINT, 143
        after SIGTERM.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # always UTF-8, with the same line ends on every platform
            stream.reconfigure(encoding="utf-8", newline="\n", errors="backslashreplace")
    with ending_at_signals() as end_signal:
        try:
            status = _run(arguments)
        except Exception:
            if end_signal.number is None:
                raise
            status = 1  # the import turned the signal into this error
    return status if end_signal.number is None else 128 + end_signal.number


def _run(arguments: Sequence[str]) -> int:
    try:
        application(arguments)(args=list(arguments), prog_name="attendo")
    except SystemExit as ending:  # also a usage error, which is printed already, and Ctrl-C
        return _flushed(ending.code if isinstance(ending.code, int) else 0)
    except AttendoError as error:
        return _say(f"error: {error}", 1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _say(f"error: {where}{error.strerror or error}", 1)
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").split(".")[0])
        if extra is None:
            raise
        needed = f"attendo {' '.join(arguments[:1])} needs {error.name}, which is not installed"
        return _say(f'error: {needed}; pip install "attendo[{extra}]"', 1)
    except KeyboardInterrupt:  # before or after the commands, which report it themselves
        return _flushed(128 + signal.SIGINT)
    except MemoryError:
        return _say("error: memory ran out; give it more, or smaller files, batches (max_tokens) or models", 1)
    return _flushed(0)


def _flushed(status: int) -> int:
    """Flushes standard output; a closed pipe, as in `attendo ... | head`, only sets the status to 1."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        # Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def _say(message: str, status: int) -> int:
    print(f"attendo: {printable(message)}", file=sys.stderr)
    return status


if __name__ == "__main__":
    main()

"""The output of a command: where it goes, and the checks and notes about it before the work begins."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from attendo.cli.progress import note
from attendo.destinations import check_output_file
from attendo.files import text_stream
from attendo.output_folders import check_output_folder, contents, listed


@contextmanager
def destination(output: Path | None) -> Iterator[TextIO]:
    """Standard output, or a file that appears when it is whole; a device or FIFO gets each line at once."""
    if output is None:
        yield sys.stdout
        return
    with text_stream(output) as stream:
        yield stream


def check_file(output: Path | None) -> None:
    """Rejects an output file that cannot be written before the work begins, and notes which folder will be created.

    Raises:
        DataError: it cannot be written.
    """
    if output is not None:
        _note_missing(check_output_file(output))


def check_folder(output: Path | None) -> None:
    """Rejects an output folder that cannot be created before the work begins, and notes if it will be created.

    Raises:
        DataError: it cannot be made.
        ModelError: it is a file.
    """
    if output is not None:
        _note_missing(check_output_folder(output))


def held_before(output: Path, *, force: bool) -> list[str]:
    """Lists the contents of a folder that `--force` will replace; empty without `--force`."""
    return contents(output) if force else []


def note_replaced(output: Path, held: list[str]) -> None:
    """Reports the contents that `--force` replaced."""
    if held:
        note(f"replaced what {output} held: {listed(held)}")


def note_kept(output: Path, *, force: bool) -> None:
    """Reports the existing contents of a folder that a command writes into because of `--force`."""
    if held := held_before(output, force=force):
        note(f"writing into {output}, which holds: {listed(held)}")


def _note_missing(folder: Path | None) -> None:
    if folder is not None:
        note(f"{folder}: does not exist and will be created")

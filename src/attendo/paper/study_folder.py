"""The folder of a study: reserved for one study and one process at a time, with the results that are kept in it."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from attendo.checkpoint.finding import is_run
from attendo.errors import ModelError
from attendo.files import locked, write_json
from attendo.output_folders import check_begun
from attendo.reading import MAX_JSON_BYTES, parse_json, printable, read_bounded

# --- one study, one process -------------------------------------------------------------------------------------------

STUDY = "study.json"
"""File that records which study a folder belongs to."""
_WITHOUT_RECORD = (".lock", ".lock-prepared", "prepared", "phrasebook", "invented", "texts", "points", "en-de", "en-fr")
"""Entries that identify a study's folder without a record: one that was killed, or from an earlier version."""


@contextmanager
def own_folder(folder: Path, name: str, scale: str, *, force: bool = False) -> Iterator[None]:
    """Refuses a folder that holds anything but this study, and records the study in it if the block succeeds.

    Args:
        folder: folder of the study.
        name: name of the study, such as `table3`.
        scale: scale of the study, such as `small`.
        force: whether to use the folder whatever it holds.

    Raises:
        DataError: the folder cannot be created.
        ModelError: it holds another study, or something else.
        OSError: it cannot be written to.
    """
    record = {"format_version": 1, "name": name, "scale": scale}
    known = _recorded(folder)
    if known is not None and known != record and not force:
        other = printable(f"{known.get('name')} at the scale {known.get('scale')}")
        raise ModelError(f"{folder}: holds {other}; name another folder with -o, or write into this one with --force")
    check_begun(folder, "reproduce", (STUDY,) if is_run(folder) else (STUDY, *_WITHOUT_RECORD), force=force)
    yield
    if known != record:
        write_json(folder / STUDY, record)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Creates a folder and locks it against other processes.

    Raises:
        ModelError: another process holds the lock.
        OSError: it cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(folder / ".lock"))
        except BlockingIOError as error:
            raise ModelError(f"{folder}: {error.strerror} already; wait until it has ended, or end it") from None
        yield


def _recorded(folder: Path) -> dict[str, object] | None:
    """The content of the folder's record; None if there is none that can be read."""
    try:
        content = parse_json(read_bounded(folder / STUDY, MAX_JSON_BYTES))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


# --- results that are kept --------------------------------------------------------------------------------------------

KeptT = TypeVar("KeptT")


def kept(path: Path, kind: TypeAdapter[KeptT]) -> KeptT | None:
    """Reads a kept result; None if there is none, or one from another version.

    Args:
        path: the JSON file.
        kind: type of the result.
    """
    try:
        return kind.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def measured_once(path: Path, kind: TypeAdapter[KeptT], measure: Callable[[], KeptT]) -> KeptT:
    """Reads a kept result; if there is none, measures and keeps it.

    Args:
        path: the JSON file.
        kind: type of the result, a dataclass.
        measure: measures the result.

    Raises:
        OSError: the file cannot be written.
    """
    result = kept(path, kind)
    if result is None:
        result = measure()
        keep(path, result)
    return result


def keep(path: Path, result: Any) -> None:
    """Writes a result, a dataclass, as JSON, atomically.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, asdict(result))

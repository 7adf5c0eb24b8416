"""The folder of a study: for one study and one process at a time, and the results that are kept in it."""

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
"""Says which study a folder is of."""
_FIRST = (".lock", ".lock-prepared", "prepared", "phrasebook", "invented", "texts", "points", "en-de", "en-fr")
"""What a study that was killed, or one of an earlier version, has in place of a record."""


@contextmanager
def own_folder(folder: Path, name: str, scale: str, *, force: bool = False) -> Iterator[None]:
    """Refuses a folder of something else than a study, and writes down whose it is when the block ends well.

    Args:
        folder: of the study.
        name: such as `table3`.
        scale: such as `small`.
        force: write into the folder whatever else it holds.

    Raises:
        DataError: the folder cannot be made.
        ModelError: it holds another study, or something else.
        OSError: it cannot be written to.
    """
    record = {"format_version": 1, "name": name, "scale": scale}
    known = _known(folder)
    if known is not None and known != record and not force:
        other = printable(f"{known.get('name')} at the scale {known.get('scale')}")
        raise ModelError(f"{folder}: holds {other}; name another folder with -o, or write into this one with --force")
    check_begun(folder, "reproduce", (STUDY,) if is_run(folder) else (STUDY, *_FIRST), force=force)
    yield
    if known != record:
        write_json(folder / STUDY, record)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Makes a folder and keeps others out of it.

    Raises:
        ModelError: another process is at it.
        OSError: it cannot be written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(folder / ".lock"))
        except BlockingIOError as error:
            raise ModelError(f"{folder}: {error.strerror} already; wait until it has ended, or end it") from None
        yield


def _known(folder: Path) -> dict[str, object] | None:
    """What the folder's record says; None if it has none that can be read."""
    try:
        found = parse_json(read_bounded(folder / STUDY, MAX_JSON_BYTES))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


# --- results that are kept --------------------------------------------------------------------------------------------

KeptT = TypeVar("KeptT")


def kept(path: Path, kind: TypeAdapter[KeptT]) -> KeptT | None:
    """Reads a kept result; None where there is none, or one of another version.

    Args:
        path: the JSON file.
        kind: what it holds.
    """
    try:
        return kind.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None


def measured_once(path: Path, kind: TypeAdapter[KeptT], measure: Callable[[], KeptT]) -> KeptT:
    """Reads a kept result, or measures and keeps it.

    Args:
        path: the JSON file.
        kind: the dataclass that it holds.
        measure: what to do where nothing is kept.

    Raises:
        OSError: the file cannot be written.
    """
    found = kept(path, kind)
    if found is None:
        found = measure()
        keep(path, found)
    return found


def keep(path: Path, result: Any) -> None:
    """Writes a result, a dataclass, whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, asdict(result))

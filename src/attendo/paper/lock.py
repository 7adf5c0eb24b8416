"""A folder for one study, and for one process at a time."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from attendo.checkpoint.finding import is_run
from attendo.errors import ModelError
from attendo.files import locked, write_json
from attendo.output_folders import check_begun
from attendo.reading import MAX_JSON_BYTES, parse_json, printable, read_bounded

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

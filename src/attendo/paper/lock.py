"""A folder for one process at a time."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from attendo.errors import ModelError
from attendo.files import locked


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

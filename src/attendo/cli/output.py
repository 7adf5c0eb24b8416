"""Where the lines of a command go."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from attendo.files import atomic_path


@contextmanager
def destination(output: Path | None) -> Iterator[TextIO]:
    """Standard output, or a file that appears when it is whole."""
    if output is None:
        yield sys.stdout
        return
    with atomic_path(output) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        yield stream

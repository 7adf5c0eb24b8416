"""Checks a command's input before heavy imports, so that mistakes are reported at once.

Neither torch nor SentencePiece nor matplotlib is imported here, which takes seconds.
"""

from collections.abc import Iterable
from pathlib import Path

from attendo.checkpoint.finding import find_model
from attendo.text.files.compression import open_content
from attendo.text.files.formats import LineReader


def check_inputs(
    *, models: Iterable[str] = (), files: Iterable[Path | None] = (), of_units: Iterable[Path] = ()
) -> None:
    """Rejects names of missing models, and files that cannot be read as lines of text.

    Args:
        models: model folders, run folders or names of shipped models.
        files: text files; None for standard input or a missing option. Pipes and devices are not checked.
        of_units: files that hold both sides, such as XLIFF.

    Raises:
        DataError: a file is missing, cannot be read, or is UTF-16 or UTF-32 text.
        ModelError: there is no such model.
    """
    for model in models:
        find_model(model)
    for path in files:
        if path is not None and not is_read_once(path):
            LineReader(path).close()
    for path in of_units:
        for file in open_content(path):
            file.close()


def count_lines(path: Path) -> int | None:
    """Counts the lines of a file; None if it can be read only once.

    Raises:
        DataError: the file is missing or broken.
    """
    if is_read_once(path):
        return None
    with LineReader(path) as reader:
        return sum(1 for _ in reader)


def is_read_once(path: Path) -> bool:
    """Whether a path names a pipe or a device."""
    return path.exists() and not path.is_file() and not path.is_dir()

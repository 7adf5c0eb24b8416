"""Opening translation memories: the index of the files is built once, and kept in the user's cache."""

import os
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path

from attendo.errors import DataError
from attendo.files import locked
from attendo.memory.building import FORMAT_VERSION, BuiltIndex, build_index
from attendo.memory.index import Index, is_index
from attendo.memory.lookup import Memory

Built = Callable[[BuiltIndex, Path], None]
"""A function that is called with the counts of a new index and its path."""


def open_memory(
    files: Sequence[Path], languages: tuple[str, str], *, threshold: int = 75, built: Built | None = None
) -> Memory:
    """Opens translation memories.

    Args:
        files: TMX, XLIFF, PO, TSV, CSV, JSON lines, or indexes of `attendo memory build`.
        languages: the codes of source and target.
        threshold: the minimum similarity of a match in per cent of the words.
        built: called if an index had to be built first.

    Raises:
        DataError: a file cannot be read, or holds no pair of these languages.
        OSError: the index cannot be written to the cache.
        RecipeError: the threshold is out of range.
    """
    if not all(languages):
        raise DataError("the model does not say its languages, which a translation memory is read in")
    if not files:
        raise DataError("no translation memory was named; give a TMX, XLIFF, PO or TSV file")
    ready = [path for path in files if is_index(path)]
    others = [path for path in files if path not in ready]
    indexes = [Index(path, languages) for path in ready]
    if others:
        indexes.insert(0, _cached(others, languages, built))
    return Memory(indexes, threshold)


def cache_folder() -> Path:
    """Returns the folder of indexes: `attendo/memory` in `$XDG_CACHE_HOME`, or in `~/.cache`."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    base = Path(given) if given and Path(given).is_absolute() else Path.home() / ".cache"
    return base / "attendo" / "memory"


def _cached(files: Sequence[Path], languages: tuple[str, str], built: Built | None) -> Index:
    """Returns the index of files, which is built unless there is one of exactly these files."""
    path = cache_folder() / f"{_key(files, languages)}.sqlite"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with locked(path.with_suffix(".lock")):
                index = build_index(path, files, languages)
        except BlockingIOError as error:
            raise DataError(
                f"{files[0]}: another process makes the index of this translation memory; try again when it has ended"
            ) from error
        if built is not None:
            built(index, path)
    return Index(path, languages)


def _key(files: Sequence[Path], languages: tuple[str, str]) -> str:
    """Returns the name of an index: a digest of its format, languages, and its files' paths, sizes and times.

    Raises:
        DataError: a file is missing.
    """
    parts = [f"{FORMAT_VERSION} {languages[0]} {languages[1]}"]
    for path in files:
        try:
            status = path.stat()
        except OSError as error:
            raise DataError(f"{path}: the translation memory cannot be read ({error.strerror})") from error
        parts.append(f"{path.absolute()}\0{status.st_size}\0{status.st_mtime_ns}")
    return sha256("\0\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]

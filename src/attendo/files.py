"""Writing files so that a reader sees the whole of the old one or the whole of the new one, never a part."""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yields a temporary path beside `path` to write to; renames it over `path` when the block ends well.

    The written file is flushed to disk before the rename, and the folder after it, so that also a power cut leaves
    one of the two states. When the block raises, the temporary file is removed and `path` is as it was.

    Args:
        path: the file to write. Its folder is made where it is missing.

    Raises:
        OSError: the disk is full, or the folder cannot be written to.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # The suffixes stay last: numpy, matplotlib and gzip choose the format by them.
    temporary = path.with_name(f".tmp-{os.getpid()}-{path.name}")
    try:
        yield temporary
        flush_to_disk(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    flush_to_disk(path.parent)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yields a new temporary folder beside `path` to fill; puts it in the place of `path` when the block ends well.

    What `path` was before is removed only then; processes that have its files open keep them. When the block raises,
    the temporary folder is removed and `path` is as it was.

    Raises:
        OSError: the disk is full, or the folder cannot be written to.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".tmp-{os.getpid()}-{path.name}")
    replaced = path.with_name(f".old-{os.getpid()}-{path.name}")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir()
    try:
        yield temporary
        for written in sorted(temporary.rglob("*")):
            flush_to_disk(written)
        if path.exists():
            path.rename(replaced)
        temporary.rename(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if replaced.exists() and not path.exists():
            replaced.rename(path)
    flush_to_disk(path.parent)
    shutil.rmtree(replaced, ignore_errors=True)


def write_bytes(path: Path, content: bytes) -> None:
    """Writes `content` to `path`, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    """Writes `text` to `path` as UTF-8 with its line ends as they are, whole or not at all."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Writes `value` to `path` as indented JSON, whole or not at all.

    Raises:
        ValueError: `value` has a NaN or an infinity, which JSON cannot say.
    """
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def sha256(path: Path) -> str:
    """Gives the SHA-256 of a file's bytes, 64 hexadecimal digits, reading it in pieces of bounded size."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def flush_to_disk(path: Path) -> None:
    """Has the system write a file's content, or a folder's names, to the disk itself."""
    if os.name == "nt" and path.is_dir():  # Windows cannot open a folder; it writes names by itself
        return
    # Windows flushes only what is open for writing; elsewhere a folder can only be opened for reading.
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

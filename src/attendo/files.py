"""Writes files atomically: a reader sees either the whole old file or the whole new one.

.tmp-PID-NAME   a draft of NAME, or what NAME was before, on its way out
.old-PID-NAME   what NAME was before, where a file system cannot put one folder in another's place at once

A killed process leaves them behind; `recover` cleans up.

A file that is replaced keeps its mode, owner and access lists; of a symbolic link the target is replaced. A file that
has several hard links, or an owner whom this process cannot give a file, is written in place once all of the new
content is on disk next to it: its names still share one content, but a power cut during this copy leaves a partial
file. A new file has the mode of the umask. Anything but a regular file (`destinations`) is written to, never replaced.
"""

import ctypes
import errno
import hashlib
import json
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

from attendo.destinations import Destination, find_destination, open_stream
from attendo.replacing import reserve, take_over

if sys.platform != "win32":
    import fcntl

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.ESTALE}
"""Errors of writing only, so they concern the output even if they do not name it."""
_CANNOT_EXCHANGE = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}
_CANNOT_LOCK = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK}
_LEFT_BEHIND = re.compile(r"\.(tmp|old)-(?:\d+-)?(.+)", re.DOTALL)
_LONGEST_PREFIX = ".tmp-4194304-"
"""The prefix with the largest process id of Linux."""


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yields a temporary path to write to, and replaces `path` with it when the block succeeds.

    The temporary file is in the folder of `path`. It is flushed to disk before the rename, and the folder after it, so
    that a power cut too leaves one of the two states. If the block raises, the temporary file is removed and `path` is
    unchanged. Links, mode and owner are kept as the module's docstring says; a device, FIFO, socket or open descriptor
    gets the bytes when the block ends.

    Args:
        path: the file to write. Its folder is made if it is missing.

    Raises:
        DataError: `path` is a folder, or a link that leads back to itself.
        OSError: the disk is full, or the file or its folder cannot be written to; it names `path`.
    """
    destination = find_destination(path)
    if not destination.is_file:
        with _copied_to(destination, path) as temporary:
            yield temporary
        return
    real = destination.path
    _make_folder(real.parent)
    # The suffixes stay last: numpy, matplotlib and gzip choose the format by them.
    temporary = _draft(real)
    with _naming_instead(path, temporary):
        try:
            if destination.status is not None:  # which may have been private
                _remove(temporary)
                temporary.touch(mode=0o600)
            yield temporary
            flush_to_disk(temporary)
            _put_in_place(temporary, real)
        finally:
            _remove(temporary)
        flush_to_disk(real.parent)


@contextmanager
def text_stream(path: Path) -> Iterator[TextIO]:
    """Yields a UTF-8 stream to a file that appears when it is whole; any but a regular file gets each line at once.

    Raises:
        DataError: `path` is a folder, or a link that leads back to itself.
        OSError: the disk is full, or the file or its folder cannot be written to; it names `path`.
    """
    destination = find_destination(path)
    if destination.is_file:
        with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
            yield stream
        return
    with naming(path):
        opened = open_stream(destination)
    with TextIOWrapper(opened, encoding="utf-8", newline="\n", line_buffering=True) as stream:
        yield stream


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yields a new temporary folder next to `path` to fill; replaces `path` with it when the block succeeds.

    There is a whole `path` at every moment, also for a process that is killed, where the system and the file system can
    exchange two folders (Linux, macOS); elsewhere `recover` puts the old one back. The previous `path` is removed
    afterwards; processes that have its files open keep them. When the block raises, the temporary folder is removed and
    `path` is unchanged.

    Raises:
        OSError: the disk is full, or the folder cannot be written to; it names `path` or the file in it.
    """
    _make_folder(path.parent)
    temporary, replaced = _draft(path), path.with_name(f".old-{os.getpid()}-{_shortened(path.name)}")
    _remove(temporary)
    with _naming_instead(path, temporary):
        temporary.mkdir()
        try:
            yield temporary
            for written in sorted(temporary.rglob("*")):
                flush_to_disk(written)
            flush_to_disk(temporary)
            if not _renamed(temporary, path) and not _exchange(temporary, path):
                path.rename(replaced)
                temporary.rename(path)
            flush_to_disk(path.parent)
        finally:
            if os.path.lexists(replaced) and not os.path.lexists(path):
                replaced.rename(path)
            _remove(temporary)
    _remove(replaced)


def remove_folder(path: Path) -> None:
    """Removes a folder and all in it, as one: a process that is killed meanwhile leaves no half of it under its name.

    Raises:
        OSError: its folder cannot be written to.
    """
    draft = _draft(path)
    _remove(draft)
    path.rename(draft)
    _remove(draft)


def recover(folder: Path, name: str | None = None) -> None:
    """Cleans up after killed processes in a folder: previous content is restored, drafts are removed.

    No other process may be writing there: hold a lock.

    Args:
        folder: the folder, which may be missing.
        name: clean up only this entry; None for all, where an entry whose name was too long for a draft is restored
            under its short name (`short_name`).

    Raises:
        OSError: the folder cannot be written to.
    """
    if not folder.is_dir():
        return
    for left in sorted(folder.iterdir()):
        match = _LEFT_BEHIND.fullmatch(left.name)
        if match is None or (name is not None and _shortened(name) != match[2]):
            continue
        original = folder / (name or match[2])
        if match[1] == "old" and not os.path.lexists(original):
            left.rename(original)
        else:
            _remove(left)


def short_name(name: str, reserved: int) -> str:
    """Shortens the beginning of a name that with some additional bytes is too long for file systems.

    A digest of the whole name replaces it, so that two long names stay different.

    Args:
        name: a file's name, without its folder.
        reserved: number of bytes to leave for a prefix or suffix.
    """
    encoded, most = os.fsencode(name), 255 - reserved
    if len(encoded) <= most:
        return name
    digest = hashlib.sha256(encoded).hexdigest()[:16]
    return f"{digest}-" + encoded[len(digest) + 1 - most :].decode("utf-8", "ignore")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock that one process at a time can have; it is released when the process ends, in any way.

    On a file system without locks, nothing is locked.

    Args:
        path: the lock's file; it is created, names the holder, and is not removed. Its folder must exist.

    Raises:
        BlockingIOError: another process has it; its `strerror` says which.
        OSError: the file cannot be written.
    """
    with path.open("a+", encoding="utf-8", errors="replace") as file:
        with naming(path):
            if sys.platform != "win32":
                _flock(file, path)
            file.truncate(0)
            # Unbuffered: closing would retry writing after a full disk refused it.
            os.write(file.fileno(), f"process {os.getpid()} on {platform.node() or 'this machine'}\n".encode())
        yield


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Adds `path` to an OSError of the block that names no file, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = str(path)
        raise


def write_bytes(path: Path, content: bytes) -> None:
    """Writes `content` to `path`, whole or not at all."""
    with atomic_path(path) as temporary, naming(path):
        temporary.write_bytes(content)


def write_text(path: Path, text: str) -> None:
    """Writes `text` to `path` as UTF-8 with its line ends unchanged, whole or not at all."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Writes `value` to `path` as indented JSON, whole or not at all.

    Raises:
        ValueError: `value` has a NaN or an infinity, which JSON cannot represent.
    """
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def sha256(path: Path) -> str:
    """Returns the SHA-256 of a file's bytes, 64 hexadecimal digits, reading it in pieces of bounded size."""
    with naming(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def flush_to_disk(path: Path) -> None:
    """Flushes a file's content, or a folder's entries, to the disk itself.

    Raises:
        OSError: it cannot; it names `path`.
    """
    if os.name == "nt" and path.is_dir():  # Windows cannot open a folder; it writes names by itself
        return
    # Windows flushes only files open for writing; elsewhere a folder can only be opened for reading.
    descriptor = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        with naming(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flock(file: TextIO, path: Path) -> None:
    """Locks an open file, whose content names the holder; BlockingIOError if another process has the lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read(300).strip() or "another process"
        raise BlockingIOError(errno.EWOULDBLOCK, f"in use by {holder}", str(path)) from None
    except OSError as error:
        if error.errno not in _CANNOT_LOCK:
            raise


@contextmanager
def _copied_to(destination: Destination, path: Path) -> Iterator[Path]:
    """Yields a temporary path elsewhere, and writes its bytes to the destination when the block succeeds."""
    with tempfile.TemporaryDirectory(prefix="attendo-") as folder:
        temporary = Path(folder) / path.name
        yield temporary
        with temporary.open("rb") as written, naming(path), open_stream(destination) as stream:
            shutil.copyfileobj(written, stream)


def _put_in_place(draft: Path, path: Path) -> None:
    """Makes a finished draft the content of a file, which keeps its mode, owner, access lists and hard links."""
    try:
        status = path.stat()
    except FileNotFoundError:
        draft.replace(path)
        return
    if status.st_nlink == 1 and take_over(draft, path, status):
        draft.replace(path)
        return
    with naming(path), draft.open("rb") as written, path.open("r+b") as file:
        reserve(file.fileno(), draft.stat().st_size, status.st_size)
        shutil.copyfileobj(written, file)
        file.truncate()
    flush_to_disk(path)


def _make_folder(path: Path) -> None:
    if not path.is_dir():
        path.mkdir(parents=True, exist_ok=True)


def _draft(path: Path) -> Path:
    return path.with_name(f".tmp-{os.getpid()}-{_shortened(path.name)}")


def _shortened(name: str) -> str:
    return short_name(name, len(_LONGEST_PREFIX))


def _remove(path: Path) -> None:
    """Removes a draft of any kind as far as possible; remaining files are still drafts."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):  # even if it does not exist: a read-only disk refuses that too
            path.unlink()


def _renamed(folder: Path, path: Path) -> bool:
    """Renames a folder if nothing is in the way, or only an empty folder that the system replaces at once."""
    try:
        folder.rename(path)
    except OSError:
        if not os.path.lexists(path):
            raise
        return False
    return True


def _exchange(one: Path, other: Path) -> bool:
    """Exchanges the names of two folders atomically; False where system or file system cannot.

    `renameat2` of Linux and `renamex_np` of macOS, both of which take 2 for "exchange" (RENAME_EXCHANGE, RENAME_SWAP).
    """
    try:
        system = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            status = system.renamex_np(os.fsencode(one), os.fsencode(other), ctypes.c_uint(2))
        else:
            at = ctypes.c_int(-100)  # AT_FDCWD
            status = system.renameat2(at, os.fsencode(one), at, os.fsencode(other), ctypes.c_uint(2))
    except (AttributeError, OSError, TypeError):  # a C library without it; Windows has none at all
        return False
    if status == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(other))


@contextmanager
def _naming_instead(path: Path, draft: Path) -> Iterator[None]:
    """Makes an OSError of the block name `path`, or the file in it, if it names the draft or (full disk) nothing."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in _NO_ROOM:
            error.filename = str(path)
        elif isinstance(error.filename, str | os.PathLike) and Path(error.filename).is_relative_to(draft):
            error.filename = str(path / Path(error.filename).relative_to(draft))
        raise

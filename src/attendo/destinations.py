"""Resolves the name of an output: a regular file is replaced, anything else is written to directly.

A symbolic link is followed to its end. A device, a FIFO, a socket and an open descriptor (`/dev/stdout`, `/dev/fd/3`,
`/proc/self/fd/3`) are written to and never replaced, whatever the descriptor refers to.
"""

import os
import re
import socket
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from attendo.errors import DataError

if sys.platform != "win32":
    import fcntl

_MAX_LINKS = 40
"""Links in a chain, as Linux counts them."""
_DESCRIPTORS = re.compile(r"/proc/(\d+)(?:/task/\d+)?/fd")


@dataclass(frozen=True, kw_only=True)
class Destination:
    """The destination of an output."""

    path: Path
    """The name after following all symbolic links; for a descriptor, the name that refers to it."""
    status: os.stat_result | None = None
    """The status of the existing file; None if it does not exist yet."""
    descriptor: int | None = None
    """The number of a descriptor of this process."""
    is_foreign_descriptor: bool = False
    """Whether it is a descriptor of another process."""

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file, or will be one."""
        is_named = self.descriptor is None and not self.is_foreign_descriptor
        return is_named and (self.status is None or stat.S_ISREG(self.status.st_mode))


def find_destination(path: Path) -> Destination:
    """Follows the links of an output file's name.

    Raises:
        DataError: the path is a folder, or a link that leads back to itself.
        OSError: a folder on the way cannot be searched.
    """
    current = path
    for _ in range(_MAX_LINKS):
        descriptor = _descriptor(current)
        if descriptor is not None:
            return descriptor
        try:
            link = current.readlink()
        except OSError:  # not a link, or nothing is there
            break
        current = current.parent / link
    else:
        raise DataError(f"{path}: is a symbolic link that leads back to itself; remove it, or name another file")
    try:
        status = current.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return Destination(path=current)
    if stat.S_ISDIR(status.st_mode):
        raise DataError(f"{path}: is a folder; name a file, such as {path / 'output'}")
    return Destination(path=current, status=status)


def open_stream(destination: Destination) -> IO[bytes]:
    """Opens a destination that is not a regular file for writing; a FIFO waits for its reader.

    Raises:
        OSError: it cannot be opened, or no process listens at a socket; the error may name no file.
    """
    if destination.descriptor is not None:
        for stream in (sys.stdout, sys.stderr):  # earlier printed output must come first
            stream.flush()
        return os.fdopen(os.dup(destination.descriptor), "wb")
    if destination.status is not None and stat.S_ISSOCK(destination.status.st_mode):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.connect(str(destination.path))
            return connection.makefile("wb")
    # Without O_CREAT and O_TRUNC: nothing is created or truncated. Files opened by another process are appended to.
    flags = os.O_WRONLY | (os.O_APPEND if destination.is_foreign_descriptor else 0)
    return os.fdopen(os.open(destination.path, flags), "wb")


def check_output_file(path: Path) -> Path | None:
    """Refuses an output file that cannot be written, before any work is done for it. Nothing is changed.

    Returns:
        The folder that is missing and will be made with the file; None if there is nothing to make.

    Raises:
        DataError: the path is a folder, a file that may not be written to, a closed descriptor, or is in a folder that
            cannot be created or written to.
        OSError: a folder on the way cannot be searched.
    """
    found = find_destination(path)
    if found.descriptor is not None:
        if not _is_open_for_writing(found.descriptor):
            raise DataError(f"{path}: is not open for writing; redirect it, as in {found.descriptor}> FILE")
        return None
    if found.status is not None and not _may(found.path, os.W_OK):
        raise DataError(f"{path}: no permission to write to it; change its mode (chmod), or name another file")
    return missing_folder(path, found.path.parent) if found.is_file else None


def missing_folder(path: Path, folder: Path) -> Path | None:
    """Whether the folder of an output has to be created.

    Args:
        path: the output as the user named it, for messages.
        folder: the folder of the output.

    Returns:
        `folder` if it is missing and can be made; None if it is there.

    Raises:
        DataError: it cannot be made or written to.
    """
    existing = next((each for each in (folder, *folder.parents) if os.path.lexists(each)), folder)
    if not existing.is_dir():
        raise DataError(f"{existing}: is not a folder, so {path} cannot be written; name another place")
    if not _may(existing, os.W_OK | os.X_OK):
        raise DataError(f"{existing}: no permission to write there, as {path} needs; name another place")
    return None if existing == folder else folder


def _may(path: Path, mode: int) -> bool:
    """Whether the effective user of this process may access a file; False on a read-only disk."""
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _descriptor(path: Path) -> Destination | None:
    """The open descriptor that a name such as /dev/fd/3 refers to; None if it is an ordinary name."""
    if not (path.name.isascii() and path.name.isdecimal()):
        return None
    folder = os.path.realpath(path.parent)
    process = _DESCRIPTORS.fullmatch(folder)
    if folder == "/dev/fd" or (process is not None and int(process[1]) == os.getpid()):
        return Destination(path=path, descriptor=int(path.name))
    return None if process is None else Destination(path=path, is_foreign_descriptor=True)


def _is_open_for_writing(descriptor: int) -> bool:
    if sys.platform == "win32":
        return True
    try:
        return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    except OSError:
        return False

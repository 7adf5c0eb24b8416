"""Keeps a file's owner, mode, access lists, and its old content on a full disk, when its content is replaced."""

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path


def reserve(descriptor: int, num_bytes: int, num_bytes_before: int) -> None:
    """Reserves disk space for a file's new content before the old content is changed, if the system supports it.

    Args:
        descriptor: the descriptor of the file, open for writing.
        num_bytes: size of the new content.
        num_bytes_before: size of the old content, to which the file is truncated if there is no space.

    Raises:
        OSError: the disk is full.
    """
    if sys.platform != "linux" or num_bytes <= num_bytes_before:
        return
    try:
        os.posix_fallocate(descriptor, 0, num_bytes)
    except OSError:
        os.ftruncate(descriptor, num_bytes_before)
        raise


def take_over(draft: Path, path: Path, status: os.stat_result) -> bool:
    """Gives a draft the owner, mode and access lists of a file.

    Args:
        draft: the new file.
        path: the file that it is to replace.
        status: the status of that file.

    Returns:
        False if this process may not do so.
    """
    mine = draft.stat()
    try:
        if os.name != "nt" and (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
            os.chown(draft, status.st_uid, status.st_gid)
        if draft.stat().st_mode != status.st_mode:  # some file systems have a fixed mode for all files
            draft.chmod(stat.S_IMODE(status.st_mode))
    except OSError:
        return False
    if sys.platform == "linux":
        with suppress(OSError):  # a file system without them
            for name in os.listxattr(path):
                if name.startswith(("user.", "system.posix_acl_")):
                    os.setxattr(draft, name, os.getxattr(path, name))
    return True

"""Faults of a machine, for tests: a disk that is full, a process that is killed between two file operations."""

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attendo.files


@contextmanager
def no_file_above(num_bytes: int) -> Iterator[None]:
    """A disk that takes files of so many bytes: writing more fails as on a full one, with an error that names none."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def killed_at(number: int, work: Callable[[], None]) -> bool:
    """Does work in a process that is killed right before its file operation of that number; False where it ended."""
    child = os.fork()
    if child == 0:
        left = number
        exchange = attendo.files._exchange

        def count(event: str, arguments: tuple[Any, ...]) -> None:
            nonlocal left
            if event in ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir"):
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        def counted(one: Path, other: Path) -> bool:
            count("os.rename", ())
            return exchange(one, other)

        attendo.files._exchange = counted
        sys.addaudithook(count)
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0, "the work failed"
    return os.WIFSIGNALED(status)

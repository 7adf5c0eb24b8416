"""The fork server with disks that fail: before an operation of a run's process its disk is full, read-only or gone.

unshare -rm python -m tests.survival.disk_server < REQUESTS > ANSWERS

Inside of `unshare`, a disk may be mounted without further rights: a small tmpfs, on which the run folder lies.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tests.survival import fork_server

FULL, READ_ONLY, GONE = -1, -2, -3
"""In place of a signal's number."""


class FailingDisk(fork_server.Operations):
    """Counts operations, and has the run's disk fail before one of them."""

    def __init__(self, folder: str, request: dict[str, Any]) -> None:
        self._run, self._failure = Path(folder), request["number"]
        self._fails_at = request["operation"] if self._failure < 0 else 0
        super().__init__(folder, request if self._failure >= 0 else {**request, "operation": 0})

    def _next(self, what: str) -> None:
        if self.count + 1 == self._fails_at:
            self._fails_at = 0  # what the failure does is no operation of the run's
            os.write(2, f"[disk fails before operation {self.count + 1}: {what}]\n".encode())
            self._fail()
        super()._next(what)

    def _fail(self) -> None:
        disk = str(self._run.parent)
        if self._failure == READ_ONLY:  # laid over it, since the lock of the run is open for writing
            subprocess.run(["mount", "--bind", disk, disk], check=True)
            subprocess.run(["mount", "-o", "remount,bind,ro", disk], check=True)
        elif self._failure == GONE:
            shutil.rmtree(self._run)
        else:
            fill(self._run.parent / "ballast")


def fill(ballast: Path) -> None:
    """Writes to a file until the disk is full."""
    descriptor = os.open(ballast, os.O_WRONLY | os.O_CREAT)
    try:
        while os.write(descriptor, bytes(4096)):
            pass
    except OSError:
        os.close(descriptor)


if __name__ == "__main__":
    fork_server.Operations = FailingDisk  # type: ignore[misc]
    fork_server.main()

"""Small disks for run folders: each a tmpfs that only the processes of a `DiskServer` see under its path."""

import subprocess
import sys
from pathlib import Path
from typing import Self

from tests.survival.sittings import ForkServer

ROOT = Path(__file__).parents[2]
NAMESPACE = ["unshare", "--map-root-user", "--mount"]


def can_mount(folder: Path) -> bool:
    """Whether this user may mount a tmpfs in a namespace of its own, as most systems allow."""
    try:
        mounted = subprocess.run(
            [*NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", folder], check=False, capture_output=True
        )
    except FileNotFoundError:
        return False
    return mounted.returncode == 0


class DiskServer(ForkServer):
    """A fork server in a namespace in which disks can be mounted."""

    def __enter__(self) -> Self:
        command = [*NAMESPACE, sys.executable, "-W", "error", "-m", "tests.survival.disk_server"]
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert self._answer() == "ready\n"
        return self

    @property
    def pid(self) -> int:
        """Of the server's process."""
        assert self._server is not None
        return self._server.pid


class Disk:
    """A disk of a few kilobytes.

    Args:
        path: an empty folder; where the server's processes see the disk.
        server: in whose namespace it is mounted.
        num_bytes: that it holds.
    """

    def __init__(self, path: Path, server: DiskServer, num_bytes: int) -> None:
        self.run = path / "run"
        self._path, self._server = path, server
        self._mount("-t", "tmpfs", "-o", f"size={num_bytes}", "tmpfs", path)

    @property
    def seen(self) -> Path:
        """The run folder, for this process."""
        return Path(f"/proc/{self._server.pid}/root{self.run}")

    def make_room(self, num_bytes: int = 1 << 24) -> None:
        """Makes it larger, and free of what has filled it."""
        self._mount("-o", f"remount,size={num_bytes}", self._path)
        (self.seen.parent / "ballast").unlink(missing_ok=True)

    def make_writable(self) -> None:
        """Takes away what makes it read-only."""
        self._inside("umount", self._path)

    def _mount(self, *arguments: object) -> None:
        self._inside("mount", *arguments)

    def _inside(self, *command: object) -> None:
        namespace = ["nsenter", "--target", self._server.pid, "--user", "--mount", "--preserve-credentials"]
        subprocess.run([str(argument) for argument in (*namespace, *command)], check=True)

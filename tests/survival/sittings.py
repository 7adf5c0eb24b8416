"""Sittings of a run: each a real process that `fork_server.py` starts, and that something ends."""

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, kw_only=True)
class Fate:
    """What befalls a sitting; nothing by default."""

    signals: tuple[tuple[float, int], ...] = ()
    """Seconds after the start, and the signal that comes to all its processes."""
    operation: int = 0
    """The change of the run folder, from 1, before which something befalls the first process; 0 for none."""
    torn_at: int | None = None
    """What does: it is ended inside of a write, at this byte of the file; None for the signal `number`."""
    while_validating: float | None = None
    """Seconds into the first validation, after which the signal `number` comes."""
    number: int = signal.SIGKILL

    @classmethod
    def at_random(cls, kind: str, rng: random.Random, *, seconds: float, operations: int, file_bytes: int) -> Self:
        """A kill uniform over a sitting's seconds or operations, or inside of a write behind an operation.

        Args:
            kind: `time`, `operation` or `write`.
            rng: draws.
            seconds: how long a sitting lasts that nothing ends.
            operations: how many it makes.
            file_bytes: of the longest file that it writes; short files have as many kills as long ones.
        """
        if kind == "time":
            return cls(signals=((round(rng.uniform(0, seconds), 4), signal.SIGKILL),))
        return cls(
            operation=rng.randint(1, operations), torn_at=int(file_bytes ** rng.random()) if kind == "write" else None
        )

    @classmethod
    def parse(cls, text: str) -> Self:
        """The reverse of `str`."""
        match = re.fullmatch(r"(op|valid)([\d.]+)(?:\+(\d+)|:(\d+))", text)
        if match is None:
            pairs = (part.split("s:") for part in text.split(",") if part)
            return cls(signals=tuple((float(seconds), int(number)) for seconds, number in pairs))
        number = int(match[4] or signal.SIGKILL)
        if match[1] == "valid":
            return cls(while_validating=float(match[2]), number=number)
        return cls(operation=int(match[2]), torn_at=int(match[3]) if match[3] else None, number=number)

    def __str__(self) -> str:
        """`0.214s:9` for a signal after so long, `op12:9` before an operation, `op12+2048` inside of a write."""
        if self.while_validating is not None:
            return f"valid{self.while_validating}:{self.number}"
        if self.operation:
            return f"op{self.operation}" + (f":{self.number}" if self.torn_at is None else f"+{self.torn_at}")
        return ",".join(f"{seconds}s:{int(number)}" for seconds, number in self.signals) or "nothing"


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a sitting ended."""

    statuses: tuple[int, ...]
    """Of each process, as a shell has them: 137 after SIGKILL."""
    told: str
    """What they printed, on either stream."""
    seconds: float

    @property
    def operations(self) -> int:
        """Changes that the first process made; known of one that came to its end."""
        (count,) = re.findall(r"^\[(\d+) operations\]$", self.told, re.MULTILINE)
        return int(count)

    @property
    def was_killed(self) -> bool:
        """Whether what befell it ended it, without a word of its own."""
        return any(status in (128 + signal.SIGKILL, 128 + signal.SIGXFSZ) for status in self.statuses)


class ForkServer:
    """A context manager that runs command lines of `attendo` in processes that are forked, not started.

    Args:
        folder: the current folder of these processes.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        command = [sys.executable, "-W", "error", "-m", "tests.survival.fork_server"]
        self._server = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._answer() == "ready\n"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.communicate()  # it ends where the requests do

    def sit(
        self,
        run: Path,
        *arguments: object,
        fate: Fate | None = None,
        size: int = 1,
        fault: str = "none",
        draws: bool = False,
    ) -> Ended:
        """Runs a command line until it ends or what befalls it ends it.

        Args:
            run: the run folder, whose changes are counted.
            arguments: of `attendo`.
            fate: what befalls it; None for nothing.
            size: processes that train together, as torchrun would start them.
            fault: one of `faults.FAULTS`, in all processes.
            draws: whether learning curves are drawn; otherwise their file has something else.
        """
        assert self._server is not None
        assert self._server.stdin is not None
        request = {
            "arguments": [str(argument) for argument in arguments],
            "folder": str(self._folder),
            "run": str(run),
            "environments": _environments(size),
            "fault": fault,
            "draws": draws,
            **asdict(fate or Fate()),
        }
        self._server.stdin.write(json.dumps(request) + "\n")
        self._server.stdin.flush()
        answer = json.loads(self._answer())
        assert not answer["hung"], f"{arguments} hangs, {fate}:\n{answer['told']}"
        return Ended(statuses=tuple(answer["statuses"]), told=answer["told"], seconds=answer["seconds"])

    def _answer(self) -> str:
        assert self._server is not None
        assert self._server.stdout is not None
        line = self._server.stdout.readline()
        if not line:
            self._server.communicate()
            raise AssertionError("the fork server has ended; what it said is on standard error")
        return line


def start_torchrun(folder: Path, *arguments: object, restarts: int = 0) -> "subprocess.Popen[str]":
    """Starts two processes as torchrun does, from nothing, in a group of their own; their output comes in one pipe.

    Args:
        folder: the current folder.
        arguments: `-m MODULE ARGUMENT...`
        restarts: how often torchrun starts them again.
    """
    path = os.pathsep.join(part for part in (os.environ.get("PYTHONPATH", ""), str(ROOT)) if part)
    torchrun = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--max-restarts", str(restarts)]
    return subprocess.Popen(
        [sys.executable, "-m", *torchrun, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def _environments(size: int) -> list[dict[str, str]]:
    """What torchrun tells each process; nothing to one alone."""
    if size == 1:
        return [{}]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    where = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": str(size)}
    return [{**where, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(size)]

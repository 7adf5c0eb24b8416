"""Runs `attendo prepare` in processes that are killed: forked from this one, which has imported all.

python preparing.py < REQUESTS > ANSWERS

A request is a line of JSON: `arguments` of `attendo`, the folder `cwd`, and `after_s`, the seconds after which the
process is killed, or `operation`, the change of a file or folder (from 1) before which it is; with neither, it is let
be. The answer has its `status`, negative for a signal, what it `told`, the `seconds` it took, the `operations` it made,
and `outlived_s`: how long a process that it had started was there after it.
"""

import json
import os
import signal
import sys
import tempfile
import threading
import time
import traceback
from typing import Any, NoReturn

import attendo.workflow.preparation.prepared_data
import attendo.workflow.preparation.stages
from attendo.cli.main import run

_CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir")
_TIMEOUT_S = 120.0


class Operations:
    """Kills this process before the n-th change of a file or folder, from 1; 0 only counts them."""

    def __init__(self, fatal: int) -> None:
        self.count, self._fatal = 0, fatal
        # What a killed process has written stays with the system: nothing needs to reach the disk.
        os.fsync = lambda fd: self._next()
        sys.addaudithook(self._audit)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in _CHANGES or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR)):
            self._next()

    def _next(self) -> None:
        self.count += 1
        if self.count == self._fatal:
            os.kill(os.getpid(), signal.SIGKILL)


def prepare(request: dict[str, Any], told: int, counted: int) -> NoReturn:
    """The life of a forked process."""
    status = 1
    try:
        os.setsid()
        os.dup2(told, 1)
        os.dup2(told, 2)
        sys.stdout, sys.stderr = (open(stream, "w", closefd=False) for stream in (1, 2))  # noqa: SIM115
        os.chdir(request["cwd"])
        # So that little is many parts, and done by workers.
        attendo.workflow.preparation.stages.PART_BYTES = 1 << 16  # type: ignore[attr-defined]
        operations = Operations(request.get("operation", 0))
        status = run(request["arguments"])
        os.write(counted, str(operations.count).encode())
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def done(request: dict[str, Any]) -> dict[str, Any]:
    """Forks a process, and gives its answer."""
    reading, counted = os.pipe()
    with tempfile.TemporaryFile() as told:
        started = time.monotonic()
        child = os.fork()
        if child == 0:
            prepare(request, told.fileno(), counted)
        os.close(counted)
        timer = threading.Timer(request.get("after_s", _TIMEOUT_S), os.kill, (child, signal.SIGKILL))
        timer.start()
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # not reaped yet: the timer must not hit another one
        ended = time.monotonic()
        timer.cancel()
        timer.join()
        _, status = os.waitpid(child, 0)
        outlived_s = _outlived(child, ended)
        told.seek(0)
        answer = {"status": os.waitstatus_to_exitcode(status), "told": told.read().decode(errors="replace")}
    operations = int(os.read(reading, 20) or 0)
    os.close(reading)
    return {**answer, "seconds": ended - started, "operations": operations, "outlived_s": outlived_s}


def _outlived(group: int, ended: float) -> float:
    while time.monotonic() < ended + _TIMEOUT_S:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            break
        time.sleep(0.01)
    return time.monotonic() - ended


def main() -> None:
    """Serves until the requests end."""
    for line in sys.stdin:
        print(json.dumps(done(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

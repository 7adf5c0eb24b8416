"""Runs `attendo` in real processes that start in milliseconds: forked from this one, which has imported everything.

python -m tests.survival.fork_server < REQUESTS > ANSWERS

A request is a line of JSON, the fields of `sittings.Sitting`; its answer those of `sittings.Ended`.
"""

import json
import os
import resource
import selectors
import signal
import sys
import threading
import time
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

from tests.plain_curves import draw_nothing
from tests.survival.faults import FAULTS

from attendo.cli.main import run
from attendo.workflow.runs.validation import Validator

_PRELOADED = (
    "attendo.text.prepared",
    "attendo.workflow.inspect",
    "attendo.workflow.preparation.prepared_data",
    "attendo.workflow.runs.run_folder",
    "attendo.workflow.runs.train",
    "matplotlib.backends.backend_agg",
    "torch._dynamo",  # which torch.optim imports
)
"""What commands import when they run."""
_TIMEOUT_S = 120.0
"""What takes so long hangs: a run of a few thousand weights takes half a second."""
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.link", "os.symlink", "os.chmod")


class Operations:
    """Counts, from 1, what changes a folder; before one of these operations something befalls this process.

    What C and Rust do is not seen, but each file that they write, and each exchange of folders, is followed by an
    `fsync`, which is seen. Nothing is flushed to the disk: what a killed process has written stays with the system, and
    flushing took half of the time.

    Args:
        folder: the run folder, absolute.
        request: `operation`, 0 for none; `number`, the signal that comes; `torn_at`, instead of a signal: from there
            on the system ends the process in the midst of a write, where a file gets longer than so many bytes.
    """

    def __init__(self, folder: str, request: dict[str, Any]) -> None:
        self.count = 0
        self._folder, self._request = folder, request
        patch("os.fsync", lambda file: self._next("fsync")).start()
        sys.addaudithook(self._audit)

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if flags & _WRITING and self._is_inside(path):
                self._next(f"open {os.fsdecode(path)}")
        elif event in _CHANGES and (self._is_inside(arguments[0]) or _is_relative(arguments[0])):
            self._next(" ".join([event, *map(str, arguments)]))

    def _is_inside(self, path: object) -> bool:
        return not isinstance(path, int) and os.fsdecode(path).startswith(self._folder)  # type: ignore[arg-type]

    def _next(self, what: str) -> None:
        self.count += 1
        if self.count != self._request["operation"]:
            return
        number, torn_at = self._request["number"], self._request["torn_at"]
        if torn_at is None:
            os.write(2, f"[signal {number} before operation {self.count}: {what}]\n".encode())
            os.kill(os.getpid(), number)
        else:
            os.write(2, f"[no file beyond byte {torn_at} from operation {self.count} on: {what}]\n".encode())
            resource.setrlimit(resource.RLIMIT_FSIZE, (torn_at, resource.RLIM_INFINITY))


def _is_relative(path: object) -> bool:
    """Whether it is one of those that `shutil.rmtree` has, which are relative to an open folder."""
    return isinstance(path, str) and not Path(path).is_absolute()


def signal_while_validating(after_s: float, number: int) -> None:
    """Has a signal come while the first validation runs, so many seconds into it."""
    validate = Validator.__call__

    def interrupted(*arguments: Any) -> Any:
        patched.stop()
        os.write(2, f"[signal {number} while validating]\n".encode())
        threading.Timer(after_s, os.kill, (os.getpid(), number)).start()
        return validate(*arguments)

    patched = patch.object(Validator, "__call__", interrupted)
    patched.start()


def sit(request: dict[str, Any], environment: dict[str, str], output: int) -> int:
    """What a forked process does: `attendo`; gives its exit status."""
    for descriptor in (1, 2):
        os.dup2(output, descriptor)
    sys.stdout, sys.stderr = (open(descriptor, "w", buffering=1, closefd=False) for descriptor in (1, 2))  # noqa: SIM115
    os.environ.update(environment)
    os.chdir(request["folder"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if request["torn_at"] is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
    FAULTS[request["fault"]]()
    if not request["draws"]:
        patch("attendo.workflow.runs.train.draw_curves", draw_nothing).start()
    if request["while_validating"] is not None:
        signal_while_validating(request["while_validating"], request["number"])
    is_first = environment.get("RANK", "0") == "0"
    operations = Operations(request["run"], request) if is_first else None
    status = run(request["arguments"])
    if operations is not None:
        os.write(2, f"[{operations.count} operations]\n".encode())
    return status


def end(request: dict[str, Any], environment: dict[str, str], output: int) -> NoReturn:
    """The life of a forked process, but for what Python does when it ends, which takes longer than all the rest."""
    status = 1
    try:
        status = sit(request, environment, output)
        for thread in threading.enumerate():
            if thread is not threading.current_thread() and not thread.daemon:
                thread.join()
    except KeyboardInterrupt:  # as Python itself does
        traceback.print_exc()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    except SystemExit as ending:  # a signal behind the command: what it raises is the process' exit status
        status = ending.code if isinstance(ending.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


class Group:
    """The processes of a sitting, of which the server waits for the end.

    Args:
        request: a `sittings.Sitting`.
    """

    def __init__(self, request: dict[str, Any]) -> None:
        self._pipes = selectors.DefaultSelector()
        self._pids: list[int] = []
        self._told = [b"" for _ in request["environments"]]
        self._statuses = [0 for _ in request["environments"]]
        self._started = time.monotonic()
        self._due = sorted(request["signals"])

    def fork(self, request: dict[str, Any], rank: int) -> None:
        """Starts a process."""
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            end(request, request["environments"][rank], write)
        os.close(write)
        self._pids.append(pid)
        self._pipes.register(read, selectors.EVENT_READ, rank)

    def wait(self) -> dict[str, Any]:
        """Waits for all of them, sends what is due, and ends those that have lost another one."""
        hung = False
        while self._pipes.get_map():
            left_s = (self._due[0][0] if self._due else _TIMEOUT_S) - (time.monotonic() - self._started)
            if left_s <= 0:
                hung = hung or not self._due
                self._send(self._due.pop(0)[1] if self._due else signal.SIGKILL)
                continue
            for key, _ in self._pipes.select(left_s):
                self._read(key)
        seconds = time.monotonic() - self._started
        told = b"".join(self._told).decode(errors="replace")
        return {"statuses": self._statuses, "told": told, "seconds": seconds, "hung": hung}

    def _read(self, key: selectors.SelectorKey) -> None:
        text = os.read(key.fd, 65536)
        self._told[key.data] += text
        if text:
            return
        self._pipes.unregister(key.fd)
        os.close(key.fd)
        status = os.waitstatus_to_exitcode(os.waitpid(self._pids[key.data], 0)[1])
        self._statuses[key.data] = status if status >= 0 else 128 - status  # as a shell has it
        if status < 0 and status != -signal.SIGTERM:
            self._send(signal.SIGKILL)

    def _send(self, number: int) -> None:
        for key in self._pipes.get_map().values():  # those are not waited for yet, so that the number is still theirs
            os.kill(self._pids[key.data], number)


def main() -> None:
    """Serves until the requests end."""
    for name in _PRELOADED:
        import_module(name)
    with os.fdopen(os.dup(0)) as requests, os.fdopen(os.dup(1), "w", buffering=1) as answers:
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        answers.write("ready\n")
        for line in requests:
            request = json.loads(line)
            group = Group(request)
            for rank in range(len(request["environments"])):
                group.fork(request, rank)
            answers.write(json.dumps(group.wait()) + "\n")


if __name__ == "__main__":
    main()

"""Makes OpenMP's threads wait only briefly for each other while other programs use the same cores.

At the end of every parallel loop they wait for the slowest of them: libgomp, which torch includes on Linux, lets them
wait actively for milliseconds. On a quiet machine this is fastest. Next to another program it is slow: while that
program occupies the core of the slowest thread, the others keep theirs busy with waiting, and the system cannot move
the thread there.

libgomp waits briefly by itself as soon as it manages more threads than there are processors (its manual under
GOMP_SPINCOUNT). So while other programs use some of the cores, a team of sleeping threads is kept, which exceeds that
number; it ends when the cores are free again. This works in a process whose OpenMP threads are already running, and
costs nothing without other programs. Other runtimes are set up before they start (`threads.set_up_openmp`).
"""

import ctypes
import os
import threading
import time
import warnings
import weakref
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import torch

from attendo.native.training import openmp_parallel
from attendo.threads import chooses_waiting, cores_by_affinity
from attendo.workflow.machine.device import set_threads, waiting_advice

_INTERVAL_S = 0.25
_QUIET_S = 2.0
"""Seconds for which the cores must have been free before threads spin while they wait again."""
_LEAST_OF_A_CORE = 0.1
"""Load by other programs, as a share of one core, that is ignored."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Use of the cores that this process may use, up to a moment."""

    at_s: float
    """Time by a monotonic clock."""
    used_by_others_s: float
    """Processor time of other processes."""
    delayed_s: float
    """Seconds for which threads of this process were ready but had no core."""


class Presence:
    """Whether other programs use the cores of this process, from successive readings.

    Args:
        first: the first reading.
    """

    def __init__(self, first: Reading) -> None:
        self._last = first
        self._seen_at_s: float | None = None

    def update(self, now: Reading) -> bool:
        """Returns whether others are there: since this reading, or not yet gone for long enough."""
        last, self._last = self._last, now
        least_s = _LEAST_OF_A_CORE * (now.at_s - last.at_s)
        used_s = now.used_by_others_s - last.used_by_others_s
        # The threads that wait briefly are seldom delayed: to stay there it is enough that others use the cores.
        is_delayed = self._seen_at_s is not None or now.delayed_s - last.delayed_s > least_s
        if used_s > least_s and is_delayed:
            self._seen_at_s = now.at_s
        elif self._seen_at_s is not None and now.at_s - self._seen_at_s >= _QUIET_S:
            self._seen_at_s = None
        return self._seen_at_s is not None


def read_now(proc: Path = Path("/proc"), cores: set[int] | None = None) -> Reading:
    """Reads Linux' counters; see proc(5), `/proc/stat` and `/proc/pid/task/tid/schedstat`.

    Args:
        proc: Linux' folder `/proc`.
        cores: the numbers of the cores that this process may use; None for those of its affinity.

    Raises:
        OSError: the system has no such counters.
        ValueError: the counters have another form.
    """
    mine = os.sched_getaffinity(0) if cores is None else cores
    ticks = 0
    for line in (proc / "stat").read_text(encoding="ascii").splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name[3:].isdigit() and int(name[3:]) in mine:
            user, nice, system, _idle, _iowait, interrupts, soft_interrupts = map(int, fields[:7])
            ticks += user + nice + system + interrupts + soft_interrupts
    delayed_ns = 0
    for task in (proc / "self" / "task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has just ended
            delayed_ns += int((task / "schedstat").read_text(encoding="ascii").split()[1])
    return Reading(
        at_s=time.monotonic(),
        used_by_others_s=ticks / os.sysconf("SC_CLK_TCK") - time.process_time(),
        delayed_s=delayed_ns / 1e9,
    )


def keep_waits_brief(engine: object, threads: int | None) -> None:
    """Makes torch's threads wait briefly for each other as long as an engine that uses them exists.

    Args:
        engine: decodes in torch on the processor.
        threads: as for `set_threads`; torch may have been loaded by the engine.
    """
    set_threads(threads)
    waits = ExitStack()
    waits.enter_context(brief_waits())
    weakref.finalize(engine, waits.close)
    if advice := waiting_advice(torch.device("cpu")):
        warnings.warn(advice, RuntimeWarning, stacklevel=3)


@contextmanager
def brief_waits(environment: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Makes torch's threads wait briefly for each other while other programs use the cores, within the block.

    Does nothing if torch has one thread, its runtime is not libgomp, the system lacks the counters, or the user has
    chosen how threads wait.

    Args:
        environment: the environment of this process.
    """
    parallel = openmp_parallel()
    if parallel is None or torch.get_num_threads() == 1 or chooses_waiting(environment):
        yield
        return
    try:
        first = read_now()
    except (OSError, ValueError):
        yield
        return
    ended = threading.Event()
    watching = threading.Thread(target=_watch, args=(parallel, first, ended), name="attendo-waits", daemon=True)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()


def _watch(parallel: int, first: Reading, ended: threading.Event) -> None:
    """Keeps a team of sleeping threads while others are there."""
    presence, team = Presence(first), None
    try:
        while not ended.wait(_INTERVAL_S):
            if presence.update(read_now()):
                team = team or SleepingTeam(parallel, cores_by_affinity() + 1)
            elif team is not None:
                team.end()
                team = None
    finally:
        if team is not None:
            team.end()


class SleepingTeam:
    """A team of idle OpenMP threads.

    Args:
        parallel: the address of libgomp's `GOMP_parallel`.
        threads: number of threads.
    """

    def __init__(self, parallel: int, threads: int) -> None:
        self._ended = threading.Event()
        begun = threading.Event()
        # A team lives as long as the thread that it was made for.
        self._thread = threading.Thread(target=self._run, args=(parallel, threads, begun), daemon=True)
        self._thread.start()
        begun.wait()

    def _run(self, parallel: int, threads: int, begun: threading.Event) -> None:
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint)(parallel)
        nothing = ctypes.cast(ctypes.CDLL(None).free, ctypes.c_void_p)  # of no memory: a C function that does nothing
        function(nothing, None, threads, 0)
        begun.set()
        self._ended.wait()

    def end(self) -> None:
        """Ends the threads."""
        self._ended.set()
        self._thread.join()

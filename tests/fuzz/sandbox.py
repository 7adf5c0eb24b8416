"""Runs what may crash, hang or eat the memory in a child process, many cases a child, each measured by itself."""

import json
import os
import resource
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import torch

from attendo.errors import AttendoError

ROOM_MIB = 96
"""What a case may take whatever its files' sizes are: torch's and Python's own caches, a few tables."""
BYTES_PER_BYTE = 60
"""What a case may take for each byte of its files: JSON as Python's objects is some twenty, and is there twice."""
SECONDS = 300
"""A hang: the longest case takes some seconds, on a busy machine twenty times as many."""
WARM_SECONDS = 300
"""The same for what comes before them, which imports all that is used."""

MAX_FAILURES = 20
"""Behind so many nothing more is tried: each hang takes its time."""
READY = "ready\n"


@dataclass(frozen=True, kw_only=True)
class Case:
    """One thing to try."""

    kind: str
    """What is counted together."""
    name: str
    """With which it can be found again."""
    act: Callable[[], "int | None"]
    """Does it; may raise an AttendoError. Gives how many bytes the files have that it was given, if any."""


@dataclass(kw_only=True)
class Tally:
    """How the cases ended."""

    done: Counter[str] = field(default_factory=Counter)
    """By kind: with a result."""
    refused: Counter[str] = field(default_factory=Counter)
    """By kind: with an AttendoError."""
    failures: list[str] = field(default_factory=list)
    """Crashes, hangs, other exceptions, too much memory."""

    def check(self, *, refused: int = 1) -> None:
        """Fails where a case failed, or where fewer were refused than must have been."""
        assert not self.failures, f"{len(self.failures)} failures\n" + "\n".join(self.failures)
        assert self.refused.total() >= refused, f"only {self.refused.total()} refused: is anything checked?"
        kinds = sorted(self.done.keys() | self.refused.keys())
        lines = [f"{kind}: {self.refused[kind]} refused, {self.done[kind]} done" for kind in kinds]
        print("\n".join(lines), file=sys.stderr)  # shown by -s, and where a test fails


def run_cases(cases: Sequence[Case], warm: Callable[[], object]) -> Tally:
    """Runs all cases; a child that dies is followed by another, which goes on behind the case it died of.

    Args:
        cases: what to try.
        warm: what a child does first, not measured: the same with nothing damaged, so that all is imported.
    """
    tally, first = Tally(), 0
    while first < len(cases) and len(tally.failures) < MAX_FAILURES:
        first = _one_child(cases, first, tally, warm)
    return tally


def _one_child(cases: Sequence[Case], first: int, tally: Tally, warm: Callable[[], object]) -> int:
    """Runs cases from the first on until all are done or the child is gone; gives the next one's number."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w", encoding="utf-8") as told:
            _work(cases[first:], told, warm)
        os._exit(0)
    os.close(writing)
    number = first
    with os.fdopen(reading, encoding="utf-8") as told:
        ready = told.readline()
        assert ready == READY, f"nothing is damaged, and yet: {ready or 'the child ended'}"
        for line in told:
            _count(cases[number], json.loads(line), tally)
            number += 1
    _, status = os.waitpid(child, 0)
    if number == len(cases):
        return number
    why = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else f"status {os.WEXITSTATUS(status)}"
    hang = f" (longer than {SECONDS} s)" * (why == "SIGALRM")
    tally.failures.append(f"{cases[number].kind}, {cases[number].name}: ended by {why}{hang}")
    return number + 1


def _count(case: Case, told: dict[str, object], tally: Tally) -> None:
    if told["failure"]:
        tally.failures.append(f"{case.kind}, {case.name}: {told['failure']}")
    (tally.refused if told["refused"] else tally.done)[case.kind] += 1


def _work(cases: Sequence[Case], told: IO[str], warm: Callable[[], object]) -> None:
    quiet = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    address_space = _kib("VmSize") + (3 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (address_space << 10,) * 2)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    # Threads of OpenMP do not come along into a child, which would wait for them for good.
    torch.set_num_threads(1)
    signal.setitimer(signal.ITIMER_REAL, WARM_SECONDS)
    try:
        warm()
    except BaseException:
        told.write(json.dumps(traceback.format_exc()))
        return
    told.write(READY)
    for case in cases:
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = _kib("VmRSS")
        refused, failure, size = False, "", None
        try:
            size = case.act()
        except AttendoError as error:
            refused = True
            failure = f"a message of {len(str(error))} characters" if len(str(error)) > 8000 else ""
        except BaseException:
            failure = traceback.format_exc(limit=-2)
        peak = (_kib("VmHWM") - before) / 1024
        if not failure and peak > ROOM_MIB + BYTES_PER_BYTE * (size or 0) / 2**20:
            failure = f"took {peak:.0f} MiB for files of {size} bytes"
        signal.setitimer(signal.ITIMER_REAL, 0)
        told.write(json.dumps({"refused": refused, "failure": failure}) + "\n")
        told.flush()


def _kib(key: str) -> int:
    """A line of this process' status, such as `VmRSS`, in KiB."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{key}:", 1)[1].split(maxsplit=1)[0])

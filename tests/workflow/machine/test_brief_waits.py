"""Waiting briefly beside other programs: when, and what libgomp itself does then."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from attendo.workflow.machine.brief_waits import Presence, Reading, brief_waits, read_now

linux = pytest.mark.skipif(sys.platform != "linux", reason="libgomp and these counts are Linux's")


def presences(*steps: tuple[float, float]) -> list[bool]:
    """What is said of quarters of a second in which others used, and delayed this process, by shares of a core."""
    at_s = used_s = delayed_s = 0.0
    presence = Presence(Reading(at_s=at_s, used_by_others_s=used_s, delayed_s=delayed_s))
    found = []
    for used, delayed in steps:
        at_s, used_s, delayed_s = at_s + 0.25, used_s + used / 4, delayed_s + delayed / 4
        found.append(presence.update(Reading(at_s=at_s, used_by_others_s=used_s, delayed_s=delayed_s)))
    return found


def test_others_are_there_where_they_use_the_cores_and_delay() -> None:
    assert presences((0.0, 0.0), (1.0, 0.5)) == [False, True]


def test_others_on_cores_that_this_process_does_not_need_do_not_count() -> None:
    assert presences((1.0, 0.0), (1.0, 0.02)) == [False, False]


def test_delays_that_come_of_its_own_threads_do_not_count() -> None:
    assert presences((0.0, 0.5), (0.05, 0.5)) == [False, False]


def test_others_stay_as_long_as_they_use_the_cores_and_two_seconds_more() -> None:
    steps = [(1.0, 0.5), (1.0, 0.0), *[(0.0, 0.0)] * 9]
    assert presences(*steps) == [True] * 9 + [False] * 2


def test_counts_of_the_cores_that_may_be_used(tmp_path: Path) -> None:
    # proc(5): user nice system idle iowait irq softirq steal, in clock ticks; schedstat: run, wait, timeslices.
    (tmp_path / "stat").write_text(
        "cpu  999 999 999 999 999 999 999 999 0 0\n"
        "cpu0 100 20 3 5000 60 7 8 900 0 0\ncpu1 1000 0 0 0 0 0 0 0 0 0\ncpu10 11 0 0 0 0 0 0 0 0 0\nintr 5 6\n"
    )
    for number, waited in (("7", 1_500_000_000), ("8", 250_000_000)):
        task = tmp_path / "self" / "task" / number
        task.mkdir(parents=True)
        (task / "schedstat").write_text(f"12345 {waited} 99\n")
    (tmp_path / "self" / "task" / "9").mkdir()  # it has just ended
    before = -read_now(tmp_path, {5}).used_by_others_s
    found = read_now(tmp_path, {0, 10})
    assert found.used_by_others_s + before == pytest.approx(149 / os.sysconf("SC_CLK_TCK"), abs=0.1)
    assert found.delayed_s == pytest.approx(1.75)


PROGRAM = """
import json, os, threading, time
import torch
from attendo.native.training import openmp_parallel
from attendo.threads import cores_by_affinity
from attendo.workflow.machine.brief_waits import SleepingTeam

def threads():
    return len(os.listdir("/proc/self/task"))

def cost():
    "Processor time of loops that two threads share, with pauses between them: the least and the most of three times."
    found = []
    for _ in range(3):
        before = time.process_time()
        for _ in range(30):
            torch.ones(1 << 17).add_(1)
            time.sleep(0.004)
        found.append(time.process_time() - before)
    return min(found), max(found)

torch.set_num_threads(2)
cost()
found = {"before": threads(), "awake": cost()}
team = SleepingTeam(openmp_parallel(), cores_by_affinity() + 1)
found |= {"with": threads(), "brief": cost()}
team.end()
while threads() > found["before"]:
    time.sleep(0.01)
print(json.dumps({**found, "again": cost()}))
"""


@linux
def test_libgomp_waits_briefly_beside_a_sleeping_team() -> None:
    own = {"OMP_WAIT_POLICY", "OMP_NUM_THREADS", "GOMP_SPINCOUNT"}
    environment = {name: value for name, value in os.environ.items() if name not in own}
    finished = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, check=True, capture_output=True, text=True, timeout=120
    )
    found = json.loads(finished.stdout)
    # The thread of the team's own, and as many as there are cores beside it.
    assert found["with"] - found["before"] == 1 + len(os.sched_getaffinity(0))
    # Awake, the second thread works through each pause of 4 ms, or most of it.
    # Beside other programs it gets less of the processor to do so with, hence the most of several times.
    least, _ = found["brief"]
    assert least < found["awake"][1] / 2
    assert least < found["again"][1] / 2


def num_threads() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


@linux
def test_nothing_is_watched_where_it_would_not_help() -> None:
    def watchers(environment: dict[str, str], threads: int) -> int:
        before = num_threads()
        torch.set_num_threads(threads)
        with brief_waits(environment):
            return num_threads() - before

    assert watchers({}, 2) == 1
    assert watchers({}, 1) == 0
    assert watchers({"OMP_WAIT_POLICY": "active"}, 2) == 0
    assert watchers({"GOMP_SPINCOUNT": "1000"}, 2) == 0

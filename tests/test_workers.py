import math
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from attendo.errors import AttendoError, DataError
from attendo.text.parts import scan_file
from attendo.workers import InProcess, WorkerProcesses, local_workers

# Units are functions that a fresh interpreter can import, which a test module's own are not.


def test_results_come_in_the_order_of_the_tasks() -> None:
    delays = [0.4, 0.0, 0.2, 0.0, 0.0, 0.1, 0.0]
    with WorkerProcesses(3) as workers:
        done = list(workers.map(time.sleep, delays))
        assert done == [(delay, None) for delay in delays]
        assert list(workers.map(math.sqrt, [4.0, 9.0])) == [(4.0, 2.0), (9.0, 3.0)]
        processes = multiprocessing.active_children()
        assert 1 <= len(processes) <= 3
    assert not any(process.is_alive() for process in processes)


def test_no_more_processes_are_started_than_there_are_tasks() -> None:
    with WorkerProcesses(4) as workers:
        assert not multiprocessing.active_children()
        assert list(workers.map(abs, [-1])) == [(-1, 1)]
        assert len(multiprocessing.active_children()) == 1
        assert list(workers.map(abs, [])) == []


def test_tasks_are_taken_as_they_are_needed() -> None:
    taken: list[int] = []

    def tasks() -> Iterator[int]:
        for number in range(100):
            assert threading.current_thread() is threading.main_thread()
            taken.append(number)
            yield number

    with WorkerProcesses(1) as workers:
        for task, result in workers.map(abs, tasks()):
            assert task == result
            assert len(taken) <= task + 5


def test_an_error_is_raised_in_its_turn(tmp_path: Path) -> None:
    (tmp_path / "good").write_bytes(b"a\n")
    (tmp_path / "bad").write_bytes("a\n".encode("utf-16"))
    with WorkerProcesses(2) as workers:
        results = workers.map(scan_file, [tmp_path / "good", tmp_path / "bad", tmp_path / "none"])
        assert next(results)[0].name == "good"
        with pytest.raises(DataError, match=r"bad: this is UTF-16 text; convert it first") as caught:
            next(results)
    assert not hasattr(caught.value, "__notes__"), "an error of the user's is one line"


def test_an_error_of_the_system_keeps_its_file(tmp_path: Path) -> None:
    with WorkerProcesses(1) as workers, pytest.raises(FileNotFoundError) as caught:
        list(workers.map(os.stat, [tmp_path / "none"]))
    assert caught.value.filename == str(tmp_path / "none") or caught.value.filename == tmp_path / "none"


def test_an_error_of_ours_says_where_it_was() -> None:
    with WorkerProcesses(1) as workers, pytest.raises(ValueError, match="math domain error") as caught:
        list(workers.map(math.sqrt, [-1.0]))
    assert "Traceback" in caught.value.__notes__[0]


def test_a_worker_that_is_killed_is_an_error_and_no_wait() -> None:
    def tasks() -> Iterator[float]:
        yield 60.0
        (process,) = multiprocessing.active_children()
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)

    with (
        WorkerProcesses(1) as workers,
        pytest.raises(AttendoError, match=r"before its work on 60\.0 was done \(exit code -9: .* fewer workers"),
    ):
        list(workers.map(time.sleep, tasks()))


def test_a_worker_that_ends_itself_is_an_error_too() -> None:
    with (
        WorkerProcesses(2) as workers,
        pytest.raises(AttendoError, match=r"a worker process ended .* \(exit code 3: see what it printed\)"),
    ):
        list(workers.map(os._exit, [3, 3, 3]))


def test_leaving_ends_what_is_under_way() -> None:
    started = time.monotonic()
    with WorkerProcesses(2) as workers:
        results = workers.map(time.sleep, [0.0, *[600.0] * 7])
        assert next(results) == (0.0, None)
    assert time.monotonic() - started < 300
    assert not multiprocessing.active_children()


def exists(group: int) -> bool:
    """Whether a process of a group is there."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")
def test_workers_end_with_a_process_that_is_killed() -> None:
    script = (
        "import time\nfrom attendo.workers import WorkerProcesses\n"
        "if __name__ == '__main__':\n    with WorkerProcesses(2) as workers:\n"
        "        for _ in workers.map(time.sleep, [0.0, 600.0, 600.0]):\n            print('begun', flush=True)\n"
    )
    command = [sys.executable, "-W", "error", "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.kill()
    deadline = time.monotonic() + 120
    while exists(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_workers_do_not_hear_ctrl_c() -> None:
    with WorkerProcesses(1) as workers:
        list(workers.map(abs, [1]))
        (process,) = multiprocessing.active_children()
        assert process.pid is not None
        os.kill(process.pid, signal.SIGINT)
        assert list(workers.map(abs, [-3])) == [(-3, 3)]


def test_one_worker_is_this_process() -> None:
    with local_workers(1) as workers:
        assert isinstance(workers, InProcess)
        assert list(workers.map(lambda task: (task, os.getpid()), [7])) == [(7, (7, os.getpid()))]
    with local_workers(2) as workers:
        assert isinstance(workers, WorkerProcesses)

"""Worker processes of this machine: each does one unit of work at a time, and none outlives the block they are in."""

import os
import queue
import signal
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from threading import Thread
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from attendo.errors import AttendoError

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")


class Workers(Protocol):
    """Executes the units of work."""

    def map(self, unit: Callable[[TaskT], ResultT], tasks: Iterable[TaskT]) -> Iterator[tuple[TaskT, ResultT]]:
        """Yields each task with its result, in the order of the tasks.

        Tasks are taken from the iterable as they are needed, a bounded number ahead of the next result, and in the
        caller's thread. The error of a unit is raised when its turn comes.

        Args:
            unit: a function of a module, which other processes can import.
            tasks: its arguments, picklable; results are so, too.
        """


class InProcess:
    """Workers that are the calling process itself."""

    def map(self, unit: Callable[[TaskT], ResultT], tasks: Iterable[TaskT]) -> Iterator[tuple[TaskT, ResultT]]:
        """Yields each task with its result; each task is done when its result is requested."""
        for task in tasks:
            yield task, unit(task)


# Maximum number of tasks per worker beyond the next result: enough to continue while another worker takes longer.
_TASKS_AHEAD = 3


@contextmanager
def local_workers(number: int) -> Iterator[Workers]:
    """Yields workers on this machine; a single one is this process itself, several are `WorkerProcesses`."""
    if number == 1:
        yield InProcess()
        return
    with WorkerProcesses(number) as workers:
        yield workers


class WorkerProcesses:
    """Processes that do units of work; a context manager, and a `Workers` inside it.

    They are started when there is work for them, as fresh interpreters: they inherit none of this process's threads and
    locks, and so a script that uses them needs the usual `if __name__ == "__main__":`. When the block is left, also by
    an error or Ctrl-C, they are ended; when this process is killed, they end with it.
    """

    def __init__(self, number: int) -> None:
        """Stores the maximum number of processes; starts none yet.

        Args:
            number: the number of processes, at least 1.
        """
        self._number = number
        self._processes: list[SpawnProcess] = []
        self._idle: queue.SimpleQueue[_Worker] = queue.SimpleQueue()
        self._threads: ThreadPoolExecutor | None = None

    def map(self, unit: Callable[[TaskT], ResultT], tasks: Iterable[TaskT]) -> Iterator[tuple[TaskT, ResultT]]:
        """Yields each task with its result, in the order of the tasks; see `Workers`.

        Raises:
            AttendoError: a process was killed.
        """
        under_way: deque[tuple[TaskT, Future[ResultT]]] = deque()
        for task in tasks:
            self._start(min(self._number, len(under_way) + 1))
            under_way.append((task, self._submit(unit, task)))
            while under_way and (len(under_way) > self._number * _TASKS_AHEAD or under_way[0][1].done()):
                first, future = under_way.popleft()
                yield first, future.result()
        while under_way:
            first, future = under_way.popleft()
            yield first, future.result()

    def _submit(self, unit: Callable[[TaskT], ResultT], task: TaskT) -> "Future[ResultT]":
        if self._threads is None:
            # A thread a worker waits for its answers and hands on its results, so that no worker waits for the caller.
            self._threads = ThreadPoolExecutor(self._number, thread_name_prefix="attendo-worker")
        return self._threads.submit(self._do, unit, task)

    def _do(self, unit: Callable[[TaskT], ResultT], task: TaskT) -> ResultT:
        worker = self._idle.get()
        try:
            result: ResultT = worker.do(unit, task)
            return result
        finally:
            self._idle.put(worker)

    def _start(self, number: int) -> None:
        """Starts processes until the given number is running."""
        context = get_context("spawn")
        while len(self._processes) < number:
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs,), daemon=True, name="attendo-worker")
            with _without_interrupts():
                process.start()
            theirs.close()
            self._processes.append(process)
            self._idle.put(_Worker(process, ours))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for process in self._processes:
            process.terminate()
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            process.join()
        self._processes, self._threads, self._idle = [], None, queue.SimpleQueue()


class _Worker:
    """A worker process, as seen from the main process."""

    def __init__(self, process: SpawnProcess, connection: Connection) -> None:
        self._process, self._connection = process, connection

    def do(self, unit: Callable[[TaskT], ResultT], task: TaskT) -> Any:
        """Runs a task; returns its result, or raises its error."""
        try:
            self._connection.send((unit, task))
            error, result = self._connection.recv()
        except (EOFError, OSError) as gone:
            self._process.join()
            code = self._process.exitcode or 0
            reason = (
                "what takes too much memory is ended so; fewer workers need less" if code < 0 else "see what it printed"
            )
            raise AttendoError(
                f"a worker process ended before its work on {task} was done (exit code {code}: {reason})"
            ) from gone
        if error is not None:
            raise error
        return result


def _serve(connection: Connection) -> None:
    """Does tasks until there are no more."""
    Thread(target=_end_with_parent, name="attendo-parent", daemon=True).start()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process of a terminal; the first one decides
    while True:
        try:
            unit, task = connection.recv()
        except (EOFError, OSError):  # results are no longer requested
            return
        answer: tuple[Exception | None, Any]
        try:
            answer = None, unit(task)
        except Exception as error:
            if not isinstance(error, AttendoError | OSError):
                error.add_note(traceback.format_exc())
            answer = error, None
        try:
            connection.send(answer)
        except OSError:
            return


def _end_with_parent() -> None:
    """Ends this process when the one that started it has ended: neither its work nor its output is needed."""
    parent = parent_process()
    assert parent is not None, "it runs in a process that was started"
    parent.join()
    os._exit(1)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Starts processes in the block with Ctrl-C blocked, which they inherit until they set their own handler."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

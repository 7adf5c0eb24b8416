"""Batching of waiting requests: a bounded queue, threads that take batches from it, and their answers.

The kernels run without Python's lock, so the threads of one process use many cores. The number of batches worked on at
a time is the number of hands. While all hands are busy, requests accumulate, so a loaded server has large batches and
an idle one has no delay. Requests that arrive together are divided between the free hands.

A running batch checks in between two decoder steps. Lines that are no longer needed leave it there, and it yields its
hand to a waiting flow that has used less: its thread sleeps until it is the batch's turn. So callers never wait for the
end of another's batch, only for its next step; and there are more threads than hands.
"""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from attendo.decoding.watch import BetweenSteps
from attendo.serving.config import BatchingConfig
from attendo.serving.core.batch import Batch
from attendo.serving.core.jobs import Job, JobSettings, WorkItem, deliver
from attendo.serving.core.shares import Shares
from attendo.serving.core.waiting import Line, WaitingLines
from attendo.serving.errors import busy, overdue, too_many_requests
from attendo.serving.metrics import Metrics

Work = Callable[[Any, Sequence[Any], int, BetweenSteps], Sequence[Any]]
"""Works on items of one kind. The arguments are the kind, the items, the number of the calling thread, from 0, and a
function to call between two steps, which returns the numbers, from 1, of cancelled items. The result has a result or an
exception for each item, None for a cancelled one; an exception that it raises applies to all items."""

_LEAST_WAIT_S, _MOST_WAIT_S = 1.0, 60.0
"""Shortest and longest waiting time in seconds reported to a caller when the queue is full."""
_OVERDUE = "the request waited too long; send less at a time, or try again later"
_SMOOTHING = 0.1
_MARGIN_S = 0.01
"""Seconds that another flow must have had less before a batch yields to it."""
_HELD_UP = 30
"""Maximum number of paused batches, each of which has a thread; half of them are for flows without running ones."""
_BATCHES_BEYOND = 12
"""Maximum number of running batches of one flow, in addition to the number of hands."""


class _Worker:
    """The state of a thread: its next task."""

    def __init__(self, number: int, lock: threading.Lock) -> None:
        self.number = number
        self.batch: Batch | None = None
        self.wanted = threading.Condition(lock)


class Batcher:
    """The queue and its threads. All methods are for the event loop that it was started in.

    Args:
        work: does the work.
        threads: the number of hands, which is that of batches that are worked on at the same time.
        config: the sizes of batches and of the queue.
        metrics: the counters.
        excludes: names a kind; of kinds with the same name only one is worked on at a time. None sets no limit.
    """

    def __init__(
        self,
        work: Work,
        *,
        threads: int,
        config: BatchingConfig,
        metrics: Metrics,
        excludes: Callable[[Any], Hashable | None] = lambda kind: None,
    ) -> None:
        self._work, self._config, self._metrics, self._excludes = work, config, metrics, excludes
        self._waiting, self._shares = WaitingLines(config), Shares()
        self._lock = threading.Lock()  # guards the fields below, the queue and the batches
        self._stopped = self._looks_soon = False
        self._hands = self._free = threads
        self._jobs: set[Job] = set()  # that are not answered
        self._best_rank = float("inf")  # of what waits for a hand
        self._in_work: dict[Line, tuple[Batch, int]] = {}
        self._batches: Counter[str] = Counter()  # in work, of each flow
        self._held_up: list[Batch] = []
        self._excluded: set[Hashable] = set()  # names that kinds in work have
        self._characters_per_s = self._longest_s = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        workers = [_Worker(number, self._lock) for number in range(threads + _HELD_UP)]
        self._idle = workers[::-1]  # the last idle worker is used next: its data is in the caches
        self._threads = [
            threading.Thread(target=self._run, args=(worker,), name=f"attendo-work-{worker.number}", daemon=True)
            for worker in workers
        ]

    def start(self) -> None:
        """Starts the threads, in a running event loop."""
        self._loop = asyncio.get_running_loop()
        for thread in self._threads:
            thread.start()

    async def stop(self) -> None:
        """Ends the threads: running work stops at its next step, and waiting callers are informed. Finish first."""
        with self._lock:
            self._stopped = True
            self._cancel(list(self._in_work))
            for job in self._jobs:
                if not job.done.done():
                    job.done.set_exception(busy("the server is shutting down", _LEAST_WAIT_S))
            for worker in self._idle:
                worker.wanted.notify()
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    @property
    def waiting(self) -> int:
        """The number of lines in the queue."""
        return self._waiting.lines

    async def submit(
        self,
        kind: Hashable,
        items: Sequence[WorkItem],
        caller: str,
        *,
        deadline: float | None = None,
        background: bool = False,
    ) -> list[Any]:
        """Processes items, and returns their results.

        Cancelling the call removes waiting items from the queue, and stops the others at their next step.

        Args:
            kind: the kind of work; items of equal kinds are worked on together.
            items: the items.
            caller: the caller, whose fair share it counts towards.
            deadline: the deadline by `time.monotonic()`; None waits for ever.
            background: whether the work may wait for that of others.

        Returns:
            The result of each item.

        Raises:
            ServingError: the queue is full, or the deadline has passed.
            Exception: the first exception among the results.
        """
        if not items:
            return []
        job = self._enter(JobSettings(kind=kind, caller=caller, deadline=deadline, background=background), items)
        try:
            async with asyncio.timeout_at(self._at(deadline)):
                results = await job.done
        except TimeoutError:
            raise overdue(_OVERDUE, self._wait_s()) from None
        finally:
            self._jobs.discard(job)
            if job.missing:
                self._drop(job)
            job.lines.clear()  # which refer to the job: otherwise the garbage collector would have to free them
        for result in results:
            if isinstance(result, Exception):
                raise result
        return results

    def _enter(self, settings: JobSettings, items: Sequence[WorkItem]) -> Job:
        now = time.monotonic()
        if settings.deadline is not None and settings.deadline <= now:
            raise overdue(_OVERDUE, self._wait_s())
        job = Job(settings, items, now)
        with self._lock:
            self._check_room(job.lines, settings.caller)
            self._jobs.add(job)
            self._waiting.add(job.lines)
            self._show_waiting()
        self._look_soon()
        return job

    def _check_room(self, lines: Sequence[Line], caller: str) -> None:
        """Refuses lines for which the queue has no room; an empty queue accepts any request within the limits."""
        config, waiting = self._config, self._waiting
        if self._stopped:
            raise busy("the server is shutting down", _LEAST_WAIT_S)
        more_lines, more_characters = len(lines), sum(line.characters for line in lines)
        its_lines, its_characters = waiting.share(caller)
        if its_lines and (
            its_lines + more_lines > config.max_waiting_lines * config.caller_share
            or its_characters + more_characters > config.max_waiting_characters * config.caller_share
        ):
            raise too_many_requests(
                "you have as much waiting as one caller may have; wait for earlier requests", self._wait_s()
            )
        if waiting.lines and (
            waiting.lines + more_lines > config.max_waiting_lines
            or waiting.characters + more_characters > config.max_waiting_characters
        ):
            raise busy("the server's queue is full; try again later", self._wait_s())

    def _look_soon(self) -> None:
        """Schedules a check of the queue after all that arrives at the same time, and another when its window ends."""
        assert self._loop is not None
        if not self._looks_soon:
            self._looks_soon = True
            self._loop.call_soon(self._look)
        if self._config.window_ms:
            self._loop.call_later(self._config.window_ms / 1000, self._look)

    def _look(self) -> None:
        self._looks_soon = False
        with self._lock:
            self._give_hands()

    def _drop(self, job: Job) -> None:
        """Drops a job whose result is no longer needed."""
        with self._lock:
            self._metrics.dropped.inc(self._waiting.drop(job.lines))
            self._metrics.cancelled.inc(self._cancel(job.lines))
            self._show_waiting()

    def _cancel(self, lines: Sequence[Line]) -> int:
        """Stops lines at their next step; returns the number of running lines."""
        found = [self._in_work[line] for line in lines if line in self._in_work]
        for batch, number in found:
            batch.cancel({number})
        if found:
            self._give_hands()
        return len(found)

    def _wait_s(self) -> float:
        """Estimates the seconds until about half of the waiting work is done at the current speed."""
        speed = self._characters_per_s * self._hands
        wait_s = self._waiting.characters / 2 / speed if speed else _LEAST_WAIT_S
        return min(max(wait_s, _LEAST_WAIT_S), _MOST_WAIT_S)

    def _at(self, deadline: float | None) -> float | None:
        """Converts a deadline to the event loop's clock."""
        return None if deadline is None else asyncio.get_running_loop().time() + deadline - time.monotonic()

    def _show_waiting(self) -> None:
        self._metrics.waiting_lines.set(self._waiting.lines)
        self._metrics.waiting_characters.set(self._waiting.characters)

    # --- whose turn it is; within the lock ----------------------------------------------------------------------------

    def _give_hands(self) -> None:
        """Gives free hands to the flows that have used least: to paused batches, and to the queue."""
        while self._free:
            batch = min(self._held_up, key=lambda each: each.rank, default=None)
            flow = self._next_flow()
            # Among equals, batches that have begun continue first.
            if flow is not None and (batch is None or self._shares.had(flow) < batch.rank):
                if not self._begin(flow):
                    continue
            elif batch is not None:
                self._held_up.remove(batch)
                batch.grant(self._shares)
                batch.resumed.notify()
            else:
                break
            self._free -= 1
            self._metrics.busy_threads.inc()
        self._find_best_rank()

    def _find_best_rank(self) -> None:
        """Updates the best rank of the flows and batches that wait for a hand."""
        for batch in self._held_up:
            batch.reckon(self._shares)
        waiting = [batch.rank for batch in self._held_up]
        if (flow := self._next_flow()) is not None:
            waiting.append(self._shares.had(flow))
        self._best_rank = min(waiting, default=float("inf"))

    def _next_flow(self) -> str | None:
        """Returns the flow that has used least among those with lines that may start; None if there is none."""
        if self._stopped or not self._idle or self._window_is_open():
            return None
        most = self._hands + _BATCHES_BEYOND if len(self._idle) > _HELD_UP // 2 else 1
        flows = [flow for flow in self._waiting.flows(self._may_begin) if self._batches[flow] < most]
        return min(flows, key=self._shares.had, default=None)

    def _may_begin(self, kind: Hashable) -> bool:
        return self._excludes(kind) not in self._excluded

    def _window_is_open(self) -> bool:
        """Whether a batch that is not full may still grow."""
        window_s, oldest = self._config.window_ms / 1000, self._waiting.oldest()
        if not window_s or oldest is None or self._waiting.lines >= self._config.max_batch_lines * max(1, self._free):
            return False
        return time.monotonic() < oldest + window_s

    def _begin(self, flow: str) -> bool:
        """Starts an idle thread on the next lines of a flow; returns whether there are any."""
        expired, now = self._waiting.expired, time.monotonic()
        lines = self._waiting.take(now, threads=self._free, first=flow, may_begin=self._may_begin)
        self._metrics.dropped.inc(self._waiting.expired - expired)
        self._show_waiting()
        if not lines:
            return False
        batch = Batch(lines, self._lock)
        self._in_work |= {line: (batch, number) for number, line in enumerate(lines, start=1)}
        self._batches.update(batch.flows)
        if (name := self._excludes(lines[0].kind)) is not None:
            self._excluded.add(name)
        batch.reckon(self._shares)
        batch.grant(self._shares)
        worker = self._idle.pop()
        worker.batch = batch
        worker.wanted.notify()
        return True

    def _end(self, batch: Batch) -> None:
        """Ends a batch, and takes its hand away."""
        for line in batch.lines:
            del self._in_work[line]
        self._batches.subtract(batch.flows)
        self._batches += Counter()  # forgets flows without batches
        if (name := self._excludes(batch.lines[0].kind)) is not None:
            self._excluded.discard(name)
        self._take_hand(batch)

    def _take_hand(self, batch: Batch) -> None:
        batch.settle(time.monotonic(), self._shares)
        batch.has_hand = False
        self._free += 1
        self._metrics.busy_threads.dec()

    # --- in the threads -----------------------------------------------------------------------------------------------

    def _run(self, worker: _Worker) -> None:
        while (batch := self._next(worker)) is not None:
            self._do(batch, worker)
            del batch  # may keep a model's memory alive

    def _next(self, worker: _Worker) -> Batch | None:
        """Returns the next batch; None after the end."""
        with self._lock:
            while worker.batch is None and not self._stopped:
                worker.wanted.wait()
            batch, worker.batch = worker.batch, None
            return batch

    def _between_steps(self, batch: Batch) -> AbstractSet[int]:
        """Called by `Work` between two steps: passes the hand on, and returns the lines that must leave."""
        if batch.look(time.monotonic()) or self._best_rank + _MARGIN_S < batch.rank:
            with self._lock:
                batch.settle(time.monotonic(), self._shares)
                self._find_best_rank()
                if self._best_rank + _MARGIN_S < batch.rank:
                    self._take_hand(batch)
                    self._held_up.append(batch)
                    self._metrics.held_up.inc()
                    self._give_hands()
                    while not batch.has_hand:
                        batch.resumed.wait()
                    batch.wake(time.monotonic())
                    self._metrics.held_up.dec()
        return batch.leaving

    def _do(self, batch: Batch, worker: _Worker) -> None:
        started, metrics, lines = time.monotonic(), self._metrics, batch.lines
        batch.wake(started)
        metrics.batch_lines.observe(len(lines))
        metrics.batch_tokens.observe(sum(line.tokens for line in lines))
        for line in lines:
            metrics.queue_seconds.observe(started - line.arrived)
        contents = [line.item[2] for line in lines]
        try:
            results = list(self._work(lines[0].kind, contents, worker.number, lambda: self._between_steps(batch)))
            if len(results) != len(lines):
                results = [RuntimeError(f"{len(results)} results of {len(lines)} lines")] * len(lines)
        except Exception as error:
            results = [error] * len(lines)
        self._show_longest(batch.longest_s)
        with self._lock:
            self._end(batch)
            done = self._kept(batch, results)
            speed = sum(line.characters for line in lines) / max(batch.ran_s, 1e-6)
            self._characters_per_s += (speed - self._characters_per_s) * (_SMOOTHING if self._characters_per_s else 1)
            self._idle.append(worker)
            self._give_hands()
        assert self._loop is not None
        self._loop.call_soon_threadsafe(deliver, done)

    def _show_longest(self, seconds: float) -> None:
        self._metrics.step_seconds.observe(seconds)
        with self._lock:
            self._longest_s = max(self._longest_s, seconds)
            self._metrics.longest_step.set(self._longest_s)

    def _kept(self, batch: Batch, results: Sequence[Any]) -> list[tuple[Line, Any]]:
        """Returns lines with their results; lines removed for delaying others are put back, to be done alone."""
        done, back = [], []
        for number, (line, result) in enumerate(zip(batch.lines, results, strict=True), start=1):
            if result is None and batch.ousted and number not in batch.cancelled:
                line.alone = True
                back.append(line)
            else:
                done.append((line, result))
        self._waiting.put_back(back)
        self._metrics.put_back.inc(len(back))
        self._show_waiting()
        return done

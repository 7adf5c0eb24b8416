"""Requests that wait together are worked on together: a bounded queue, threads that take batches from it, and answers.

The kernels run without Python's lock, so threads of one process are the way to many cores. A thread that is free takes
what waits at once: while all threads are at work, what arrives gathers by itself, so a loaded server has large batches
and an idle one has no delay. Requests that come together are divided between the threads that are free.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from attendo.serving.config import BatchingConfig
from attendo.serving.errors import busy, overdue, too_many_requests
from attendo.serving.metrics import Metrics
from attendo.serving.waiting import Line, WaitingLines, estimated_tokens

Work = Callable[[Any, Sequence[Any], int], Sequence[Any]]
"""Works on items of one kind: the kind, the items, and the number of the thread, from 0, that does it. It gives a
result or an exception an item; an exception that it raises is that of all items."""

_LEAST_WAIT_S, _MOST_WAIT_S = 1.0, 60.0
"""That a caller is told to wait, when there is no room."""
_SMOOTHING = 0.1


@dataclass(frozen=True, kw_only=True)
class WorkItem:
    """One thing to do."""

    content: Any
    """What `Work` gets."""
    text: str
    """By which it is measured."""


@dataclass(eq=False, kw_only=True)
class _Job:
    """Lines that came together and are answered together."""

    lines: list[Line]
    results: list[Any]
    missing: int
    done: "asyncio.Future[list[Any]]"


class Batcher:
    """The queue and its threads. All methods are for the event loop that it was started in.

    Args:
        work: what is done.
        threads: that do it.
        config: the sizes of batches and of the queue.
        metrics: what is counted.
        excludes: of a kind, a name; of kinds with one name only one is worked on at a time. None sets no limit.
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
        self._waiting = WaitingLines(config)
        self._changed = threading.Condition()  # guards what is below, and the queue
        self._idle, self._stopped = 0, False
        self._held: set[Hashable] = set()  # names that kinds at work have
        self._characters_per_s = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._threads = [
            threading.Thread(target=self._run, args=(number,), name=f"attendo-work-{number}", daemon=True)
            for number in range(threads)
        ]

    def start(self) -> None:
        """Starts the threads, in a running event loop."""
        self._loop = asyncio.get_running_loop()
        for thread in self._threads:
            thread.start()

    async def stop(self) -> None:
        """Ends the threads when they have done what they are at; what waits is given up. Finish first."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        for thread in self._threads:
            await asyncio.to_thread(thread.join)

    @property
    def waiting(self) -> int:
        """Lines in the queue."""
        return self._waiting.lines

    async def submit(
        self, kind: Hashable, items: Sequence[WorkItem], caller: str, *, deadline: float | None = None
    ) -> list[Any]:
        """Does some items.

        Cancelling it takes those out of the queue that are not being worked on.

        Args:
            kind: what is done; items of equal kinds are worked on together.
            items: what it is done to.
            caller: whose turn is taken.
            deadline: of `time.monotonic()`; None waits for ever.

        Returns:
            Of each item what came of it.

        Raises:
            ServingError: no room, or overdue.
            Exception: what came of an item was one; the first.
        """
        if not items:
            return []
        job = self._enter(kind, items, caller, deadline)
        try:
            async with asyncio.timeout_at(self._at(deadline)):
                results = await job.done
        except TimeoutError:
            raise overdue("it took too long until now; send less at a time, or later", self._wait_s()) from None
        finally:
            if job.missing:
                self._drop(job)
        for result in results:
            if isinstance(result, Exception):
                raise result
        return results

    def _enter(self, kind: Hashable, items: Sequence[WorkItem], caller: str, deadline: float | None) -> _Job:
        now = time.monotonic()
        if deadline is not None and deadline <= now:
            raise overdue("it took too long until now; send less at a time, or later", self._wait_s())
        job = _Job(
            lines=[], results=[None] * len(items), missing=len(items), done=asyncio.get_running_loop().create_future()
        )
        job.lines = [
            Line(
                caller=caller,
                kind=kind,
                item=(job, place, item.content),
                characters=len(item.text),
                tokens=estimated_tokens(item.text),
                arrived=now,
                deadline=deadline,
            )
            for place, item in enumerate(items)
        ]
        with self._changed:
            self._check_room(job.lines, caller)
            self._waiting.add(job.lines)
            self._show_waiting()
            self._changed.notify(min(len(items), self._idle))
        return job

    def _check_room(self, lines: Sequence[Line], caller: str) -> None:
        """Refuses what has no room beside what waits. What finds nothing waiting has room: limits bound it before."""
        config, waiting = self._config, self._waiting
        if self._stopped:
            raise busy("the server is shutting down", _LEAST_WAIT_S)
        more_lines, more_characters = len(lines), sum(line.characters for line in lines)
        its_lines, its_characters = waiting.share(caller)
        if its_lines and (
            its_lines + more_lines > config.max_waiting_lines * config.caller_share
            or its_characters + more_characters > config.max_waiting_characters * config.caller_share
        ):
            raise too_many_requests("as much as one caller may have waiting is waiting already", self._wait_s())
        if waiting.lines and (
            waiting.lines + more_lines > config.max_waiting_lines
            or waiting.characters + more_characters > config.max_waiting_characters
        ):
            raise busy("more is waiting than this server takes", self._wait_s())

    def _drop(self, job: _Job) -> None:
        with self._changed:
            self._metrics.dropped.inc(self._waiting.drop(job.lines))
            self._show_waiting()

    def _wait_s(self) -> float:
        """Until about half of what waits will be done, as fast as it goes now."""
        speed = self._characters_per_s * len(self._threads)
        wait_s = self._waiting.characters / 2 / speed if speed else _LEAST_WAIT_S
        return min(max(wait_s, _LEAST_WAIT_S), _MOST_WAIT_S)

    def _at(self, deadline: float | None) -> float | None:
        """A deadline by the event loop's clock."""
        return None if deadline is None else asyncio.get_running_loop().time() + deadline - time.monotonic()

    def _show_waiting(self) -> None:
        self._metrics.waiting_lines.set(self._waiting.lines)
        self._metrics.waiting_characters.set(self._waiting.characters)

    # --- in the threads -----------------------------------------------------------------------------------------------

    def _run(self, number: int) -> None:
        while (batch := self._next()) is not None:
            self._do(batch, number)
            del batch  # holds what a model's memory may hang on

    def _next(self) -> list[Line] | None:
        """The next batch; None when all is over."""
        with self._changed:
            self._idle += 1
            try:
                while not self._stopped:
                    wait_s = self._window_s()
                    if wait_s is None and (batch := self._take()):
                        return batch
                    self._changed.wait(wait_s)
                return None
            finally:
                self._idle -= 1

    def _window_s(self) -> float | None:
        """How long a batch that is not full yet is left to grow; None where it is not."""
        window_s = self._config.window_ms / 1000
        if not window_s or self._waiting.lines >= self._config.max_batch_lines * self._idle:
            return None
        oldest = self._waiting.oldest()
        left = 0.0 if oldest is None else oldest + window_s - time.monotonic()
        return left if left > 0 else None

    def _take(self) -> list[Line]:
        """What is to be done now; other threads are kept from what it excludes."""
        expired = self._waiting.expired
        batch = self._waiting.take(
            time.monotonic(), threads=self._idle, may_begin=lambda kind: self._excludes(kind) not in self._held
        )
        self._metrics.dropped.inc(self._waiting.expired - expired)
        if batch and (name := self._excludes(batch[0].kind)) is not None:
            self._held.add(name)
        self._show_waiting()
        return batch

    def _do(self, batch: Sequence[Line], number: int) -> None:
        started = time.monotonic()
        metrics = self._metrics
        metrics.busy_threads.inc()
        metrics.batch_lines.observe(len(batch))
        metrics.batch_tokens.observe(sum(line.tokens for line in batch))
        for line in batch:
            metrics.queue_seconds.observe(started - line.arrived)
        kind = batch[0].kind
        try:
            results = list(self._work(kind, [line.item[2] for line in batch], number))
            if len(results) != len(batch):
                results = [RuntimeError(f"{len(results)} results of {len(batch)} lines")] * len(batch)
        except Exception as error:
            results = [error] * len(batch)
        seconds = time.monotonic() - started
        metrics.busy_threads.dec()
        with self._changed:
            if (name := self._excludes(kind)) is not None:
                self._held.discard(name)
                self._changed.notify_all()
            speed = sum(line.characters for line in batch) / max(seconds, 1e-6)
            self._characters_per_s += (speed - self._characters_per_s) * (_SMOOTHING if self._characters_per_s else 1)
        assert self._loop is not None
        self._loop.call_soon_threadsafe(_deliver, [line.item[:2] for line in batch], results)


def _deliver(places: Sequence[tuple[_Job, int]], results: Sequence[Any]) -> None:
    """Puts results where they are waited for; in the event loop."""
    for (job, place), result in zip(places, results, strict=True):
        job.results[place] = result
        job.missing -= 1
        if not job.missing and not job.done.done():
            job.done.set_result(job.results)

"""The batcher, with work that a test can see and hold up."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from attendo.serving.batching import Batcher, WorkItem
from attendo.serving.config import BatchingConfig
from attendo.serving.errors import ServingError
from attendo.serving.metrics import Metrics


class Bench:
    """Work that doubles its items, one batch at a time when a gate is shut."""

    def __init__(self) -> None:
        self.batches: list[list[Any]] = []
        self.open = threading.Event()
        self.open.set()
        self.begun = threading.Semaphore(0)
        self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()

    def __call__(self, kind: Any, items: Sequence[Any], thread: int) -> Sequence[Any]:
        with self._lock:
            self.batches.append(list(items))
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        self.begun.release()
        assert self.open.wait(30)
        with self._lock:
            self.at_once -= 1
        if kind == "fails":
            raise ValueError("told")
        return [ServingError(400, "bad", "bad") if item == "bad" else (item, item) for item in items]


def wanted(*items: Any) -> list[WorkItem]:
    return [WorkItem(content=item, text=str(item)) for item in items]


@asynccontextmanager
async def batching(bench: Bench, *, threads: int = 1, **options: Any) -> AsyncIterator[Batcher]:
    excludes = options.pop("excludes", lambda kind: None)
    metrics = Metrics()
    batcher = Batcher(bench, threads=threads, config=BatchingConfig(**options), metrics=metrics, excludes=excludes)
    batcher.start()
    try:
        yield batcher
    finally:
        bench.open.set()
        await batcher.stop()


def run(test: Callable[[Bench], Coroutine[Any, Any, None]]) -> Bench:
    bench = Bench()
    asyncio.run(test(bench))
    return bench


async def begun(bench: Bench) -> None:
    assert await asyncio.to_thread(bench.begun.acquire, timeout=30)


async def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not true():
        assert time.monotonic() < end
        await asyncio.sleep(0.001)


async def refused(waited: Awaitable[Any]) -> ServingError:
    with pytest.raises(ServingError) as told:
        await waited
    return told.value


def test_results_are_in_the_order_of_the_items() -> None:
    async def test(bench: Bench) -> None:
        async with batching(bench, threads=3) as batcher:
            jobs = [batcher.submit("k", wanted(*range(n, n + 5)), f"caller {n % 4}") for n in range(40)]
            found = await asyncio.gather(*jobs)
            assert found == [[(item, item) for item in range(n, n + 5)] for n in range(40)]
            assert await batcher.submit("k", [], "nobody") == []

    run(test)


def test_what_comes_while_threads_work_is_done_together() -> None:
    async def test(bench: Bench) -> None:
        async with batching(bench) as batcher:
            bench.open.clear()
            first = asyncio.create_task(batcher.submit("k", wanted(0), "a"))
            await begun(bench)
            others = [asyncio.create_task(batcher.submit("k", wanted(n), f"caller {n}")) for n in range(1, 6)]
            await until(lambda: batcher.waiting == 5)
            bench.open.set()
            await asyncio.gather(first, *others)

    assert run(test).batches == [[0], [1, 2, 3, 4, 5]]


def test_an_idle_server_waits_for_nothing() -> None:
    async def test(bench: Bench) -> None:
        async with batching(bench, threads=2) as batcher:
            await batcher.submit("k", wanted(1), "a")
            await batcher.submit("k", wanted(2), "a")

    assert run(test).batches == [[1], [2]]


def test_a_window_lets_a_batch_grow() -> None:
    async def test(bench: Bench) -> None:
        async with batching(bench, window_ms=500, max_batch_lines=3) as batcher:
            await asyncio.gather(*(batcher.submit("k", wanted(n), f"caller {n}") for n in range(3)))  # full: at once
            one = asyncio.create_task(batcher.submit("k", wanted(3), "a"))
            await asyncio.sleep(0.05)
            await asyncio.gather(one, batcher.submit("k", wanted(4), "b"))

    assert run(test).batches == [[0, 1, 2], [3, 4]]


def test_a_job_is_divided_between_free_threads() -> None:
    async def test(bench: Bench) -> None:
        async with batching(bench, threads=2) as batcher:
            await asyncio.sleep(0.1)  # both wait
            bench.open.clear()  # so that neither is free again before the other has come
            job = asyncio.create_task(batcher.submit("k", wanted(*range(8)), "a"))
            await begun(bench)
            await begun(bench)
            bench.open.set()
            await job

    assert sorted(map(len, run(test).batches)) == [4, 4]


def test_a_full_queue_is_told_with_when_to_come_again() -> None:
    async def test(bench: Bench) -> None:
        async with batching(bench, max_waiting_lines=4, caller_share=0.5) as batcher:
            bench.open.clear()
            jobs = [asyncio.create_task(batcher.submit("k", wanted(0), "at work"))]
            await begun(bench)
            jobs += [asyncio.create_task(batcher.submit("k", wanted(1, 2), name)) for name in ("a", "b")]
            await until(lambda: batcher.waiting == 4)
            own = await refused(batcher.submit("k", wanted(9), "a"))
            assert (own.status, own.code) == (429, "too-many-requests")
            full = await refused(batcher.submit("k", wanted(9), "c"))
            assert (full.status, full.code) == (503, "busy")
            assert all(each.retry_after_s is not None and 1 <= each.retry_after_s <= 60 for each in (own, full))
            bench.open.set()
            await asyncio.gather(*jobs)
            assert await batcher.submit("k", wanted(7), "c") == [(7, 7)]

    run(test)


def test_characters_are_bounded_too_but_what_comes_first_is_taken() -> None:
    async def test(bench: Bench) -> None:
        async with batching(bench, max_waiting_characters=10) as batcher:
            bench.open.clear()
            jobs = [asyncio.create_task(batcher.submit("k", wanted("x"), "a"))]
            await begun(bench)
            jobs.append(asyncio.create_task(batcher.submit("k", wanted("x" * 1000), "a")))
            await until(lambda: batcher.waiting == 1)
            assert (await refused(batcher.submit("k", wanted("y"), "b"))).status == 503
            bench.open.set()
            await asyncio.gather(*jobs)

    run(test)


def test_who_leaves_takes_his_lines_out_of_the_queue() -> None:
    async def test(bench: Bench) -> None:
        async with batching(bench, max_batch_lines=1) as batcher:
            bench.open.clear()
            first = asyncio.create_task(batcher.submit("k", wanted("at work", "never"), "a"))
            await begun(bench)
            other = asyncio.create_task(batcher.submit("k", wanted("other"), "b"))
            await until(lambda: batcher.waiting == 2)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            assert batcher.waiting == 1
            bench.open.set()
            assert await other == [("other", "other")]

    assert run(test).batches == [["at work"], ["other"]]


def test_what_is_overdue_is_told_so_and_not_done() -> None:
    async def test(bench: Bench) -> None:
        async with batching(bench) as batcher:
            bench.open.clear()
            first = asyncio.create_task(batcher.submit("k", wanted("at work"), "a"))
            await begun(bench)
            late = await refused(batcher.submit("k", wanted("late"), "b", deadline=time.monotonic() + 0.05))
            assert (late.status, late.code) == (503, "overdue")
            past = await refused(batcher.submit("k", wanted("past"), "b", deadline=time.monotonic() - 1))
            assert past.code == "overdue"
            assert batcher.waiting == 0
            bench.open.set()
            await first

    assert run(test).batches == [["at work"]]


def test_a_deadline_holds_for_work_that_has_begun() -> None:
    async def test(bench: Bench) -> None:
        async with batching(bench) as batcher:
            bench.open.clear()
            late = await refused(batcher.submit("k", wanted("slow"), "a", deadline=time.monotonic() + 0.1))
            assert late.code == "overdue"
            bench.open.set()
            assert await batcher.submit("k", wanted("next"), "a") == [("next", "next")]

    run(test)


def test_errors_are_those_of_their_lines() -> None:
    async def test(bench: Bench) -> None:
        async with batching(bench) as batcher:
            bench.open.clear()
            gate = asyncio.create_task(batcher.submit("k", wanted("gate"), "a"))
            await begun(bench)
            bad = asyncio.create_task(batcher.submit("k", wanted("good", "bad"), "b"))
            good = asyncio.create_task(batcher.submit("k", wanted("good"), "c"))
            await until(lambda: batcher.waiting == 3)
            bench.open.set()
            assert (await refused(bad)).code == "bad"
            assert await good == [("good", "good")]
            await gate
            with pytest.raises(ValueError, match="told"):
                await batcher.submit("fails", wanted(1), "a")
            assert await batcher.submit("k", wanted(1), "a") == [(1, 1)]

    run(test)


def test_kinds_that_exclude_each_other_are_worked_on_one_by_one() -> None:
    async def test(bench: Bench) -> None:
        async with batching(bench, threads=3, excludes=lambda kind: "torch" if kind != "free" else None) as batcher:
            bench.open.clear()
            jobs = [asyncio.create_task(batcher.submit(kind, wanted(kind), kind)) for kind in ("one", "two", "free")]
            await begun(bench)
            await begun(bench)
            await asyncio.sleep(0.05)
            assert bench.at_once == 2
            bench.open.set()
            await asyncio.gather(*jobs)

    assert run(test).most_at_once == 2


def test_after_the_end_nothing_is_taken() -> None:
    async def test(bench: Bench) -> None:
        async with batching(bench) as batcher:
            pass
        assert (await refused(batcher.submit("k", wanted(1), "a"))).status == 503

    run(test)

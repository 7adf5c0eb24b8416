"""The batcher, with work that a test can see and hold up."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from attendo.decoding.watch import BetweenSteps
from attendo.serving.config import BatchingConfig
from attendo.serving.core.batching import Batcher
from attendo.serving.core.jobs import WorkItem
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

    def __call__(self, kind: Any, items: Sequence[Any], thread: int, between_steps: BetweenSteps) -> Sequence[Any]:
        with self._lock:
            self.batches.append(list(items))
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        self.begun.release()
        assert self.open.wait(120)
        with self._lock:
            self.at_once -= 1
        if kind == "fails":
            raise ValueError("told")
        return [ServingError(400, "bad", "bad") if item == "bad" else (item, item) for item in items]


class Stepping:
    """Work that is done in steps: an item that is called `long` has no end until it is allowed one."""

    def __init__(self) -> None:
        self.open = threading.Event()  # so that long ones end
        self.begun: list[Any] = []
        self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()

    def __call__(self, kind: Any, items: Sequence[Any], thread: int, between_steps: BetweenSteps) -> Sequence[Any]:
        self.begun += items
        results: list[Any] = [item if item != "long" else None for item in items]
        while None in results:
            leaving = between_steps()
            self._step()
            if self.open.is_set():
                return list(items)
            if all(number in leaving for number, result in enumerate(results, start=1) if result is None):
                break
        return results

    def _step(self) -> None:
        with self._lock:
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        time.sleep(0.001)
        with self._lock:
            self.at_once -= 1


def wanted(*items: Any) -> list[WorkItem]:
    return [WorkItem(content=item, text=str(item)) for item in items]


@asynccontextmanager
async def batching(
    bench: "Bench | Stepping | Slow", *, threads: int = 1, metrics: Metrics | None = None, **options: Any
) -> AsyncIterator[Batcher]:
    excludes = options.pop("excludes", lambda kind: None)
    metrics = metrics or Metrics()
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
    assert await asyncio.to_thread(bench.begun.acquire, timeout=120)


async def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
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
        async with batching(bench, window_ms=1000, max_batch_lines=3) as batcher:
            await asyncio.gather(*(batcher.submit("k", wanted(n), f"caller {n}") for n in range(3)))  # full: at once
            one = asyncio.create_task(batcher.submit("k", wanted(3), "a"))
            await asyncio.sleep(0.05)
            await asyncio.gather(one, batcher.submit("k", wanted(4), "b"), batcher.submit("k", wanted(5), "c"))

    assert run(test).batches == [[0, 1, 2], [3, 4, 5]]


def test_a_window_that_is_over_lets_a_smaller_batch_go() -> None:
    async def test(bench: Bench) -> None:
        async with batching(bench, window_ms=20, max_batch_lines=3) as batcher:
            await batcher.submit("k", wanted(0), "a")

    assert run(test).batches == [[0]]


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


# --- work that can be stopped and held up -----------------------------------------------------------------------------


def value(metrics: Metrics, name: str) -> float:
    found = metrics.registry.get_sample_value(name)
    assert found is not None
    return found


async def is_begun(work: Stepping, *items: Any) -> None:
    await until(lambda: sorted(work.begun) == sorted(items))


class Slow:
    """Work of as many steps as small requests take, each of them slow; the first batch waits before the last."""

    def __init__(self) -> None:
        self.open, self.nearly_done = threading.Event(), threading.Event()
        self.batches: list[int] = []

    def __call__(self, kind: Any, items: Sequence[Any], thread: int, between_steps: BetweenSteps) -> Sequence[Any]:
        self.batches.append(len(items))
        for _ in range(15):
            between_steps()
            time.sleep(0.01)
        self.nearly_done.set()
        assert self.open.wait(120)
        return list(items)


def test_small_requests_are_worked_on_together_on_a_slow_machine_too() -> None:
    async def test() -> None:
        work = Slow()
        async with batching(work) as batcher:
            jobs = [asyncio.create_task(batcher.submit("k", wanted("0"), "a"))]
            await until(lambda: work.batches == [1])
            jobs += [asyncio.create_task(batcher.submit("k", wanted(str(number)), "a")) for number in range(1, 9)]
            await until(work.nearly_done.is_set)
            assert work.batches == [1]
            work.open.set()
            await asyncio.gather(*jobs)
        assert work.batches == [1, 8]

    asyncio.run(test())


def test_another_caller_is_answered_before_the_end_of_a_long_batch() -> None:
    async def test() -> None:
        work, metrics = Stepping(), Metrics()
        async with batching(work, metrics=metrics) as batcher:
            long = asyncio.create_task(batcher.submit("k", wanted("long"), "a"))
            await is_begun(work, "long")
            for number in range(5):
                assert await batcher.submit("k", wanted(str(number)), "b") == [str(number)]
            assert not long.done()
            assert value(metrics, "attendo_busy_threads") == 1
            work.open.set()
            assert await long == ["long"]
            await until(lambda: value(metrics, "attendo_busy_threads") == 0)
            assert value(metrics, "attendo_batches_held_up") == 0
        assert work.most_at_once == 1

    asyncio.run(test())


def test_long_batches_of_many_callers_share_the_hands_and_leave_room_for_one_more() -> None:
    async def test() -> None:
        work = Stepping()
        async with batching(work, threads=2) as batcher:
            attackers = [
                asyncio.create_task(batcher.submit("k", wanted("long"), f"attacker {n % 6}")) for n in range(48)
            ]
            await until(lambda: len(work.begun) >= 6)
            for number in range(5):
                assert await batcher.submit("k", wanted(str(number)), "bystander") == [str(number)]
            assert not any(each.done() for each in attackers)
            work.open.set()
            assert await asyncio.gather(*attackers) == [["long"]] * 48
        assert work.most_at_once == 2

    asyncio.run(test())


def test_a_callers_small_request_does_not_wait_for_his_large_one() -> None:
    async def test() -> None:
        work = Stepping()
        async with batching(work) as batcher:
            large = [WorkItem(content="long", text="many words " * 200)]
            long = asyncio.create_task(batcher.submit("k", large, "a"))
            await is_begun(work, "long")
            assert await batcher.submit("k", wanted("small"), "a") == ["small"]
            assert not long.done()
            work.open.set()
            await long

    asyncio.run(test())


@pytest.mark.parametrize("held_up", [False, True])
def test_who_leaves_frees_the_thread(held_up: bool) -> None:
    async def test() -> None:
        work, metrics = Stepping(), Metrics()
        async with batching(work, metrics=metrics) as batcher:
            leaves = asyncio.create_task(batcher.submit("k", wanted("long"), "a"))
            await is_begun(work, "long")
            stays = asyncio.create_task(batcher.submit("k", wanted("long"), "b")) if held_up else None
            if stays is not None:
                await until(lambda: value(metrics, "attendo_batches_held_up") == 1)
            leaves.cancel()
            with pytest.raises(asyncio.CancelledError):
                await leaves
            await until(lambda: value(metrics, "attendo_batches_held_up") == 0)
            await until(lambda: value(metrics, "attendo_busy_threads") == held_up)
            assert value(metrics, "attendo_lines_cancelled_total") == 1
            work.open.set()
            if stays is not None:
                assert await stays == ["long"]

    asyncio.run(test())


def test_a_deadline_stops_what_is_in_work() -> None:
    async def test() -> None:
        work, metrics = Stepping(), Metrics()
        async with batching(work, metrics=metrics) as batcher:
            late = await refused(batcher.submit("k", wanted("long"), "a", deadline=time.monotonic() + 0.05))
            assert late.code == "overdue"
            await until(lambda: value(metrics, "attendo_busy_threads") == 0)

    asyncio.run(test())


def test_the_end_stops_what_is_in_work() -> None:
    async def test() -> None:
        work = Stepping()
        async with batching(work) as batcher:
            jobs = [asyncio.create_task(batcher.submit("k", wanted("long"), "a"))]
            await is_begun(work, "long")
            jobs.append(asyncio.create_task(batcher.submit("k", wanted("long"), "b")))
            await is_begun(work, "long", "long")
            jobs.append(asyncio.create_task(batcher.submit("other", wanted("waits"), "b")))
            await asyncio.sleep(0)
            await batcher.stop()
            assert [(await refused(job)).code for job in jobs] == ["busy"] * 3

    asyncio.run(test())


def test_a_line_that_keeps_those_of_others_waiting_is_put_back_and_done_alone() -> None:
    async def test() -> None:
        work, metrics = Stepping(), Metrics()
        async with batching(work, metrics=metrics) as batcher:
            jobs = [asyncio.create_task(batcher.submit("k", wanted(item), item)) for item in ("long", "b", "c")]
            assert await asyncio.gather(*jobs[1:]) == [["b"], ["c"]]
            await is_begun(work, "long", "b", "c", "long")
            assert not jobs[0].done()
            assert value(metrics, "attendo_lines_put_back_total") == 1
            work.open.set()
            assert await jobs[0] == ["long"]

    asyncio.run(test())


def test_the_longest_step_is_told() -> None:
    async def test() -> None:
        work, metrics = Stepping(), Metrics()
        async with batching(work, metrics=metrics) as batcher:
            long = asyncio.create_task(batcher.submit("k", wanted("long"), "a"))
            await is_begun(work, "long")
            await asyncio.sleep(0.02)
            work.open.set()
            await long
            await until(lambda: value(metrics, "attendo_step_seconds_count") == 1)
            assert value(metrics, "attendo_longest_step_seconds") == value(metrics, "attendo_step_seconds_sum") >= 0.001

    asyncio.run(test())

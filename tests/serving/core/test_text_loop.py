"""The thread for long texts: where work is done, and that nothing of it is left behind."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from tests.serving.made_up import MadeUp

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.markup.text_types import TranslatedLine
from attendo.serving.core.text_loop import FromHere, TextLoop, in_loop


@contextmanager
def running(texts: TextLoop) -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        try:
            yield runner
        finally:
            runner.run(texts.stop())


async def thread(_: FromHere) -> int:
    return threading.get_ident()


def test_short_texts_stay_in_the_callers_thread_and_all_long_ones_are_in_one_other() -> None:
    with running(texts := TextLoop()) as runner:
        here = threading.get_ident()
        assert runner.run(texts.work_on(60, thread)) == here
        others = {runner.run(texts.work_on(size, thread)) for size in (2_000, 20_000, 100_000)}
        assert len(others) == 1
        assert others != {here}


def test_lines_are_translated_in_the_callers_loop() -> None:
    class Noting(MadeUp):
        async def __call__(
            self, lines: Sequence[str], constraints: Sequence[Constraints] | None = None, *, alignment: bool = False
        ) -> list[TranslatedLine]:
            threads.add(threading.get_ident())
            return await super().__call__(lines, constraints, alignment=alignment)

    async def translated(from_here: FromHere) -> list[TranslatedLine]:
        return await from_here(Noting())(["The dog."])

    threads: set[int] = set()
    with running(texts := TextLoop()) as runner:
        [line] = runner.run(texts.work_on(5_000, translated))
    assert line.translation.text == "das Hund."
    assert threads == {threading.get_ident()}


def test_many_lines_come_back_in_their_order_and_only_some_wait_at_a_time() -> None:
    """With constraints of their own, although later lines are ready first."""
    waiting: list[int] = []
    most = 0

    async def translate(
        lines: Sequence[str], constraints: Sequence[Constraints] | None = None, *, alignment: bool = False
    ) -> list[Any]:
        nonlocal most
        assert constraints is not None
        assert alignment
        waiting.append(len(lines))
        most = max(most, sum(waiting))
        await asyncio.sleep(0.02 / int(lines[0] + "1"))
        waiting.remove(len(lines))
        return list(zip(lines, constraints, strict=True))

    async def translated(from_here: FromHere) -> list[Any]:
        return list(await from_here(translate)(lines, constraints, alignment=True))

    lines = [str(number) for number in range(1_000)]
    constraints = [Constraints(target_prefix=line) for line in lines]
    with running(texts := TextLoop()) as runner:
        found = runner.run(texts.work_on(10_000, translated))
    assert found == list(zip(lines, constraints, strict=True))
    assert most <= 256


def test_an_error_is_the_callers() -> None:
    async def fails(_: FromHere) -> None:
        raise ValueError("of this text")

    with running(texts := TextLoop()) as runner:
        with pytest.raises(ValueError, match="of this text"):
            runner.run(texts.work_on(5_000, fails))
        assert runner.run(texts.work_on(5_000, thread))


def test_whoever_leaves_stops_the_work_and_waits_for_its_end() -> None:
    steps: list[str] = []

    async def endless() -> None:
        try:
            steps.append("begun")
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            steps.append("ended")

    async def leave(texts: TextLoop) -> None:
        task = asyncio.create_task(texts.run(endless()))
        while not steps:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert steps == ["begun", "ended"]

    with running(texts := TextLoop()) as runner:
        runner.run(leave(texts))


def test_who_leaves_at_once_leaves_nothing_behind() -> None:
    begun: list[int] = []

    async def work(_: FromHere) -> None:
        begun.append(1)
        await asyncio.Event().wait()

    async def leave(texts: TextLoop) -> None:
        task = asyncio.create_task(texts.work_on(5_000, work))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    with running(texts := TextLoop()) as runner:
        for _ in range(20):
            runner.run(leave(texts))
    assert len(begun) <= 20


def test_cancelling_reaches_the_lines() -> None:
    state: list[str] = []

    async def translate(
        lines: Sequence[str], constraints: Sequence[Constraints] | None = None, *, alignment: bool = False
    ) -> list[TranslatedLine]:
        try:
            state.append("begun")
            await asyncio.Event().wait()
        finally:
            state.append("stopped")
        raise AssertionError

    async def leave(texts: TextLoop) -> None:
        here = asyncio.get_running_loop()
        task = asyncio.create_task(texts.run(_lines(in_loop(here, translate))))
        while not state:
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.wait([task])
        await asyncio.sleep(0.01)
        assert state == ["begun", "stopped"]

    with running(texts := TextLoop()) as runner:
        runner.run(leave(texts))


def _lines(translate: Any) -> Coroutine[Any, Any, list[TranslatedLine]]:
    return translate(["a line"])  # type: ignore[no-any-return]


def test_the_end_cancels_what_is_left_and_ends_the_thread() -> None:
    ended: list[bool] = []

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)

    async def stop() -> None:
        texts, before = TextLoop(), set(threading.enumerate())
        task = asyncio.create_task(texts.run(endless()))
        await asyncio.sleep(0.05)
        assert [each.name for each in set(threading.enumerate()) - before] == ["attendo-texts"]
        await texts.stop()
        await asyncio.wait([task])
        assert task.cancelled()
        assert "attendo-texts" not in {each.name for each in set(threading.enumerate()) - before}

    asyncio.run(stop())
    assert ended == [True]


def test_one_that_had_nothing_to_do_just_ends() -> None:
    asyncio.run(TextLoop().stop())


def test_a_long_text_waits_a_moment_for_short_ones_and_not_for_ever() -> None:
    order: list[str] = []

    async def note(name: str) -> None:
        order.append(name)

    async def both(texts: TextLoop, answered_after_s: float) -> float:
        async def short(_: FromHere) -> None:
            await asyncio.sleep(answered_after_s)
            order.append("short")

        asking = asyncio.create_task(texts.work_on(60, short))
        await asyncio.sleep(0)
        started = asyncio.get_running_loop().time()
        await texts.work_on(5_000, lambda _: note("long"))
        waited = asyncio.get_running_loop().time() - started
        await asking
        return waited

    with running(texts := TextLoop()) as runner:
        runner.run(both(texts, 0.01))
        assert order == ["short", "long"]
        order.clear()
        assert runner.run(both(texts, 1.0)) < 0.9
        assert order == ["long", "short"]

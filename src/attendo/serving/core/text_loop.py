"""A thread with an event loop of its own, in which long texts are cut into sentences, put together and checked.

That takes milliseconds for every thousand characters. In the server's own loop it would block all other requests, and
the threads of a pool, each with a text, would compete for Python's lock. A single thread takes the lock from others for
one switch interval at a time (`SWITCH_INTERVAL_S`), whatever the number of texts, and each text waits a moment for
short ones in progress.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.markup.text_types import TranslatedLine, TranslateLines
from attendo.markup.together import gathered

SWITCH_INTERVAL_S = 0.0005
"""Seconds after which a thread yields Python's lock to a waiting thread; Python's default is ten times as long, and a
search waits for the lock after every step."""
_SHORT = 400
"""Maximum number of characters of texts for which a change of threads costs more than it saves."""
_PATIENCE_S = 0.05
"""Maximum number of seconds for which a text waits for short ones, which are usually answered in that time."""
_MOST_CHARACTERS, _MOST = 4_000, 64
"""Maximum number of characters, unless a single text has more, and of texts that are handed over together."""
_PARTS = 4
"""Maximum number of parts of a text that wait for their translations."""

FromHere = Callable[[TranslateLines], TranslateLines]
T = TypeVar("T")


class TextLoop:
    """A thread for long texts; it starts with the first one."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="attendo-texts", daemon=True)
        self._short = 0  # texts in progress, by the thread's loop
        self._turns, self._calm = asyncio.Lock(), asyncio.Event()  # of the thread's loop

    async def work_on(self, characters: int, work: Callable[[FromHere], Coroutine[Any, Any, T]]) -> T:
        """Works on texts: in the caller's event loop if they are short, otherwise in the thread.

        Args:
            characters: the number of characters of the texts.
            work: the work; it gets a function that converts a line translator of the caller's loop to one callable from
                the loop of the work.
        """
        if characters > _SHORT:
            return await self.run(self._in_turn(partial(work, partial(in_loop, asyncio.get_running_loop()))))
        self._short += 1
        try:
            return await work(lambda translate: translate)
        finally:
            self._short -= 1
            if not self._short and self._turns.locked() and self._loop is not None:
                self._loop.call_soon_threadsafe(self._calm.set)

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine in the thread; cancelling the caller cancels it, and waits for its end."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread.start()
        loop, tasks, outcome = self._loop, list[asyncio.Task[T]](), Future[T]()

        def begin() -> None:
            tasks.append(loop.create_task(work))
            tasks[0].add_done_callback(lambda task: _hand_over(task, outcome))

        loop.call_soon_threadsafe(begin)
        running = asyncio.wrap_future(outcome)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            loop.call_soon_threadsafe(lambda: tasks[0].cancel())
            await asyncio.wait([running])
            raise

    async def turn(self) -> None:
        """Waits, in the thread, until others have had their turns, and briefly until no short text is in progress."""
        async with self._turns:
            self._calm.clear()
            if self._short:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_PATIENCE_S):
                        await self._calm.wait()

    async def _in_turn(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        await self.turn()
        return await work()

    async def stop(self) -> None:
        """Cancels the remaining work and ends the thread."""
        if self._loop is None:
            return
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_cancel_others(), self._loop))
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)
        self._loop.close()

    def _run(self) -> None:
        assert self._loop is not None
        self._loop.run_forever()


def in_loop(
    loop: asyncio.AbstractEventLoop,
    translate: TranslateLines,
    *,
    parts: int = _PARTS,
    done: Callable[[Sequence[str]], None] = lambda lines: None,
) -> TranslateLines:
    """Returns a function for other threads' event loops that translates lines in a given one, some at a time.

    Args:
        loop: the event loop.
        translate: translates lines there.
        parts: the maximum number of parts waiting for their translations.
        done: called with lines that have been translated.
    """

    async def translated(
        lines: Sequence[str], constraints: Sequence[Constraints] | None = None, *, alignment: bool = False
    ) -> list[TranslatedLine]:
        slots = asyncio.Semaphore(parts)

        async def part(places: slice) -> list[TranslatedLine]:
            its_constraints = None if constraints is None else constraints[places]
            async with slots:
                work = translate(lines[places], its_constraints, alignment=alignment)
                found = await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))
            done(lines[places])
            return found

        every = await gathered([part(places) for places in slices([len(line) for line in lines])])
        return [line for found in every for line in found]

    return translated


def slices(sizes: Sequence[int]) -> Iterator[slice]:
    """Divides lines or other texts into parts that are handed over together.

    Args:
        sizes: the characters of each text.
    """
    start = characters = 0
    for place, size in enumerate(sizes):
        if place > start and (characters + size > _MOST_CHARACTERS or place - start >= _MOST):
            yield slice(start, place)
            start, characters = place, 0
        characters += size
    if start < len(sizes):
        yield slice(start, len(sizes))


def _hand_over(task: asyncio.Task[T], outcome: Future[T]) -> None:
    if task.cancelled():
        outcome.cancel()
    elif (error := task.exception()) is not None:
        outcome.set_exception(error)
    else:
        outcome.set_result(task.result())


async def _cancel_others() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)

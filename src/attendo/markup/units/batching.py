"""Batches the lines of many callers for one function that translates many lines at a time."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from attendo.decoding.constraints.line_constraints import Constraints
from attendo.markup.text_types import TranslatedLine

TranslateBatch = Callable[[Sequence[str], Sequence[Constraints] | None, bool], Sequence[TranslatedLine]]
"""Translates lines with their constraints, and aligns them if requested; one result per line."""


@dataclass(frozen=True, slots=True)
class _Call:
    lines: Sequence[str]
    constraints: Sequence[Constraints] | None
    alignment: bool
    answer: "asyncio.Future[list[TranslatedLine]]"


class BatchedLines:
    """Gathers the calls of coroutines that run together, and translates their lines in one batch.

    A batch is translated as soon as no coroutine has anything more to add to it, in the thread of the event loop.

    Args:
        translate: translates lines; it may block.
    """

    def __init__(self, translate: TranslateBatch) -> None:
        self._translate = translate
        self._waiting: list[_Call] = []

    async def __call__(
        self, lines: Sequence[str], constraints: Sequence[Constraints] | None = None, *, alignment: bool = False
    ) -> list[TranslatedLine]:
        """Translates lines, together with those of other callers."""
        loop = asyncio.get_running_loop()
        call = _Call(lines, constraints, alignment, loop.create_future())
        self._waiting.append(call)
        if len(self._waiting) == 1:
            loop.call_soon(self._work_when_quiet, loop, 1, 0)
        return await call.answer

    def _work_when_quiet(self, loop: asyncio.AbstractEventLoop, seen: int, quiet: int) -> None:
        """Translates when two turns of the loop have brought no further call; a coroutine may sleep for one."""
        if len(self._waiting) > seen or quiet < 2:
            quiet = quiet + 1 if len(self._waiting) == seen else 0
            loop.call_soon(self._work_when_quiet, loop, len(self._waiting), quiet)
            return
        calls, self._waiting = self._waiting, []
        for alignment in (False, True):
            self._work([call for call in calls if call.alignment is alignment and not call.answer.done()])

    def _work(self, calls: Sequence[_Call]) -> None:
        """Translates the lines of calls with the same options."""
        if not calls:
            return
        lines = [line for call in calls for line in call.lines]
        constraints = None
        if any(call.constraints is not None for call in calls):
            constraints = [one for call in calls for one in call.constraints or [Constraints()] * len(call.lines)]
        try:
            translated = self._translate(lines, constraints, calls[0].alignment)
        except Exception as error:  # all waiting callers get it
            for call in calls:
                call.answer.set_exception(error)
            return
        start = 0
        for call in calls:
            call.answer.set_result(list(translated[start : start + len(call.lines)]))
            start += len(call.lines)

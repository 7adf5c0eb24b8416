"""Jobs: lines that arrive together and are answered together."""

import asyncio
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from attendo.serving.core.cost import estimated_tokens
from attendo.serving.core.waiting import Line

_SMALL_TOKENS = 256
"""Maximum estimated tokens of a job that does not wait for its caller's larger jobs."""


@dataclass(frozen=True, kw_only=True)
class WorkItem:
    """A single piece of work."""

    content: Any
    """The input of the work."""
    text: str
    """The text that determines its size."""


@dataclass(frozen=True, kw_only=True)
class JobSettings:
    """The kind of work on the items, and its caller."""

    kind: Hashable
    """The kind of work; items of equal kinds share a batch."""
    caller: str
    """The caller, whose fair share it counts towards."""
    deadline: float | None
    """Deadline by `time.monotonic()`; None for no deadline."""
    background: bool
    """Whether the work may wait for that of others."""


class Job:
    """Items that are worked on; created in the event loop.

    Args:
        settings: the kind of work, the caller and the deadline.
        items: the items.
        now: the time of arrival by `time.monotonic()`.
    """

    def __init__(self, settings: JobSettings, items: Sequence[WorkItem], now: float) -> None:
        self.results: list[Any] = [None] * len(items)
        self.missing = len(items)
        """The number of missing results."""
        self.done: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        """All results."""
        tokens = [estimated_tokens(item.text) for item in items]
        small = not settings.background and sum(tokens) <= _SMALL_TOKENS
        self.lines = [
            Line(
                caller=settings.caller,
                flow=settings.caller if small or settings.background else f"{settings.caller} (large)",
                kind=settings.kind,
                item=(self, place, item.content),
                characters=len(item.text),
                tokens=its_tokens,
                arrived=now,
                deadline=settings.deadline,
                small=small,
            )
            for place, (item, its_tokens) in enumerate(zip(items, tokens, strict=True))
        ]
        """A line for each item; its `item` is the job, the number of the item, and its content."""


def deliver(done: Sequence[tuple[Line, Any]]) -> None:
    """Delivers results to the jobs that wait for them; runs in the event loop."""
    for line, result in done:
        job, place, _ = line.item
        job.results[place] = result
        job.missing -= 1
        if not job.missing and not job.done.done():
            job.done.set_result(job.results)

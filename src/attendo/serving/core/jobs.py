"""Lines that come together and are answered together."""

import asyncio
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from attendo.serving.core.cost import estimated_tokens
from attendo.serving.core.waiting import Line

_SMALL_TOKENS = 256
"""Maximum estimated tokens of a job that does not wait for its caller's larger ones."""


@dataclass(frozen=True, kw_only=True)
class WorkItem:
    """A single piece of work."""

    content: Any
    """The input of the work."""
    text: str
    """The text that determines its size."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """What is done with items, and for whom."""

    kind: Hashable
    """The kind of work; items of equal kinds share a batch."""
    caller: str
    """Whose turn is taken."""
    deadline: float | None
    """Deadline by `time.monotonic()`; None waits for ever."""
    background: bool
    """Whether nobody minds that it takes long."""


class Job:
    """Items on their way; made in the event loop.

    Args:
        order: what is done with them.
        items: the items.
        now: when they come, of `time.monotonic()`.
    """

    def __init__(self, order: Order, items: Sequence[WorkItem], now: float) -> None:
        self.results: list[Any] = [None] * len(items)
        self.missing = len(items)
        """Results that are not there yet."""
        self.done: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        """All results."""
        tokens = [estimated_tokens(item.text) for item in items]
        small = not order.background and sum(tokens) <= _SMALL_TOKENS
        self.lines = [
            Line(
                caller=order.caller,
                flow=order.caller if small or order.background else f"{order.caller} (large)",
                kind=order.kind,
                item=(self, place, item.content),
                characters=len(item.text),
                tokens=its_tokens,
                arrived=now,
                deadline=order.deadline,
                small=small,
            )
            for place, (item, its_tokens) in enumerate(zip(items, tokens, strict=True))
        ]
        """A line an item; its item is the job, the place among the items, and the content."""


def deliver(done: Sequence[tuple[Line, Any]]) -> None:
    """Puts results where they are waited for; in the event loop."""
    for line, result in done:
        job, place, _ = line.item
        job.results[place] = result
        job.missing -= 1
        if not job.missing and not job.done.done():
            job.done.set_result(job.results)

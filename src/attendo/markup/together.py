"""Coroutines that run at the same time."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

ResultT = TypeVar("ResultT")


async def gathered(work: Sequence[Coroutine[Any, Any, ResultT]]) -> list[ResultT]:
    """Runs coroutines and returns their results in order; if one fails, the others are cancelled and awaited."""
    if len(work) <= 1:
        return [await each for each in work]
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise

"""Server-sent events (WHATWG HTML, section 9.2): something to read before all is done."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, cast

from attendo.serving.errors import ServingError, native_body

PAUSE_S = 15.0
"""Seconds without an event, after which a comment is sent: proxies cut idle connections."""


async def event_stream(
    events: AsyncIterator[tuple[str, dict[str, Any]]], *, pause_s: float = PAUSE_S
) -> AsyncIterator[bytes]:
    """Encodes events as bytes; an error ends them as an event of its own.

    Args:
        events: names and contents.
        pause_s: seconds without an event before a comment is sent.
    """
    async with aclosing(cast(AsyncGenerator[tuple[str, dict[str, Any]]], events)) as remaining:
        waited = asyncio.ensure_future(anext(remaining))
        try:
            while True:
                done, _ = await asyncio.wait({waited}, timeout=pause_s)
                if not done:
                    yield b": still at work\n\n"
                    continue
                try:
                    name, content = waited.result()
                except StopAsyncIteration:
                    return
                except ServingError as error:
                    yield _event("error", native_body(error))
                    return
                yield _event(name, content)
                waited = asyncio.ensure_future(anext(remaining))
        finally:
            waited.cancel()
            await asyncio.gather(waited, return_exceptions=True)


def _event(name: str, content: dict[str, Any]) -> bytes:
    # Escaped to ASCII, without a line end: one line of data is one event's.
    return f"event: {name}\ndata: {json.dumps(content)}\n\n".encode()

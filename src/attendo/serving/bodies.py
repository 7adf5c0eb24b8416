"""Requests' bodies, read whole within bounds before anybody works on them; and clients who leave meanwhile.

Three bounds hold: bytes of a body, seconds until it is there, and bytes of all bodies at a time. When a body is there,
the connection is watched: a client who closes it takes his work with him.
"""

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attendo.serving.config import LimitsConfig
from attendo.serving.errors import ServingError, busy, too_large

_DRAINED_BYTES = 4 << 20
"""Of a body that is too large, read and forgotten so that a client gets to reading the answer."""
_DRAIN_S = 2.0


class Bodies:
    """An ASGI application around another.

    Args:
        app: what answers.
        limits: the bounds.
        seconds: until a body has to be there.
        max_bytes: of the body of a request to a path.
    """

    def __init__(self, app: ASGIApp, limits: LimitsConfig, *, seconds: float, max_bytes: Callable[[str], int]) -> None:
        self._app, self._limits, self._seconds, self._max_bytes = app, limits, seconds, max_bytes
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, or passes on what is none."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        reading = _Reading(self)
        try:
            body = await self._read(scope, receive, reading)
            if body is not None:
                await self._answered(scope, receive, send, body)
        finally:
            self._held -= reading.held

    def hold(self, size: int) -> None:
        """Counts bytes in.

        Raises:
            ServingError: there are too many already.
        """
        if self._held + size > self._limits.max_bodies_bytes:
            raise busy("too much is being sent to this server at the same time", 1.0)
        self._held += size

    async def _read(self, scope: Scope, receive: Receive, reading: "_Reading") -> bytes | None:
        """The body, or None where the client left."""
        most = self._max_bytes(scope["path"])
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        try:
            async with asyncio.timeout(self._seconds):
                if declared.isdigit() and int(declared[:20]) > most:
                    raise _body_too_large(most)
                return await reading.all(receive, most)
        except TimeoutError:
            message = f"the request's body was not there after {self._seconds:g} s"
            raise ServingError(408, "too-slow", message) from None
        except ServingError as error:
            # A client that waits for leave to send (Expect: 100-continue) is not given it.
            if error.status == 413 and not any(name == b"expect" for name, _ in scope["headers"]):
                await _drain(receive)
            raise

    async def _answered(self, scope: Scope, receive: Receive, send: Send, body: bytes) -> None:
        """Answers with the connection watched."""
        me = asyncio.current_task()
        assert me is not None
        over, gone = False, False
        asked, left = asyncio.Event(), asyncio.Event()

        async def replayed() -> Message:
            if not asked.is_set():
                asked.set()
                return {"type": "http.request", "body": body, "more_body": False}
            await left.wait()
            return {"type": "http.disconnect"}

        async def watched_send(message: Message) -> None:
            nonlocal over
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                over = True
            await send(message)

        async def watch() -> None:
            nonlocal gone
            while (await receive())["type"] != "http.disconnect":
                pass
            left.set()
            if not over:
                gone = True
                me.cancel()

        watching = asyncio.create_task(watch())
        try:
            await self._app(scope, replayed, watched_send)
        except asyncio.CancelledError:
            if not gone or me.uncancel():
                raise
        finally:
            watching.cancel()


class _Reading:
    """A body that is being read."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self.held = 0
        """Bytes of it."""

    async def all(self, receive: Receive, most: int) -> bytes | None:
        """Reads it whole; None where the client left before.

        Raises:
            ServingError: it is too large, or all bodies are together.
        """
        parts = []
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            part = message.get("body", b"")
            if self.held + len(part) > most:
                raise _body_too_large(most)
            self._bodies.hold(len(part))
            self.held += len(part)
            parts.append(part)
            if not message.get("more_body", False):
                return b"".join(parts)


def _body_too_large(most: int) -> ServingError:
    return too_large(f"the request's body is larger than {most:,} bytes; send less at a time")


async def _drain(receive: Receive) -> None:
    """Reads on for a moment: a client that is still sending would not see the answer."""
    drained = 0
    try:
        async with asyncio.timeout(_DRAIN_S):
            while drained < _DRAINED_BYTES:
                message = await receive()
                drained += len(message.get("body", b""))
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return
    except TimeoutError:
        pass

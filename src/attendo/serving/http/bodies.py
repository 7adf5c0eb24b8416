"""Receives requests' bodies whole, within bounds, before any work on them, and handles clients who leave meanwhile.

Four bounds hold while a body arrives: its bytes, first as they are declared; the seconds it takes; its rate; and the
bytes of all bodies at a time. A body is in memory while it is small, and in a temporary file of the system otherwise.
Once it has arrived, the connection is watched: if the client closes it, the work is cancelled.
"""

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from tempfile import SpooledTemporaryFile

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attendo.serving.config import ServingConfig
from attendo.serving.errors import ServingError, busy, too_large

_IN_MEMORY_BYTES = 128 << 10
"""Size of a body above which it is kept in a file."""
_PART_BYTES = 64 << 10
"""Number of bytes of a body that are passed on at a time."""
_DRAINED_BYTES = 4 << 20
"""Number of bytes of an oversized body that are read and discarded so that the client can read the answer."""
_DRAIN_S = 2.0


def has_body(headers: Headers) -> bool:
    """Whether a request with these headers has a body."""
    return headers.get("content-length", "0").strip() != "0" or "transfer-encoding" in headers


def body_too_slow(seconds: float) -> ServingError:
    """The error of a body that was not there in time."""
    return ServingError(408, "too-slow", f"the request's body was not there after {seconds:g} s")


class Bodies:
    """An ASGI application around another.

    Everything in the `ExitStack` of a request's `state.files` is closed when the request has been answered.

    Args:
        app: the application that answers.
        config: the bounds.
        max_bytes: returns the maximum body size of a request to a path.
    """

    def __init__(self, app: ASGIApp, config: ServingConfig, *, max_bytes: Callable[[str], int]) -> None:
        self._app, self._max_bytes = app, max_bytes
        self._all_bytes = config.limits.max_bodies_bytes
        self._seconds, self._rate = config.server.body_seconds, config.server.min_body_rate
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers an HTTP request, or passes on any other event."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with ExitStack() as files:
            scope.setdefault("state", {})["files"] = files
            body = files.enter_context(_Body())
            try:
                if await self._receive(scope, receive, body):
                    await self._answered(scope, receive, send, body)
            finally:
                self._held -= body.size

    async def _receive(self, scope: Scope, receive: Receive, body: "_Body") -> bool:
        """Receives the body; returns whether it is there, which it is not where the client left."""
        most, headers = self._max_bytes(scope["path"]), Headers(scope=scope)
        declared = headers.get("content-length", "0")
        try:
            async with asyncio.timeout(self._seconds) as limit:
                loop = asyncio.get_running_loop()
                started = loop.time()
                if declared.isdecimal() and int(declared[:20]) > most:
                    raise _body_too_large(most)
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return False
                    self._keep(body, message.get("body", b""), most)
                    if not message.get("more_body", False):
                        body.rewind()
                        return True
                    # Arriving bytes extend the time, but not for a pause: neither a drip nor a standstill is waited
                    # for.
                    limit.reschedule(min(started + body.size / self._rate, loop.time()) + self._seconds)
        except TimeoutError:
            raise body_too_slow(self._seconds) from None
        except ServingError as error:
            # A client that waits for permission to send (Expect: 100-continue) does not get it.
            if error.status == 413 and "expect" not in headers:
                await _drain(receive)
            raise

    def _keep(self, body: "_Body", part: bytes, most: int) -> None:
        """Adds a part to a body.

        Raises:
            ServingError: it is too large, or all bodies are together; there is no room on disk.
        """
        if body.size + len(part) > most:
            raise _body_too_large(most)
        if self._held + len(part) > self._all_bytes:
            raise busy("this server is receiving too much at the same time; try again later", 1.0)
        try:
            body.append(part)
        except OSError as error:
            raise busy("the server has no room for this request; try again later", 10.0) from error
        self._held += len(part)

    async def _answered(self, scope: Scope, receive: Receive, send: Send, body: "_Body") -> None:
        """Answers with the connection watched."""
        me = asyncio.current_task()
        assert me is not None
        over, gone = False, False
        left = asyncio.Event()

        async def replayed() -> Message:
            if not body.is_read:
                part = body.next_part()
                return {"type": "http.request", "body": part, "more_body": not body.is_read}
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


class _Body:
    """A body, in memory or in a temporary file; a context manager that closes it."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES)  # noqa: SIM115
        self.size = 0
        """Bytes that were received."""
        self.is_read = False
        """Whether all of it was passed on."""

    def append(self, part: bytes) -> None:
        """Adds bytes.

        Raises:
            OSError: there is no room for them.
        """
        self._file.write(part)
        self.size += len(part)

    def rewind(self) -> None:
        """Goes to the beginning, once all is there."""
        self._file.seek(0)

    def next_part(self) -> bytes:
        """The next bytes; at the end, none."""
        part = self._file.read(_PART_BYTES)
        self.is_read = self._file.tell() >= self.size
        return part

    def __enter__(self) -> "_Body":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


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

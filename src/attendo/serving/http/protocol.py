"""HTTP on a connection: uvicorn's protocol with bounds on the resources of a client, and closing without resets."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from attendo.serving.config import ServerConfig
from attendo.serving.http.connections import IDLE_S, Connection, Connections

LINGER_S = 1.0
"""Seconds for which a closed connection is still read, until the client closes it too."""
_LINGER_BYTES = 256 << 10
"""Number of bytes that are read and discarded meanwhile."""
_STALL_S = 60.0
"""Seconds for which a client may leave its answer unread."""


class LingeringTransport:
    """A transport whose `close` ends the sending side, and the connection only when the client has closed it too.

    A socket that is closed while bytes of the client are unread, or arrive later, resets the connection; the reset can
    overtake the answer. So the client first reads the rest of the answer; bytes that it still sends are read and
    discarded, for at most `LINGER_S` seconds and `_LINGER_BYTES`. Everything else is the transport's own.

    Args:
        transport: the transport of the connection.
        loop: the event loop that it runs in.
        ending: called once, when the sending side ends.
    """

    def __init__(
        self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop, ending: Callable[[], None]
    ) -> None:
        self._transport, self._loop, self._ending = transport, loop, ending
        self._closing, self._discarded = False, 0
        self._timer: asyncio.TimerHandle | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Sends, unless the sending side has ended."""
        if not self._closing:
            self._transport.write(data)

    def is_closing(self) -> bool:
        """Whether the transport no longer sends."""
        return self._closing or self._transport.is_closing()

    def close(self) -> None:
        """Ends the sending side once all is sent, and the connection soon after."""
        if self.is_closing():
            return
        self._closing = True
        self._ending()
        try:
            self._transport.write_eof()
            self._transport.resume_reading()
        except (OSError, RuntimeError):  # the other end has closed
            self._transport.close()
        else:
            self._timer = self._loop.call_later(LINGER_S, self._end)

    def discard(self, size: int) -> None:
        """Forgets bytes that arrived after `close`.

        Args:
            size: number of bytes.
        """
        self._discarded += size
        if self._discarded > _LINGER_BYTES:
            self._transport.close()

    def stop(self) -> None:
        """Cancels the timer; the connection is lost."""
        if self._timer is not None:
            self._timer.cancel()

    def _end(self) -> None:
        if self._transport.get_write_buffer_size():  # the client still reads; otherwise `_STALL_S` ends it
            self._timer = self._loop.call_later(LINGER_S, self._end)
        else:
            self._transport.close()


class _BoundedProtocol(H11Protocol):
    """Uvicorn's protocol, with bounds on how long a client can keep it waiting.

    It closes connections on which no head arrives, or an answer is not read, and counts each.
    """

    bounds: ServerConfig
    counted: Connections
    """The open connections, among which each one is counted."""

    _connection: Connection | None = None
    _lingering: LingeringTransport | None = None
    _head_timer: asyncio.TimerHandle | None = None
    _stall_timer: asyncio.TimerHandle | None = None
    _trim_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._lingering = LingeringTransport(transport, self.loop, self._ends)
        super().connection_made(cast(asyncio.Transport, self._lingering))
        self._connection = self.counted.opened(self.client[0] if self.client else "", self.shutdown)
        if self._connection is None:
            transport.abort()
            return
        self.app_state = {**self.app_state, "connection": self._connection}  # shared by the state of each request
        self._head_timer = self.loop.call_later(self.bounds.header_seconds, self._head_is_late)
        if self._connection.is_surplus:
            self._trim_timer = self.loop.call_later(IDLE_S, self._trim)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timers()
        if self._connection is not None:
            self.counted.closed(self._connection)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._lingering is not None and self._lingering.is_closing():
            self._lingering.discard(len(data))
            return
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_head_timer()
        elif self._head_timer is None and not self.transport.is_closing():
            self._head_timer = self.loop.call_later(self.bounds.header_seconds, self._head_is_late)
        self._note_waiting()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._note_waiting()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stall_timer = self.loop.call_later(_STALL_S, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def _note_waiting(self) -> None:
        """Notes since when the connection has waited for a request."""
        if self._connection is None or self.transport.is_closing():
            return
        if self.cycle is not None and not self.cycle.response_complete:
            self._connection.waiting_since = None
        elif self._connection.waiting_since is None:
            self._connection.waiting_since = self.loop.time()

    def _ends(self) -> None:
        if self._connection is not None:
            self.counted.ending(self._connection)

    def _trim(self) -> None:
        """Closes idle connections of this connection's caller until there are no longer too many."""
        if self._connection is not None and self.counted.trim(self._connection.holder):
            self._trim_timer = self.loop.call_later(IDLE_S, self._trim)

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self.conn.their_state is h11.IDLE and (self.cycle is None or self.cycle.response_complete):
            self.transport.close()

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_timers(self) -> None:
        self._stop_head_timer()
        for timer in (self._stall_timer, self._trim_timer):
            if timer is not None:
                timer.cancel()
        if self._lingering is not None:
            self._lingering.stop()


def protocol_of(config: ServerConfig, connections: Connections) -> type[H11Protocol]:
    """Makes the protocol of a server: uvicorn takes a class, so that its settings are attributes of the class.

    Args:
        config: the bounds.
        connections: the open connections, among which each one is counted.
    """

    class ServerProtocol(_BoundedProtocol):
        bounds = config
        counted = connections

    return ServerProtocol

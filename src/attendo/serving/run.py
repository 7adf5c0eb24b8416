"""A server that runs: uvicorn with bounds on connections, and an end that finishes what was accepted."""

import asyncio
import contextlib
import logging
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from attendo.errors import AttendoError, ModelError
from attendo.serving.app import Server, build
from attendo.serving.config import ServerConfig, ServingConfig
from attendo.serving.logs import LibraryLogs, Log
from attendo.serving.model_names import ModelSource

_MAX_HEAD_BYTES = 128 << 10
"""Of a request's head: some clients put 5,000 characters of text into the path, nine bytes each."""
_STALL_S = 60.0
"""That a client may leave its answer unread."""
_FETCH_S = 10.0
"""That a document which was done after SIGTERM can be fetched."""
_TICK_S = 0.05
_CONNECTIONS_BEYOND = 2
"""Times the connections that are answered, beyond which new ones are closed unheard."""


def protocol_of(config: ServerConfig) -> type[H11Protocol]:
    """Uvicorn's protocol, with bounds on what a client can make it wait for.

    Args:
        config: the bounds.
    """

    class BoundedProtocol(H11Protocol):
        """Closes connections on which a head does not come, or an answer is not read."""

        _head_timer: asyncio.TimerHandle | None = None
        _stall_timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > config.max_connections * _CONNECTIONS_BEYOND:
                transport.abort()
                return
            self._head_timer = self.loop.call_later(config.header_seconds, self._head_is_late)

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timers()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                self._stop_head_timer()
            elif self._head_timer is None and not self.transport.is_closing():
                self._head_timer = self.loop.call_later(config.header_seconds, self._head_is_late)

        def pause_writing(self) -> None:
            super().pause_writing()
            self._stall_timer = self.loop.call_later(_STALL_S, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._stall_timer is not None:
                self._stall_timer.cancel()
                self._stall_timer = None

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
            if self._stall_timer is not None:
                self._stall_timer.cancel()
                self._stall_timer = None

    return BoundedProtocol


class GracefulServer(uvicorn.Server):
    """uvicorn's server, which says `/ready` no longer before it stops to listen, and ends with status 0.

    Args:
        config: uvicorn's.
        server: what runs in it.
        listening: called with the address once it listens.
    """

    def __init__(
        self, config: uvicorn.Config, server: Server, listening: Callable[[str], None] = lambda address: None
    ) -> None:
        super().__init__(config)
        self._server, self._listening = server, listening

    async def startup(self, sockets: Any = None) -> None:
        """Listens."""
        await super().startup(sockets)
        if self.started and self.servers:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            self._listening(f"http://{shown}:{port}{self._server.service.config.server.url_prefix}/")

    async def on_tick(self, counter: int) -> bool:
        """Ends also where the models at the start cannot be loaded."""
        return await super().on_tick(counter) or self._server.status.state == "failed"

    async def shutdown(self, sockets: Any = None) -> None:
        """Finishes what was accepted; for a while new requests are answered too, and told not to come."""
        status, config = self._server.status, self._server.service.config.server
        if status.state != "failed":
            status.state = "draining"
            self._server.log.info("draining", requests=len(status.in_flight), waiting=self._server.core.waiting)
            await self._drained(config)
        await super().shutdown(sockets)
        if self.force_exit:  # uvicorn leaves this out; threads are to end, and files to be written, all the same
            await self.lifespan.shutdown()
        self._server.log.info("stopped")

    async def _drained(self, config: ServerConfig) -> None:
        """Goes on answering for a while: until load balancers have noticed, and documents are done and fetched."""
        loop = asyncio.get_running_loop()
        started, documents = loop.time(), self._server.service.documents
        until = started + config.drain_seconds
        while not self.force_exit:
            if documents is not None and documents.waiting and loop.time() < started + config.shutdown_seconds:
                until = max(until, loop.time() + _FETCH_S)  # clients ask every few seconds whether one is done
            if loop.time() >= until:
                return
            await asyncio.sleep(_TICK_S)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ends with SIGTERM and SIGINT, at once with a second one; SIGHUP looks at models and keys."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        handlers = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        loop = asyncio.get_running_loop()
        if hasattr(signal, "SIGHUP"):
            loop.add_signal_handler(signal.SIGHUP, self._server.keeping.look_now)
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """A signal has come."""
        if self.should_exit:
            self.force_exit = True
        self.should_exit = True


def uvicorn_config(server: Server, config: ServingConfig) -> uvicorn.Config:
    """Uvicorn's settings for a server."""
    proxies = list(config.server.trusted_proxies)
    return uvicorn.Config(
        server.app,
        host=config.server.host,
        port=config.server.port,
        http=protocol_of(config.server),
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(proxies),
        forwarded_allow_ips=proxies or None,
        timeout_keep_alive=round(config.server.keep_alive_seconds),
        timeout_graceful_shutdown=round(config.server.shutdown_seconds),
        h11_max_incomplete_event_size=_MAX_HEAD_BYTES,
    )


def serve(
    config: ServingConfig,
    sources: Sequence[ModelSource],
    *,
    log: Log | None = None,
    listening: Callable[[str], None] = lambda address: None,
) -> None:
    """Serves until a signal comes, in the main thread.

    Args:
        config: how.
        sources: the models.
        log: where it writes; standard error where left out.
        listening: called with the address once it listens.

    Raises:
        AttendoError: a model or the keys cannot be read, or the address cannot be listened on.
    """
    log = log or Log()
    _quiet_libraries(log)
    held: list[GracefulServer] = []
    server = build(config, sources, log=log, connections=lambda: len(held[0].server_state.connections) if held else 0)
    running = GracefulServer(uvicorn_config(server, config), server, listening)
    held.append(running)
    with contextlib.suppress(SystemExit):  # uvicorn's, where it cannot listen
        running.run()
    if server.status.state == "failed":
        raise ModelError(server.status.reason)
    if not running.started:
        raise AttendoError(
            f"{config.server.host}:{config.server.port} cannot be listened on; is it in use? Take another --port"
        )


def _quiet_libraries(log: Log) -> None:
    """Has what libraries log written as ours is."""
    for name in ("uvicorn", "uvicorn.error", "asyncio", "fastapi"):
        logger = logging.getLogger(name)
        logger.handlers = [LibraryLogs(log)]
        logger.propagate = False
        logger.setLevel(logging.WARNING)

"""A server that runs: uvicorn with bounds on connections, and a shutdown that finishes accepted work."""

import asyncio
import contextlib
import gc
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import uvicorn
from threadpoolctl import threadpool_limits

from attendo.errors import AttendoError, ModelError
from attendo.serving.app import Server, build
from attendo.serving.config import ServerConfig, ServingConfig
from attendo.serving.core.model_names import ModelSource
from attendo.serving.core.text_loop import SWITCH_INTERVAL_S
from attendo.serving.http.connections import MOST_TIMES
from attendo.serving.http.protocol import protocol_of
from attendo.serving.logs import LibraryLogs, Log

if sys.platform != "win32":
    import resource

_MAX_HEAD_BYTES = 128 << 10
"""Maximum size of a request's head: some clients put 5,000 characters of text into the path, nine bytes each."""
_FETCH_S = 10.0
"""Seconds during which a document that is finished after SIGTERM can be fetched."""
_LAST_REQUEST_S = 2.0
"""Seconds for which a connection stays open after SIGTERM for its next request, whose answer announces the end."""
_TICK_S = 0.05
_OTHER_FILES = 200
"""Number of file descriptors needed besides those of connections."""


class GracefulServer(uvicorn.Server):
    """uvicorn's server, which fails `/ready` before it stops listening, and ends with status 0.

    Args:
        config: uvicorn's settings.
        server: the server to run.
        listening: called with the address once it listens.
    """

    def __init__(
        self, config: uvicorn.Config, server: Server, listening: Callable[[str], None] = lambda address: None
    ) -> None:
        super().__init__(config)
        self._server, self._listening = server, listening

    async def startup(self, sockets: Any = None) -> None:
        """Starts listening."""
        await super().startup(sockets)
        if self.started and self.servers:
            host, port = self.servers[0].sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            self._listening(f"http://{shown}:{port}{self._server.service.config.server.url_prefix}/")

    async def on_tick(self, counter: int) -> bool:
        """Ends also where the models at the start cannot be loaded."""
        return await super().on_tick(counter) or self._server.status.state == "failed"

    async def shutdown(self, sockets: Any = None) -> None:
        """Finishes accepted requests.

        While it drains, each connection's next answer announces that it is the last. New connections are accepted for
        `drain_seconds`; open ones may each send another request. Then uvicorn closes all remaining ones.
        """
        status, config = self._server.status, self._server.service.config.server
        if status.state != "failed":
            status.state = "draining"
            self._server.log.info("draining", requests=len(status.in_flight), waiting=self._server.core.waiting)
            await self._drained(config)
            await self._stop_listening()
            await self._answered_last(config)
        await super().shutdown(sockets)
        if self.force_exit:  # uvicorn leaves this out; threads are to end, and files to be written, all the same
            await self.lifespan.shutdown()
        self._server.log.info("stopped")

    async def _stop_listening(self) -> None:
        """Stops to listen; connections that the system has taken in the meantime are served, not reset."""
        loop, factory = asyncio.get_running_loop(), cast(Any, self.config.http_protocol_class)
        waiting: list[socket.socket] = []
        for server in self.servers:
            listeners = [socket.fromfd(each.fileno(), each.family, each.type) for each in server.sockets]
            server.close()
            for listener in listeners:
                with listener, contextlib.suppress(BlockingIOError, OSError):
                    listener.setblocking(False)
                    while True:
                        waiting.append(listener.accept()[0])
        for connection in waiting:
            await loop.connect_accepted_socket(
                lambda: factory(
                    config=self.config, server_state=self.server_state, app_state=self.lifespan.state, _loop=loop
                ),
                connection,
            )

    async def _answered_last(self, config: ServerConfig) -> None:
        """Waits until every connection has had its last answer, or has sent nothing for a while."""
        loop = asyncio.get_running_loop()
        until = loop.time() + config.shutdown_seconds
        while self.server_state.connections and loop.time() < until and not self.force_exit:
            self._server.connections.end_idle(_LAST_REQUEST_S)
            await asyncio.sleep(_TICK_S)
        self.config.timeout_graceful_shutdown = max(1, round(until - loop.time()))  # uvicorn waits for these

    async def _drained(self, config: ServerConfig) -> None:
        """Continues to answer for a while: until load balancers have noticed, and documents are done and fetched."""
        loop = asyncio.get_running_loop()
        started, documents = loop.time(), self._server.service.documents
        until = started + config.drain_seconds
        while not self.force_exit:
            if documents is not None and documents.waiting and loop.time() < started + config.shutdown_seconds:
                until = max(until, loop.time() + _FETCH_S)  # clients poll every few seconds whether one is done
            if loop.time() >= until:
                return
            await asyncio.sleep(_TICK_S)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Ends on SIGTERM and SIGINT, at once on the second; SIGHUP checks models and keys for changes."""
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
        """Handles a signal."""
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
        http=protocol_of(config.server, server.connections),
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
    """Serves in the main thread until a signal arrives.

    Args:
        config: the settings of the server.
        sources: the models.
        log: the log; by default on standard error.
        listening: called with the address once it listens.

    Raises:
        AttendoError: a model or the keys cannot be read, or the address cannot be listened on.
    """
    log = log or Log()
    _quiet_libraries(log)
    server = build(config, sources, log=log)
    running = GracefulServer(uvicorn_config(server, config), server, listening)
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    _collect_rarely()
    _raise_file_limit(MOST_TIMES * config.server.max_connections + _OTHER_FILES)
    # NumPy's threads wait for each other, which is slow when all cores are busy: a product of 2 ms took 190.
    with threadpool_limits(limits=1, user_api="blas"), contextlib.suppress(SystemExit):  # uvicorn's: cannot listen
        running.run()
    if server.status.state == "failed":
        raise ModelError(server.status.reason)
    if not running.started:
        raise AttendoError(
            f"{config.server.host}:{config.server.port}: cannot listen on this address; is the port in use? "
            "Choose another --port"
        )


def _collect_rarely() -> None:
    """Keeps Python's garbage collector from delaying requests while it scans long-lived objects.

    Present objects stay and are exempted; full collections of the others run when the server is idle (`keeping`), and
    otherwise ten times as rarely as usual.
    """
    gc.freeze()
    often, less, rarely = gc.get_threshold()
    gc.set_threshold(often, less, 10 * rarely)


def _quiet_libraries(log: Log) -> None:
    """Redirects the logs of libraries to our own log."""
    for name in ("uvicorn", "uvicorn.error", "asyncio", "fastapi"):
        logger = logging.getLogger(name)
        logger.handlers = [LibraryLogs(log)]
        logger.propagate = False
        logger.setLevel(logging.WARNING)


def _raise_file_limit(needed: int) -> None:
    """Raises the limit of open files and connections of this process as far as needed and allowed by the system."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))

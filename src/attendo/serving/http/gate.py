"""The outermost layer of the server: every request and every answer passes through it, even after errors.

It counts and logs requests, gives each an id, puts the security headers on each answer, and turns every exception into
an answer in the format of the called API. Nothing inside it writes to the log, and clients never see a traceback.
"""

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attendo.serving.config import ServingConfig
from attendo.serving.errors import ErrorShape, ServingError, busy, native_body
from attendo.serving.http.bodies import has_body
from attendo.serving.logs import Log, error_place
from attendo.serving.metrics import Metrics
from attendo.serving.status import ALWAYS_ANSWERED, Status

API_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
"""The content security policy of all that is no page."""
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "content-security-policy": API_POLICY,
    "cache-control": "no-store",
}
"""Headers added to every answer that does not set them itself."""


class Gate:
    """An ASGI application around another.

    Args:
        app: the application that answers.
        config: the server's settings.
        shapes: the error formats of the APIs.
        metrics: the counters of requests.
        log: the log of requests.
        status: has a mark for each request being answered.
        is_lasting: whether work started by a request to a path continues after the answer, so that it must not start
            during shutdown.
    """

    def __init__(
        self,
        app: ASGIApp,
        config: ServingConfig,
        shapes: Sequence[ErrorShape],
        *,
        metrics: Metrics,
        log: Log,
        status: Status,
        is_lasting: Callable[[str], bool] = lambda path: False,
    ) -> None:
        self._is_lasting = is_lasting
        self._app, self._config, self._shapes = app, config, tuple(shapes)
        self._metrics, self._log, self._status = metrics, log, status

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers an HTTP request, or passes on any other event."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        passage = _Passage(scope, receive, send, closes=lambda: self._status.state == "draining")
        inner = {**scope, "method": "GET"} if passage.is_head else scope
        self._status.in_flight.add(passage)
        self._metrics.in_flight.inc()
        self._note_time(scope)
        try:
            self._check_welcome(scope)
            await self._app(inner, passage.receive, passage.send)
            if not passage.began:  # the client is gone
                passage.status = 499
        except asyncio.CancelledError:
            passage.status = passage.status or 499
            raise
        except Exception as error:
            await self._answer_error(error, scope, passage)
        finally:
            self._metrics.in_flight.dec()
            self._status.in_flight.discard(passage)
            self._note_time(scope)
            self._write_down(scope, inner.get("route"), passage)

    def _note_time(self, scope: Scope) -> None:
        if scope["path"].removeprefix(self._config.server.url_prefix) not in ALWAYS_ANSWERED:
            self._status.asked_at = time.monotonic()

    def _check_welcome(self, scope: Scope) -> None:
        path = scope["path"].removeprefix(self._config.server.url_prefix)
        if self._status.state == "draining" and scope["method"] == "POST" and self._is_lasting(path):
            raise busy("the server is shutting down", 5.0)

    async def _answer_error(self, error: Exception, scope: Scope, passage: "_Passage") -> None:
        """Answers with an error, if nothing has been answered yet."""
        if not isinstance(error, ServingError):
            self._log.error("internal", request=passage.id, error=error_place(error))
            error = ServingError(500, "internal", f"internal error in the server; request {passage.id}")
        if passage.began:
            passage.error = error.code
            raise _CutOff from None  # uvicorn closes the connection, which tells the client
        await self.answer(error, scope, passage)

    async def answer(self, error: ServingError, scope: Scope, passage: "_Passage") -> None:
        """Sends an error in the format of the called API."""
        passage.error = error.code
        status, body = shaped(error, scope["path"].removeprefix(self._config.server.url_prefix), self._shapes)
        content = json.dumps(body).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        headers += [(name.encode(), value.encode()) for name, value in error_headers(error).items()]
        await passage.send({"type": "http.response.start", "status": status, "headers": headers})
        await passage.send({"type": "http.response.body", "body": content})

    def _write_down(self, scope: Scope, matched: Any, passage: "_Passage") -> None:
        seconds = time.monotonic() - passage.started
        state = scope.get("state", {})
        route = getattr(matched, "path", "none")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.requests.labels(method, route, str(passage.status)).inc()
        self._metrics.request_seconds.labels(route).observe(seconds)
        error = passage.error or state.get("error")
        if error:
            self._metrics.errors.labels(error).inc()
        if passage.status == 499:
            self._metrics.gone.inc()
        if self._config.log.requests and route not in self._quiet:
            caller = state.get("caller")
            self._log.info(
                "request",
                request=passage.id,
                method=method,
                path=route,
                status=passage.status,
                seconds=round(seconds, 4),
                characters=state.get("characters"),
                model=state.get("model"),
                key=caller.key.id if caller is not None and caller.key is not None else None,
                error=error,
                address=scope["client"][0] if self._config.log.addresses and scope.get("client") else None,
                texts=state.get("texts") if self._config.log.text else None,
            )

    @property
    def _quiet(self) -> Sequence[str]:
        prefix = self._config.server.url_prefix
        return [prefix + path for path in ALWAYS_ANSWERED]


_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class _CutOff(Exception):  # no error of anybody's code
    """An answer that broke off."""


class _Passage:
    """A request in progress: sends its answer, with the headers that every answer has.

    A HEAD is answered as a GET would be, without the body. An answer closes the connection if the request's body was
    not read to its end, so that the client stops sending it, and while the server shuts down.

    Args:
        scope: the scope of the request.
        receive: receives its body.
        send: sends the answer.
        closes: whether the connection closes after the next answer.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, *, closes: Callable[[], bool]) -> None:
        self._receive, self._send, self._closes = receive, send, closes
        self.started = time.monotonic()
        self.id = secrets.token_hex(8)
        self.began, self.status, self.error = False, 0, ""
        self.is_head = scope["method"] == "HEAD"
        self._is_unread = has_body(Headers(scope=scope))
        scope.setdefault("state", {})["request_id"] = self.id

    async def receive(self) -> Message:
        """Receives a message of the request's body."""
        message = await self._receive()
        if not message.get("more_body", False):
            self._is_unread = False
        return message

    async def send(self, message: Message) -> None:
        """Sends a message of an answer."""
        if message["type"] == "http.response.start":
            self.began, self.status = True, message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("x-request-id", self.id)
            if self._is_unread or self._closes():
                headers["connection"] = "close"
        elif self.is_head:
            message = {**message, "body": b""}
        await self._send(message)


def shaped(error: ServingError, path: str, shapes: Sequence[ErrorShape]) -> tuple[int, dict[str, Any]]:
    """An error in the format of a path's API: the status and the JSON.

    Args:
        error: the error.
        path: without the server's prefix.
        shapes: the error formats of the APIs.
    """
    for shape in shapes:
        if any(path.startswith(beginning) for beginning in shape.paths):
            return dict(shape.statuses).get(error.status, error.status), shape.body(error)
    return error.status, native_body(error)


def error_headers(error: ServingError) -> dict[str, str]:
    """The headers that go with an error."""
    headers = {} if error.retry_after_s is None else {"retry-after": str(max(1, -int(-error.retry_after_s // 1)))}
    if error.status == 401:
        headers["www-authenticate"] = "Bearer"
    if error.status in (408, 413):
        headers["connection"] = "close"  # the remaining bytes of the body are not read
    return headers

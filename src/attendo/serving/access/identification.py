"""Identifies the caller before the body is read: by a key in the head, or in the first part of the body.

A request without a valid key, where one is required, is refused before its body is read; for APIs that may have the key
in the body, at most `keys.search_bytes` are read to find it. A key in the head is found at once, and only such a key
gives access to the connections reserved for callers with a key. The routes check the key again, wherever their API has
it.
"""

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote_plus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from attendo.serving.access.callers import Callers
from attendo.serving.access.limits import InWork
from attendo.serving.config import ServingConfig
from attendo.serving.http.addresses import TrustedProxies, address_name
from attendo.serving.http.bodies import body_too_slow, has_body
from attendo.serving.http.connections import Connections
from attendo.serving.http.parameters import media_type
from attendo.serving.status import ALWAYS_ANSWERED
from attendo.serving.translating import Caller

_CHANGES_NOTHING = ("GET", "HEAD", "OPTIONS")
_MAX_TOKEN = 400
"""Maximum size of a key in bytes; anything longer is not a key."""


@dataclass(frozen=True, kw_only=True)
class KeyParameter:
    """The parameter by which an API takes a key, besides the headers."""

    paths: Sequence[str]
    """Beginnings of the API's paths, without the prefix of the server."""
    name: str
    """Name of the parameter in the query or the body."""


class Identification:
    """An ASGI application that identifies the caller before it calls another.

    Args:
        app: the application that answers.
        config: the server's configuration.
        callers: the callers.
        connections: the open connections, which are counted by the key of their requests.
        parameters: the parameters of the APIs that accept keys outside headers.
    """

    def __init__(
        self,
        app: ASGIApp,
        config: ServingConfig,
        *,
        callers: Callers,
        connections: Connections,
        parameters: Sequence[KeyParameter],
    ) -> None:
        self._app, self._config, self._callers = app, config, callers
        self._connections, self._parameters = connections, tuple(parameters)
        self._in_work = InWork(config.limits.requests_at_once)
        self._proxies = TrustedProxies(config.server.trusted_proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles a request, or passes on anything that is not a request."""
        path = scope.get("path", "").removeprefix(self._config.server.url_prefix)
        if scope["type"] != "http" or path in ALWAYS_ANSWERED:
            await self._app(scope, receive, send)
            return
        request = _Head(scope, next((each.name for each in self._parameters if _is_of(path, each)), None))
        caller = self._caller_by_head(request)
        if (connection := scope["state"].get("connection")) is not None:
            if caller is not None:
                self._connections.identified(connection, caller.name)
            self._connections.check(connection)
        with self._in_work.entered(self._name(request, caller)):
            if caller is None and self._callers.key_required and request.needs_caller:
                receive = await self._identified_by_body(request, receive)
            await self._app(scope, receive, send)

    def _caller_by_head(self, request: "_Head") -> Caller | None:
        """Returns the caller with the key in a header or the query; None without one, or if the body may have one.

        Raises:
            ServingError: 403 for an unknown key, 429 for too many of these.
        """
        if not self._callers.knows_keys:
            return None
        for key in request.keys:
            if self._callers.knows(key):
                return self._callers.identify(request.address, key)
        if request.keys and request.needs_caller and not (request.parameter and request.has_body):
            self._callers.identify(request.address, request.keys[0])
        return None

    async def _identified_by_body(self, request: "_Head", receive: Receive) -> Receive:
        """Identifies the caller by a key in the first part of the body; returns a function that repeats the body.

        Raises:
            ServingError: 401 without a key, 403 with an unknown one, 408 if the body does not arrive.
        """
        most = self._config.keys.search_bytes if request.parameter or request.changes_nothing else 0
        if not most or not request.has_body:
            self._callers.identify(request.address, next(iter(request.keys), None))
        part = _FirstPart(receive)
        try:
            async with asyncio.timeout(self._config.server.body_seconds):
                await part.read(most)
        except TimeoutError:
            raise body_too_slow(self._config.server.body_seconds) from None
        key = _key_in(part.content, request, whole=part.is_whole) if request.parameter else None
        if key or not (request.changes_nothing and part.is_whole):
            self._callers.identify(request.address, key or next(iter(request.keys), None))
        return part.receive

    def _name(self, request: "_Head", caller: Caller | None) -> str | None:
        """The name for counting concurrent requests; None for a proxy that forwards no address."""
        if caller is not None:
            return caller.name
        if request.address in self._proxies:
            return None
        return address_name(request.address, self._config.limits.ip6_prefix)


class _Head:
    """The facts about the caller in a request's head."""

    def __init__(self, scope: Scope, parameter: str | None) -> None:
        headers = Headers(scope=scope)
        self.parameter = parameter
        self.address: str = scope["client"][0] if scope.get("client") else ""
        self.has_body = has_body(headers)
        self.changes_nothing = scope["method"] in _CHANGES_NOTHING
        self.media_type = media_type(headers)
        scheme, _, shown = headers.get("authorization", "").partition(" ")
        found = [shown.strip().removesuffix(":fx")] if scheme.lower() in ("bearer", "deepl-auth-key") else []
        found.append(headers.get("x-api-key", ""))
        if parameter is not None and parameter.encode() in scope["query_string"]:
            query = parse_qsl(scope["query_string"].decode("latin-1"))
            found += [value.removesuffix(":fx") for name, value in query if name == parameter][:1]
        self.keys = [key for key in found if key]
        """Keys given in the head."""

    @property
    def needs_caller(self) -> bool:
        """Whether the caller must be identified first, because the request changes something or has a body.

        Requests that only read are left to the routes, some of which are public.
        """
        return self.has_body or not self.changes_nothing


class _FirstPart:
    """The first part of a body, which is read twice.

    Args:
        receive: receives the body.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._messages: list[Message] = []
        self.content, self.is_whole = b"", False

    async def read(self, most: int) -> None:
        """Reads a number of bytes, or until the body ends.

        Args:
            most: bytes that are kept; the last message may have more.
        """
        while len(self.content) < most and not self.is_whole:
            message = await self._receive()
            self._messages.append(message)
            self.content += message.get("body", b"")
            self.is_whole = not message.get("more_body", False)
        self.is_whole = self.is_whole and len(self.content) <= most
        self.content = self.content[:most]

    async def receive(self) -> Message:
        """Returns the messages read so far again, then the following ones."""
        self.content = b""
        return self._messages.pop(0) if self._messages else await self._receive()


def _is_of(path: str, parameter: KeyParameter) -> bool:
    return any(path.startswith(beginning) for beginning in parameter.paths)


def _key_in(content: bytes, request: _Head, *, whole: bool) -> str | None:
    """Finds a key in the first part of a body; the route later reads the whole body strictly."""
    assert request.parameter is not None
    name = re.escape(request.parameter.encode())
    if request.media_type == "application/json" or request.media_type.endswith("+json"):
        found = re.search(rb'(?<!\\)"%s"\s*:\s*("(?:[^"\\]|\\.){0,%d}")' % (name, _MAX_TOKEN), content)
        try:
            key = str(json.loads(found[1])) if found else ""
        except ValueError:
            return None
    elif request.media_type == "multipart/form-data":
        # Bounds on each repetition: repeating the name thousands of times does not make the search longer.
        part = rb'\bname="?%s"?[ \t]*(?:;[^\r\n]{0,200})?\r\n(?:[^\r\n]{1,200}\r\n){0,4}\r\n([^\r\n]{0,%d})\r\n'
        found = re.search(part % (name, _MAX_TOKEN), content)
        key = found[1].decode("latin-1") if found else ""
    else:
        found = re.search(rb"(?:^|&)%s=([^&]{0,%d})(&|$)" % (name, _MAX_TOKEN), content)
        key = unquote_plus(found[1].decode("latin-1")) if found and (whole or found[2]) else ""
    return key.removesuffix(":fx") or None

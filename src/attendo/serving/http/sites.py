"""Protection against requests from pages of other sites, by host name and origin.

A page can make its visitor's browser send requests to servers that only the visitor reaches. Two checks stop that:

- DNS rebinding: the page's own name is made to resolve to this server. Such a request carries that name in `Host`, so
  only names that no stranger can own are answered, and those of the configuration.
- Forms and pictures: a page may send forms anywhere without permission, and load anything as a picture, script or
  frame. A browser reveals this in `Sec-Fetch-Site`, `Sec-Fetch-Dest` and `Origin`. If these name another site, forms
  are refused, and so is everything a page loads by itself, but not a link that a person follows. Other clients send no
  such header.
"""

import re
from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from attendo.serving.config import ServerConfig
from attendo.serving.errors import cross_origin, misdirected
from attendo.serving.logs import Log

_HOST = re.compile(r"(?P<address>\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?|(?P<name>[A-Za-z0-9._-]+)(?::\d{1,5})?")
_NOT_PUBLIC = (".localhost", ".local", ".internal", ".home.arpa")
"""Endings of names that are reserved for one machine or one network, so that the public DNS has none of them."""
_OPEN_PATHS = ("/health", "/ready")
"""Paths that load balancers request under any name; their answers reveal nothing."""
_READING = ("GET", "HEAD")
_FOLLOWED_LINK = "document"
"""The value of `Sec-Fetch-Dest` for a page that is opened in a tab of its own."""
_PORTS = {"http": 80, "https": 443}
_MAX_LOGGED = 20
_MAX_SHOWN = 80


class Sites:
    """An ASGI application around another, which refuses requests by unknown hosts and from other sites' pages.

    Args:
        app: answers the requests that pass.
        config: the allowed hosts and origins, and the prefix of all paths.
        log: the log; each refused host and origin is logged once.
    """

    def __init__(self, app: ASGIApp, config: ServerConfig, log: Log) -> None:
        self._app, self._log, self._prefix = app, log, config.url_prefix
        self._names = (config.host.lower(), *(name.lower() for name in config.allowed_hosts))
        self._origins = frozenset(config.cors_origins)
        self._logged: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on.

        Raises:
            ServingError: 421, the host is not known; 403, a page of another site has sent it.
        """
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            if scope["path"].removeprefix(self._prefix) not in _OPEN_PATHS:
                self._check_host(headers)
                if scope["method"] not in _READING or headers.get("sec-fetch-dest") != _FOLLOWED_LINK:
                    self._check_origin(headers)
        await self._app(scope, receive, send)

    def _check_host(self, headers: Headers) -> None:
        host = headers.get("host")
        if host is None or is_known_host(host, self._names):
            return
        self._log_once("host-refused", host)
        raise misdirected(
            f"this server is not known by the name {_shown(host)}; use its IP address, or add the name to "
            "server.allowed_hosts"
        )

    def _check_origin(self, headers: Headers) -> None:
        origin, site, host = headers.get("origin"), headers.get("sec-fetch-site"), headers.get("host", "")
        if is_own_page(origin, site, host) or "*" in self._origins or origin in self._origins:
            return
        sender = _shown(origin or "another site")
        self._log_once("origin-refused", origin or "unknown")
        raise cross_origin(
            f"a page of another site, {sender}, sent this request; add the site to server.cors_origins to allow it"
        )

    def _log_once(self, event: str, name: str) -> None:
        if name not in self._logged and len(self._logged) < _MAX_LOGGED:
            self._logged.add(name)
            self._log.warning(event, name=name[:_MAX_SHOWN])


def is_known_host(host: str, names: Collection[str]) -> bool:
    """Whether a server answers to a host.

    IP addresses, `localhost` and other names that the public DNS cannot have (those without a dot, `.local`,
    `.internal`, `.home.arpa`) are always known: no stranger can have a page under them.

    Args:
        host: the header `Host`, with or without a port.
        names: the configured names in small letters; `*.example.org` matches all names below `example.org`, `*` for all
            names.
    """
    match = _HOST.fullmatch(host)
    if match is None:
        return False
    name = (match["name"] or match["address"].strip("[]")).rstrip(".").lower()
    if _is_address(name) or (name and "." not in name) or name.endswith(_NOT_PUBLIC):
        return True
    return any(allowed in ("*", name) or (allowed[:2] == "*." and name.endswith(allowed[1:])) for allowed in names)


def is_own_page(origin: str | None, site: str | None, host: str) -> bool:
    """Whether a request comes from the server's own page, a browser extension or a client other than a browser.

    Args:
        origin: the header `Origin`; None if missing.
        site: the header `Sec-Fetch-Site`; None if missing.
        host: the header `Host`, already checked.
    """
    if site in ("same-origin", "none"):
        return True
    if origin is None:
        return site is None
    parsed = urlsplit(origin) if _is_url(origin) else None
    if parsed is None:
        return False
    # Extensions are programs that their user has installed; no site can have such an origin.
    if parsed.scheme.endswith("-extension"):
        return True
    return site is None and parsed.netloc.lower() in _spellings(host.lower(), parsed.scheme)


def _is_url(text: str) -> bool:
    try:
        return bool(urlsplit(text).netloc)
    except ValueError:
        return False


def _spellings(host: str, scheme: str) -> tuple[str, ...]:
    """A host with and without the port that its scheme has anyway."""
    port = f":{_PORTS.get(scheme, 0)}"
    return host, host + port, host.removesuffix(port)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _shown(name: str) -> str:
    return name.encode("ascii", errors="replace").decode()[:_MAX_SHOWN]

"""Open connections, counted by holder, so that one caller's idle connections do not keep others out.

A connection belongs to an address until a request on it shows a valid key, and to that key from then on. Beyond
`limits.connections_a_caller` a caller's longest idle ones are closed, and requests without a key on new ones refused. A
part of all connections, `server.key_share`, is only for callers with a key. Connections of a trusted proxy carry
everybody's requests and have no limit of their own; the requests have, by the addresses that the proxy forwards.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from attendo.serving.config import ServingConfig
from attendo.serving.errors import busy, too_many_requests
from attendo.serving.http.addresses import TrustedProxies, address_name

IDLE_S = 1.0
"""Seconds without a request after which a connection counts as idle: a new client is about to send one."""
MOST_TIMES = 2
"""Times `server.max_connections` that are open at the most: those beyond it are heard, so that a key can be shown."""


@dataclass(eq=False, kw_only=True)
class Connection:
    """An open connection."""

    holder: str | None
    """The caller it is counted for, an address or `key:ID`; None for a trusted proxy."""
    waiting_since: float | None
    """Time since which it has waited for a request, in seconds of the clock; None while one is being answered."""
    end: Callable[[], None]
    """Closes it gracefully; called only while it waits."""
    has_key: bool = False
    """Whether a request on it has had a valid key."""
    is_surplus: bool = False
    """Whether its caller had too many others when it was opened."""


class Connections:
    """The open connections of a server.

    Args:
        config: the maximum number of connections.
        clock: seconds that never go back.
    """

    def __init__(self, config: ServingConfig, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._a_caller = config.server.max_connections, config.limits.connections_a_caller
        self._ip6_prefix, self._clock = config.limits.ip6_prefix, clock
        self._most_without_key = self._most
        if config.keys.file is not None:
            self._most_without_key = max(1, round(self._most * (1 - config.server.key_share)))
        self._proxies = TrustedProxies(config.server.trusted_proxies)
        self._open: set[Connection] = set()
        self._held: dict[str, set[Connection]] = {}
        self._without_key = 0

    def __len__(self) -> int:
        """Counts the open connections."""
        return len(self._open)

    def opened(self, host: str, end: Callable[[], None]) -> Connection | None:
        """Counts a new connection; None if there is no room for it, not even to identify the caller.

        Args:
            host: the address of the other end.
            end: closes the connection gracefully.
        """
        if len(self._open) >= self._most * MOST_TIMES and not self._make_room():
            return None
        holder = None if host in self._proxies else address_name(host, self._ip6_prefix)
        connection = Connection(holder=holder, waiting_since=self._clock(), end=end)
        self._open.add(connection)
        if holder is not None:
            self._without_key += 1
            self._hold(connection, holder)
        return connection

    def ending(self, connection: Connection) -> None:
        """Counts a connection for its caller no longer: it has had its last answer, and the client is to close it."""
        connection.waiting_since = None
        self._let_go(connection)

    def closed(self, connection: Connection) -> None:
        """Counts a connection out."""
        if connection in self._open:
            self._open.remove(connection)
            self._without_key -= connection.holder is not None and not connection.has_key
            self._let_go(connection)

    def identified(self, connection: Connection, name: str) -> None:
        """Counts a connection for the key that was shown on it.

        Args:
            connection: an open one.
            name: the name of the caller with the key.
        """
        if connection.holder in (None, name) or connection not in self._open:
            return
        self._without_key -= not connection.has_key
        self._let_go(connection)
        connection.has_key, connection.holder = True, name
        self._hold(connection, name)

    def check(self, connection: Connection) -> None:
        """Rejects a request on a surplus connection.

        Raises:
            ServingError: 429 for the caller's limit, 503 for the server's.
        """
        if connection.is_surplus and self._excess(connection.holder) <= 0:
            connection.is_surplus = False
        if connection.is_surplus:
            raise too_many_requests(f"more than {self._a_caller:,} connections of one caller are open", IDLE_S)
        if connection.has_key or connection.holder is None:
            count, most = len(self._open) - self._without_key, self._most
        else:
            count, most = self._without_key, self._most_without_key
        if count > most:
            raise busy("too many connections are open", IDLE_S)

    def trim(self, holder: str | None) -> bool:
        """Closes a caller's longest idle connections while it has too many; returns whether it still has too many.

        Args:
            holder: the caller; None for trusted proxies, which have no limit.
        """
        if (excess := self._excess(holder)) <= 0 or holder is None:
            return False
        before = self._clock() - IDLE_S
        idle = [each for each in self._held[holder] if each.waiting_since is not None and each.waiting_since <= before]
        for connection in sorted(idle, key=_waiting_since)[:excess]:
            self._end(connection)
        return self._excess(holder) > 0

    def end_idle(self, seconds: float) -> None:
        """Ends all connections that have waited for a request for a while.

        Args:
            seconds: minimum number of seconds that they have waited.
        """
        before = self._clock() - seconds
        for connection in list(self._open):
            if connection.waiting_since is not None and connection.waiting_since <= before:
                self._end(connection)

    def _make_room(self) -> bool:
        """Ends the longest waiting connection without a key; returns whether there was one."""
        waiting = [each for each in self._open if each.holder is not None and not each.has_key]
        waiting = [each for each in waiting if each.waiting_since is not None]
        if not waiting:
            return False
        self._end(min(waiting, key=_waiting_since))
        return True

    def _end(self, connection: Connection) -> None:
        self.ending(connection)
        connection.end()

    def _hold(self, connection: Connection, holder: str) -> None:
        self._held.setdefault(holder, set()).add(connection)
        connection.is_surplus = self.trim(holder)

    def _let_go(self, connection: Connection) -> None:
        if connection.holder is not None and (held := self._held.get(connection.holder)) is not None:
            held.discard(connection)
            if not held:
                del self._held[connection.holder]

    def _excess(self, holder: str | None) -> int:
        return len(self._held.get(holder, ())) - self._a_caller if holder is not None else 0


def _waiting_since(connection: Connection) -> float:
    return connection.waiting_since or 0.0

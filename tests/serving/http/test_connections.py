"""Connections and requests in work: one address' many do not keep others out, least of all callers with a key."""

import http.client
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.serving.live import PATIENCE_S, Live, live

from attendo.serving.access.keys import new_key, write_keys
from attendo.serving.config import KeysConfig, LimitsConfig, ServerConfig, ServingConfig
from attendo.serving.errors import ServingError
from attendo.serving.http.connections import Connection, Connections

SECRET, KEY = new_key("Ada")
ASK = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"


class Counted:
    """Connections with a clock that the test moves; what is ended counts as closed at once."""

    def __init__(self, *, keys: bool = False, proxies: tuple[str, ...] = (), most: int = 10, a_caller: int = 4) -> None:
        server = ServerConfig(max_connections=most, trusted_proxies=proxies)
        limits = LimitsConfig(connections_a_caller=a_caller)
        config = ServingConfig(server=server, limits=limits, keys=KeysConfig(file=Path("k") if keys else None))
        self.now = 100.0
        self.all = Connections(config, clock=lambda: self.now)
        self.ended: list[Connection] = []

    def open(self, address: str) -> Connection | None:
        found: list[Connection] = []

        def end() -> None:
            self.ended.append(found[0])
            self.all.closed(found[0])

        connection = self.all.opened(address, end)
        if connection is not None:
            found.append(connection)
        return connection

    def opened(self, address: str) -> Connection:
        connection = self.open(address)
        assert connection is not None
        return connection

    def status(self, connection: Connection) -> int:
        try:
            self.all.check(connection)
        except ServingError as error:
            return error.status
        return 200


def test_an_address_with_too_many_loses_its_longest_idle_ones() -> None:
    counted = Counted()
    first = [counted.opened("192.0.2.1") for _ in range(4)]
    other = counted.opened("192.0.2.2")
    counted.now += 5
    first[0].waiting_since = counted.now  # has just been answered
    first[1].waiting_since = None  # is being answered
    first[3].waiting_since = counted.now - 2
    new = counted.opened("192.0.2.1")
    assert counted.ended == [first[2]]
    assert [counted.status(each) for each in (*first[:2], first[3], new, other)] == [200] * 5


def test_while_none_is_idle_the_new_ones_are_refused_until_there_is_room() -> None:
    counted = Counted()
    first = [counted.opened("192.0.2.1") for _ in range(4)]
    new = counted.opened("192.0.2.1")
    assert [counted.status(each) for each in (*first, new)] == [200, 200, 200, 200, 429]
    counted.now += 2
    assert not counted.all.trim("192.0.2.1")
    assert len(counted.ended) == 1
    assert counted.status(new) == 200


def test_a_network_of_ipv6_is_one_caller() -> None:
    counted = Counted()
    found = [counted.opened(f"2001:db8::{place}") for place in range(5)]
    assert counted.status(found[-1]) == 429


def test_a_part_of_all_is_for_callers_with_a_key() -> None:
    counted = Counted(keys=True)  # 10, of which 8 are for everybody
    without = [counted.opened(f"192.0.2.{place}") for place in range(9)]
    assert {counted.status(each) for each in without} == {503}
    counted.all.identified(without[8], "key:ada")
    assert [counted.status(each) for each in without] == [200] * 9
    late = [counted.opened(f"198.51.100.{place}") for place in range(4)]
    assert counted.status(late[0]) == 503
    counted.all.identified(late[0], "key:bob")
    assert counted.status(late[0]) == 200


def test_however_many_are_open_a_new_one_is_heard() -> None:
    counted = Counted(keys=True)
    first = [counted.opened(f"192.0.2.{place}") for place in range(20)]  # twice as many as there may be
    for each in first[1:]:
        each.waiting_since = None
    last = counted.opened("198.51.100.1")
    assert counted.ended == [first[0]]
    last.waiting_since = None
    assert counted.open("198.51.100.2") is None
    assert len(counted.all) == 20


def test_a_trusted_proxy_has_no_limit_of_its_own() -> None:
    counted = Counted(proxies=("10.0.0.0/24",), most=100)
    found = [counted.opened("10.0.0.7") for _ in range(20)]
    assert {counted.status(each) for each in found} == {200}
    counted.all.identified(found[0], "key:ada")  # it carries others' requests too
    assert found[0].holder is None


def test_counts_come_back() -> None:
    counted = Counted(keys=True)
    for _ in range(3):
        found = [counted.opened("192.0.2.1") for _ in range(4)]
        counted.all.identified(found[0], "key:ada")
        for each in found:
            counted.all.closed(each)
            counted.all.closed(each)
    assert len(counted.all) == 0
    assert counted.status(counted.opened("192.0.2.1")) == 200


# --- real ones --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, model_folder: Path) -> Iterator[Live]:
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    write_keys(path, [KEY])
    settings = (
        f"keys.file={path}",
        "server.max_connections=30",
        "limits.connections_a_caller=8",
        "limits.requests_at_once=3",
        "limits.requests_per_minute=100000",
    )
    with live([model_folder], *settings) as found:
        yield found


def answered(connection: socket.socket) -> int:
    connection.sendall(ASK)
    answer = b""
    while not answer.endswith(b"}"):
        part = connection.recv(65536)
        assert part, "the connection has ended"
        answer += part
    return int(answer.split(b" ", 2)[1])


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_idle_connections_of_one_address_keep_no_key_out(server: Live) -> None:
    with ExitStack() as stack:
        held = []
        for _ in range(40):  # each is asked at once, since those beyond eight have a second to ask
            held.append(stack.enter_context(server.connect()))
            assert answered(held[-1]) == 200  # /health, for everybody
        body = {"text": "one red dogs see us.", "source": "en", "target": "de"}
        for _ in range(3):
            assert server.ask("POST", "/api/translate", body, headers={"X-API-Key": SECRET}).status == 200
        until(lambda: len(server.server.connections) <= 8)
        assert server.ask("POST", "/api/translate", body, headers={"X-API-Key": SECRET}).status == 200
        ended, _, _ = select.select(held, [], [], 0)
        assert len(ended) >= 32
        assert {each.recv(1) for each in ended} == {b""}  # none was reset


def test_slow_senders_of_one_address_are_few(server: Live) -> None:
    head = b"POST /api/detect HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99\r\n"
    head += f"X-API-Key: {SECRET}\r\n\r\n".encode()
    with ExitStack() as stack:
        slow = [stack.enter_context(server.connect()) for _ in range(3)]
        for each in slow:
            each.sendall(head)
        until(lambda: len(server.server.status.in_flight) == 3)
        answer = server.ask("POST", "/api/detect", {"text": "dogs"}, headers={"X-API-Key": SECRET})
        assert (answer.status, answer.error) == (429, "too-many-requests")
        assert server.ask("GET", "/api/models").status == 200  # another caller: the address
    until(lambda: not server.server.status.in_flight)
    assert server.ask("POST", "/api/detect", {"text": "dogs"}, headers={"X-API-Key": SECRET}).status == 200


def test_behind_a_proxy_requests_count_for_the_address_it_forwards(model_folder: Path) -> None:
    with live([model_folder], "limits.requests_at_once=1", 'server.trusted_proxies=["127.0.0.1"]') as server:
        slow = http.client.HTTPConnection(*server.address)
        slow.putrequest("POST", "/api/detect")
        slow.putheader("X-Forwarded-For", "192.0.2.1")
        slow.putheader("Content-Length", "99")
        slow.endheaders()
        until(lambda: len(server.server.status.in_flight) == 1)
        statuses = [
            server.ask("GET", "/api/models", headers={"X-Forwarded-For": address} if address else {}).status
            for address in ("192.0.2.1", "192.0.2.2", "", "")
        ]
        assert statuses == [429, 200, 200, 200]
        slow.close()

"""SIGTERM amid keep-alive connections: none is reset, no answer is cut off, and each is told which is the last."""

import socket
import threading
import time
from pathlib import Path

import pytest
from tests.serving.live import PATIENCE_S, Live, live

GET = b"GET /api/models HTTP/1.1\r\nHost: a\r\n\r\n"


class Client:
    """Asks again and again on one connection, until it is told that an answer was the last."""

    def __init__(self, server: Live, pause_s: float) -> None:
        self._connection, self._pause_s = server.connect(), pause_s
        self.answers: list[bytes] = []
        self.fault = ""
        self.thread = threading.Thread(target=self._ask)
        self.thread.start()

    def _ask(self) -> None:
        with self._connection as connection:
            try:
                while not self.answers or b"connection: close" not in self.answers[-1].lower():
                    connection.sendall(GET)
                    self.answers.append(whole_answer(connection))
                    time.sleep(self._pause_s)
                if connection.recv(1):
                    self.fault = "something behind the last answer"
            except (OSError, AssertionError) as error:
                self.fault = repr(error)


def whole_answer(connection: socket.socket) -> bytes:
    """An answer, as long as it says it is."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += received(connection)
    head, _, body = answer.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
    while len(body) < length:
        body += received(connection)
    return head


def received(connection: socket.socket) -> bytes:
    part = connection.recv(65536)
    assert part, "the connection ended within an answer, or instead of one"
    return part


@pytest.mark.parametrize("drain_s", [0, 0.3])
def test_every_connection_gets_its_last_answer_and_none_is_reset(model_folder: Path, drain_s: float) -> None:
    with live([model_folder], f"server.drain_seconds={drain_s}") as server:
        idle = server.connect()
        idle.sendall(GET)
        whole_answer(idle)
        clients = [Client(server, pause_s) for pause_s in (0, 0, 0.05, 0.9)]
        end = time.monotonic() + PATIENCE_S
        while not all(len(each.answers) > 1 for each in clients):
            assert time.monotonic() < end
            time.sleep(0.01)
        server.running.should_exit = True
        for each in clients:
            each.thread.join(PATIENCE_S)
        assert [each.fault for each in clients] == [""] * 4
        assert {each.answers[-1].split(b"\r\n")[0] for each in clients} == {b"HTTP/1.1 200 OK"}
        idle.settimeout(PATIENCE_S)
        assert idle.recv(1) == b""  # ended
        idle.sendall(GET)  # what crosses the end on its way is read, not reset
        time.sleep(0.1)
        assert idle.recv(1) == b""
        idle.close()


def test_while_it_drains_it_says_that_it_is_not_ready(model_folder: Path) -> None:
    with live([model_folder], "server.drain_seconds=60") as server:
        server.running.should_exit = True
        end = time.monotonic() + PATIENCE_S
        while (answer := server.ask("GET", "/ready")).status != 503:
            assert time.monotonic() < end
        assert answer.headers["connection"] == "close"
        assert server.ask("GET", "/api/models").headers["connection"] == "close"
        server.running.force_exit = True  # instead of all of its minute

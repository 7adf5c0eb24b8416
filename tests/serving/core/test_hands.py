"""Work without an end on a server with one thread: others are answered, and whoever gives it up frees the thread.

A line that says `forever` is searched for ever, in steps that do nothing; all else is the real server and model.
"""

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.serving.live import PATIENCE_S, Answer, Live, live

from attendo.decoding.watch import BetweenSteps
from attendo.workflow.engines.engine import Engine
from attendo.workflow.engines.watched_engine import WatchedEngine

LINE = "one red dogs see us."


@contextmanager
def endless() -> Iterator[None]:
    """Has lines with `forever` in them searched until they are cancelled."""
    translate = WatchedEngine.translate_watched

    def searched(
        self: WatchedEngine, lines: Sequence[str], constraints: Sequence[Any] | None, between_steps: BetweenSteps
    ) -> list[Any]:
        found: list[Any] = list(translate(self, lines, constraints, between_steps))
        wanted = {number for number, line in enumerate(lines, start=1) if "forever" in line}
        while wanted and not wanted <= set(between_steps()):
            time.sleep(0.001)
        return [None if number in wanted else each for number, each in enumerate(found, start=1)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Engine, "translate_watched", searched)
        yield


@pytest.fixture(scope="module")
def server(model_folder: Path) -> Iterator[Live]:
    with endless(), live([f"en-de={model_folder}"], "batching.threads=1") as found:
        yield found


def value(server: Live, name: str) -> float:
    found = server.server.service.metrics.registry.get_sample_value(name)
    assert found is not None
    return found


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end
        time.sleep(0.002)


def is_free(server: Live) -> bool:
    return value(server, "attendo_busy_threads") == 0 == value(server, "attendo_batches_held_up")


@contextmanager
def at_work(server: Live, path: str, body: bytes, headers: dict[str, str]) -> Iterator[None]:
    """A client that waits for what has no end; it leaves when the block does."""
    until(lambda: is_free(server))
    connection = http.client.HTTPConnection(*server.address, timeout=PATIENCE_S)
    connection.request("POST", path, body, headers)
    try:
        until(lambda: value(server, "attendo_busy_threads") == 1)
        yield
    finally:
        connection.close()


JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ENDLESS: dict[str, tuple[str, bytes, dict[str, str]]] = {
    "native": ("/api/translate", json.dumps({"text": "forever", "source": "en", "target": "de"}).encode(), JSON),
    "a stream": (
        "/api/translate",
        json.dumps({"text": "forever", "source": "en", "target": "de", "stream": True}).encode(),
        JSON,
    ),
    "LibreTranslate": ("/translate", b"q=forever&source=en&target=de", FORM),
    "DeepL": ("/v2/translate", b"text=forever&source_lang=EN&target_lang=DE", FORM),
}


@pytest.mark.parametrize("api", ENDLESS)
def test_a_client_who_leaves_frees_the_thread(server: Live, api: str) -> None:
    stopped = value(server, "attendo_lines_cancelled_total")
    with at_work(server, *ENDLESS[api]):
        answer = server.translate(LINE)  # while it goes on
        assert answer.status == 200
        assert value(server, "attendo_busy_threads") == 1
    until(lambda: is_free(server))
    assert value(server, "attendo_lines_cancelled_total") == stopped + 1
    assert server.translate(LINE).json["translations"] == answer.json["translations"]


def test_omegat_leaves_too(server: Live) -> None:
    path = "/omegat?source=en&target=de&text=forever"
    connection = http.client.HTTPConnection(*server.address, timeout=PATIENCE_S)
    connection.request("GET", path)
    try:
        until(lambda: value(server, "attendo_busy_threads") == 1)
    finally:
        connection.close()
    until(lambda: is_free(server))


def test_many_endless_requests_of_one_caller_hold_up_nobody(server: Live) -> None:
    path, body, headers = ENDLESS["native"]
    connections = [http.client.HTTPConnection(*server.address, timeout=PATIENCE_S) for _ in range(8)]
    try:
        for connection in connections:
            connection.request("POST", path, body, headers)
        until(lambda: value(server, "attendo_busy_threads") == 1)
        assert [server.translate(LINE).status for _ in range(5)] == [200] * 5
    finally:
        for connection in connections:
            connection.close()
    until(lambda: is_free(server))


def upload(server: Live, text: bytes) -> Answer:
    part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n' + text
    field = b'\r\n--b\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s'
    body = part + field % (b"source", b"en") + field % (b"target", b"de") + b"\r\n--b--\r\n"
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    return server.ask("POST", "/api/documents", body, headers=headers)


def test_deleting_a_document_stops_it(server: Live) -> None:
    until(lambda: is_free(server))
    document = upload(server, b"forever").json
    until(lambda: value(server, "attendo_busy_threads") == 1)
    assert server.translate(LINE).status == 200
    status = server.ask("GET", f"/api/documents/{document['id']}").json
    assert status["status"] == "translating"
    assert server.ask("DELETE", f"/api/documents/{document['id']}").status == 204
    until(lambda: is_free(server))


def test_a_deadline_stops_what_is_in_work(model_folder: Path) -> None:
    settings = ("batching.threads=1", "limits.request_seconds=0.3")
    with endless(), live([f"en-de={model_folder}"], *settings) as server:
        late = server.translate("forever")
        assert (late.status, late.error) == (503, "overdue")
        until(lambda: is_free(server))


def test_the_end_of_the_server_stops_what_is_in_work(model_folder: Path) -> None:
    before = set(threading.enumerate())
    with endless(), live([f"en-de={model_folder}"], "batching.threads=1", "server.shutdown_seconds=1") as server:
        connection = http.client.HTTPConnection(*server.address, timeout=PATIENCE_S)
        connection.request("POST", *ENDLESS["native"])
        until(lambda: value(server, "attendo_busy_threads") == 1)
    connection.close()
    # `live` has seen the server's own thread end; those that translate have ended before it.
    assert not [each for each in set(threading.enumerate()) - before if each.name.startswith("attendo-work")]

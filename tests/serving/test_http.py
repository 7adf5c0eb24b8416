"""What comes in over the wire: bounds on bodies and time, clients who leave, and bytes that are no HTTP at all."""

import random
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.serving.live import PATIENCE_S, Live, live

LINE = "one red dogs see us."
HEAD = b"POST /api/translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def server(model_folder: Path) -> Iterator[Live]:
    settings = (
        "limits.max_body_bytes=4096",
        "limits.max_bodies_bytes=100000",
        "documents.max_bytes=50000",
        "server.body_seconds=0.5",
        "server.header_seconds=0.5",
        "server.keep_alive_seconds=1",
        "limits.request_seconds=20",
    )
    with live([model_folder], *settings) as found:
        yield found


def told(server: Live, sent: bytes, *, shut: bool = False) -> bytes:
    """All that a server says to some bytes, until it closes the connection."""
    with server.connect() as connection:
        try:
            connection.sendall(sent)
            if shut:
                connection.shutdown(socket.SHUT_WR)
        except OSError:  # it has had enough
            pass
        parts = []
        try:
            while part := connection.recv(65536):
                parts.append(part)
        except ConnectionError:
            pass
        return b"".join(parts)


def lines_dropped(server: Live) -> float:
    value = server.server.service.metrics.registry.get_sample_value("attendo_lines_dropped_total")
    assert value is not None
    return value


def test_a_body_that_is_too_large_is_told_so_declared_or_not(server: Live) -> None:
    text = "x" * 5000
    declared = server.translate(text)
    assert (declared.status, declared.error, declared.headers["connection"]) == (413, "too-large", "close")
    chunk = b'{"text": "' + b"x" * 5000
    chunked = told(server, HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + f"{len(chunk):x}\r\n".encode() + chunk)
    assert chunked.startswith(b"HTTP/1.1 413 ")
    huge = told(server, HEAD + b"Content-Length: 99999999999999999999999\r\n\r\nx")
    assert huge.startswith((b"HTTP/1.1 413 ", b"HTTP/1.1 400 "))


def test_documents_have_a_limit_of_their_own(server: Live) -> None:
    def upload(size: int) -> bytes:
        part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n' + b"x" * size
        field = b'\r\n--b\r\nContent-Disposition: form-data; name="target"\r\n\r\nde\r\n--b--\r\n'
        return part + field

    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    assert server.ask("POST", "/api/documents", upload(10_000), headers=kind).status == 202
    assert server.ask("POST", "/api/documents", upload(60_000), headers=kind).status == 413
    assert server.ask("POST", "/api/documents", upload(200_000), headers=kind).status == 413


def test_all_bodies_together_are_bounded(server: Live) -> None:
    head = HEAD.replace(b"/api/translate", b"/api/documents") + b"Content-Length: 60000\r\n\r\n"
    with server.connect() as one, server.connect() as two:
        for each in (one, two):
            each.sendall(head + b"x" * 55_000)
        late, refused = sorted(each.recv(65536) for each in (one, two))  # either may be the first that is read
        assert refused.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after" in refused.lower()
        assert late.startswith(b"HTTP/1.1 408 ")  # the rest of it did not come
    assert server.translate(LINE).status == 200  # what was held is held no more


def test_a_slow_body_and_a_slow_head_are_not_waited_for(server: Live) -> None:
    started = time.monotonic()
    assert told(server, HEAD + b"Content-Length: 100\r\n\r\n{").startswith(b"HTTP/1.1 408 ")
    assert told(server, b"POST /api/tran") == b""
    assert told(server, b"") == b""
    with server.connect() as connection:  # a head that goes on for ever, a byte at a time
        try:
            for _ in range(PATIENCE_S * 50):
                connection.sendall(b"x")
                time.sleep(0.02)
        except OSError:
            pass
        else:
            pytest.fail("it listens for ever")
    assert time.monotonic() - started < PATIENCE_S


def test_a_connection_without_requests_is_closed_and_one_with_them_stays(server: Live) -> None:
    request = b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n"
    with server.connect() as connection:
        for _ in range(4):
            connection.sendall(request)
            answer = b""
            while b'{"status":"ok"}' not in answer:
                part = connection.recv(65536)
                assert part, "the connection has ended"
                answer += part
            assert answer.startswith(b"HTTP/1.1 200 ")
            time.sleep(0.3)  # longer than a head may take, all together
        assert connection.recv(65536) == b""


def test_requests_in_a_row_on_one_connection(server: Live) -> None:
    body = b'{"text": "dogs", "source": "en", "target": "de"}'
    request = HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
    assert told(server, request * 3).count(b"HTTP/1.1 200 ") == 3


def test_who_leaves_takes_his_lines_out_of_the_queue(model_folder: Path) -> None:
    with live([model_folder], "batching.threads=1", "batching.max_batch_lines=1") as server:
        text = "\n".join([LINE] * 90)
        body = f'{{"text": {text!r}, "source": "en", "target": "de"}}'.replace("'", '"').encode()
        connection = server.connect()
        connection.sendall(HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        until = time.monotonic() + PATIENCE_S
        while not server.server.core.waiting:
            assert time.monotonic() < until
            time.sleep(0.001)
        connection.close()
        while server.server.core.waiting:
            assert time.monotonic() < until
            time.sleep(0.001)
        assert lines_dropped(server) > 0
        registry = server.server.service.metrics.registry
        while not registry.get_sample_value("attendo_http_clients_gone_total"):
            assert time.monotonic() < until
            time.sleep(0.001)
        assert server.translate(LINE).status == 200


def test_who_leaves_a_stream_takes_his_lines_too(model_folder: Path) -> None:
    with live([model_folder], "batching.threads=1", "batching.max_batch_lines=1") as server:
        text = "\\n".join([LINE] * 90)
        body = f'{{"text": "{text}", "source": "en", "target": "de", "stream": true}}'.encode()
        connection = server.connect()
        connection.sendall(HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        assert b"event-stream" in connection.recv(1 << 16)
        connection.close()
        until = time.monotonic() + PATIENCE_S
        while server.server.core.waiting or server.server.status.in_flight:
            assert time.monotonic() < until
            time.sleep(0.001)
        assert server.translate(LINE).status == 200


def test_a_request_that_takes_too_long_is_told_so(model_folder: Path) -> None:
    with live([model_folder], "batching.threads=1", "limits.request_seconds=0.2") as server:
        answer = server.translate("\n".join([LINE] * 900), beam_size=12)
        assert (answer.status, answer.error) == (503, "overdue")
        assert int(answer.headers["retry-after"]) >= 1
        assert not server.server.core.waiting


def test_more_connections_than_are_answered(model_folder: Path) -> None:
    with live([model_folder], "server.max_connections=3") as server:
        held = [server.connect() for _ in range(3)]
        until = time.monotonic() + PATIENCE_S
        while len(server.running.server_state.connections) < 3:
            assert time.monotonic() < until
            time.sleep(0.01)
        refused = server.translate(LINE)
        assert (refused.status, refused.error) == (503, "busy")
        assert server.ask("GET", "/health").status == 200
        for each in held:
            each.close()
        while server.translate(LINE).status != 200:
            assert time.monotonic() < until
            time.sleep(0.01)


def test_a_client_who_does_not_read_is_given_up(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attendo.serving.http.protocol._STALL_S", 0.2)
    with live([model_folder]) as server:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(server.address)
        with connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
            assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")  # it is there, and may be gone the next moment
            connection.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n" * 300)
            until = time.monotonic() + PATIENCE_S
            while server.running.server_state.connections:
                assert time.monotonic() < until
                time.sleep(0.01)


def test_nothing_leaks_out_of_a_fault(server: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("a secret of the machine")

    monkeypatch.setattr(server.server.service.callers, "identify", fails)
    answer = server.translate(LINE)
    assert (answer.status, answer.error) == (500, "internal")
    assert b"secret" not in answer.body
    assert answer.headers["x-request-id"] in answer.json["error"]["message"]
    [event] = [each for each in server.events if each["event"] == "internal"]
    assert event["error"].startswith("RuntimeError in ")
    assert "secret" not in server.log.getvalue()


# --- bytes ------------------------------------------------------------------------------------------------------------

BODY = b'{"text": "dogs", "source": "en", "target": "de"}'
GOOD = HEAD + f"Content-Length: {len(BODY)}\r\nConnection: close\r\n\r\n".encode() + BODY
CORPUS = [
    b"\x00",
    b"\r\n\r\n",
    b"\xff" * 1000,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20_000 + b"\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"GET /%00%ff%c0%ae/../../etc/passwd HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    b"GET /static/..%2f..%2fconfig.py HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    b"GET http://elsewhere/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    b"GET /omegat?source=%ff&target=%00&text=%ed%a0%80 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    b"GET /v2/translate?text=%ff%fe&target_lang=DE HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    HEAD + b"Content-Length: -1\r\n\r\n",
    HEAD + b"Content-Length: 1, 2\r\n\r\nab",
    HEAD + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
    HEAD + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
    HEAD + b"Transfer-Encoding: gzip\r\n\r\n",
    HEAD + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08",
    HEAD + b"Expect: 100-continue\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc",
    HEAD + b"Expect: nothing-known\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc",
    HEAD + b"Upgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n",
    HEAD.replace(b"application/json", b"application/json; charset=\xff") + b"Content-Length: 2\r\n\r\n{}",
    HEAD.replace(b"application/json", b"multipart/form-data") + b"Content-Length: 2\r\n\r\n{}",
    HEAD.replace(b"application/json", b"multipart/form-data; boundary=\x80") + b"Content-Length: 2\r\n\r\n{}",
    HEAD + b"Authorization: Bearer \xff\xfe\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
    HEAD + b"X-Forwarded-For: \xff, nonsense, 1.2.3.4.5\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
]
KINDS = (b"application/json", b"application/x-www-form-urlencoded", b"multipart/form-data; boundary=b", b"text/plain")
PATHS = (
    b"/api/translate",
    b"/api/detect",
    b"/api/attention",
    b"/api/parse",
    b"/api/documents",
    b"/translate",
    b"/detect",
    b"/translate_file",
    b"/suggest",
    b"/v2/translate",
    b"/v2/document",
    b"/v2/glossaries",
    b"/v1/translate",
    b"/omegat",
)
BODIES = (
    b"",
    b"\x00",
    b"\xff\xfe\xfd",
    b"{",
    b"[]",
    b"null",
    b"[" * 4000,
    b'{"text": {"text": {}}}',
    b'{"text": "\\ud83d", "q": "\\ud83d", "target": "de", "source": "en", "target_lang": "DE"}',
    b'{"q": [["a"]], "source": [], "target": {}, "text": [[1]], "target_lang": 1}',
    b"q=%ff&source=en&target=de&text=%ff&target_lang=DE",
    b"q=%ed%a0%80&source=en&target=de&text=%ed%a0%80&target_lang=DE",
    b"q=a&q=b&q=c&alternatives=99999999999999999999&source=auto&target=de",
    b"--b\r\nContent-Disposition: form-data; name=file; filename=..%2f..%2fx.txt\r\n\r\nx\r\n--b--",
    b'--b\r\nContent-Disposition: form-data; name="file"; filename="../../\x00x.docx"\r\n\r\nPK\x03\x04\r\n--b\r\n'
    b'Content-Disposition: form-data; name="target"\r\n\r\nde\r\n--b--\r\n',
    b"--b\r\n\r\n\r\n--b--",
    b"--c\r\n" * 300,
)


def status_of(answer: bytes) -> int:
    answer = answer.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else 0


@pytest.mark.parametrize("sent", CORPUS, ids=range(len(CORPUS)))
def test_bad_bytes_are_no_fault_of_ours_and_hold_nobody(server: Live, sent: bytes) -> None:
    assert status_of(told(server, sent)) in (0, *range(200, 500))
    assert status_of(told(server, sent, shut=True)) in (0, *range(200, 500))


@pytest.mark.parametrize("path", PATHS)
def test_bad_bodies_of_every_kind_to_every_path(server: Live, path: bytes) -> None:
    before = len(server.events)
    for kind in KINDS:
        for body in BODIES:
            head = b"POST " + path + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: " + kind
            status = status_of(told(server, head + f"\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body))
            assert 200 <= status < 500, (kind, body, status)
    assert server.translate(LINE).status == 200
    assert not [each for each in server.events[before:] if each.get("status", 0) >= 500 or each["level"] == "error"]


def mutated(generator: random.Random) -> bytes:
    """A good request with some of its bytes changed, cut out or doubled."""
    content = bytearray(GOOD)
    for _ in range(generator.randint(1, 8)):
        place = generator.randrange(len(content))
        match generator.randrange(4):
            case 0:
                content[place] = generator.randrange(256)
            case 1:
                del content[place : place + generator.randint(1, 20)]
            case 2:
                content[place:place] = content[place : place + generator.randint(1, 50)]
            case _:
                content[place:place] = bytes(generator.randrange(256) for _ in range(generator.randint(1, 10)))
        if not content:
            break
    return bytes(content)


@pytest.mark.parametrize("count", [60, pytest.param(5000, marks=pytest.mark.slow)])
def test_requests_with_changed_bytes(server: Live, count: int) -> None:
    generator = random.Random(7)
    sent = [mutated(generator) for _ in range(count)]
    wrong: list[bytes] = []

    def work() -> None:
        while sent:
            request = sent.pop()
            if status_of(told(server, request, shut=True)) not in (0, *range(200, 500)):
                wrong.append(request)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(10 * PATIENCE_S)
    assert not any(each.is_alive() for each in threads), "it hangs"
    assert not wrong
    assert server.translate(LINE).status == 200

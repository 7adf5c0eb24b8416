"""What operators rely on: readiness, figures, headers, and an end that finishes what was accepted."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.serving.live import PATIENCE_S, Live, live

from attendo.serving.access.keys import changed_keys, new_key

LINE = "one red dogs see us."
SECURITY = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


@pytest.fixture(scope="module")
def server(model_folder: Path) -> Iterator[Live]:
    with live([f"m={model_folder}"], "server.metrics_token=secret") as found:
        yield found


def figures(server: Live) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    answer = server.ask("GET", "/metrics", headers={"Authorization": "Bearer secret"})
    assert answer.status == 200
    families = text_string_to_metric_families(answer.body.decode())
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def test_health_and_readiness(server: Live) -> None:
    for method in ("GET", "HEAD"):
        assert server.ask(method, "/health").status == 200
        assert server.ask(method, "/ready").status == 200
    server.server.status.state = "draining"
    try:
        assert server.ask("GET", "/health").status == 200
        assert (server.ask("GET", "/ready").status, server.ask("GET", "/ready").error) == (503, "draining")
        assert server.translate(LINE).status == 200  # what comes all the same is answered
        documents = server.ask("POST", "/api/documents", b"x", headers={"Content-Type": "text/plain"})
        assert documents.status == 503  # what would go on afterwards is not begun
    finally:
        server.server.status.state = "ready"


@pytest.mark.parametrize(
    "path",
    [
        *("/", "/attention", "/static/main.js", "/docs", "/openapi.json", "/health", "/ready", "/languages", "/spec"),
        *("/frontend/settings", "/nothing", "/api/models", "/api/settings", "/api/documents/none", "/v2/languages"),
        *("/v2/usage", "/v2/glossaries", "/omegat?source=en&target=de&text=dogs"),
        "/v2/translate?text=dogs&target_lang=DE",
    ],
)
def test_head_is_answered_as_get_is_without_a_body(server: Live, path: str) -> None:
    asked = f"{{}} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
    heads = []
    for method in ("GET", "HEAD"):
        with server.connect() as connection:
            connection.sendall(asked.format(method).encode())
            answer = b""
            while part := connection.recv(65536):
                answer += part
        head, _, body = answer.partition(b"\r\n\r\n")
        assert bool(body) == (method == "GET")
        own = (b"date:", b"x-request-id:", b"x-trace-id:")
        heads.append([line for line in head.lower().split(b"\r\n") if not line.startswith(own)])
    assert heads[0] == heads[1]


def test_head_where_there_is_no_get(server: Live) -> None:
    assert server.ask("HEAD", "/api/detect").status == 405


def test_figures_count_and_hold_no_text(server: Live) -> None:
    before = figures(server)
    word = "dogsinthemetrics"
    assert server.translate(f"{word} see us.").status == 200
    assert server.ask("GET", f"/{word}").status == 404
    assert server.translate(word, target="xx").status == 400
    after = figures(server)

    def grown(name: str, **labels: str) -> float:
        key = (name, tuple(sorted(labels.items())))
        return after.get(key, 0.0) - before.get(key, 0.0)

    assert grown("attendo_http_requests_total", method="POST", path="/api/translate", status="200") == 1
    assert grown("attendo_http_requests_total", method="POST", path="/api/translate", status="400") == 1
    assert grown("attendo_http_requests_total", method="GET", path="none", status="404") == 1
    assert grown("attendo_errors_total", code="unknown-pair") == 1
    assert grown("attendo_errors_total", code="not-found") == 1
    assert grown("attendo_lines_total", model="m", work="translate") == 1
    assert grown("attendo_characters_total", model="m") == len(f"{word} see us.")
    assert grown("attendo_batch_lines_count") >= 1
    assert grown("attendo_tokens_total", model="m", side="target") > 0
    assert after["attendo_waiting_lines", ()] == 0
    text = server.ask("GET", "/metrics", headers={"Authorization": "Bearer secret"}).body.decode()
    assert word not in text
    assert word not in server.log.getvalue()


def test_figures_are_for_those_with_the_token(server: Live) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer secr\u00e9t"}):
        answer = server.ask("GET", "/metrics", headers=headers)
        assert answer.status == 401
        assert b"attendo_" not in answer.body


@pytest.mark.parametrize(
    ("method", "path"), [("GET", "/health"), ("POST", "/api/translate"), ("GET", "/nothing"), ("PUT", "/translate")]
)
def test_every_answer_has_the_security_headers(server: Live, method: str, path: str) -> None:
    answer = server.ask(method, path)
    for name, value in SECURITY.items():
        assert answer.headers[name] == value
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert re.fullmatch(r"[0-9a-f]{16}", answer.headers["x-request-id"])
    assert "server" not in answer.headers
    assert "access-control-allow-origin" not in answer.headers


def test_errors_have_the_shape_of_the_api_that_was_asked(server: Live) -> None:
    assert set(server.ask("GET", "/api/nothing").json) == {"error"}
    assert server.ask("GET", "/api/nothing").json["error"]["code"] == "not-found"
    assert isinstance(server.ask("GET", "/translate").json["error"], str)  # LibreTranslate's
    assert set(server.ask("GET", "/v2/nothing").json) == {"message"}  # DeepL's


def test_the_apis_are_described_without_anything_from_elsewhere(server: Live) -> None:
    described = server.ask("GET", "/openapi.json").json
    assert described["openapi"].startswith("3.1")
    assert {"/api/translate", "/api/models", "/health", "/translate", "/v2/translate"} <= set(described["paths"])
    page = server.ask("GET", "/docs")
    text = page.body.decode()
    assert not re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", text)
    assert "<script" not in text
    assert "`" not in text.partition("</style>")[2], "what is code is marked as code"
    assert "<code>/api/models</code>" in text
    for path in described["paths"]:
        assert path in text
    assert page.headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")


def logged(server: Live, **fields: Any) -> dict[str, Any]:
    """The request's line with these fields; it is written when the answer is gone, so it may be waited for."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        for event in server.events:
            if event["event"] == "request" and fields.items() <= event.items():
                return event
        time.sleep(0.01)
    raise AssertionError(f"no request with {fields} was logged")


def test_log_lines_are_json_without_text_or_address(server: Live) -> None:
    assert server.translate("adogthatnobodyshouldread").status == 200
    event = logged(server, characters=24)
    assert event["path"] == "/api/translate"
    assert (event["status"], event["characters"], event["model"]) == (200, 24, "m")
    assert "127.0.0.1" not in json.dumps(event)
    assert "adogthat" not in server.log.getvalue()


def test_text_and_addresses_are_logged_where_asked_for(model_folder: Path) -> None:
    with live([model_folder], "log.text=true", "log.addresses=true", "server.url_prefix=/up") as server:
        body = {"text": "one red\ndog", "source": "en", "target": "de"}
        assert server.ask("POST", "/up/api/translate", body).status == 200
        assert server.ask("POST", "/api/translate", body).status == 404
        event = next(each for each in server.events if each["event"] == "request")
        assert (event["texts"], event["address"]) == (["one red\ndog"], "127.0.0.1")
        assert server.ask("GET", "/up/ready").status == 200
        assert server.ask("GET", "/up/").status == 200  # the page


def test_other_sites_may_call_where_they_are_named(model_folder: Path) -> None:
    with live([model_folder], 'server.cors_origins=["https://example.org"]') as server:
        asked = {"Origin": "https://example.org", "Access-Control-Request-Method": "POST"}
        preflight = server.ask("OPTIONS", "/api/translate", headers=asked)
        assert preflight.headers["access-control-allow-origin"] == "https://example.org"
        wrong = server.ask("POST", "/api/translate", {}, headers={"Origin": "https://example.org"})
        assert wrong.status == 400
        assert wrong.headers["access-control-allow-origin"] == "https://example.org"
        other = server.ask("GET", "/health", headers={"Origin": "https://example.net"})
        assert "access-control-allow-origin" not in other.headers


def test_keys_are_asked_for_on_every_api_and_revoked_while_it_runs(tmp_path: Path, model_folder: Path) -> None:
    secret, key = new_key("Ada", characters_per_month=100)
    path = tmp_path / "keys.json"
    with changed_keys(path) as keys:
        keys.append(key)
    body = {"text": LINE, "source": "en", "target": "de"}
    shown = [{"Authorization": f"Bearer {secret}"}, {"X-API-Key": secret}]
    with live([model_folder], f"keys.file={path}", "models.watch_seconds=0.1") as server:
        assert server.ask("POST", "/api/translate", body).status == 401
        assert server.ask("POST", "/api/detect", {"text": LINE}).status == 401
        assert server.ask("POST", "/api/attention", {"text": LINE}).status == 401
        assert server.ask("POST", "/api/translate", body, headers={"X-API-Key": "wrong"}).status == 403
        assert server.ask("GET", "/api/settings").json["key_required"]
        assert server.ask("GET", "/health").status == 200
        for headers in shown:
            assert server.ask("POST", "/api/translate", body, headers=headers).status == 200
        deepl = {"Authorization": f"DeepL-Auth-Key {secret}"}
        usage = server.ask("GET", "/v2/usage", headers=deepl).json
        assert (usage["character_count"], usage["character_limit"]) == (2 * len(LINE), 100)
        long = {"text": LINE * 4, "source": "en", "target": "de"}
        assert server.ask("POST", "/api/translate", long, headers=shown[0]).status == 456
        assert secret not in server.log.getvalue()
        assert key.id in server.log.getvalue()
        with changed_keys(path) as keys:
            keys.clear()
        until = time.monotonic() + PATIENCE_S
        while server.ask("POST", "/api/translate", body, headers=shown[0]).status != 403:
            assert time.monotonic() < until
            time.sleep(0.05)
        spent = server.server.service.callers.spent
    with live([model_folder], f"keys.file={path}") as server:
        assert server.server.service.callers.spent == spent


def test_a_limit_of_requests_is_told_with_when_to_come_again(model_folder: Path) -> None:
    with live([model_folder], "limits.requests_per_minute=2") as server:
        assert [server.translate(LINE).status for _ in range(3)] == [200, 200, 429]
        refused = server.translate(LINE)
        assert 20 < int(refused.headers["retry-after"]) <= 30
        assert refused.json["error"]["retry_after_s"] <= 30
        assert server.ask("GET", "/health").status == 200


def test_addresses_behind_a_proxy_that_is_trusted(model_folder: Path) -> None:
    body = {"text": LINE, "source": "en", "target": "de"}

    def statuses(server: Live) -> list[int]:
        asked = [{"X-Forwarded-For": f"192.0.2.{number}"} for number in (1, 2)]
        return [server.ask("POST", "/api/translate", body, headers=headers).status for headers in asked]

    limit = "limits.requests_per_minute=1"
    with live([model_folder], limit, 'server.trusted_proxies=["127.0.0.0/8"]') as server:
        assert statuses(server) == [200, 200]
    with live([model_folder], limit) as server:  # anybody can say so
        assert statuses(server) == [200, 429]


# --- as a process -----------------------------------------------------------------------------------------------------


class Process:
    """`attendo serve` as its users start it."""

    def __init__(self, *arguments: str | Path) -> None:
        command = [sys.executable, "-W", "error", "-m", "attendo", "serve", *map(str, arguments), "--port", "0"]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
        )
        self.lines: list[str] = []
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if found := re.search(r"listening on (\S+)", line):
                self.url = found[1]
                break
        else:
            return
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        self.wait_for("/ready")

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr:
            for line in self.process.stderr:
                self.lines.append(line)

    def get(self, path: str) -> bytes:
        with urllib.request.urlopen(self.url.rstrip("/") + path, timeout=PATIENCE_S) as answer:
            content: bytes = answer.read()
        return content

    def wait_for(self, path: str) -> None:
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.get(path)
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.05)
            else:
                return

    def translate(self, text: str) -> dict[str, object]:
        body = json.dumps({"text": text, "source": "en", "target": "de"}).encode()
        request = urllib.request.Request(f"{self.url}api/translate", body, headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            found: dict[str, object] = json.load(answer)
        return found

    def status(self, path: str) -> int:
        try:
            self.get(path)
        except urllib.error.HTTPError as error:
            with error:
                return error.code
        return 200

    def upload(self, text: str) -> str:
        """Sends a document; gives its id."""
        part = '--b\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n{}\r\n'
        parts = part.format("file", '; filename="a.txt"', text) + part.format("source", "", "en")
        content = (parts + part.format("target", "", "de") + "--b--\r\n").encode()
        headers = {"Content-Type": "multipart/form-data; boundary=b"}
        request = urllib.request.Request(f"{self.url}api/documents", content, headers=headers)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            found: str = json.load(answer)["id"]
        return found

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        status = self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        return status


def test_sighup_looks_at_once_and_sigterm_finishes_what_was_accepted(tmp_path: Path, model_folder: Path) -> None:
    path = tmp_path / "keys.json"
    with changed_keys(path) as keys:
        pass
    settings = ("keys.required=false", "models.watch_seconds=0", "batching.max_batch_lines=1")
    chosen = [part for each in settings for part in ("--set", each)]
    started = Process(model_folder, "--threads", "1", "--keys", path, *chosen)
    until = time.monotonic() + PATIENCE_S
    with changed_keys(path) as keys:
        keys.append(new_key("Ada")[1])
    started.process.send_signal(signal.SIGHUP)
    while not any("keys-read" in line for line in started.lines):
        assert time.monotonic() < until
        time.sleep(0.01)

    document = started.upload("\n".join([LINE] * 2000))  # work for longer than the looks at it below
    found: list[object] = []
    text = "\n".join([LINE] * 100)
    asking = [threading.Thread(target=lambda: found.append(started.translate(text))) for _ in range(6)]
    for each in asking:
        each.start()
    while b"attendo_http_requests_in_flight 7.0" not in started.get("/metrics"):  # the six, and this one
        assert time.monotonic() < until
        time.sleep(0.01)
    started.process.send_signal(signal.SIGTERM)
    while started.status("/ready") != 503:
        assert time.monotonic() < until
        time.sleep(0.01)
    while (told := json.loads(started.get(f"/api/documents/{document}")))["status"] != "done":
        assert told["status"] in ("queued", "translating"), told
        assert time.monotonic() < until
        time.sleep(0.02)
    assert len(started.get(f"/api/documents/{document}/result").splitlines()) == 2000
    for each in asking:
        each.join(PATIENCE_S)
    assert len(found) == 6
    assert started.end() == 0  # by a second signal: nothing more is waited for
    events = [json.loads(line)["event"] for line in started.lines if line.startswith("{")]
    assert events[-1] == "stopped"
    assert "draining" in events


def test_what_cannot_be_served_is_told_in_a_line(tmp_path: Path) -> None:
    started = Process(tmp_path / "nothing")
    assert started.process.wait(PATIENCE_S) == 1
    assert started.lines[-1].startswith("attendo: error: ")
    assert started.process.stderr is not None
    started.process.stderr.close()

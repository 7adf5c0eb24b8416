"""A real server in a thread of the test's process: uvicorn, sockets and all, on a port of its own."""

import asyncio
import http.client
import io
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from attendo.serving.app import Server, build
from attendo.serving.config_file import load_config
from attendo.serving.core.model_names import model_sources
from attendo.serving.logs import Log
from attendo.serving.run import GracefulServer, uvicorn_config

PATIENCE_S = 120


@dataclass(frozen=True)
class Answer:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    """Names in small letters."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The code of an error of our own API."""
        code: str = self.json["error"]["code"]
        return code


@dataclass(frozen=True)
class Live:
    """A server that runs."""

    url: str
    server: Server
    running: GracefulServer
    log: io.StringIO

    @property
    def address(self) -> tuple[str, int]:
        found = urlsplit(self.url)
        return str(found.hostname), int(found.port or 0)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = PATIENCE_S,
    ) -> Answer:
        """Asks; a body that is no bytes is sent as JSON."""
        sent = dict(headers or {})
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection(*self.address, timeout=timeout)
        try:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, content)

    def translate(self, text: str | list[str], **options: Any) -> Answer:
        return self.ask("POST", "/api/translate", {"text": text, "source": "en", "target": "de", **options})

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=PATIENCE_S)

    @property
    def events(self) -> list[dict[str, Any]]:
        """What it has logged."""
        return [json.loads(line) for line in self.log.getvalue().splitlines()]


@contextmanager
def live(models: Sequence[str | Path], *settings: str, ready: bool = True) -> Iterator[Live]:
    """A server of models, with settings as `--set` has them."""
    config = load_config(None, ["server.port=0", "models.watch_seconds=0", "batching.threads=2", *settings])
    log, listening = io.StringIO(), threading.Event()
    server = build(config, model_sources([str(model) for model in models]), log=Log(log))
    told: list[str] = []

    def hear(address: str) -> None:
        told.append(address)
        listening.set()

    running = GracefulServer(uvicorn_config(server, config), server, hear)
    thread = threading.Thread(target=lambda: asyncio.run(running.serve()), name="server")
    thread.start()
    try:
        assert listening.wait(PATIENCE_S), "it does not listen"
        until = time.monotonic() + PATIENCE_S
        while ready and (state := server.status.state) != "ready":
            assert state == "starting", f"{state}: {server.status.reason}"
            assert time.monotonic() < until, "it does not get ready"
            time.sleep(0.01)
        yield Live(told[0].rstrip("/").removesuffix(config.server.url_prefix), server, running, log)
    finally:
        running.should_exit = True
        thread.join(PATIENCE_S)
    assert not thread.is_alive()

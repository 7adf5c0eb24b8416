"""What deploy/ ships, tried by a client that forges headers: machines are network namespaces on one bridge.

Needs the rights to make namespaces, `ip` and, for the proxy, nginx; skipped where one is missing.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.serving.live import PATIENCE_S

DEPLOY = Path(__file__).parents[2] / "deploy"
MACHINES = {"server": "10.77.0.2", "proxy": "10.77.0.10", "mallory": "10.77.0.66", "alice": "10.77.0.5"}
LIMIT = 20
ASKER = """
import http.client, json, sys, time
host, port, requests = json.load(sys.stdin)
end = time.monotonic() + 60
while True:
    connection = http.client.HTTPConnection(host, port, timeout=30)
    try:
        connection.request("GET", "/ready")
        if connection.getresponse().status == 200:
            break
    except OSError:
        pass
    if time.monotonic() > end:
        sys.exit("not ready")
    time.sleep(0.1)
answers = []
for method, path, body, headers in requests:
    connection = http.client.HTTPConnection(host, port, timeout=30)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    answers.append([answer.status, answer.read().decode()])
print(json.dumps(answers))
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("ip") is None, reason="ip is not installed: apt-get install iproute2"),
]


def named(machine: str) -> str:
    return f"attendo-{os.getpid()}-{machine}"


def inside(machine: str, *command: str) -> list[str]:
    return ["nsenter", f"--net=/run/netns/{named(machine)}", *command]


def run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True)


@pytest.fixture(scope="module")
def network() -> Iterator[None]:
    """A switch, and a cable from it to each machine."""
    machines = ["switch", *MACHINES]
    try:
        try:
            for machine in machines:
                run("ip", "netns", "add", named(machine))
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces are not permitted here: {error.stderr.strip()}")
        run(*inside("switch", "ip", "link", "add", "bridge", "type", "bridge"))
        run(*inside("switch", "ip", "link", "set", "bridge", "up"))
        for machine, address in MACHINES.items():
            peer = ("peer", "name", "cable", "netns", named(machine))
            run(*inside("switch", "ip", "link", "add", machine, "type", "veth", *peer))
            run(*inside("switch", "ip", "link", "set", machine, "master", "bridge", "up"))
            run(*inside(machine, "ip", "address", "add", f"{address}/24", "dev", "cable"))
            for device in ("lo", "cable"):
                run(*inside(machine, "ip", "link", "set", device, "up"))
        yield
    finally:
        for machine in machines:
            subprocess.run(["ip", "netns", "delete", named(machine)], check=False, capture_output=True)


@contextmanager
def running(machine: str, *command: str, log: Path) -> Iterator[None]:
    with log.open("w") as stream:
        process = subprocess.Popen(inside(machine, *command), stdout=stream, stderr=stream)
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def serving(folder: Path, model: Path, *settings: str) -> Any:
    """`attendo serve` as the systemd unit starts it, with a small limit."""
    sets = [f"limits.requests_per_minute={LIMIT}", "server.drain_seconds=0", *settings]
    command = [sys.executable, "-m", "attendo", "serve", f"m={model}", "--config", str(DEPLOY / "serve.toml")]
    return running("server", *command, *(part for each in sets for part in ("--set", each)), log=folder / "server.log")


def ask(machine: str, where: tuple[str, int], requests: Sequence[tuple[str, str, Any, dict[str, str]]]) -> Any:
    """The statuses and bodies of requests that a machine sends, one after the other."""
    sent = [
        (method, path, body and json.dumps(body), {**({"Content-Type": "application/json"} if body else {}), **headers})
        for method, path, body, headers in requests
    ]
    command = inside(machine, sys.executable, "-c", ASKER)
    answer = subprocess.run(
        command, input=json.dumps([*where, sent]), check=True, capture_output=True, text=True, timeout=2 * PATIENCE_S
    )
    return json.loads(answer.stdout)


def forged(count: int) -> list[tuple[str, str, Any, dict[str, str]]]:
    body = {"text": "Where is the station?"}
    return [("POST", "/api/detect", body, {"X-Forwarded-For": f"203.0.113.{number}"}) for number in range(count)]


GLOSSARY = {"name": "mine", "source_lang": "en", "target_lang": "de", "entries": "dog\tHund", "entries_format": "tsv"}


def check(where: tuple[str, int]) -> None:
    """A caller makes a glossary; another one, who claims his address, neither sees it nor evades the limit."""
    mine = {"X-Forwarded-For": MACHINES["alice"]}
    ((status, _),) = ask("alice", where, [("POST", "/v2/glossaries", GLOSSARY, {})])
    assert status == 201
    ((_, listed),) = ask("mallory", where, [("GET", "/v2/glossaries", None, mine)])
    assert json.loads(listed) == {"glossaries": []}
    statuses = [status for status, _ in ask("mallory", where, forged(2 * LIMIT))]
    assert statuses.count(200) >= LIMIT
    assert 429 in statuses
    # The limit is the forger's own: the one whose address was claimed still has his.
    (own, (again, _)) = ask("alice", where, [("GET", "/v2/glossaries", None, {}), forged(1)[0]])
    assert len(json.loads(own[1])["glossaries"]) == 1
    assert again == 200


def test_a_forged_address_is_not_believed(tmp_path: Path, model_folder: Path, network: None) -> None:
    with serving(tmp_path, model_folder):
        check((MACHINES["server"], 5000))


@pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")
def test_behind_the_proxy_callers_are_told_apart_and_nobody_forges(
    tmp_path: Path, model_folder: Path, network: None
) -> None:
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^\s*server attendo-2.*$\n?", "", text).replace("attendo-1:", f"{MACHINES['server']}:")
    text = re.sub(r"(?m)^(pid|error_log|user) .*$", "", text).replace("/dev/stdout", "off")
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/nginx.pid;\nerror_log {tmp_path}/error.log;\n{text}", encoding="utf-8"
    )
    nginx = ["nginx", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf"), "-g", "daemon off;"]
    trusted = f'server.trusted_proxies=["{MACHINES["proxy"]}"]'
    with serving(tmp_path, model_folder, trusted), running("proxy", *nginx, log=tmp_path / "nginx.log"):
        check((MACHINES["proxy"], 80))
        # Past the proxy the same caller forges as little.
        statuses = [status for status, _ in ask("mallory", (MACHINES["server"], 5000), forged(2 * LIMIT))]
        assert 429 in statuses

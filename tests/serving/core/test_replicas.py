"""Two servers behind nginx, as deploy/ has it: one ends under load, and no request is lost."""

import json
import re
import runpy
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from contextlib import ExitStack
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
from tests.serving.live import PATIENCE_S, Live, live

from attendo.serving.config_file import load_config

PROJECT = Path(__file__).parents[3]
DEPLOY = PROJECT / "deploy"
BENCHMARK = runpy.run_path(str(PROJECT / "benchmarks" / "serving.py"))
free_port, is_ready, nginx = (BENCHMARK[name] for name in ("free_port", "is_ready", "nginx"))
BODY = json.dumps({"text": "one red dogs see us.", "source": "en", "target": "de"}).encode()

needs_nginx = pytest.mark.skipif(shutil.which("nginx") is None, reason="nginx is not installed")


def test_the_settings_of_the_container_can_be_meant() -> None:
    config = load_config(DEPLOY / "serve.toml")
    assert config.server.host == "0.0.0.0"
    assert config.models.eager
    assert config.server.trusted_proxies == (), "whoever reaches the port could claim any address"


def test_compose_trusts_the_address_that_it_gives_to_nginx() -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    (trusted,) = re.findall(r'server\.trusted_proxies=\["([^"]+)"\]', text)
    (address,) = re.findall(r"ipv4_address: ([\d.]+)", text)
    (subnet,) = re.findall(r"subnet: ([\d./]+)", text)
    assert trusted == address
    assert ip_address(address) in ip_network(subnet)


@pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed: apt-get install systemd"
)
def test_the_unit_can_be_meant(tmp_path: Path) -> None:
    text = (DEPLOY / "attendo.service").read_text(encoding="utf-8")
    unit = tmp_path / "attendo.service"
    unit.write_text(text.replace("/opt/attendo/bin/attendo", f'"{sys.executable}"'), encoding="utf-8")
    found = subprocess.run(["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")


@needs_nginx
def test_a_replica_ends_under_load_and_no_request_is_lost(tmp_path: Path, model_folder: Path) -> None:
    statuses: list[int] = []
    over = threading.Event()
    front = free_port()

    def ask() -> None:
        while not over.is_set():
            request = urllib.request.Request(
                f"http://127.0.0.1:{front}/api/translate", BODY, headers={"Content-Type": "application/json"}
            )
            try:
                with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                    answer.read()
                    statuses.append(answer.status)
            except urllib.error.HTTPError as error:
                statuses.append(error.code)
                error.close()

    with ExitStack() as stack:
        proxies = 'server.trusted_proxies=["127.0.0.1"]'
        one, two = (stack.enter_context(live([f"m={model_folder}"], proxies)) for _ in range(2))
        ports = [each.address[1] for each in (one, two)]
        stack.enter_context(nginx(tmp_path, front, ports, "least_conn"))
        assert [is_ready(port) for port in ports] == [True, True]
        askers = [threading.Thread(target=ask) for _ in range(6)]
        for each in askers:
            each.start()
        try:
            wait_for(statuses, 40)
            one.running.should_exit = True
            while one.running.server_state.connections or is_ready(ports[0]):
                wait_for(statuses, len(statuses) + 1)
            wait_for(statuses, len(statuses) + 40)
        finally:
            over.set()
            for each in askers:
                each.join(PATIENCE_S)
        assert set(statuses) == {200}
        for server in (one, two):  # both have worked
            assert num_requests(server) > 5


@needs_nginx
def test_a_caller_always_reaches_the_replica_that_has_his_glossaries(tmp_path: Path, model_folder: Path) -> None:
    front = free_port()

    def replica_of(headers: dict[str, str]) -> int:
        before = [num_requests(server) for server in servers]
        request = urllib.request.Request(
            f"http://127.0.0.1:{front}/api/translate", BODY, headers={"Content-Type": "application/json", **headers}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            answer.read()
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:  # a request is counted after its answer
            for number, server in enumerate(servers):
                if num_requests(server) > before[number]:
                    return number
            time.sleep(0.005)
        raise AssertionError("no replica has counted the request")

    with ExitStack() as stack:
        proxies = 'server.trusted_proxies=["127.0.0.1"]'
        servers = [stack.enter_context(live([f"m={model_folder}"], proxies)) for _ in range(2)]
        stack.enter_context(nginx(tmp_path, front, [server.address[1] for server in servers]))
        used = set()
        for key in map(str, range(12)):
            ways = ({"X-API-Key": key}, {"Authorization": f"Bearer {key}"}, {"Authorization": f"DeepL-Auth-Key {key}"})
            (replica,) = {replica_of(headers) for headers in ways for _ in range(3)}
            used.add(replica)
        assert used == {0, 1}
        assert len({replica_of({}) for _ in range(6)}) == 1, "without a key the address is the caller"


@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")
def test_no_request_is_refused_or_broken_under_load(tmp_path: Path) -> None:
    # A shipped model: one with random weights decodes up to the limit, and such lines leave their batches to end alone.
    with live(["en-de"]) as server:
        load = BENCHMARK["wrk"](server.address[1], 32, 5, tmp_path)
        assert (load.refused, load.broken) == (0, 0)
        assert load.per_s > 0
        value = server.server.service.metrics.registry.get_sample_value
        assert value("attendo_lines_put_back_total") == 0
        lines, batches = value("attendo_batch_lines_sum"), value("attendo_batch_lines_count")
        assert lines is not None
        assert batches is not None
        assert lines > 2 * batches, "what waited together was not worked on together"


def num_requests(server: Live) -> float:
    """The number of translations that a server has answered."""
    labels = {"method": "POST", "path": "/api/translate", "status": "200"}
    return server.server.service.metrics.registry.get_sample_value("attendo_http_requests_total", labels) or 0


def wait_for(statuses: list[int], count: int) -> None:
    reached = threading.Event()
    for _ in range(PATIENCE_S * 100):
        if len(statuses) >= count:
            return
        reached.wait(0.01)
    raise AssertionError(f"{len(statuses)} answers in {PATIENCE_S} s")

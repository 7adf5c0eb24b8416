"""How a server bears load, by wrk against real processes: requests a second, latencies, a soak, replicas behind nginx.

    python benchmarks/serving.py load [MODEL] [--seconds 8] [--connections 1,8,64] [--repetitions 3] [--set KEY=VALUE]
    python benchmarks/serving.py soak [MODEL] [--minutes 10]
    python benchmarks/serving.py replicas [MODEL] [--seconds 8]

`load` measures `attendo serve` beside what one writes in ten lines: FastAPI, the same model, one request at a time
under a lock with all cores on it; both in one run, by turns, medians and ratios. Each request is one sentence of a
list, by chance. `soak` sends all kinds of requests, also ones that are wrong, too long or given up, and follows the
memory. `replicas` starts two servers behind nginx as deploy/nginx.conf has it, and ends one of them under load.

wrk and, for `replicas`, nginx have to be installed; generator and server share the machine's cores.
"""

import argparse
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

SENTENCES = (
    "Good morning!",
    "Where is the station?",
    "I do not know where he lives.",
    "The weather is nice today, and we are going to the park.",
    "Could you please tell me how to get to the museum?",
    "She has been working here for three years.",
    "The train was late again this morning because of the snow.",
    "What do you want to eat tonight?",
    "My brother bought a new car last week, but he does not like it.",
    "There is nothing we can do about it now.",
    "A man in a red shirt is standing on a ladder and cleaning the windows of a tall building.",
    "Two young girls are playing with a ball on the beach while their mother reads a book.",
    "If I had known that you were coming, I would have cooked something for all of us.",
    "Thank you.",
    "We have to leave at half past seven.",
    "Nobody told me that the meeting had been moved to Thursday afternoon.",
    "He opened the door, looked around and went back into the house without saying a word.",
    "This book is much more interesting than the one I read last month.",
    "Please close the window.",
    "The children were tired after the long walk through the forest.",
    "How much does this cost?",
    "She speaks three languages, but she has never lived in another country.",
    "I am looking for a small hotel near the old town.",
    "The doctor said that he should drink more water and sleep longer.",
)
_SCRIPT = """
local bodies = {{ {bodies} }}
local number = 0
function setup(thread) thread:set("seed", number) number = number + 1 end
function init(arguments) math.randomseed(seed * 7919 + 17) end
function request()
  return wrk.format("POST", nil, {{["Content-Type"] = "application/json"}}, bodies[math.random(#bodies)])
end
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('RESULT {{"requests": %d, "us": %d, "p50": %.0f, "p99": %.0f, "status": %d, "socket": %d}}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), e.status,
    e.connect + e.read + e.write + e.timeout))
end
"""
_PLAIN = """
import sys, threading, torch, uvicorn
from fastapi import FastAPI
import attendo
app, engine, lock = FastAPI(), attendo.load(sys.argv[1], threads=int(sys.argv[3])), threading.Lock()
@app.get("/ready")
def ready(): return {}
@app.post("/api/translate")
def translate(body: dict):
    with lock: return {"text": engine.translate([body["text"]])[0].text}
uvicorn.run(app, port=int(sys.argv[2]), log_level="error", access_log=False)
"""


@dataclass(frozen=True)
class Load:
    """What wrk has counted."""

    per_s: float
    p50_ms: float
    p99_ms: float
    refused: int
    """Answers of 400 and above."""
    broken: int
    """Connections that failed."""


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def process(command: Sequence[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A server that is ready."""
    with (Path(tempfile.gettempdir()) / f"serving-{port}.log").open("w+b") as log:
        started = subprocess.Popen(command, stderr=log, stdout=log)
        try:
            until = time.monotonic() + 120
            while not is_ready(port):
                if started.poll() is not None or time.monotonic() > until:
                    log.seek(0)
                    sys.exit(f"{' '.join(command)}: does not get ready\n{log.read().decode()[-2000:]}")
                time.sleep(0.05)
            yield started
        finally:
            started.send_signal(signal.SIGTERM)
            started.wait(90)


def is_ready(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def attendo_command(model: str, port: int, settings: Sequence[str]) -> list[str]:
    chosen = [part for setting in ("log.requests=false", *settings) for part in ("--set", setting)]
    return [sys.executable, "-m", "attendo", "serve", f"m={model}", "--port", str(port), *chosen]


def plain_command(model: str, port: int) -> list[str]:
    return [sys.executable, "-c", _PLAIN, model, str(port), str(len(os.sched_getaffinity(0)))]


def wrk(port: int, connections: int, seconds: float, folder: Path) -> Load:
    bodies = [json.dumps({"text": text, "source": "en", "target": "de"}) for text in SENTENCES]
    script = folder / "wrk.lua"
    script.write_text(_SCRIPT.format(bodies=", ".join(f"[[{body}]]" for body in bodies)), encoding="utf-8")
    command = ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds:g}s", "--timeout", "60s", "-s", str(script)]
    ran = subprocess.run(
        [*command, f"http://127.0.0.1:{port}/api/translate"], check=True, capture_output=True, text=True
    )
    found = re.search(r"^RESULT (.*)$", ran.stdout, re.MULTILINE)
    assert found is not None, ran.stdout
    told = json.loads(found[1])
    return Load(
        per_s=told["requests"] / (told["us"] / 1e6),
        p50_ms=told["p50"] / 1000,
        p99_ms=told["p99"] / 1000,
        refused=told["status"],
        broken=told["socket"],
    )


def middle(loads: Sequence[Load]) -> Load:
    """The median of each figure; what went wrong is summed up."""
    return Load(
        per_s=statistics.median(each.per_s for each in loads),
        p50_ms=statistics.median(each.p50_ms for each in loads),
        p99_ms=statistics.median(each.p99_ms for each in loads),
        refused=sum(each.refused for each in loads),
        broken=sum(each.broken for each in loads),
    )


def load(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        ports = {"attendo serve": free_port(), "one at a time": free_port()}
        commands = (
            attendo_command(options.model, ports["attendo serve"], options.settings),
            plain_command(options.model, ports["one at a time"]),
        )
        for command, port in zip(commands, ports.values(), strict=True):
            stack.enter_context(process(command, port))
            wrk(port, 4, 1, folder)  # warm
        print(
            "connections  server          requests/s   p50 ms   p99 ms  refused  broken   ratio of requests/s, p50, p99"
        )
        for connections in options.connections:
            found: dict[str, list[Load]] = {server: [] for server in ports}
            for _ in range(options.repetitions):
                for server, port in ports.items():
                    found[server].append(wrk(port, connections, options.seconds, folder))
            ours, plain = (middle(found[server]) for server in ports)
            for server, each in zip(ports, (ours, plain), strict=True):
                ratio = ""
                if each is ours:
                    ratio = f"{ours.per_s / plain.per_s:.2f}, {ours.p50_ms / plain.p50_ms:.2f}, "
                    ratio += f"{ours.p99_ms / plain.p99_ms:.2f}"
                print(
                    f"{connections:11}  {server:14} {each.per_s:11.1f} {each.p50_ms:8.1f} {each.p99_ms:8.1f} "
                    f"{each.refused:8} {each.broken:7}   {ratio}",
                    flush=True,
                )


# --- soak -------------------------------------------------------------------------------------------------------------


def soak(options: argparse.Namespace) -> None:
    port = free_port()
    settings = ["limits.request_seconds=20", "documents.keep_seconds=5", *options.settings]
    with process(attendo_command(options.model, port, settings), port) as server:
        end = time.monotonic() + options.minutes * 60
        counts: dict[str, int] = {}
        clients = [
            threading.Thread(target=client, args=(port, number, end, counts)) for number in range(options.clients)
        ]
        for each in clients:
            each.start()
        samples: list[tuple[float, float]] = []
        started = time.monotonic()
        print("minute   MiB  answers so far")
        while time.monotonic() < end:
            time.sleep(min(options.every, max(0.1, end - time.monotonic())))
            minutes = (time.monotonic() - started) / 60
            samples.append((minutes, rss_mib(server.pid)))
            print(f"{minutes:6.1f} {samples[-1][1]:6.0f}  {dict(sorted(counts.items()))}", flush=True)
        for each in clients:
            each.join()
        later = [sample for sample in samples if sample[0] >= options.minutes / 4]
        slope = statistics.linear_regression(*zip(*later, strict=True)).slope
        print(
            f"after the first quarter: {later[0][1]:.0f} to {later[-1][1]:.0f} MiB, {slope:+.2f} MiB a minute "
            f"by least squares; highest {max(size for _, size in samples):.0f}"
        )
        print("answers by kind and status:", dict(sorted(counts.items())))


def client(port: int, number: int, end: float, counts: dict[str, int]) -> None:
    """Asks for this and that until the end."""
    generator = random.Random(number)
    while time.monotonic() < end:
        kind, method, path, body, headers = errand(generator)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.request(method, path, body, headers)
            if kind == "left":
                time.sleep(generator.random() * 0.02)
                result = "left"
            else:
                answer = connection.getresponse()
                answer.read()
                result = f"{kind} {answer.status}"
        except OSError as error:
            result = f"{kind} {type(error).__name__}"
        finally:
            connection.close()
        counts[result] = counts.get(result, 0) + 1


def errand(generator: random.Random) -> tuple[str, str, str, bytes, dict[str, str]]:
    """Something that a client may want: its kind, method, path, body and headers."""
    some = generator.choices(SENTENCES, k=generator.choice((1, 1, 1, 3, 40)))
    text = " ".join(some)
    json_kind = {"Content-Type": "application/json"}
    body: dict[str, object] = {"text": text, "source": "en", "target": "de"}
    match generator.randrange(10):
        case 0:
            return "n-best", "POST", "/api/translate", encoded(body | {"n_best": 4, "alignment": True}), json_kind
        case 1:
            return "stream", "POST", "/api/translate", encoded(body | {"stream": True}), json_kind
        case 2:
            options = {"beam_size": generator.randint(1, 8), "length_penalty": generator.random()}
            return "options", "POST", "/api/translate", encoded(body | options), json_kind
        case 3:
            return "wrong", "POST", "/api/translate", b'{"text": \xff', json_kind
        case 4:
            return "too large", "POST", "/api/translate", encoded(body | {"text": "x" * 30_000}), json_kind
        case 5:
            return "left", "POST", "/api/translate", encoded(body), json_kind
        case 6:
            return "attention", "POST", "/api/attention", encoded({"text": some[0], "target_lang": "de"}), json_kind
        case 7:
            part = '--b\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n{}\r\n'
            parts = part.format("file", '; filename="a.txt"', text) + part.format("source", "", "en")
            document = (parts + part.format("target", "", "de") + "--b--\r\n").encode()
            return "document", "POST", "/api/documents", document, {"Content-Type": "multipart/form-data; boundary=b"}
        case 8:
            return "page", "GET", generator.choice(("/", "/metrics", "/openapi.json", "/nothing")), b"", {}
        case _:
            return "text", "POST", "/api/translate", encoded(body), json_kind


def encoded(body: dict[str, object]) -> bytes:
    return json.dumps(body).encode()


def rss_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


# --- replicas ---------------------------------------------------------------------------------------------------------


def replicas(options: argparse.Namespace) -> None:
    ports, front = (free_port(), free_port()), free_port()
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        settings = ["batching.threads=1", "server.drain_seconds=1", *options.settings]
        one, two = (
            stack.enter_context(process(attendo_command(options.model, port, settings), port)) for port in ports
        )
        stack.enter_context(nginx(folder, front, ports, "least_conn"))  # wrk is a single caller
        print(f"ready: {[is_ready(port) for port in ports]}")
        for server, port in (("one replica", ports[0]), ("two behind nginx", front)):
            tell(server, wrk(port, 64, options.seconds, folder))
        killer = threading.Timer(options.seconds / 2, lambda: one.send_signal(signal.SIGTERM))
        killer.start()
        tell("one ended by SIGTERM half-way", wrk(front, 64, options.seconds, folder))
        one.wait(90)
        print(f"its status: {one.returncode}; ready: {[is_ready(port) for port in ports]}")
        with process(attendo_command(options.model, ports[0], settings), ports[0]):
            time.sleep(options.fail_s + 1)
            tell("and back again", wrk(front, 64, options.seconds, folder))
            print(f"ready: {[is_ready(port) for port in ports]}; {two.pid} ran all the time: {two.poll() is None}")


def tell(name: str, each: Load) -> None:
    print(
        f"{name:30} {each.per_s:8.1f} requests/s, p50 {each.p50_ms:.1f} ms, p99 {each.p99_ms:.1f} ms, "
        f"refused {each.refused}, broken {each.broken}",
        flush=True,
    )


@contextmanager
def nginx(folder: Path, port: int, upstream: Sequence[int], balance: str = "hash $caller consistent") -> Iterator[None]:
    """nginx as deploy/nginx.conf has it, with other ports and possibly another way to choose a replica."""
    text = (Path(__file__).parents[1] / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    servers = "\n".join(f"server 127.0.0.1:{each} max_fails=1 fail_timeout=2s;" for each in upstream)
    text = re.sub(r"(?m)^\s*server attendo-\d.*;$\n?", "", text).replace("# replicas", servers)
    text = text.replace("listen 80;", f"listen 127.0.0.1:{port};")
    text = re.sub(r"(?m)^\s*limit_(req|conn) .*$", "", text)  # all come from one address
    text = text.replace("hash $caller consistent", balance)
    text = re.sub(r"(?m)^(pid|error_log|user) .*$", "", text).replace("access_log /dev/stdout", "access_log off; #")
    (folder / "nginx.conf").write_text(
        f"pid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n{text}", encoding="utf-8"
    )
    started = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "daemon off;"])
    try:
        until = time.monotonic() + 20
        while not is_ready(port):
            if time.monotonic() > until:
                sys.exit((folder / "error.log").read_text(encoding="utf-8"))
            time.sleep(0.05)
        yield
    finally:
        started.terminate()
        started.wait(20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("load", "soak", "replicas"))
    parser.add_argument("model", nargs="?", default="en-de")
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--connections", type=lambda text: [int(each) for each in text.split(",")], default=[1, 8, 64])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--every", type=float, default=15, help="seconds between two looks at the memory")
    parser.add_argument("--clients", type=int, default=8, help="of the soak")
    parser.add_argument("--fail-s", type=float, default=2, help=argparse.SUPPRESS)
    parser.add_argument("--set", dest="settings", action="append", default=[], metavar="SECTION.KEY=VALUE")
    options = parser.parse_args()
    for program in ("wrk", "nginx") if options.mode == "replicas" else ("wrk",):
        if shutil.which(program) is None:
            sys.exit(f"{program} is not installed")
    {"load": load, "soak": soak, "replicas": replicas}[options.mode](options)


if __name__ == "__main__":
    main()

"""What one client waits beside others that send hostile texts, and how soon a client who leaves frees his thread.

    python benchmarks/bystander.py waits [MODEL] [--requests 1000] [--runs 3] [--connections 1,8] [--kinds 30]
    python benchmarks/bystander.py leaving [MODEL] [--times 200]

`waits` starts `attendo serve` and measures a bystander: one connection, a sentence of about 60 characters at a time,
first alone, then beside attackers on so many connections for each kind of text. p50, p99 and the longest wait are
medians of the runs; `bound` is three times the quiet p99 and the longest step that the server tells of itself. Clients
and attackers have a lower priority than the server, on the same cores; the attackers have another address, unless
`--same-address` is given. Texts are drawn by `tests/hostile/kinds.py`.

`leaving` sends what takes seconds, closes the connection amid it, and follows the server's metrics until no batch is in
work any more.
"""

import argparse
import http.client
import json
import multiprocessing
import os
import re
import runpy
import statistics
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess
from pathlib import Path
from random import Random
from typing import Any

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))  # for the tests' package

from tests.hostile.kinds import KINDS  # noqa: E402

Kinds = Mapping[str, Callable[[Random, int], str]]
DOCUMENT = "a document"
"""The kind that is sent as a document, not as a text."""
_CHARACTERS = 4_000
_SENTENCES = (
    "The train was late again this morning because of the snow.",
    "Could you please tell me how to get to the old museum now?",
    "She has been working here for three years, and likes it.",
    "There is nothing that any of us can do about it now, is it?",
    "If I had known that you were here, I would have come too.",
)


def drawn_document(rng: Random, size: int) -> str:
    """Fifty times as much text as the others send."""
    return "\n".join(rng.choices(_SENTENCES, k=50 * size // 60))


def kinds_of(number: int) -> Kinds:
    """So many of the project's hostile kinds, from all over their table; documents are always among them."""
    names = list(KINDS)
    chosen = [names[index * len(names) // number] for index in range(min(number, len(names)))]
    return {**{name: KINDS[name] for name in chosen}, DOCUMENT: drawn_document}


@dataclass(frozen=True)
class Waits:
    """What a bystander waited, in milliseconds."""

    p50: float
    p99: float
    longest: float
    failed: int
    """Answers other than 200."""


# --- attackers, in a process of their own -----------------------------------------------------------------------------


def attack(port: int, kind: str, connections: int, address: str, seed: int, kinds: int) -> None:
    """Sends texts of a kind on so many connections, one after the other, until the process is ended, or its parent."""
    os.nice(10)
    draw, parent = kinds_of(kinds)[kind], os.getppid()
    for number in range(connections):
        arguments = port, kind, draw, address, Random(f"{seed} {number}")
        threading.Thread(target=_attack, args=arguments, daemon=True).start()
    while os.getppid() == parent:
        time.sleep(1)


def _attack(port: int, kind: str, draw: Callable[[Random, int], str], address: str, rng: Random) -> None:
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120, source_address=(address, 0))
        try:
            if kind == DOCUMENT:
                _send_document(connection, draw(rng, _CHARACTERS))
                time.sleep(1)
            else:
                body = json.dumps({"text": draw(rng, _CHARACTERS), "source": "en", "target": "de"})
                connection.request("POST", "/api/translate", body, {"Content-Type": "application/json"})
            connection.getresponse().read()
        except OSError:
            time.sleep(0.1)
        finally:
            connection.close()


def _send_document(connection: http.client.HTTPConnection, text: str) -> None:
    field = '--b\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n{}\r\n'
    parts = [("source", "", "en"), ("target", "", "de"), ("file", '; filename="a.txt"', text)]
    body = "".join(field.format(*part) for part in parts) + "--b--\r\n"
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    connection.request("POST", "/api/documents", body.encode(), headers)


@contextmanager
def attackers(port: int, kind: str | None, connections: int, options: argparse.Namespace, seed: int) -> Any:
    """Attackers at work, from a second before."""
    process: SpawnProcess | None = None
    if kind is not None:
        address = "127.0.0.1" if options.same_address else "127.0.0.2"
        arguments = port, kind, connections, address, seed, options.kinds
        process = multiprocessing.get_context("spawn").Process(target=attack, args=arguments)
        process.start()
        time.sleep(2.5)
    try:
        yield
    finally:
        if process is not None:
            process.kill()
            process.join()
            wait_until_free(port)


# --- the server -------------------------------------------------------------------------------------------------------


def figure(port: int, name: str) -> float:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
        found = re.search(rf"^{name} (\S+)$", answer.read().decode(), re.MULTILINE)
    assert found is not None, name
    return float(found[1])


def is_free(port: int) -> bool:
    return figure(port, "attendo_busy_threads") == 0 == figure(port, "attendo_batches_held_up")


def wait_until_free(port: int) -> None:
    end = time.monotonic() + 600
    while not is_free(port) or figure(port, "attendo_waiting_lines"):
        if time.monotonic() > end:
            sys.exit("the server is still at work after ten minutes")
        time.sleep(0.2)


def bystander(port: int, requests: int) -> Waits:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    waits, failed = [], 0
    for number in range(requests):
        text = f"{_SENTENCES[number % len(_SENTENCES)][:-1]} {number}."
        body = json.dumps({"text": text, "source": "en", "target": "de"})
        started = time.perf_counter()
        connection.request("POST", "/api/translate", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        waits.append(1000 * (time.perf_counter() - started))
        failed += answer.status != 200
    connection.close()
    waits.sort()
    return Waits(statistics.median(waits), waits[int(0.99 * (len(waits) - 1))], waits[-1], failed)


def middle(runs: Sequence[Waits]) -> Waits:
    """The medians of runs; failures are summed up."""
    return Waits(
        statistics.median(run.p50 for run in runs),
        statistics.median(run.p99 for run in runs),
        statistics.median(run.longest for run in runs),
        sum(run.failed for run in runs),
    )


def waits(port: int, options: argparse.Namespace) -> None:
    def measured(kind: str | None, connections: int) -> Waits:
        runs = []
        for run in range(options.runs):
            with attackers(port, kind, connections, options, options.seed + run):
                runs.append(bystander(port, options.requests))
        return middle(runs)

    bystander(port, 50)  # warm
    quiet = measured(None, 0)
    row = "{:24} {:>11} {:8.1f} {:8.1f} {:8.1f} {:>7} {:>8}"
    print("kind                     connections   p50 ms   p99 ms  longest  failed  p99 / quiet")
    print(row.format("quiet", 0, quiet.p50, quiet.p99, quiet.longest, quiet.failed, ""), flush=True)
    cells = []
    for kind in kinds_of(options.kinds):
        for connections in options.connections:
            found = measured(kind, connections)
            cells.append(found)
            ratio = f"{found.p99 / quiet.p99:.2f}"
            print(
                row.format(kind[:24], connections, found.p50, found.p99, found.longest, found.failed, ratio), flush=True
            )
    step = 1000 * figure(port, "attendo_longest_step_seconds")
    bound = 3 * quiet.p99 + step
    within = sum(cell.p99 <= bound for cell in cells)
    print(f"longest step {step:.1f} ms; bound {bound:.1f} ms; within it {within} of {len(cells)}")


# --- leaving ----------------------------------------------------------------------------------------------------------


def leaving(port: int, options: argparse.Namespace) -> None:
    rng, kinds = Random(options.seed), [kind for kind in kinds_of(options.kinds) if kind != DOCUMENT]
    took: list[float] = []
    done_before = 0
    while len(took) < options.times:
        text = kinds_of(options.kinds)[rng.choice(kinds)](rng, _CHARACTERS)
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        body = json.dumps({"text": text, "source": "en", "target": "de"})
        connection.request("POST", "/api/translate", body, {"Content-Type": "application/json"})
        time.sleep(rng.uniform(0.03, 0.3))
        if is_free(port):
            done_before += 1
            connection.close()
            if done_before > 20 * options.times:
                sys.exit("hardly any text takes long enough to be left")
            continue
        started = time.perf_counter()
        connection.close()
        while not is_free(port):
            pass
        took.append(1000 * (time.perf_counter() - started))
    took.sort()
    p95 = took[int(0.95 * (len(took) - 1))]
    print(
        f"from leaving to the freed thread, {len(took)} times: p50 {statistics.median(took):.1f} ms, p95 {p95:.1f} ms, "
        f"longest {took[-1]:.1f} ms ({done_before} were answered before)"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("waits", "leaving"))
    parser.add_argument("model", nargs="?", default="en-de")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--times", type=int, default=200)
    parser.add_argument("--kinds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--connections", type=lambda text: [int(each) for each in text.split(",")], default=[1, 8])
    parser.add_argument("--same-address", action="store_true")
    parser.add_argument("--set", dest="settings", action="append", default=[])
    options = parser.parse_args()
    serving = runpy.run_path(str(PROJECT / "benchmarks" / "serving.py"))
    port = serving["free_port"]()
    with serving["process"](serving["attendo_command"](options.model, port, options.settings), port):
        os.nice(10)
        (waits if options.what == "waits" else leaving)(port, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())

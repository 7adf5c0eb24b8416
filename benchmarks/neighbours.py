"""Measures what busy neighbours cost: attendo alone, beside one and beside two busy loops, one checkout beside another.

    python benchmarks/neighbours.py train --data ../shared/data/multi30k --side now . --side before ../before
    python benchmarks/neighbours.py translate serve prepare --data ../shared/data/multi30k --side now . --seconds 20
    python benchmarks/neighbours.py train --data ... --side now . --side passive . OMP_WAIT_POLICY=passive

By turns: in each turn every side is measured under every load, for `--seconds` each, while the other sides' processes
are stopped. A side is a checkout with its native kernels built, and variables that it is given. The neighbours are
Python loops of the same priority. Where attendo has as many threads as there are cores, its fair share beside n of them
on c cores is c / (c + n) of what it does alone.

Work: `train` makes updates by the recipe multi30k-en-de (updates/s); `translate` translates a long file (lines/s);
`line` waits for each translation before it gives the next line (lines/s); `serve` is asked by four clients
(requests/s); `prepare` prepares the corpus again and again (times an hour).
"""

import argparse
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from itertools import cycle
from pathlib import Path
from threading import Event, Thread
from typing import Any

from attendo.evaluation.estimates import estimate

SETTLE_S = 3.0
BUSY = [sys.executable, "-c", "while True: pass"]


@dataclass(frozen=True)
class Side:
    """A checkout that is measured."""

    name: str
    environment: dict[str, str]

    @classmethod
    def of(cls, words: Sequence[str]) -> "Side":
        name, checkout, *variables = words
        own = {"PYTHONPATH": str(Path(checkout).resolve() / "src")}
        return cls(name, {**os.environ, **own, **dict(each.split("=", 1) for each in variables)})

    def start(self, *arguments: object, **options: Any) -> "subprocess.Popen[bytes]":
        """Starts a command of attendo in a process group of its own, which can be stopped as one."""
        command = [sys.executable, "-m", "attendo", *map(str, arguments)]
        return subprocess.Popen(command, env=self.environment, start_new_session=True, **options)


@dataclass(frozen=True)
class Worker:
    """Work that goes on until it is stopped."""

    process: Callable[[], "subprocess.Popen[bytes]"]
    """Whose group is stopped while others are measured."""
    count: Callable[[], float]
    """How much is done by now."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", nargs="+", choices=list(WORK))
    parser.add_argument("--data", type=Path, required=True, help="Multi30k's folder")
    parser.add_argument("--side", action="append", nargs="+", required=True, metavar="NAME CHECKOUT [VAR=VALUE]")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--neighbours", type=int, nargs="+", default=[0, 1, 2])
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no busy loop outlives it
    sides = [Side.of(words) for words in arguments.side]
    print(f"{processor()}, {len(os.sched_getaffinity(0))} cores; {arguments.turns} turns of {arguments.seconds:g} s")
    for work in arguments.work:
        rates: dict[tuple[str, int], list[float]] = {}
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            workers = {}
            for side in sides:
                own = Path(folder) / side.name
                own.mkdir()
                workers[side.name] = stack.enter_context(WORK[work](side, arguments.data.resolve(), own))
            for turn in range(arguments.turns):
                for neighbours in arguments.neighbours:
                    for name in list(workers)[:: 1 if turn % 2 else -1]:
                        rate = measure(workers[name], neighbours, arguments.seconds)
                        rates.setdefault((name, neighbours), []).append(rate)
                        row = {
                            "work": work,
                            "side": name,
                            "neighbours": neighbours,
                            "turn": turn,
                            "rate": round(rate, 3),
                        }
                        print(json.dumps(row), flush=True)
        print(table(work, [side.name for side in sides], arguments.neighbours, rates), flush=True)


def measure(worker: Worker, neighbours: int, seconds: float) -> float:
    """What is done a second, beside so many busy loops."""
    loops = [subprocess.Popen(BUSY) for _ in range(neighbours)]
    send(worker, signal.SIGCONT)
    try:
        time.sleep(SETTLE_S)
        first, started = step(worker)
        time.sleep(seconds)
        last, ended = step(worker)
    finally:
        send(worker, signal.SIGSTOP)
        for loop in loops:
            loop.kill()
            loop.wait()
    return (last - first) / (ended - started)


def step(worker: Worker) -> tuple[float, float]:
    """Waits until more is done; gives how much that is, and the time."""
    before = worker.count()
    while worker.process().poll() is None:
        now = worker.count()
        if now > before:
            return now, time.monotonic()
        time.sleep(0.002)
    raise SystemExit(f"it ended by itself with status {worker.process().returncode}")


def send(worker: Worker, number: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(worker.process().pid, number)


@contextmanager
def running(worker: Worker) -> Iterator[Worker]:
    """Waits until the work has begun, and stops it; ends it behind the block."""
    try:
        step(worker)
        time.sleep(SETTLE_S)
        send(worker, signal.SIGSTOP)
        yield worker
    finally:
        send(worker, signal.SIGKILL)
        worker.process().wait()


@contextmanager
def train(side: Side, data: Path, folder: Path) -> Iterator[Worker]:
    settings = {
        "data.folder": data, "training.log_steps": 1, "training.max_minutes": 10000, "training.max_steps": 10**6,
        "training.checkpoint_steps": 10**6, "training.eval_steps": 10**6,
    }  # fmt: skip
    sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    prepared = folder / "prepared"
    side.start("prepare", "multi30k-en-de", "-o", prepared, "--set", f"data.folder={data}", **SILENT).wait()
    process = side.start("train", "multi30k-en-de", "--prepared", prepared, "-o", folder / "run", *sets, **SILENT)
    with running(Worker(lambda: process, Lines(folder / "run" / "metrics.jsonl").count)) as worker:
        yield worker


@contextmanager
def translate(side: Side, data: Path, folder: Path) -> Iterator[Worker]:
    text = (data / "train.en").read_text(encoding="utf-8")
    (folder / "text").write_text(text * 100, encoding="utf-8")
    output = folder / "output"
    with output.open("wb") as stream:
        process = side.start("translate", "en-de", folder / "text", stdout=stream, stderr=subprocess.DEVNULL)
    with running(Worker(lambda: process, Lines(output).count)) as worker:
        yield worker


@contextmanager
def line(side: Side, data: Path, folder: Path) -> Iterator[Worker]:
    lines = cycle((data / "train.en").read_bytes().splitlines(keepends=True))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    process = side.start("translate", "en-de", "--set", "search.window_lines=1", **pipes)
    done = 0

    def ask() -> None:
        nonlocal done
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(OSError):
            for source in lines:
                process.stdin.write(source)
                process.stdin.flush()
                if not process.stdout.readline():
                    return
                done += 1

    Thread(target=ask, daemon=True).start()
    with running(Worker(lambda: process, lambda: done)) as worker:
        yield worker


@contextmanager
def serve(side: Side, data: Path, folder: Path) -> Iterator[Worker]:
    port = 21000 + os.getpid() % 4000 + len(side.name)
    process = side.start("serve", "en-de", "--port", port, **SILENT)
    lines = cycle((data / "train.en").read_text(encoding="utf-8").splitlines())
    done, ended = [0] * 4, Event()

    def ask(client: int) -> None:
        while not ended.is_set():
            try:
                connection = HTTPConnection("127.0.0.1", port, timeout=600)
                while not ended.is_set():
                    body = json.dumps({"q": next(lines), "source": "en", "target": "de"})
                    connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
                    answer = connection.getresponse()
                    answer.read()
                    if answer.status != 200:
                        raise SystemExit(f"the server answers {answer.status}")
                    done[client] += 1
            except OSError:
                time.sleep(0.1)

    for client in range(len(done)):
        Thread(target=ask, args=(client,), daemon=True).start()
    try:
        with running(Worker(lambda: process, lambda: sum(done))) as worker:
            yield worker
    finally:
        ended.set()


@contextmanager
def prepare(side: Side, data: Path, folder: Path) -> Iterator[Worker]:
    """Prepares again and again; what is done of a preparation is counted by the megabytes that it has reported."""
    script = (
        'for i in $(seq 100000); do rm -rf out; "$0" -m attendo prepare multi30k-en-de -o out '
        f"--set data.folder='{data}' >/dev/null 2>&1 || exit 1; echo $i >>done; done"
    )
    process = subprocess.Popen(
        ["bash", "-c", script, sys.executable], cwd=folder, env=side.environment, start_new_session=True
    )
    with running(Worker(lambda: process, lambda: 3600 * Lines(folder / "done").count())) as worker:
        yield worker


class Lines:
    """Counts the lines of a file that grows."""

    def __init__(self, path: Path) -> None:
        self._path, self._read, self._lines = path, 0, 0

    def count(self) -> int:
        if self._path.exists():
            with self._path.open("rb") as file:
                file.seek(self._read)
                new = file.read()
            self._read += len(new)
            self._lines += new.count(b"\n")
        return self._lines


def table(work: str, names: Sequence[str], loads: Sequence[int], rates: dict[tuple[str, int], list[float]]) -> str:
    """Medians with their range, shares of the fair share, and the paired ratio of the first side to each other one."""
    cores = len(os.sched_getaffinity(0))
    rows = [f"\n{work:<10} {'neighbours':>10} {'median':>9} {'range':>19} {'of quiet':>9} {'of fair share':>14}  ratio"]
    for load in loads:
        for name in names:
            found = rates[name, load]
            share = statistics.median(found) / statistics.median(rates[name, loads[0]])
            fair = f"{share * (cores + load) / cores:>13.0%}" if load else " " * 13
            spread = f"{min(found):.2f} to {max(found):.2f}"
            row = f"{name:<10} {load:>10} {statistics.median(found):>9.2f} {spread:>19} {share:>9.0%} {fair} "
            rows.append(row + ("" if name == names[0] else f"  {paired(rates[names[0], load], found)} of {name}'s"))
    return "\n".join(rows)


def paired(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """The mean ratio of rates of the same turn, with its 95 % interval by Student's t."""
    found = estimate([one / other for one, other in zip(ours, theirs, strict=True)])
    half = found.half_width
    return f"{found.mean:.3f}" + ("" if half is None else f" ({found.mean - half:.3f} to {found.mean + half:.3f})")


def processor() -> str:
    for text in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if text.startswith("model name"):
            return text.split(":", 1)[1].strip()
    return platform.processor()


SILENT = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
WORK: dict[str, Callable[[Side, Path, Path], Any]] = {
    "train": train, "translate": translate, "line": line, "serve": serve, "prepare": prepare,
}  # fmt: skip


if __name__ == "__main__":
    main()

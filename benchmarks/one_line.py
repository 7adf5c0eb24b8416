"""One line from nothing to its translation: `attendo translate`, a Python script of attendo, and one of CTranslate2.

    python benchmarks/one_line.py [--model en-de] [--runs 15] [--json]

Each run is a process of its own, by turns: wall time from its start to its end, its processor time, which says more on
a busy machine, and the most memory it had (the resident set as Linux counts it, pages of mapped files included).
Python's bytecode is kept, as that of installed packages is: PYTHONDONTWRITEBYTECODE would have each run of a checkout
compile all that it imports. The model is exported for CTranslate2 with int8
weights, as `attendo export` writes it; the script for it does what its documentation shows, with SentencePiece, beam 4
and the length penalty of the model. `serve` is the time until the first answer of /health, with no model in use.
"""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

LINE = "Where is the train station, and when does the next train to Berlin leave?"
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
ATTENDO = "import sys, attendo; print(attendo.load(sys.argv[1]).translate(sys.argv[2]).text)"
CTRANSLATE2 = """
import sys
import ctranslate2, sentencepiece
folder, line = sys.argv[1:]
pieces = sentencepiece.SentencePieceProcessor(model_file=f"{folder}/source.spm")
translator = ctranslate2.Translator(folder, device="cpu", compute_type="int8")
[found] = translator.translate_batch([pieces.encode(line, out_type=str) + ["</s>"]], beam_size=4, length_penalty=1.2)
print(pieces.decode(found.hypotheses[0]))
"""


@dataclass(frozen=True, kw_only=True)
class Row:
    """Medians of one way."""

    way: str
    wall_s: float
    cpu_s: float
    max_rss_mb: float
    text: str


@dataclass(frozen=True)
class Run:
    """One process."""

    wall_s: float
    cpu_s: float
    max_rss_mb: float
    text: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="en-de")
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        ways = {
            "attendo translate": ([sys.executable, "-m", "attendo", "translate", arguments.model, "--quiet"], LINE),
            "attendo.load": ([sys.executable, "-c", ATTENDO, arguments.model, LINE], ""),
        }
        if exported := export(arguments.model, Path(scratch) / "ct2"):
            ways["ctranslate2, sentencepiece"] = ([sys.executable, "-c", CTRANSLATE2, str(exported), LINE], "")
        runs: dict[str, list[Run]] = {way: [] for way in ways}
        for number in range(arguments.runs + 1):
            for way, (command, given) in ways.items():
                found = run(command, given)
                if number:  # the first reads files that the system has not in memory yet
                    runs[way].append(found)
    rows = [medians(way, found) for way, found in runs.items()]
    serve_s = statistics.median(serving_s(arguments.model) for _ in range(3))
    if arguments.json:
        print(json.dumps({"processor": processor(), "rows": list(map(asdict, rows)), "serve_s": serve_s}, indent=2))
        return
    print(
        f"{processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, medians of {arguments.runs} runs"
    )
    for row in rows:
        figures = f"{row.wall_s:6.3f} s, {row.cpu_s:6.3f} s of processor time, {row.max_rss_mb:5.1f} MB"
        print(f"{row.way:<28} {figures}   {row.text}")
    print(f"{'attendo serve, to /health':<28} {serve_s:6.3f} s")


def export(model: str, folder: Path) -> Path | None:
    """The model as CTranslate2 has it; None where that is not installed."""
    command = [sys.executable, "-m", "attendo", "export", model, "--format", "ctranslate2", "--quantization", "int8"]
    finished = subprocess.run([*command, "-o", str(folder)], check=False, capture_output=True, text=True)
    if finished.returncode:
        print(finished.stderr, file=sys.stderr)
    return None if finished.returncode else folder


def run(command: Sequence[str], given: str) -> Run:
    """A process: its time, its memory and what it printed."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT)
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin, process.stdout:
        process.stdin.write(f"{given}\n".encode())
        process.stdin.close()
        text = process.stdout.read().decode().strip()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    cpu_s = usage.ru_utime + usage.ru_stime
    return Run(time.perf_counter() - started, cpu_s, usage.ru_maxrss / 1024, text)


def medians(way: str, runs: Sequence[Run]) -> Row:
    return Row(
        way=way,
        wall_s=round(statistics.median(each.wall_s for each in runs), 4),
        cpu_s=round(statistics.median(each.cpu_s for each in runs), 4),
        max_rss_mb=round(statistics.median(each.max_rss_mb for each in runs), 1),
        text=runs[0].text,
    )


def serving_s(model: str) -> float:
    """Seconds from the start of `attendo serve` to its first answer."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "attendo", "serve", model, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
        assert process.stderr is not None
        address = next(found[1] for line in process.stderr if (found := re.search(r"listening on (\S+)", line)))
        with urllib.request.urlopen(f"{address.rstrip('/')}/health", timeout=60):
            waited_s = time.perf_counter() - started
        process.terminate()
        process.stderr.read()
    return waited_s


def processor() -> str:
    """The processor's name."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    found = re.search(r"model name\s*:\s*(.+)", text)
    return found[1] if found else platform.machine()


if __name__ == "__main__":
    main()

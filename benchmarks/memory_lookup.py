"""How long a translation memory takes to be indexed and to answer, and the memory that answering needs.

    python benchmarks/memory_lookup.py --from en --to de --queries QUERIES.jsonl MEMORY.jsonl [MEMORY ...]
    python benchmarks/memory_lookup.py --from en --to de --queries QUERIES.jsonl --index PRODUCT.memory

Queries are the sources of any file that `--memory` takes; those of 5 to 60 words are looked up, as many as `--count`
says, in an order that a seed decides. Times are processor times, in milliseconds, which other programs do not change
much; the first query is asked of an index that was just opened, in a process of its own, whose largest resident memory
is what is printed.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from attendo.memory.building import build_index, memory_pairs
from attendo.memory.opening import open_memory

WORDS = range(5, 61)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("memories", nargs="*", type=Path, metavar="MEMORY")
    parser.add_argument("--from", dest="source", default="en")
    parser.add_argument("--to", dest="target", default="de")
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--index", type=Path, help="an index that is there; left out, one is built of the memories")
    parser.add_argument("--answer", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    languages = args.source, args.target
    if args.answer:
        answer(args.index, args.queries, languages)
        return
    with tempfile.TemporaryDirectory() as folder:
        index = args.index or built(Path(folder) / "index", args.memories, languages)
        texts = queries(args.queries, args.count, languages)
        path = Path(folder) / "queries.json"
        path.write_text(json.dumps(texts), encoding="utf-8")
        command = [sys.executable, __file__, "--answer", "--index", str(index), "--queries", str(path)]
        subprocess.run([*command, "--from", args.source, "--to", args.target], check=True)


def built(path: Path, memories: list[Path], languages: tuple[str, str]) -> Path:
    started = time.process_time()
    found = build_index(path, memories, languages)
    seconds, size = time.process_time() - started, path.stat().st_size / 1e6
    print(f"indexed {found.num_pairs:,} pairs ({found.num_entries:,} different) in {seconds:.1f} s: {size:.0f} MB")
    return path


def queries(path: Path, count: int, languages: tuple[str, str]) -> list[str]:
    texts = [pair.source.decode("utf-8", "replace") for pair in memory_pairs(path, languages)]
    random.Random(1).shuffle(texts)
    return [text for text in texts if len(text.split()) in WORDS][:count]


def answer(index: Path, path: Path, languages: tuple[str, str]) -> None:
    texts = json.loads(path.read_text(encoding="utf-8"))
    started = time.process_time()
    memory = open_memory([index], languages)
    times, kinds = [], Counter[str]()
    for text in texts:
        match = memory.match(text)
        times.append(1e3 * (time.process_time() - started))
        kinds[match.kind if match is not None else "none"] += 1
        started = time.process_time()
    first, warm = times[0], sorted(times[1:])
    at = {name: warm[int(part * (len(warm) - 1))] for name, part in (("p50", 0.5), ("p95", 0.95), ("max", 1.0))}
    # Not getrusage, whose figure begins with that of the process that has started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    largest = int(status.split("VmHWM:")[1].split()[0]) / 1024
    print(f"{memory.num_entries:,} pairs, {len(texts):,} queries: {dict(kinds)}")
    print(f"first {first:.1f} ms, then " + ", ".join(f"{name} {value:.1f} ms" for name, value in at.items()))
    print(f"largest resident memory {largest:.0f} MB, the interpreter's own included")


if __name__ == "__main__":
    main()

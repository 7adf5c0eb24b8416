"""Measures `attendo prepare` on generated corpora: pairs a second, and the peak memory of all its processes together.

    python benchmarks/prepare_corpus.py 1000000 10000000 --workers 2
    python benchmarks/prepare_corpus.py 1000000 --workers 1 2      # also shows whether the bytes are the same
    python benchmarks/prepare_corpus.py 1000000 --checkout ../before --workers 0    # a checkout without the option
    python benchmarks/prepare_corpus.py 170000 1700000 --tmx        # translation memories of about 100 MB and 1 GB

Memory is the proportional set size (PSS), so that what processes share is counted once; it is looked at five times a
second, on Linux. The issue's bound: the peak at 10M pairs is at most 200 MB above that at 1M.
"""

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvwz" for vowel in ("a", "e", "i", "o", "u", "ei", "au")]
_BLOCK = 10_000
_LOOK_EVERY_S = 0.2
_TIMED_FILES = ("report.json", "manifest.json")
_MEMORY = "memory.tmx"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", type=int, nargs="+", help="numbers of pairs")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], help="0 leaves the option out")
    parser.add_argument("--vocab-size", type=int, default=37000)
    parser.add_argument("--tmx", action="store_true", help="the pairs as a translation memory")
    parser.add_argument("--checkout", type=Path, default=Path(__file__).parents[1], help="whose src is measured")
    arguments = parser.parse_args()
    peaks = []
    for size in arguments.sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_corpus(folder, size)
            if arguments.tmx:
                write_memory(folder)
            for workers in arguments.workers:
                result = measure(folder, size, workers, arguments.vocab_size, arguments.checkout)
                peaks.append(result["peak_mb"])
                print(json.dumps(result), flush=True)
    print(f"largest peak above the first: {max(peaks) - peaks[0]:.0f} MB")


def measure(folder: Path, num_pairs: int, workers: int, vocab_size: int, checkout: Path) -> dict[str, Any]:
    """Prepares the pairs in a folder; gives times in seconds, the peak of memory in MB (10^6 bytes), and a checksum."""
    is_memory = (folder / _MEMORY).exists()
    files = f"file = '{_MEMORY}'" if is_memory else "source = 'source.txt'\ntarget = 'target.txt'"
    sample = "sample_pairs = 100000" if is_memory else ""  # as many of 100 MB as of 1 GB
    (folder / "recipe.toml").write_text(
        "[data]\nsource_language = 'en'\ntarget_language = 'de'\n[[data.corpora]]\nname = 'generated'\n"
        f"{files}\n"
        f"[tokenizer]\nvocab_size = {vocab_size}\n{sample}\n"
    )
    output = folder / f"prepared-{workers}"
    command = [sys.executable, "-m", "attendo", "prepare", str(folder / "recipe.toml"), "-o", str(output)]
    command += ["--workers", str(workers)] if workers else []
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve() / "src")}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    peak = 0
    while process.poll() is None:
        peak = max(peak, sum(pss_bytes(pid) for pid in family(process.pid)))
        time.sleep(_LOOK_EVERY_S)
    seconds = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return {
        "pairs": num_pairs,
        "kept": json.loads((output / "report.json").read_text())["total"]["kept"],
        "workers": workers,
        "corpus_mb": round(
            sum(path.stat().st_size for path in folder.glob(_MEMORY if is_memory else "*.txt")) / 1e6, 1
        ),
        "seconds": round(seconds, 1),
        "processor_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        "pairs_per_s": round(num_pairs / seconds),
        "peak_mb": round(peak / 1e6, 1),
        "content": content(output),
    }


def family(pid: int) -> Sequence[int]:
    """Gives a process and all that it started, and they."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):  # it has ended meanwhile
                status = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                parents.setdefault(int(status[1]), []).append(int(entry.name))
    found = [pid]
    for parent in found:
        found += parents.get(parent, [])
    return found


def pss_bytes(pid: int) -> int:
    """Gives a process's share of memory; 0 where it has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return 1024 * int(line.split()[1])
    return 0


def content(folder: Path) -> str:
    """Gives a checksum of all files of a prepared folder, but for the two that hold times."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in _TIMED_FILES:
            found.update(path.relative_to(folder).as_posix().encode())
            with path.open("rb") as file:
                found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()[:16]


def write_corpus(folder: Path, num_pairs: int) -> None:
    """Writes two files of sentences of made-up words, frequent and rare as in a language, a tenth of them repeated."""
    for seed, (name, num_words) in enumerate((("source.txt", 60_000), ("target.txt", 120_000))):
        rng = np.random.default_rng(seed)
        # Sentences are put together from halves, 3 to 8 words each: fast, and with 10^10 of them nearly all differ.
        halves = phrases(rng, words(rng, num_words), 100_000)
        with (folder / name).open("w", encoding="utf-8") as file:
            for block in sentences(rng, halves, num_pairs):
                file.write(block)


def write_memory(folder: Path) -> None:
    """Writes the two files of a corpus as one translation memory, some 600 bytes a unit, and removes them."""
    sides = [folder / name for name in ("source.txt", "target.txt")]
    with sides[0].open() as sources, sides[1].open() as targets, (folder / _MEMORY).open("w") as file:
        file.write('<?xml version="1.0"?>\n<tmx version="1.4"><header srclang="en" datatype="xml"/><body>\n')
        for number, (source, target) in enumerate(zip(sources, targets, strict=True)):
            file.write(
                f'<tu tuid="{number}" creationdate="20260101T120000Z" creationid="somebody" usagecount="1">\n'
                '  <prop type="x-project">The handbook of a machine with very many parts</prop>\n'
                '  <prop type="x-document">chapter-17-maintenance-and-repair.dita</prop>\n'
                '  <tuv xml:lang="en-US" changedate="20260101T120000Z">\n    <seg><bpt i="1">&lt;b&gt;</bpt>'
                f'{source[:-1]}<ept i="1">&lt;/b&gt;</ept></seg>\n  </tuv>\n'
                f'  <tuv xml:lang="de-DE">\n    <seg>{target[:-1]}</seg>\n  </tuv>\n</tu>\n'
            )
        file.write("</body></tmx>\n")
    for path in sides:
        path.unlink()


def words(rng: np.random.Generator, number: int) -> list[str]:
    """Gives words of one to four syllables."""
    lengths = rng.integers(1, 5, number).tolist()
    syllables = iter(rng.integers(len(_SYLLABLES), size=sum(lengths)).tolist())
    return ["".join(_SYLLABLES[next(syllables)] for _ in range(length)) for length in lengths]


def phrases(rng: np.random.Generator, lexicon: list[str], number: int) -> list[str]:
    """Gives phrases whose words are as frequent as their rank says (Zipf's law)."""
    ranks = (len(lexicon) ** rng.random((number, 8)) - 1).astype(np.int64).tolist()
    return [" ".join(lexicon[rank] for rank in row[: 3 + i % 6]) for i, row in enumerate(ranks)]


def sentences(rng: np.random.Generator, halves: list[str], number: int) -> Iterator[str]:
    """Yields blocks of lines; every tenth block is the one before, so that there are duplicates to find."""
    block = ""
    for start in range(0, number, _BLOCK):
        size = min(_BLOCK, number - start)
        if start // _BLOCK % 10 != 9 or size < _BLOCK:
            # Row i of a block has halves of one length on both sides, so that sources and targets are alike in it.
            chosen = rng.integers(len(halves) // 6, size=(size, 2)) * 6 + np.arange(size)[:, None] % 6
            block = "".join(f"{halves[first]} {halves[second]}.\n" for first, second in chosen.tolist())
        yield block


if __name__ == "__main__":
    main()

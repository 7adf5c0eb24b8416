"""Measures the peak memory of preparing generated corpora of several sizes, each in a process of its own.

    python benchmarks/prepare_memory.py 500000 5000000

The issue's bound: the peak at 5M pairs is at most 200 MB above that at 500K.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from attendo.text.corpora import CorpusConfig, DataConfig
from attendo.text.tokenization import TokenizerConfig
from attendo.workflow.prepare import prepare

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvwz" for vowel in ("a", "e", "i", "o", "u", "ei", "au")]
_BLOCK = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", type=int, nargs="+", help="numbers of pairs")
    parser.add_argument("--vocab-size", type=int, default=37000)
    parser.add_argument("--in-this-process", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.in_this_process:
        print(json.dumps(measure(arguments.sizes[0], arguments.vocab_size)))
        return
    peaks = []
    for size in arguments.sizes:
        command = [sys.executable, __file__, str(size), "--vocab-size", str(arguments.vocab_size), "--in-this-process"]
        result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        peaks.append(result["peak_mb"])
        print(json.dumps(result), flush=True)
    print(f"largest peak above the first: {max(peaks) - peaks[0]:.0f} MB")


def measure(num_pairs: int, vocab_size: int) -> dict[str, float]:
    """Prepares `num_pairs` generated pairs; gives the peak of resident memory in MB (10^6 bytes), and times."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        started = time.monotonic()
        write_corpus(folder, num_pairs)
        generated = time.monotonic()
        before = peak_mb()
        prepared = prepare(
            DataConfig(corpora=(CorpusConfig(name="generated", source="source.txt", target="target.txt"),)),
            TokenizerConfig(vocab_size=vocab_size),
            folder / "prepared",
            base_folder=folder,
            seed=1,
        )
        return {
            "pairs": num_pairs,
            "kept": prepared.report.kept,
            "peak_mb": peak_mb(),
            "peak_mb_before": before,
            "corpus_mb": sum(path.stat().st_size for path in folder.glob("*.txt")) / 1e6,
            "generating_s": round(generated - started, 1),
            "preparing_s": round(time.monotonic() - generated, 1),
        }


def write_corpus(folder: Path, num_pairs: int) -> None:
    """Writes two files of sentences of made-up words, frequent and rare as in a language, a tenth of them repeated."""
    for seed, (name, num_words) in enumerate((("source.txt", 60_000), ("target.txt", 120_000))):
        rng = np.random.default_rng(seed)
        # Sentences are put together from halves, 3 to 8 words each: fast, and with 10^10 of them nearly all differ.
        halves = phrases(rng, words(rng, num_words), 100_000)
        with (folder / name).open("w", encoding="utf-8") as file:
            for block in sentences(rng, halves, num_pairs):
                file.write(block)


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


def peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KB on Linux, bytes on macOS
    return round(peak / (1e6 if sys.platform == "darwin" else 1e3 / 1.024), 1)


if __name__ == "__main__":
    main()

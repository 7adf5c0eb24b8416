"""Measures what hostile text costs: every kind of tests/hostile beside ordinary sentences of as many characters.

    python benchmarks/hostile.py
    python benchmarks/hostile.py --model de-en --size 20000 --seeds 1 2 3 --sentences newstest2013.de
    python benchmarks/hostile.py --kind base64 "log lines"

Each seed is a round: the sentences first, then every kind, in int8 and with one thread. A kind's figure is the median
of its rounds' ratios to the sentences of the same round; the worst kinds come first. Sentences are drawn, or lines of a
file.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for the tests' package

from tests.hostile.kinds import KINDS
from tests.hostile.ordinary import sentences

import attendo


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="en-de")
    parser.add_argument("--size", type=int, default=20_000, help="characters of each text")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--kind", nargs="+", choices=list(KINDS), default=list(KINDS), metavar="KIND")
    parser.add_argument("--sentences", type=Path, help="a file with a sentence a line, in the model's source language")
    arguments = parser.parse_args()
    engine = attendo.load(arguments.model, dtype="int8", threads=1)
    engine.translate("Once, so that everything is in memory.")
    ratios: dict[str, list[float]] = {kind: [] for kind in arguments.kind}
    for seed in arguments.seeds:
        ordinary = seconds(engine, ordinary_text(arguments.sentences, seed, arguments.size, engine.source_language))
        print(f"seed {seed}: {arguments.size:,} characters of sentences take {ordinary:.2f} s", flush=True)
        for kind in arguments.kind:
            text = KINDS[kind](Random(seed), arguments.size)[: arguments.size]
            ratios[kind].append(seconds(engine, text) / ordinary)
    for kind, found in sorted(ratios.items(), key=lambda pair: -statistics.median(pair[1])):
        print(f"{kind:<28} {statistics.median(found):6.2f}  {min(found):.2f} to {max(found):.2f}")
    worst = max(statistics.median(found) for found in ratios.values())
    print(f"{len(ratios)} kinds, {len(arguments.seeds)} seeds: at most {worst:.2f} times what sentences take")


def ordinary_text(path: Path | None, seed: int, size: int, language: str) -> str:
    """Sentences in one text: drawn ones in a line, or those of a file, a line each, from where the seed says."""
    if path is None:
        return sentences(Random(seed), size, language)[:size]
    lines = path.read_text(encoding="utf-8").splitlines()
    start = Random(seed).randrange(len(lines))
    return "\n".join((lines[start:] + lines[:start]) * (1 + size // sum(map(len, lines))))[:size]


def seconds(engine: attendo.Engine, text: str) -> float:
    """The time that a text takes, by the clock of this process, since others may use the machine too."""
    started = time.process_time()
    engine.translate([text])
    return time.process_time() - started


if __name__ == "__main__":
    main()

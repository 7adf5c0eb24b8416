"""Whether a sentence's translation depends on what else is in its batch: tokens alone, together and shuffled.

    python benchmarks/batch_independence.py MODEL SOURCE [--lines N] [--beam-size N]

Prints how many lines have other tokens than alone, and the largest difference of their scores; ends with 1 if any has.
"""

import argparse
import random
import sys
from pathlib import Path

import attendo


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("source", type=Path)
    parser.add_argument("--lines", type=int, default=None)
    parser.add_argument("--beam-size", type=int, default=4)
    options = parser.parse_args()
    lines = options.source.read_text(encoding="utf-8").split("\n")[:-1][: options.lines]
    order = list(range(len(lines)))
    random.Random(1).shuffle(order)

    def translate(sentences: int, places: list[int]) -> dict[int, tuple[tuple[int, ...], float]]:
        search = {"beam_size": options.beam_size, "max_batch_sentences": sentences}
        engine = attendo.load(options.model, search=search)
        # A few at a time, in this order: what is in a batch with a line depends on it.
        found = {}
        for first in range(0, len(places), max(sentences, 1)):
            some = places[first : first + sentences]
            for place, translation in zip(some, engine.translate([lines[place] for place in some]), strict=True):
                found[place] = (translation.n_best[0].ids, translation.score)
        return found

    alone = translate(1, order)
    worst = 0
    for name, sentences, places in (
        ("batches of 7 in the file's order", 7, sorted(order)),
        ("batches of 32, shuffled", 32, order),
        ("batches of 64 in the file's order", 64, sorted(order)),
    ):
        found = translate(sentences, places)
        other = [place for place in order if found[place][0] != alone[place][0]]
        difference = max(abs(found[place][1] - alone[place][1]) for place in order)
        print(f"{name}: {len(other)} of {len(lines)} lines differ from alone; scores by {difference:.1e} at most")
        for place in other[:5]:
            print(f"  line {place + 1}: {lines[place]}")
        worst = max(worst, len(other))
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())

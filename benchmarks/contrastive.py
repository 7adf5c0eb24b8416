#!/usr/bin/env python
"""Measures how often a model finds a reference more probable than the same with one thing wrong, by kind.

    python benchmarks/contrastive.py MODEL SOURCE REFERENCE [--dtype int8] [--limit 2000] [--pairs pairs.tsv]

The pairs are made by rules (attendo.evaluation.contrastive). With --pairs they are written to a file of five columns,
kind, line, source, right, wrong, so that people can look through those of negation; --from scores the pairs of a file.
"""

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path

import attendo
from attendo.evaluation.contrastive import KINDS, ContrastivePair, contrastive_pairs, preferences
from attendo.workflow.lines import read_pairs

COLUMNS = ("kind", "line", "source", "right", "wrong")


def main() -> None:
    """Makes or reads the pairs, scores them and prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("source", type=Path)
    parser.add_argument("reference", type=Path)
    parser.add_argument("--dtype", default="int8")
    parser.add_argument("--limit", type=int, default=2000, help="pairs of a kind at most")
    parser.add_argument("--pairs", type=Path, help="write the pairs here")
    parser.add_argument("--from", dest="checked", type=Path, help="take these pairs in place of all that can be made")
    order = parser.parse_args()
    engine = attendo.load(order.model, dtype=order.dtype)
    if order.checked:
        pairs = read(order.checked)
    else:
        pairs = list(
            contrastive_pairs(
                *read_pairs(order.source, order.reference),
                source_language=engine.source_language,
                target_language=engine.target_language,
            )
        )
    pairs = [pair for kind in KINDS for pair in [each for each in pairs if each.kind == kind][: order.limit]]
    if order.pairs:
        write(order.pairs, pairs)
    right = engine.score([(pair.source, pair.right) for pair in pairs])
    wrong = engine.score([(pair.source, pair.wrong) for pair in pairs])
    found = preferences(pairs, (each.log_prob for each in right), (each.log_prob for each in wrong))
    print("| wrong is | pairs | the right one preferred | 95 % |\n|---|---|---|---|")
    for kind, each in found.items():
        print(f"| {kind} | {each.pairs:,} | {each.share:.1%} | {each.low:.1%} to {each.high:.1%} |")


def read(path: Path) -> list[ContrastivePair]:
    """The pairs of a file."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [ContrastivePair(**{**row, "line": int(row["line"])}) for row in rows]  # type: ignore[arg-type]


def write(path: Path, pairs: Sequence[ContrastivePair]) -> None:
    """Writes pairs to a file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write("\t".join(COLUMNS) + "\n")
        for pair in pairs:
            file.write("\t".join(str(getattr(pair, column)).replace("\t", " ") for column in COLUMNS) + "\n")
    print(f"wrote {path}", file=sys.stderr)


if __name__ == "__main__":
    main()

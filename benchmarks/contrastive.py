#!/usr/bin/env python
"""Writes contrastive pairs for people to look through, and measures a model's preferences on the pairs they left.

    python benchmarks/contrastive.py MODEL SOURCE REFERENCE --pairs pairs.tsv
    python benchmarks/contrastive.py MODEL --from pairs.tsv [--dtype int8]

The file has five columns: kind, line, source, right, wrong. `attendo evaluate MODEL --contrastive` measures the
preferences on all pairs.
"""

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path

import attendo
from attendo.evaluation.contrastive import ContrastivePair
from attendo.workflow.evaluation.contrast import measure_contrast, pairs_for
from attendo.workflow.lines import read_pairs

COLUMNS = ("kind", "line", "source", "right", "wrong")


def main() -> None:
    """Makes or reads the pairs; writes them, or scores them and prints a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("text", type=Path, nargs="*", metavar="FILE", help="the source and the reference")
    parser.add_argument("--dtype", default="int8")
    parser.add_argument("--pairs", type=Path, help="write the pairs here")
    parser.add_argument("--from", dest="checked", type=Path, help="score the pairs of this file")
    order = parser.parse_args()
    if (order.checked is None) != (len(order.text) == 2):
        parser.error("give SOURCE and REFERENCE, or --from with a file of pairs")
    engine = attendo.load(order.model, dtype=order.dtype)
    pairs = read(order.checked) if order.checked else pairs_for(engine, *read_pairs(*order.text))
    if order.pairs:
        write(order.pairs, pairs)
    else:
        print("\n".join(measure_contrast(engine, pairs).to_markdown()))


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

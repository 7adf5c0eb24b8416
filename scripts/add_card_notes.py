#!/usr/bin/env python
"""Puts a section, such as a model's typical mistakes, before the limits in a model's card, and renews its checksum.

    python scripts/add_card_notes.py MODEL NOTES.md

A section of the same title is replaced. The models that ship started from others of the same data, which do not ship:
the card says so, where it would else refer to the card of one.
"""

import argparse
import re
import sys
from pathlib import Path

from attendo.checkpoint.checksums import CARD, replace_file

NEXT = "## Limits\n"
OF_ANCESTOR = re.compile(r"^(\S+) brings its own data and licences along: see the card of that model\.$", re.MULTILINE)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path, metavar="MODEL", help="the folder of a model")
    parser.add_argument("notes", type=Path, metavar="NOTES.md", help="a section of Markdown, with its title first")
    args = parser.parse_args()
    card, notes = (path.read_text(encoding="utf-8") for path in (args.model / CARD, args.notes))
    title = re.escape(notes.splitlines()[0])
    card = re.sub(rf"^{title}\n.*?(?=^## )", "", card, flags=re.DOTALL | re.MULTILINE)
    card = OF_ANCESTOR.sub(r"\1, from which its training started, learned from the same data.", card)
    if card.count(NEXT) != 1:
        parser.error(f"{args.model / CARD}: {NEXT.strip()!r} is not there just once; take a card as attendo wrote it")
    replace_file(args.model, CARD, card.replace(NEXT, f"{notes.strip()}\n\n{NEXT}"))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python
"""Makes the corpora that the shipped models are trained on: who may be learned from, without what is for testing.

    python scripts/shipped_data.py ../shared/data en-de -o ../train/data/en-de

Written are, for each licence group, CORPUS.en and CORPUS.de; calibration sets, which no training sees; under
measuring/ what only measurements may learn from; and account.json with the pairs of each corpus: read, left out and for
which set, written. What a pair itself tells (length, numbers, languages, copies, near-duplicates) is left to the
recipe's [data.cleaning].

Left out is each pair of which a side of 20 letters or more is, letters alone in small case, that of a pair held out:
the validation and test sets, the calibration sets, and the corpora that are kept for the tests of corrections and of
translation memories. Shorter sides, such as "See also" and "Cancel", are in everything that people write.
"""

import argparse
import csv
import hashlib
import json
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from attendo.text.duplicates import folded

Pair = tuple[str, str]

FOR_CORRECTIONS = {
    "de": ("ms-azure-rms", "ms-aspnetcore-docs", "ms-aspnetcore-docs-2019"),
    "fr": ("ms-office-js-docs",),
}
"""Documentation that no training may see, by the language it is translated into."""
SHARE_ALIKE = ("ui-kde-kphotoalbum",)
"""Programs whose licences have share-alike terms among permissive ones."""
CALIBRATION_PAIRS = {"tatoeba": 2000, "docs": 2000, "ui": 1000}
MAX_SHARE = 0.05
"""Of a small corpus, less is taken for calibration."""
LETTERS = 20
"""Letters of a side, at least, by which a pair is held out."""
BLOCK_LINES = {"tatoeba": 1, "docs": 40, "ui": 20}
"""Lines that go into a calibration set together: neighbours are of one page, and say the same in other words."""


@dataclass(kw_only=True)
class Account:
    """What became of a corpus's pairs."""

    read: int = 0
    written: int = 0
    calibration: int = 0
    held_out: Counter[str] = field(default_factory=Counter)
    """Pairs left out, by the set that has them."""


@dataclass(frozen=True, kw_only=True)
class HeldOut:
    """Sentences that no training may see, each with the name of its set."""

    sources: dict[str, str] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, pairs: Iterable[Pair]) -> None:
        """Adds a set's sentences of 20 letters or more."""
        for source, target in pairs:
            for held, side in ((self.sources, source), (self.targets, target)):
                key = folded(side)
                if len(key) >= LETTERS and key.isalpha():  # a side of fewer letters is not folded
                    held.setdefault(key, name)

    def set_of(self, pair: Pair) -> str | None:
        """The set that has a side of a pair."""
        return self.sources.get(folded(pair[0])) or self.targets.get(folded(pair[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes the corpora that the shipped models are trained on.")
    parser.add_argument("data", type=Path, help="the folder with tatoeba_*, docs_*, ui_* and the test sets")
    parser.add_argument("languages", choices=("en-de", "en-fr"))
    parser.add_argument("-o", "--output", type=Path, required=True)
    arguments = parser.parse_args()
    language = arguments.languages.partition("-")[2]
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "measuring").mkdir(exist_ok=True)
    accounts = write_corpora(arguments.data, language, arguments.output)
    summary = {
        name: {**vars(account), "held_out": dict(account.held_out.most_common())} for name, account in accounts.items()
    }
    (arguments.output / "account.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    print(table(accounts))


def write_corpora(data: Path, language: str, output: Path) -> dict[str, Account]:
    """Writes every corpus, and gives an account of each."""
    held_out = HeldOut()
    for name, held in test_sets(data, language):
        sentences = list(held)
        held_out.add(name, sentences)
        if name.startswith("valid-"):
            write_pairs(output, name, sentences, language)
    corpora = {name: list(pairs) for name, pairs in training_corpora(data, language).items()}
    accounts = {name: Account(read=len(pairs)) for name, pairs in corpora.items()}
    for kind, size in CALIBRATION_PAIRS.items():
        corpora, chosen = divided(corpora, kind, size)
        for name, pairs in chosen.items():
            accounts[name].calibration = len(pairs)
        wanted = [pair for pairs in chosen.values() for pair in pairs if held_out.set_of(pair) is None]
        write_pairs(output, f"calibration-{kind}", wanted, language)
        held_out.add(f"calibration-{kind}", wanted)
    for name, pairs in corpora.items():
        sets = [held_out.set_of(pair) for pair in pairs]
        accounts[name].held_out = Counter(found for found in sets if found is not None)
        kept = [pair for pair, found in zip(pairs, sets, strict=True) if found is None]
        accounts[name].written = len(kept)
        write_pairs(output if kind_of(name) else output / "measuring", name, kept, language)
    return accounts


def divided(
    corpora: dict[str, list[Pair]], kind: str, size: int
) -> tuple[dict[str, list[Pair]], dict[str, list[Pair]]]:
    """The corpora without about `size` pairs of those of a kind, and these, which are for calibration."""
    total = sum(len(pairs) for name, pairs in corpora.items() if kind_of(name) == kind)
    left, chosen = dict(corpora), {}
    for name, pairs in corpora.items():
        if kind_of(name) == kind:
            rows = set(calibration_rows(name, pairs, min(size / total, MAX_SHARE), BLOCK_LINES[kind]))
            chosen[name] = [pairs[row] for row in sorted(rows)]
            left[name] = [pair for row, pair in enumerate(pairs) if row not in rows]
    return left, chosen


def training_corpora(data: Path, language: str) -> dict[str, Iterator[Pair]]:
    """The corpora by name, one for a licence or field; those whose `kind_of` is None are for measuring alone."""
    docs, ui = data / f"docs_en-{language}", data / f"ui_en-{language}"
    left_out = {"machine-translated", *FOR_CORRECTIONS[language]}
    groups: dict[str, list[str]] = {}
    for row in sources(docs):
        if row["file"] not in left_out:
            files = groups.setdefault(documentation_group(row), [])
            files += [row["file"]] * (row["file"] not in files)
    corpora = {name: several(docs, files, language) for name, files in groups.items()}
    corpora["tatoeba"] = read(data / f"tatoeba_en-{language}" / "train", language)
    corpora["ui"] = part(ui, "permissive", language, without=SHARE_ALIKE)
    corpora["ui-copyleft"] = read(ui / "copyleft", language)
    corpora["docs-machine"] = part(docs, "machine-translated", language, without=[f"{name}.mt" for name in left_out])
    return corpora


def documentation_group(row: dict[str, str]) -> str:
    """The corpus that a source of documentation goes to."""
    if "PHP" in row["attribution"]:
        return "docs-php"
    if row["licence"] != "CC BY 4.0":
        return "docs-microsoft-mit"
    fields = {"sql-docs": "docs-sql", "dynamics": "docs-dynamics", "dotnet-docs": "docs-dotnet"}
    return next((group for part, group in fields.items() if part in row["file"]), "docs-microsoft")


def kind_of(corpus: str) -> str | None:
    """The kind of text that a corpus is calibrated with; None for one that is for measuring alone."""
    if corpus in ("ui-copyleft", "docs-machine"):
        return None
    return corpus.partition("-")[0]


def test_sets(data: Path, language: str) -> Iterator[tuple[str, Iterator[Pair]]]:
    """The sets that no training may see, by name; those of corrections too."""
    for kind in ("tatoeba", "docs", "ui"):
        yield f"valid-{kind}", read(data / f"{kind}_en-{language}" / "valid", language)
    for name in FOR_CORRECTIONS[language]:
        yield name, read(data / f"docs_en-{language}" / name, language)
    yield "newstest2013", read(data / f"newstest2013_en-{language}" / "newstest2013", language)
    for name in ("val", "test_2016_flickr"):
        yield f"multi30k-{name}", read(data / "multi30k" / name, language)
    if language == "de":
        for name in ("train", "dev"):
            yield f"bcontrast-{name}", read(data / "bcontrast_chat" / name, language)


def calibration_rows(name: str, pairs: list[Pair], share: float, block: int) -> Iterator[int]:
    """The rows of about a share of a corpus, block by block; which ones follows from names and text alone."""
    for row, (source, _) in enumerate(pairs):
        # Where sentences stand alone, all translations of one go together.
        key = f"{name} {row // block}" if block > 1 else folded(source)
        number = int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big")
        if number < share * 2**64:
            yield row


def read(path: Path, language: str) -> Iterator[Pair]:
    """The pairs of PATH.en and PATH.LANGUAGE, each plain or with .xz."""
    sides = (lines(path.with_name(f"{path.name}.{code}")) for code in ("en", language))
    return ((source.strip(), target.strip()) for source, target in zip(*sides, strict=True))


def several(folder: Path, files: list[str], language: str) -> Iterator[Pair]:
    """The pairs of several files, one file after the other."""
    for name in files:
        yield from read(folder / name, language)


def part(folder: Path, file: str, language: str, *, without: Iterable[str]) -> Iterator[Pair]:
    """The pairs of a file but for those of some sources."""
    left_out = [row for row in sources(folder) if row["file"] == file and row["source"] in set(without)]
    ranges = [(int(row["first_line"]), int(row["first_line"]) + int(row["pairs"])) for row in left_out]
    for number, pair in enumerate(read(folder / file, language), start=1):
        if not any(first <= number < end for first, end in ranges):
            yield pair


def sources(folder: Path) -> list[dict[str, str]]:
    """The rows of a folder's sources.tsv."""
    with (folder / "sources.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def lines(path: Path) -> Iterator[str]:
    """The lines of a file, or of the one with .xz."""
    packed = path.with_name(f"{path.name}.xz")
    # Only a line feed ends a line.
    if packed.exists():
        with lzma.open(packed, "rt", encoding="utf-8", newline="\n") as file:
            yield from file
    else:
        with path.open(encoding="utf-8", newline="\n") as file:
            yield from file


def write_pairs(folder: Path, name: str, pairs: list[Pair], language: str) -> None:
    """Writes both sides of a corpus."""
    for side, code in enumerate(("en", language)):
        text = "".join(f"{pair[side]}\n" for pair in pairs)
        (folder / f"{name}.{code}").write_text(text, encoding="utf-8", newline="\n")


def table(accounts: dict[str, Account]) -> str:
    """The accounts as a table of Markdown."""
    rows = ["| corpus | read | calibration | held out | written |", "|---|---|---|---|---|"]
    for name, account in accounts.items():
        held_out = f"{account.held_out.total():,}"
        if account.held_out:
            held_out += f" ({', '.join(f'{title} {count:,}' for title, count in account.held_out.most_common(4))})"
        rows.append(f"| {name} | {account.read:,} | {account.calibration:,} | {held_out} | {account.written:,} |")
    return "\n".join(rows)


if __name__ == "__main__":
    main()

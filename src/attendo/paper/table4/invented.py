"""A treebank of an invented English, for the scale `tiny`: trees drawn from a grammar, and text without trees."""

import random
from collections.abc import Sequence
from pathlib import Path

from attendo.files import write_text
from attendo.parsing.tree import Tree

_RULES: dict[str, tuple[tuple[tuple[str, ...], float], ...]] = {
    "S": ((("NP", "VP", "."), 6), (("PP", ",", "NP", "VP", "."), 2), (("SBAR", ",", "NP", "VP", "."), 1)),
    "CLAUSE": ((("NP", "VP"), 1),),
    "SBAR": ((("IN-that", "CLAUSE"), 1),),
    "NP": (
        (("DT", "NN"), 5), (("DT", "JJ", "NN"), 3), (("PRP",), 3), (("NNS",), 2), (("NP", "PP"), 2),
        (("NP", "CC", "NP"), 1),
    ),
    "VP": (
        (("VBZ", "NP"), 5), (("VBD",), 2), (("VBZ", "NP", "PP"), 3), (("VBZ", "SBAR"), 1), (("MD", "BARE"), 2),
    ),
    "BARE": ((("VB", "NP"), 2), (("VB", "ADVP"), 1)),
    "ADVP": ((("RB",), 1),),
    "PP": ((("IN", "NP"), 1),),
}  # fmt: skip
"""Of each constituent what it can be made of, with weights; the first one is what is taken where it is deep."""
_LABELS = {"CLAUSE": "S", "BARE": "VP", "IN-that": "IN"}
_WORDS = {
    "DT": ("the", "a", "this", "every"),
    "JJ": ("old", "red", "quiet", "heavy", "late"),
    "NN": ("boat", "harbour", "captain", "letter", "lamp", "island", "gull", "rope"),
    "NNS": ("sailors", "nets", "storms", "maps"),
    "PRP": ("she", "he", "it", "they"),
    "VBZ": ("sees", "carries", "knows", "mends", "finds"),
    "VBD": ("slept", "sank", "waited", "sang"),
    "VB": ("leave", "follow", "watch"),
    "MD": ("will", "can", "must"),
    "RB": ("soon", "slowly", "again"),
    "IN": ("with", "near", "under", "from"),
    "IN-that": ("that", "because", "while"),
    "CC": ("and", "or"),
    ",": (",",),
    ".": (".", "?", "!"),
}
_DEEPEST = 6


def invented_trees(number: int, seed: int) -> list[Tree]:
    """Draws trees.

    Args:
        number: how many; two may be the same.
        seed: equal ones draw equal trees.
    """
    draw = random.Random(seed)
    return [_drawn("S", draw, 0) for _ in range(number)]


def write_invented(folder: Path, *, train: int, valid: int, test: int, raw: int) -> None:
    """Writes `train.trees`, `valid.trees`, `test.trees` and, of words alone, `raw.txt`, unless they are there.

    No sentence is in two of them.

    Args:
        folder: made where it is missing.
        train: trees to train on.
        valid: to validate on.
        test: to test on.
        raw: sentences without trees.

    Raises:
        OSError: the folder cannot be written to.
    """
    if (folder / "raw.txt").is_file():  # the last one
        return
    parts = {"train": train, "valid": valid, "test": test, "raw": raw}
    different = list(dict.fromkeys(invented_trees(3 * sum(parts.values()) + 200, seed=1)))
    first = 0
    for name, size in parts.items():
        trees = different[first : first + size]
        assert len(trees) == size, "the grammar has more sentences than these"
        first += size
        if name == "raw":
            write_text(folder / "raw.txt", "".join(f"{' '.join(tree.words)}\n" for tree in trees))
        else:
            write_text(folder / f"{name}.trees", "".join(f"{tree}\n" for tree in trees))


def _drawn(symbol: str, draw: random.Random, depth: int) -> Tree:
    if symbol in _WORDS:
        return Tree(_LABELS.get(symbol, symbol), word=draw.choice(_WORDS[symbol]))
    parts = _chosen(_RULES[symbol], draw) if depth < _DEEPEST else _RULES[symbol][0][0]
    return Tree(_LABELS.get(symbol, symbol), tuple(_drawn(part, draw, depth + 1) for part in parts))


def _chosen(rules: Sequence[tuple[tuple[str, ...], float]], draw: random.Random) -> tuple[str, ...]:
    [parts] = draw.choices([parts for parts, _ in rules], weights=[weight for _, weight in rules])
    return parts

"""What `attendo reproduce table4` trains and on what it tests, with an invented treebank for the scale `tiny`."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from attendo.errors import DataError
from attendo.files import write_text
from attendo.paper.declared import declared
from attendo.paper.experiment import Order, Scale
from attendo.paper.phrasebook_texts import taken_from
from attendo.parsing.tree import Tree
from attendo.recipe import Recipe, load_recipe
from attendo.text.corpora import CorpusConfig
from attendo.workflow.engines.parse_input import LineKind

# --- the invented treebank of the scale `tiny` ------------------------------------------------------------------------

Rules = Mapping[str, tuple[tuple[tuple[str, ...], float], ...]]
"""Of each constituent what it can be made of, with weights; the first one is what is taken where it is deep."""

_RULES: Rules = declared("table4/invented.toml", "rules", Rules)
_WORDS: Mapping[str, tuple[str, ...]] = declared("table4/invented.toml", "words", Mapping[str, tuple[str, ...]])
_LABELS = {"CLAUSE": "S", "BARE": "VP", "IN-that": "IN"}
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


# --- rows and treebanks -----------------------------------------------------------------------------------------------

SELF_TRAINED_SHARE = 0.5
"""Of a self-trained row's epochs, what is automatic; and of the automatic trees those that are kept."""


@dataclass(frozen=True, kw_only=True)
class RawText:
    """Text that a parser makes trees of, to learn from."""

    path: str
    """Below the folder of the treebanks."""
    kind: LineKind
    most: int
    """Sentences that are parsed."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A parser that is trained, with several seeds."""

    name: str
    treebanks: tuple[str, ...]
    """What it learns from, by the names of `Bank`."""
    recipe: str
    """The shipped one."""
    folder: str = ""
    """What its `data.folder` is below `--data`."""
    changes: tuple[str, ...] = ()
    """To it, as `--set` has them."""
    what: str = ""
    """The change in words; empty where there is none."""
    against: str | None = None
    """The row that it is held against: that without the change."""
    raw: RawText | None = None
    """For a self-trained row: the text that the parser of `against` makes trees of."""


@dataclass(frozen=True, kw_only=True)
class Bank:
    """A treebank: where it lies, and its trees to test on."""

    name: str
    folder: str
    """Below `--data`."""
    test: str
    """A file, folder or pattern in it."""
    what: str
    """Of its test set."""
    tests_only_others: bool = False
    """The trees to test on are those to train on, so that they test other rows alone."""
    most: int | None = None
    """Of its trees so many are parsed, spread evenly; None for all."""
    parameters: str = "collins"
    """By which of EVALB's built-in ones."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All of a study."""

    root: Path
    """The folder of the treebanks."""
    rows: tuple[Row, ...]
    recipes: Mapping[str, Recipe]
    """By the names of rows."""
    banks: tuple[Bank, ...]
    missing: tuple[str, ...]
    """What there is not, and what is therefore left out, a line each."""

    def tests_of(self, row: Row | None) -> tuple[Bank, ...]:
        """The treebanks that a row is tested on; of None, a parser from elsewhere, all."""
        return tuple(
            bank for bank in self.banks if row is None or not bank.tests_only_others or bank.name not in row.treebanks
        )


ROWS: Mapping[str, tuple[Row, ...]] = {
    scale: declared("table4/rows.toml", scale, tuple[Row, ...]) for scale in get_args(Scale)
}
"""Of each scale."""

BANKS: Mapping[str, tuple[Bank, ...]] = {
    scale: declared("table4/banks.toml", scale, tuple[Bank, ...]) for scale in get_args(Scale)
}
"""The treebanks of each scale."""


def make_plan(order: Order) -> Plan:
    """Looks which treebanks are there, and which rows they allow.

    Raises:
        DataError: none of them is there.
        RecipeError: the scale tiny was given a folder.
    """
    root = root_of(order)
    there = {bank.name: (root / bank.folder).is_dir() for bank in BANKS[order.scale]}
    missing = [f"{root / bank.folder} is not there" for bank in BANKS[order.scale] if not there[bank.name]]
    rows = []
    for row in ROWS[order.scale]:
        lacking = [name for name in row.treebanks if not there[name]]
        if row.raw is not None and not (root / row.raw.path).is_file():
            lacking.append(row.raw.path)
        if lacking and not order.runs:
            missing.append(f"the row {row.name} is left out for lack of {', '.join(lacking)}")
        if not lacking:
            rows.append(row)
    banks = tuple(bank for bank in BANKS[order.scale] if there[bank.name] and bank.test)
    if not banks or not (rows or order.runs):
        folders = ", ".join(bank.folder for bank in BANKS[order.scale])
        raise DataError(f"{root}: has none of the treebanks {folders}; --data names the folder that has them")
    return Plan(
        root=root,
        rows=tuple(rows),
        recipes={row.name: recipe_of(order, row) for row in rows},
        banks=banks,
        missing=tuple(missing),
    )


def recipes_of(order: Order) -> dict[str, Recipe]:
    """The recipes of all rows of a scale, whether their treebanks are there or not."""
    return {row.name: recipe_of(order, row) for row in ROWS[order.scale]}


def root_of(order: Order) -> Path:
    """The folder of the treebanks.

    Raises:
        DataError: the scale tiny was given one.
    """
    if order.scale == "tiny":
        if order.data is not None:
            raise DataError("--data: the scale tiny has a treebank of its own; leave it out, or take --scale small")
        return order.folder
    if order.data is not None:
        return order.data
    recipe = load_recipe("parsing-all" if order.scale == "small" else "parsing-wsj")
    assert recipe.data is not None
    return recipe.folder / recipe.data.folder


def recipe_of(order: Order, row: Row) -> Recipe:
    """A row's recipe, its corpora below the folder of the treebanks; of a self-trained one without automatic trees.

    Runs side by side take their time: updates alone are what all have the same number of.
    """
    folder = root_of(order) / row.folder
    name = f"name=table4-{order.scale}-{row.name}"
    recipe = load_recipe(row.recipe, [name, *taken_from(folder), *row.changes])
    return replace(recipe, training=replace(recipe.training, max_minutes=None))


def self_trained(recipe: Recipe, trees: Path) -> Recipe:
    """A recipe that learns from automatic trees too.

    Args:
        recipe: without them.
        trees: the file of these.
    """
    assert recipe.data is not None
    automatic = CorpusConfig(name="automatic", trees=str(trees.resolve()), share=SELF_TRAINED_SHARE)
    return replace(recipe, data=replace(recipe.data, corpora=(*recipe.data.corpora, automatic)))

"""The rows and treebanks of `attendo reproduce table4`, with an invented treebank for the scale `tiny`."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from attendo.errors import DataError
from attendo.files import write_text
from attendo.paper.declared import declared
from attendo.paper.experiment import Scale, StudyRequest
from attendo.paper.phrasebook_texts import taken_from
from attendo.parsing.tree import Tree
from attendo.recipe import Recipe, load_recipe
from attendo.text.corpora import CorpusConfig
from attendo.workflow.engines.parse_input import LineKind

# --- the invented treebank of the scale `tiny` ------------------------------------------------------------------------

Rules = Mapping[str, tuple[tuple[tuple[str, ...], float], ...]]
"""The expansions of each constituent, with weights; from the depth `_DEEPEST` on, the first expansion is taken."""

_RULES: Rules = declared("table4/invented.toml", "rules", Rules)
_WORDS: Mapping[str, tuple[str, ...]] = declared("table4/invented.toml", "words", Mapping[str, tuple[str, ...]])
_LABELS = {"CLAUSE": "S", "BARE": "VP", "IN-that": "IN"}
_DEEPEST = 6


def invented_trees(number: int, seed: int) -> list[Tree]:
    """Draws trees from the invented grammar.

    Args:
        number: number of trees; some may be equal.
        seed: seed of the draw; equal seeds draw equal trees.
    """
    draw = random.Random(seed)
    return [_draw_tree("S", draw, 0) for _ in range(number)]


def write_invented(folder: Path, *, train: int, valid: int, test: int, raw: int) -> None:
    """Writes `train.trees`, `valid.trees`, `test.trees` and, with words alone, `raw.txt`, unless they exist.

    No tree is in two of them.

    Args:
        folder: folder to write into, made if it is missing.
        train: number of trees to train on.
        valid: number of trees to validate on.
        test: number of trees to test on.
        raw: number of sentences without trees.

    Raises:
        OSError: the folder cannot be written to.
    """
    if (folder / "raw.txt").is_file():  # written last
        return
    parts = {"train": train, "valid": valid, "test": test, "raw": raw}
    distinct = list(dict.fromkeys(invented_trees(3 * sum(parts.values()) + 200, seed=1)))
    first = 0
    for name, size in parts.items():
        trees = distinct[first : first + size]
        assert len(trees) == size, "the grammar has more sentences than these"
        first += size
        if name == "raw":
            write_text(folder / "raw.txt", "".join(f"{' '.join(tree.words)}\n" for tree in trees))
        else:
            write_text(folder / f"{name}.trees", "".join(f"{tree}\n" for tree in trees))


def _draw_tree(symbol: str, draw: random.Random, depth: int) -> Tree:
    if symbol in _WORDS:
        return Tree(_LABELS.get(symbol, symbol), word=draw.choice(_WORDS[symbol]))
    parts = _draw_parts(_RULES[symbol], draw) if depth < _DEEPEST else _RULES[symbol][0][0]
    return Tree(_LABELS.get(symbol, symbol), tuple(_draw_tree(part, draw, depth + 1) for part in parts))


def _draw_parts(rules: Sequence[tuple[tuple[str, ...], float]], draw: random.Random) -> tuple[str, ...]:
    [parts] = draw.choices([parts for parts, _ in rules], weights=[weight for _, weight in rules])
    return parts


# --- rows and treebanks -----------------------------------------------------------------------------------------------

SELF_TRAINED_SHARE = 0.5
"""Share of automatic trees in the epochs of a self-trained row; also the share of its automatic trees that is kept."""


@dataclass(frozen=True, kw_only=True)
class RawText:
    """Raw text that a parser annotates with trees, for self-training."""

    path: str
    """Path of the file below the folder of the treebanks."""
    kind: LineKind
    most: int
    """Largest number of sentences that are parsed."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A parser that is trained with several seeds."""

    name: str
    treebanks: tuple[str, ...]
    """Names of the treebanks (`Bank`) that it learns from."""
    recipe: str
    """Name of the shipped recipe."""
    folder: str = ""
    """The recipe's `data.folder`, as a path below the folder of the treebanks."""
    changes: tuple[str, ...] = ()
    """Changes to the recipe, written as for `--set`."""
    what: str = ""
    """The change in words; empty where there is none."""
    against: str | None = None
    """Name of the row without the change, which it is compared with; None where there is no change."""
    raw: RawText | None = None
    """Text that the parser of `against` annotates for a self-trained row; None for other rows."""


@dataclass(frozen=True, kw_only=True)
class Bank:
    """A treebank: its folder and its test trees."""

    name: str
    folder: str
    """Path below the folder of the treebanks."""
    test: str
    """File, folder or pattern of the test trees within the treebank; empty if nothing is tested on it."""
    what: str
    """Description of the test set."""
    tests_only_others: bool = False
    """Whether the test trees are training trees; rows that learn from this treebank are then not tested on it."""
    most: int | None = None
    """Largest number of test trees, spread evenly; None for all."""
    parameters: str = "collins"
    """Name of the built-in EVALB parameters."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The rows and treebanks of a study."""

    root: Path
    """The folder of the treebanks."""
    rows: tuple[Row, ...]
    recipes: Mapping[str, Recipe]
    """Recipes by row name."""
    banks: tuple[Bank, ...]
    missing: tuple[str, ...]
    """Missing treebanks and the rows skipped for lack of data, one line each."""

    def tests_of(self, row: Row | None) -> tuple[Bank, ...]:
        """The treebanks that a row is tested on; all of them for None, a parser that `--run` names."""
        return tuple(
            bank for bank in self.banks if row is None or not bank.tests_only_others or bank.name not in row.treebanks
        )


ROWS: Mapping[str, tuple[Row, ...]] = {
    scale: declared("table4/rows.toml", scale, tuple[Row, ...]) for scale in get_args(Scale)
}
"""The rows of each scale."""

BANKS: Mapping[str, tuple[Bank, ...]] = {
    scale: declared("table4/banks.toml", scale, tuple[Bank, ...]) for scale in get_args(Scale)
}
"""The treebanks of each scale."""


def make_plan(request: StudyRequest) -> Plan:
    """Determines which treebanks exist and which rows can be trained on them.

    Raises:
        DataError: there is no treebank to test on or no row to train, or a folder was given for the scale `tiny`.
    """
    root = root_of(request)
    exists = {bank.name: (root / bank.folder).is_dir() for bank in BANKS[request.scale]}
    missing = [f"{root / bank.folder} is not there" for bank in BANKS[request.scale] if not exists[bank.name]]
    rows = []
    for row in ROWS[request.scale]:
        lacking = [name for name in row.treebanks if not exists[name]]
        if row.raw is not None and not (root / row.raw.path).is_file():
            lacking.append(row.raw.path)
        if lacking and not request.runs:
            missing.append(f"the row {row.name} is left out for lack of {', '.join(lacking)}")
        if not lacking:
            rows.append(row)
    banks = tuple(bank for bank in BANKS[request.scale] if exists[bank.name] and bank.test)
    if not banks or not (rows or request.runs):
        folders = ", ".join(bank.folder for bank in BANKS[request.scale])
        raise DataError(f"{root}: has none of the treebanks {folders}; --data names the folder that has them")
    return Plan(
        root=root,
        rows=tuple(rows),
        recipes={row.name: recipe_of(request, row) for row in rows},
        banks=banks,
        missing=tuple(missing),
    )


def recipes_of(request: StudyRequest) -> dict[str, Recipe]:
    """The recipes of all rows of a scale, whether or not their treebanks exist."""
    return {row.name: recipe_of(request, row) for row in ROWS[request.scale]}


def root_of(request: StudyRequest) -> Path:
    """The folder of the treebanks.

    Raises:
        DataError: a folder was given for the scale `tiny`.
    """
    if request.scale == "tiny":
        if request.data is not None:
            raise DataError("--data: the scale tiny has a treebank of its own; leave it out, or take --scale small")
        return request.folder
    if request.data is not None:
        return request.data
    recipe = load_recipe("parsing-all" if request.scale == "small" else "parsing-wsj")
    assert recipe.data is not None
    return recipe.folder / recipe.data.folder


def recipe_of(request: StudyRequest, row: Row) -> Recipe:
    """A row's recipe, with its corpora below the folder of the treebanks; automatic trees are not included.

    The time limit is removed: parallel runs slow each other down, so that all are given the same number of updates.
    """
    folder = root_of(request) / row.folder
    name = f"name=table4-{request.scale}-{row.name}"
    recipe = load_recipe(row.recipe, [name, *taken_from(folder), *row.changes])
    return replace(recipe, training=replace(recipe.training, max_minutes=None))


def self_trained(recipe: Recipe, trees: Path) -> Recipe:
    """A copy of a recipe that learns from automatic trees too.

    Args:
        recipe: recipe without automatic trees.
        trees: file of the automatic trees.
    """
    assert recipe.data is not None
    automatic = CorpusConfig(name="automatic", trees=str(trees.resolve()), share=SELF_TRAINED_SHARE)
    return replace(recipe, data=replace(recipe.data, corpora=(*recipe.data.corpora, automatic)))

"""Treebanks to sentence pairs: the input of a parser, and the symbols that it has to write, one tree per line."""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from attendo.errors import DataError
from attendo.files import sha256, write_text
from attendo.parsing.config import ParsingConfig
from attendo.parsing.conventions import CONVENTIONS, GOLD_CONVENTIONS, normalised
from attendo.parsing.linearization import linearized
from attendo.parsing.sentences import source_text, source_words, tag_symbol
from attendo.parsing.tree import Tree
from attendo.parsing.treebank import read_treebank
from attendo.parsing.word_tags import word_tags
from attendo.text.corpora import VALID_NAME, CorpusConfig, DataConfig
from attendo.text.pair_rules import CleaningConfig
from attendo.text.parts import changed_error

_NO_LIMIT = 1 << 30


@dataclass(frozen=True, kw_only=True)
class TreebankText:
    """The text of a recipe's treebanks."""

    data: DataConfig
    """The section with pairs of files in the place of treebanks; their paths are absolute."""
    tag_symbols: tuple[str, ...]
    """The symbols of tags that sources have; empty if there are only words."""
    word_tags: dict[str, list[str]]
    """The tags of words, see `parsing.word_tags`."""
    valid: tuple[Tree, ...]
    """The validation set's trees as the treebank has them; empty if there is no such set."""
    unread: str
    """A line for each tree that could not be read: corpus, file, line, why; tab-separated."""


def treebank_text(data: DataConfig, base_folder: Path, output: Path, parsing: ParsingConfig) -> TreebankText:
    """Writes a recipe's treebanks as pairs of files.

    Nothing is cleaned: a treebank has no mismatched lines, and its long trees are needed. Trees with more than
    `cleaning.max_tokens` symbols are dropped later, and counted.

    Args:
        data: the section, whose corpora name `trees`.
        base_folder: the folder to which `data.folder` is relative.
        output: a folder to write to.
        parsing: the linearization of trees.

    Raises:
        DataError: a corpus has no tree, or names no treebank.
    """
    tags: set[str] = set()
    learned: list[Tree] = []
    held_out: list[Tree] = []
    unread: list[str] = []

    def as_pairs(corpus: CorpusConfig, name: str) -> CorpusConfig:
        if corpus.trees is None:
            raise DataError(f'data.corpora: {name} names no treebank; for task = "parse" give trees = FILE')
        is_valid = name == VALID_NAME
        found = read_treebank(corpus.paths(base_folder / data.folder), GOLD_CONVENTIONS if is_valid else CONVENTIONS)
        if not found.trees:
            raise DataError(f"{corpus.paths(base_folder / data.folder)[0]}: there is no tree that can be read")
        trees = [_as_written(tree) for tree in found.trees] if is_valid else found.trees
        (held_out if is_valid else learned).extend(found.trees)
        unread.extend(f"{name}\t{each.path.name}\t{each.line}\t{each.message}\n" for each in found.problems)
        if parsing.read_tags:
            tags.update(tag for tree in trees for tag in tree.tags)
        sides = output / f"{name}.source", output / f"{name}.target"
        write_text(sides[0], "".join(f"{_source(tree, parsing)}\n" for tree in trees))
        write_text(sides[1], "".join(f"{_target(tree, parsing)}\n" for tree in trees))
        return replace(corpus, trees=None, source=str(sides[0].resolve()), target=str(sides[1].resolve()))

    output.mkdir()
    corpora = tuple(as_pairs(corpus, corpus.name) for corpus in data.corpora)
    valid = None if data.valid is None else as_pairs(data.valid, VALID_NAME)
    cleaning = CleaningConfig(
        max_words=_NO_LIMIT,
        max_characters=_NO_LIMIT,
        max_ratio=_NO_LIMIT,
        max_tokens=data.cleaning.max_tokens,
        drop_duplicates=False,
    )
    return TreebankText(
        data=replace(data, corpora=corpora, valid=valid, cleaning=cleaning),
        tag_symbols=tuple(tag_symbol(tag) for tag in sorted(tags)),
        word_tags=word_tags(learned),
        valid=tuple(held_out),
        unread="".join(unread),
    )


def linearization_facts(parsing: ParsingConfig) -> dict[str, Any]:
    """Returns the settings on which the preparation of treebanks depends: linearization and conventions."""
    return {**parsing.linearization(), "conventions": asdict(CONVENTIONS)}


def file_facts(data: DataConfig, base_folder: Path) -> dict[str, dict[str, Any]]:
    """Returns size, SHA-256 and time of change of a recipe's files, under its names for them."""
    found = {}
    for name, path in _files(data, base_folder).items():
        status = path.stat()
        found[name] = {"bytes": status.st_size, "sha256": sha256(path), "mtime_ns": status.st_mtime_ns}
    return found


def check_unchanged(data: DataConfig, base_folder: Path, facts: dict[str, dict[str, Any]]) -> None:
    """Refuses files that have changed since `file_facts`.

    Raises:
        DataError: one has.
    """
    for name, path in _files(data, base_folder).items():
        status = path.stat()
        if (status.st_size, status.st_mtime_ns) != (facts[name]["bytes"], facts[name]["mtime_ns"]):
            raise changed_error(path)


def _files(data: DataConfig, base_folder: Path) -> dict[str, Path]:
    configs = [*data.corpora, *([data.valid] if data.valid else [])]
    folder = base_folder / data.folder
    return {name: folder / name for config in configs for name in config.names(folder)}


def _as_written(tree: Tree) -> Tree:
    """A gold tree as a parser writes it."""
    changed = normalised(tree, CONVENTIONS)
    assert changed is not None, "it has words"
    return changed


def _source(tree: Tree, parsing: ParsingConfig) -> str:
    return source_text(source_words(tree.words), tree.tags if parsing.read_tags else None)


def _target(tree: Tree, parsing: ParsingConfig) -> str:
    return " ".join(linearized(tree, parsing.order, tags=parsing.tags == "kept"))

"""The surest trees of a parser's, chosen by arithmetic that is done again here."""

import os
import subprocess
from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.parsing.linearization import Fault
from attendo.parsing.treebank import parse_tree, read_treebank
from attendo.workflow.confident_trees import ConfidentTrees
from attendo.workflow.engines.parse import Parse, ParsedTree

FAULT = Fault(kind="no root", place=None, message="nothing around it")


def parse(word: str, log_prob: float, num_symbols: int, *, faults: tuple[Fault, ...] = ()) -> Parse:
    tree = parse_tree(f"(S (NN {word}))")
    found = ParsedTree(tree=tree, score=0.0, log_prob=log_prob, symbols=("x",) * num_symbols, faults=faults)
    return Parse(words=tree.words, n_best=(found,))


# By the symbol, </s> counted: a -0.5, b -0.2, c -0.2, d -0.1, e mended, f -1.
PARSES = [
    parse("a", -1.0, 1),
    parse("b", -0.8, 3),
    Parse(words=("x",), n_best=(), problem="too long"),
    parse("c", -1.0, 4),
    parse("d", -0.2, 1),
    parse("e", -0.001, 1, faults=(FAULT,)),
    parse("f", -2.0, 1),
]


def written(output: Path, share: float, *, scores: bool = False) -> str:
    with ConfidentTrees(output, share, scores=scores) as trees:
        for number, each in enumerate(PARSES, start=1):
            trees.add(each, number)
        return trees.write()


@pytest.mark.parametrize(
    ("share", "kept"),
    [(1.0, "abcdf"), (0.8, "abcd"), (0.6, "bcd"), (0.5, "bd"), (0.39, "d"), (0.01, "d")],
)
def test_the_surest_are_kept_in_their_order(tmp_path: Path, share: float, kept: str) -> None:
    output = tmp_path / "new" / "automatic.trees"
    told = written(output, share)
    assert told.startswith(f"kept {len(kept)} of 5 trees, ")
    assert [tree.words for tree in read_treebank([output]).trees] == [(word,) for word in kept]
    assert list(output.parent.iterdir()) == [output]


def test_a_fifo_s_reader_gets_them(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with subprocess.Popen(["cat", tmp_path / "fifo"], stdout=subprocess.PIPE, text=True) as reader:
        written(tmp_path / "fifo", 0.39)
        found = reader.communicate()[0]
    written(tmp_path / "file", 0.39)
    assert found == (tmp_path / "file").read_text()
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["fifo", "file"]


def test_scores_are_comments_of_the_treebank(tmp_path: Path) -> None:
    output = tmp_path / "automatic.trees"
    written(output, 0.4, scores=True)
    first, *lines = output.read_text().splitlines()
    assert first == (
        "# automatic, the surest 40%: 2 of 5 trees, log-probability -0.2000 a symbol and more; 1.0 words on the "
        "average, 1.0 of all"
    )
    assert lines == ["# 2 -0.200000", "(S (NN b))", "# 5 -0.100000", "(S (NN d))"]
    assert not read_treebank([output]).problems


def test_nothing_to_keep_and_nothing_meant(tmp_path: Path) -> None:
    with ConfidentTrees(tmp_path / "none", 0.5) as trees:
        trees.add(PARSES[2], 1)
        with pytest.raises(DataError, match="no sentence has a tree"):
            trees.write()
    for share in (0.0, 1.5, float("nan")):
        with pytest.raises(DataError, match="take one above 0"):
            ConfidentTrees(tmp_path / "none", share)
    assert list(tmp_path.iterdir()) == []

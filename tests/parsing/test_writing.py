"""Trees over several lines, as JSON and as NLTK's; each comes back as it was."""

import json
from typing import Any

import pytest
from hypothesis import given
from tests.parsing.random_trees import any_words, few, plain_words, trees

from attendo.errors import DataError
from attendo.parsing.tree import Tree
from attendo.parsing.treebank import parse_tree
from attendo.parsing.writing import from_json, from_nltk, pretty, to_json, to_nltk

TREE = parse_tree("(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (PRP it))) (. .))")


def test_what_fits_on_a_line_stays_on_it() -> None:
    assert pretty(TREE) == str(TREE)
    assert pretty(TREE, 40) == ("(S\n  (NP (DT the) (NN cat))\n  (VP (VBZ sees) (NP (PRP it)))\n  (. .))")
    assert pretty(TREE, 20) == (
        "(S\n  (NP\n    (DT the)\n    (NN cat))\n  (VP\n    (VBZ sees)\n    (NP (PRP it)))\n  (. .))"
    )


@few
@given(trees(plain_words))
def test_lines_are_as_wide_as_they_may_be(tree: Tree) -> None:
    lines = pretty(tree, 30).split("\n")
    for line in lines:
        written = line.strip(" ")
        # What is longer is a word, or the beginning of a constituent that does not fit.
        assert len(line.rstrip(")")) <= 30 or written.count("(") == 1
    assert "".join(line.strip(" ") for line in lines).replace(" ", "") == str(tree).replace(" ", "")


def test_json_has_spans() -> None:
    assert to_json(TREE) == {
        "words": ["the", "cat", "sees", "it", "."],
        "tags": ["DT", "NN", "VBZ", "PRP", "."],
        "constituents": [
            {"label": "S", "start": 0, "end": 5},
            {"label": "NP", "start": 0, "end": 2},
            {"label": "VP", "start": 2, "end": 4},
            {"label": "NP", "start": 3, "end": 4},
        ],
    }


@few
@given(trees(any_words))
def test_json_comes_back(tree: Tree) -> None:
    assert from_json(json.loads(json.dumps(to_json(tree)))) == tree


def test_json_of_any_depth() -> None:
    tree = Tree("NN", word="a")
    for _ in range(5_000):
        tree = Tree("X", (tree, Tree("NN", word="b")))
    assert from_json(json.loads(json.dumps(to_json(tree)))) == tree


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "it takes words"),
        ({"words": ["a"], "tags": ["NN"]}, "it takes words"),
        ({"words": ["a"], "tags": [], "constituents": []}, "as many tags"),
        ({"words": [], "tags": [], "constituents": []}, "0 parts"),
        ({"words": ["a", "b"], "tags": ["N", "N"], "constituents": []}, "2 parts and no constituent around all"),
        ({"words": ["a"], "tags": ["N"], "constituents": [{"label": "S", "start": 0, "end": 2}]}, "'S' from 0 to 2"),
        ({"words": ["a"], "tags": ["N"], "constituents": [{"label": "S", "start": 0, "end": 0}]}, "'S' from 0 to 0"),
        ({"words": ["a"], "tags": ["N"], "constituents": [{"label": 1, "start": 0, "end": 1}]}, "1 from 0 to 1"),
        ({"words": [7], "tags": ["N"], "constituents": []}, "it takes words"),
    ],
)
def test_json_that_is_no_tree(value: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        from_json(value)


def test_json_whose_spans_cross_or_go_back() -> None:
    words = {"words": ["a", "b", "c"], "tags": ["N", "N", "N"]}
    spans = [("S", 0, 3), ("X", 0, 2), ("Y", 1, 3)]
    crossing = [{"label": label, "start": start, "end": end} for label, start, end in spans]
    with pytest.raises(DataError, match="'Y' from 1 to 3 crosses another one"):
        from_json({**words, "constituents": crossing})
    with pytest.raises(DataError, match="'X' from 0 to 2 is out of order"):
        from_json({**words, "constituents": [crossing[0], crossing[2], crossing[1]]})


def test_without_nltk_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "nltk.tree", None)
    with pytest.raises(DataError, match="pip install nltk"):
        to_nltk(TREE)


@few
@given(trees(plain_words))
def test_nltk_reads_writes_and_gives_back_the_same_tree(tree: Tree) -> None:
    nltk_tree = pytest.importorskip("nltk.tree").Tree
    theirs = to_nltk(tree)
    assert isinstance(theirs, nltk_tree)
    assert theirs.leaves() == list(tree.words)
    assert from_nltk(theirs) == tree
    assert " ".join(str(theirs).split()) == " ".join(str(tree).split())


class Node(list[Any]):
    """What `from_nltk` asks of a tree of NLTK's."""

    def __init__(self, label: str, parts: list[Any]) -> None:
        super().__init__(parts)
        self._label = label

    def label(self) -> str:
        return self._label


def test_what_nltk_may_have_and_we_do_not() -> None:
    assert from_nltk(Node("S", [Node("NN", ["a"]), Node("VP", [Node("VB", ["b"])])])) == parse_tree(
        "(S (NN a) (VP (VB b)))"
    )
    with pytest.raises(DataError, match="'a' beside constituents"):
        from_nltk(Node("S", ["a", Node("NN", ["b"])]))
    with pytest.raises(DataError, match="neither children nor a word"):
        from_nltk(Node("S", []))

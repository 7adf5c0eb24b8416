import copy
import pickle

import pytest
from hypothesis import given
from tests.parsing.random_trees import any_words, few, plain_words, trees

from attendo.errors import DataError
from attendo.parsing.tree import Span, Tree
from attendo.parsing.treebank import parse_tree

TEXT = "(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (PRP it))) (. .))"


def test_words_tags_and_spans() -> None:
    tree = parse_tree(TEXT)
    assert tree.words == ("the", "cat", "sees", "it", ".")
    assert tree.tags == ("DT", "NN", "VBZ", "PRP", ".")
    assert tree.spans == (Span("S", 0, 5), Span("NP", 0, 2), Span("VP", 2, 4), Span("NP", 3, 4))
    assert [node.label for node in tree.nodes()] == ["S", "NP", "DT", "NN", "VP", "VBZ", "NP", "PRP", "."]
    assert [node.label for node in tree.constituents()] == ["S", "NP", "VP", "NP"]
    assert [leaf.word for leaf in tree.leaves()] == list(tree.words)
    assert tree.depth == 3
    assert (Tree("NN", word="a").depth, Tree("NN", word="a").spans, Tree("NN", word="a").is_word) == (0, (), True)


def test_a_tree_is_written_on_one_line() -> None:
    assert str(parse_tree(TEXT)) == TEXT
    assert str(Tree("NN", word=":-)")) == "(NN :--RRB-)"
    assert repr(Tree("NN", word="a")) == "<Tree (NN a)>"
    assert len(repr(Tree("S", (Tree("NN", word="a"),) * 100))) < 220


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("NP",), "'NP' has neither children nor a word"),
        (("NP", (Tree("NN", word="a"),), "b"), "'NP' has both children and a word"),
        (("N P", (), "b"), "a label may hold no white space and no bracket, as 'N P' does"),
        (("N(", (), "b"), "a label may hold no white space and no bracket"),
        (("NN", (), ""), "a word of a tree may not be empty or hold white space, as ''"),
        (("NN", (), "a b"), "may not be empty or hold white space, as 'a b'"),
        (("", (), "b"), "'b' has none; XX stands for an unknown one"),
    ],
)
def test_what_is_no_tree(arguments: tuple[str, tuple[Tree, ...], str], message: str) -> None:
    with pytest.raises(DataError, match=message.replace("(", r"\(")):
        Tree(*arguments)


def test_a_tree_cannot_be_changed() -> None:
    tree = parse_tree(TEXT)
    with pytest.raises(AttributeError):
        tree.label = "NP"  # type: ignore[misc]


@few
@given(trees(any_words), trees(any_words))
def test_equal_trees_are_one_key(one: Tree, other: Tree) -> None:
    again = pickle.loads(pickle.dumps(one))
    assert again == one
    assert hash(again) == hash(one)
    assert {one: 1}[copy.deepcopy(one)] == 1
    # Two trees are written alike only where they are alike, but for brackets in words.
    if "(" not in "".join(one.words + other.words) and ")" not in "".join(one.words + other.words):
        assert (one == other) == (str(one) == str(other))


def test_equality_looks_at_everything() -> None:
    tree = parse_tree(TEXT)
    for changed in (TEXT.replace("cat", "cot"), TEXT.replace("VP", "VX"), TEXT.replace("(DT the) ", "")):
        assert parse_tree(changed) != tree
    assert tree != TEXT


@few
@given(trees(plain_words))
def test_spans_are_of_the_words_below(tree: Tree) -> None:
    for node, (label, start, end) in zip(tree.constituents(), tree.spans, strict=True):
        assert label == node.label
        assert tree.words[start:end] == node.words


@few
@given(trees(plain_words))
def test_transformed_goes_from_the_words_upwards(tree: Tree) -> None:
    seen: list[Tree] = []

    def change(node: Tree, children: tuple[Tree, ...]) -> tuple[Tree, ...]:
        assert children == node.children
        assert all(child in seen for child in children)
        seen.append(node)
        return (node,)

    assert tree.transformed(change) == (tree,)
    assert tree.transformed(lambda node, children: children or (node,)) == tuple(tree.leaves())
    assert tree.transformed(lambda node, children: ()) == ()


def test_no_depth_is_too_much() -> None:
    depth = 10_000
    deep = [Tree("NN", word="a"), Tree("NN", word="a")]
    for _ in range(depth):
        deep = [Tree("X", (tree,)) for tree in deep]
    one, other = deep
    assert one == other
    assert hash(one) == hash(other)
    assert one.depth == depth
    assert str(one) == "(X " * depth + "(NN a)" + ")" * depth
    assert len(one.spans) == depth
    assert one.words == ("a",)
    assert pickle.loads(pickle.dumps(one)) == one
    assert one.transformed(lambda node, children: children or (node,)) == (Tree("NN", word="a"),)

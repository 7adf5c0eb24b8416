"""Trees as symbols and back. The orders' expected symbols are worked out by hand from the papers' definitions."""

import re
from typing import get_args

import pytest
from hypothesis import given
from tests.parsing.random_trees import SPACE, any_words, few, trees

from attendo.errors import DataError
from attendo.parsing.config import Order
from attendo.parsing.linearization import WORD, Symbol, linearized, read_symbol, tree_of
from attendo.parsing.tree import Tree
from attendo.parsing.treebank import parse_tree

ORDERS: tuple[Order, ...] = get_args(Order)

# "John has a dog ." with its top-down symbols is figure 2 of Vinyals et al. 2015, who write XX for every tag.
DOG = "(S (NP (NNP John)) (VP (VBZ has) (NP (DT a) (NN dog))) (. .))"
# Of Liu and Zhang 2017 an NP of one word, below an S, is shift, project NP, reduce, project S, reduce.
CHAIN = "(S (VP (VB Go)))"
WORKED = [
    (DOG, "top-down", "(S (NP NNP )NP (VP VBZ (NP DT NN )NP )VP . )S"),
    (DOG, "in-order", "NNP (NP ) (S VBZ (VP DT (NP NN ) ) . )"),
    (DOG, "bottom-up", "NNP )1:NP VBZ DT NN )2:NP )2:VP . )3:S"),
    (CHAIN, "top-down", "(S (VP VB )VP )S"),
    (CHAIN, "in-order", "VB (VP ) (S )"),
    (CHAIN, "bottom-up", "VB )1:VP )1:S"),
    ("(NN cat)", "top-down", "NN"),
    ("(NN cat)", "in-order", "NN"),
    ("(NN cat)", "bottom-up", "NN"),
    # Left-branching, right-branching, and a bracket without a label.
    ("(A (B (C (x 1) (y 2)) (z 3)) (w 4))", "top-down", "(A (B (C x y )C z )B w )A"),
    ("(A (B (C (x 1) (y 2)) (z 3)) (w 4))", "in-order", "x (C y ) (B z ) (A w )"),
    ("(A (B (C (x 1) (y 2)) (z 3)) (w 4))", "bottom-up", "x y )2:C z )2:B w )2:A"),
    ("(A (x 1) (B (y 2) (C (z 3) (w 4))))", "top-down", "(A x (B y (C z w )C )B )A"),
    ("(A (x 1) (B (y 2) (C (z 3) (w 4))))", "in-order", "x (A y (B z (C w ) ) )"),
    ("(A (x 1) (B (y 2) (C (z 3) (w 4))))", "bottom-up", "x y z w )2:C )2:B )2:A"),
    ("((NP (NN a)) (: :))", "top-down", "( (NP NN )NP : )"),
    ("((NP (NN a)) (: :))", "in-order", "NN (NP ) ( : )"),
    ("((NP (NN a)) (: :))", "bottom-up", "NN )1:NP : )2:"),
]


@pytest.mark.parametrize(("text", "order", "symbols"), WORKED)
def test_worked_examples(text: str, order: Order, symbols: str) -> None:
    tree = parse_tree(text)
    assert " ".join(linearized(tree, order)) == symbols
    assert tree_of(symbols.split(" "), tree.words, order) == tree


def test_tags_may_be_left_out_as_vinyals_et_al_do() -> None:
    tree = parse_tree(DOG)
    symbols = linearized(tree, "top-down", tags=False)
    assert " ".join(symbols) == "(S (NP XX )NP (VP XX (NP XX XX )NP )VP XX )S"
    assert str(tree_of(symbols, tree.words, "top-down")) == re.sub(r"\([^ ()]+ ([^ ()]+\))", r"(XX \1", DOG)


def naively(tree: Tree, order: Order) -> str:
    """The definitions, each a recursion of one line."""
    if tree.is_word:
        return tree.label
    first, *rest = (naively(child, order) for child in tree.children)
    if order == "top-down":
        return " ".join([f"({tree.label}", first, *rest, f"){tree.label}"])
    if order == "in-order":
        return " ".join([first, f"({tree.label}", *rest, ")"])
    return " ".join([first, *rest, f"){len(tree.children)}:{tree.label}"])


@pytest.mark.parametrize("order", ORDERS)
@few
@given(tree=trees(any_words))
def test_random_trees_are_written_as_defined_and_read_back(order: Order, tree: Tree) -> None:
    symbols = linearized(tree, order)
    assert symbols == naively(tree, order).split(" ")
    assert tree_of(symbols, tree.words, order) == tree
    assert not set("".join(symbols)) & set(SPACE)
    without = linearized(tree, order, tags=False)
    kinds = [read_symbol(symbol, order) for symbol in symbols]
    assert without == [
        WORD if kind is not None and kind.kind == "word" else symbol
        for kind, symbol in zip(kinds, symbols, strict=True)
    ]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("left", "right"), [(0, 0), (1, 0), (0, 1)], ids=["unary", "left", "right"])
def test_trees_of_any_depth(order: Order, left: int, right: int) -> None:
    word = tree = Tree("NN", word="a")
    for level in range(20_000):
        tree = Tree(f"NP-{level % 7}", (*(word,) * right, tree, *(word,) * left))
    assert tree_of(linearized(tree, order), tree.words, order) == tree


@pytest.mark.parametrize(
    ("text", "order", "symbol"),
    [
        ("NN", "top-down", Symbol("word", "NN")),
        (",", "in-order", Symbol("word", ",")),
        (":", "bottom-up", Symbol("word", ":")),
        ("-LRB-", "bottom-up", Symbol("word", "-LRB-")),
        ("(NP", "top-down", Symbol("open", "NP")),
        ("(NP", "in-order", Symbol("open", "NP")),
        ("(NP", "bottom-up", None),
        (")NP", "top-down", Symbol("close", "NP")),
        (")NP", "in-order", None),
        (")NP", "bottom-up", None),
        (")", "top-down", Symbol("close", "")),
        (")", "in-order", Symbol("close", "")),
        (")", "bottom-up", None),
        (")2:NP", "bottom-up", Symbol("close", "NP", 2)),
        (")17:X=2", "bottom-up", Symbol("close", "X=2", 17)),
        (")2:NP", "top-down", Symbol("close", "2:NP")),
        (")0:NP", "bottom-up", None),
        (")02:NP", "bottom-up", None),
        (")-1:NP", "bottom-up", None),
        (")²:NP", "bottom-up", None),
        (")9999999999:NP", "bottom-up", None),
        ("", "top-down", None),
        ("N P", "top-down", None),
        ("NP(", "in-order", None),
        ("((", "in-order", None),
        ("NN\n", "in-order", None),
    ],
)
def test_what_a_symbol_says(text: str, order: Order, symbol: Symbol | None) -> None:
    assert read_symbol(text, order) == symbol


@pytest.mark.parametrize(
    ("symbols", "order", "message"),
    [
        ("(S NN", "top-down", "no top-down tree over 2 words: at the end: 1 still open: S (and 1 more)"),
        ("(S NN NN", "top-down", "no top-down tree over 2 words: at the end: 1 still open: S"),
        ("(S NN NN )NP )S", "top-down", "symbol 4, )NP: no NP is open"),
        ("(S NN NN )NP", "top-down", "symbol 4, )NP: no NP is open (and 1 more)"),
        ("(S (NP NN NN )S", "top-down", "symbol 5, )S: 1 still open: NP"),
        ("(S NN NN )S )S", "top-down", "symbol 5, )S: no S is open"),
        ("NN NN )S", "top-down", "symbol 3, )S: no S is open; it begins at the beginning"),
        ("(S NN NN NN )S", "top-down", "symbol 4, NN: a word, but the sentence has only 2"),
        ("(S NN )S", "top-down", "at the end: 1 of 2 words are missing"),
        ("(S NN NN (NP )NP )S", "top-down", "symbol 5, )NP: NP has no words"),
        ("(S NN )S (S NN )S", "top-down", "at the end: 2 parts have nothing around them: S S"),
        ("(S NN NN )S END( ", "top-down", "symbol 5, END(: top-down trees have no such symbol"),
        ("NN NN", "in-order", "at the end: 2 parts have nothing around them: NN NN"),
        ("(S NN NN )", "in-order", "symbol 1, (S: nothing is before it that it could take"),
        ("NN (NP (S NN ) )", "in-order", "symbol 3, (S: nothing is before it that it could take"),
        ("NN (NP NN", "in-order", "at the end: 1 still open: NP"),
        ("NN (NP NN ) )", "in-order", "symbol 5, ): nothing is open"),
        ("NN (NP NN )NP", "in-order", "symbol 4, )NP: in-order trees have no such symbol (and 1 more)"),
        ("NN NN )3:NP", "bottom-up", "symbol 3, )3:NP: it takes 3, but there are 2"),
        (")1:NP NN NN )2:NP", "bottom-up", "symbol 1, )1:NP: it takes 1, but there are 0"),
        ("NN NN )1:NP", "bottom-up", "at the end: 2 parts have nothing around them: NN NP"),
        ("NN NN (NP )2:S", "bottom-up", "symbol 3, (NP: bottom-up trees have no such symbol"),
        ("", "bottom-up", "at the end: 2 of 2 words are missing"),
    ],
)
def test_what_is_no_tree(symbols: str, order: Order, message: str) -> None:
    with pytest.raises(DataError, match=f"{re.escape(message)}$"):
        tree_of(symbols.split(), ["a", "b"], order)


@pytest.mark.parametrize("order", ORDERS)
def test_words_have_to_be_words(order: Order) -> None:
    with pytest.raises(DataError, match="a tree has at least one word, but the sentence has none"):
        tree_of(["NN"], [], order)
    with pytest.raises(DataError, match=f"no {order} tree over 1 word: at the end: 1 of 1 words are missing"):
        tree_of([], ["a"], order)
    with pytest.raises(DataError, match="may not be empty or hold white space, as 'a b'"):
        tree_of(["NN"], ["a b"], order)

"""Symbols that are no tree become one. What the rules of `repaired` mean is worked out by hand."""

import itertools
from collections import Counter
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parsing.naive_trees import naively_read, words_of
from tests.parsing.random_trees import any_words, few, labels, tags, trees

from attendo.errors import DataError
from attendo.parsing.config import Order
from attendo.parsing.linearization import FaultKind, linearized, repaired
from attendo.parsing.tree import Span, Tree

ORDERS: tuple[Order, ...] = get_args(Order)
sentences = st.lists(any_words, min_size=1, max_size=8)
orders = st.sampled_from(ORDERS)
symbols_of_all_orders = (
    tags
    | labels.map("({}".format)
    | labels.map("){}".format)
    | st.sampled_from(["(", ")", "(NP", ")NP", ")0:NP", "<unk>", "</s>", "(NP)", "", " ", "N N", "\n"])
    | st.tuples(st.integers(0, 5) | st.just(10**30), labels).map(lambda both: f"){both[0]}:{both[1]}")
    | st.text(max_size=4)
)


@pytest.mark.parametrize(
    ("order", "symbols", "num_words", "tree", "kinds"),
    [
        # Brackets that are open at the end are closed there: Vinyals et al.
        ("top-down", "(S (NP DT NN )NP (VP VBZ", 3, "(S (NP (DT a) (NN b)) (VP (VBZ c)))", ["not closed"]),
        ("in-order", "DT (NP NN ) (S VBZ (VP", 3, "(S (NP (DT a) (NN b)) (VP (VBZ c)))", ["not closed"]),
        # So are those that a closing bracket leaves open within its own.
        ("top-down", "(S (NP DT (NML NN )NP VBZ )S", 3, "(S (NP (DT a) (NML (NN b))) (VBZ c))", ["not closed"]),
        # Brackets that nothing has opened begin at the beginning: Vinyals et al.
        ("top-down", "(NP DT NN )NP (VP VBZ )VP )S", 3, "(S (NP (DT a) (NN b)) (VP (VBZ c)))", ["not opened"]),
        ("top-down", "DT )NP (VP VBZ )VP )S", 2, "(S (NP (DT a)) (VP (VBZ b)))", ["not opened", "not opened"]),
        # They are left out within what is open, and where they would only be around the whole again.
        ("top-down", "(S (NP DT )NP NN )NP VBZ )S", 3, "(S (NP (DT a)) (NN b) (VBZ c))", ["not opened"]),
        ("top-down", "(S DT NN )S )S )VP", 2, "(S (DT a) (NN b))", ["not opened", "not opened"]),
        ("top-down", ")S (S DT NN )S", 2, "(S (DT a) (NN b))", ["not opened"]),
        ("in-order", "DT (NP NN ) ) )", 2, "(NP (DT a) (NN b))", ["not opened", "not opened"]),
        ("in-order", "DT ) (NP NN )", 2, "(NP (DT a) (NN b))", ["not opened"]),
        # In-order, a bracket with nothing before it to take.
        ("in-order", "(S DT NN )", 2, "(S (DT a) (NN b))", ["too few parts"]),
        ("in-order", "DT (S (NP NN ) )", 2, "(S (DT a) (NP (NN b)))", ["too few parts"]),
        # Bottom-up, one that takes more than there is, or finds nothing.
        ("bottom-up", "DT NN )3:NP VBZ )2:S", 3, "(S (NP (DT a) (NN b)) (VBZ c))", ["too few parts"]),
        ("bottom-up", ")1:NP DT NN )2:NP", 2, "(NP (DT a) (NN b))", ["too few parts"]),
        # Constituents without words.
        ("top-down", "(S DT (VP (NP )NP )VP )S", 1, "(S (DT a))", ["empty", "empty"]),
        ("top-down", "(S DT NN (VP", 2, "(S (DT a) (NN b))", ["not closed", "empty"]),
        # Words too many; what holds only those goes, and brackets take what they would have taken.
        ("top-down", "(S DT NN (VP VBZ )VP )S", 2, "(S (DT a) (NN b))", ["word too many", "empty"]),
        ("in-order", "DT (S NN VBZ (VP ) . )", 2, "(S (DT a) (NN b))", ["word too many", "empty", "word too many"]),
        ("bottom-up", "DT NN VBZ )1:VP )3:S", 2, "(S (DT a) (NN b))", ["word too many", "empty"]),
        ("bottom-up", "DT NN . )2:NP )2:S", 2, "(S (DT a) (NP (NN b)))", ["word too many"]),
        # Words too few: they come last, within the whole.
        ("top-down", "(S (NP DT )NP )S", 3, "(S (NP (DT a)) (XX b) (XX c))", ["words missing"]),
        ("in-order", "DT (NP ) (S )", 3, "(S (NP (DT a)) (XX b) (XX c))", ["words missing"]),
        ("bottom-up", "DT )1:NP )1:S", 3, "(S (NP (DT a)) (XX b) (XX c))", ["words missing"]),
        ("top-down", "(S (NP DT", 2, "(S (NP (DT a)) (XX b))", ["not closed", "words missing"]),
        ("top-down", "DT", 2, "(TOP (DT a) (XX b))", ["words missing"]),
        ("bottom-up", "", 2, "(TOP (XX a) (XX b))", ["words missing"]),
        ("in-order", "", 1, "(XX a)", ["words missing"]),
        # Parts with nothing around them; top-down, words behind the constituent that was to hold all of them.
        ("top-down", "(S DT NN )S .", 3, "(S (DT a) (NN b) (. c))", ["no root"]),
        ("top-down", "(S DT NN )S .", 4, "(S (DT a) (NN b) (. c) (XX d))", ["no root", "words missing"]),
        ("bottom-up", "DT NN )2:NP VBZ", 4, "(TOP (NP (DT a) (NN b)) (VBZ c) (XX d))", ["no root", "words missing"]),
        ("in-order", "DT (NP NN ) VBZ", 3, "(TOP (NP (DT a) (NN b)) (VBZ c))", ["no root"]),
        ("top-down", "(S DT )S (S NN )S", 2, "(TOP (S (DT a)) (S (NN b)))", ["no root"]),
        ("in-order", "DT NN (NP VBZ )", 3, "(TOP (DT a) (NP (NN b) (VBZ c)))", ["no root"]),
        ("bottom-up", "DT NN", 2, "(TOP (DT a) (NN b))", ["no root"]),
        # Symbols of nothing.
        ("top-down", "(S DT )2:NP NN )S", 2, "(S (DT a) (NN b))", ["not opened"]),
        ("in-order", "DT (NP NN )NP )", 2, "(NP (DT a) (NN b))", ["unknown symbol"]),
        ("bottom-up", "(NP DT NN )0:X )2:NP", 2, "(NP (DT a) (NN b))", ["unknown symbol", "unknown symbol"]),
        ("top-down", "(S DT (NP) NN )S", 2, "(S (DT a) (NN b))", ["unknown symbol"]),
    ],
)  # fmt: skip
def test_worked_examples(order: Order, symbols: str, num_words: int, tree: str, kinds: list[FaultKind]) -> None:
    found = repaired(symbols.split(), "abcd"[:num_words], order)
    assert (str(found.tree), [fault.kind for fault in found.faults]) == (tree, kinds)


def test_faults_say_where_and_what() -> None:
    found = repaired(["(S", "(NP", "DT", ")VP", "NN", "NN", "VBZ", ")S", "?(", "."], ["a", "b", "c"], "top-down")
    assert str(found.tree) == "(S (NP (DT a) (NN b) (NN c)))"
    assert [(fault.place, str(fault)) for fault in found.faults] == [
        (4, "symbol 4, )VP: no VP is open"),
        (7, "symbol 7, VBZ: a word, but the sentence has only 3"),
        (8, "symbol 8, )S: 1 still open: NP"),
        (9, "symbol 9, ?(: top-down trees have no such symbol"),
        (10, "symbol 10, .: a word, but the sentence has only 3"),
    ]
    found = repaired(["(S", "\x07(" * 100, "(NP"], ["a"], "top-down")
    assert str(found.faults[0]).startswith("symbol 2, '\\x07(\\x07(")
    assert all(len(str(fault)) < 160 for fault in found.faults)
    assert [(fault.place, str(fault)) for fault in found.faults[1:]] == [
        (None, "at the end: 2 still open: S NP"),
        (None, "at the end: NP has no words"),
        (None, "at the end: S has no words"),
        (None, "at the end: 1 of 1 words are missing"),
    ]


@settings(max_examples=200, deadline=None)
@given(order=orders, symbols=st.lists(symbols_of_all_orders, max_size=25), words=sentences)
def test_any_symbols_become_a_tree_over_the_words(order: Order, symbols: list[str], words: list[str]) -> None:
    found = repaired(symbols, words, order)
    assert list(found.tree.words) == words
    again = repaired(linearized(found.tree, order), words, order)
    assert (again.tree, again.faults) == (found.tree, ())
    assert bool(found.faults) == (linearized(found.tree, order) != symbols)


@pytest.mark.parametrize(
    ("order", "text"),
    [("top-down", "(A )A (B )B x"), ("in-order", "(A (B ) x"), ("bottom-up", ")1:A )2:A )3:B x")],
)
def test_only_trees_have_no_faults(order: Order, text: str) -> None:
    """All sequences of up to 5 symbols, told apart by a reader that is not the project's."""
    for symbols in itertools.chain(*(itertools.product(text.split(), repeat=length) for length in range(6))):
        tree = naively_read(symbols, order) if symbols else None
        for num_words in (1, 2, 3):
            is_tree = tree is not None and len(words_of(tree)) == num_words
            found = repaired(symbols, "abc"[:num_words], order)
            assert (not found.faults) == is_tree
            assert len(found.tree.words) == num_words


@few
@given(order=orders, tree=trees(any_words), cut=st.integers(0, 60))
def test_what_was_complete_stays_where_a_tree_breaks_off(order: Order, tree: Tree, cut: int) -> None:
    symbols = linearized(tree, order)[:cut]
    found = repaired(symbols, tree.words, order)
    num_read = sum(symbol[0] not in "()" for symbol in symbols)
    assert found.tree.tags[:num_read] == tree.tags[:num_read]
    assert set(found.tree.tags[num_read:]) <= {"XX"}
    # Each constituent is closed behind those within it, in every order.
    closed = in_closing_order(tree)[: sum(symbol[0] == ")" for symbol in symbols)]
    if closed and closed[-1][1:] == (0, num_read) and num_read < len(tree.words):
        closed.pop()  # the only part there is: it holds the missing words, too
    assert not Counter(closed) - Counter(found.tree.spans)


def in_closing_order(tree: Tree, start: int = 0) -> list[Span]:
    """The constituents, those within others before them."""
    if tree.is_word:
        return []
    inner, end = [], start
    for child in tree.children:
        inner += in_closing_order(child, end)
        end += len(child.words)
    return [*inner, Span(tree.label, start, end)]


@few
@given(tree=trees(any_words), count=st.integers(1, 30))
def test_brackets_are_added_at_the_end_or_the_beginning_as_vinyals_et_al_do(tree: Tree, count: int) -> None:
    """A tree without its last closing brackets, or without its first opening one, becomes what it was."""
    symbols = linearized(tree, "top-down")
    num_last = len(list(itertools.takewhile(lambda symbol: symbol[0] == ")", reversed(symbols))))
    assert repaired(symbols[: len(symbols) - min(count, num_last)], tree.words, "top-down").tree == tree
    if not tree.is_word and (len(tree.children) > 1 or tree.children[0].is_word):
        found = repaired(symbols[1:], tree.words, "top-down")
        assert (found.tree, [fault.kind for fault in found.faults]) == (tree, ["not opened"])


@pytest.mark.parametrize("order", ORDERS)
def test_words_are_needed(order: Order) -> None:
    with pytest.raises(DataError, match="a tree has at least one word, but the sentence has none"):
        repaired(["NN"], [], order)


@pytest.mark.parametrize(
    ("order", "symbols", "depth"),
    [
        ("top-down", ["(A", "(B"] * 10_000 + ["x"], 20_000),
        ("top-down", ["(A"] * 20_000 + ["x"] + [")B"] * 5, 20_000),
        ("top-down", ["x"] + [")A", ")B"] * 10_000, 1),
        ("in-order", ["x", "(A"] * 20_000, 20_000),
        ("in-order", ["(A"] * 20_000 + ["x"], 20_000),
        ("bottom-up", ["x"] + [")1:A", ")2:A"] * 10_000, 20_000),
    ],
)  # fmt: skip
def test_any_depth(order: Order, symbols: list[str], depth: int) -> None:
    words = ["a"] * max(1, symbols.count("x"))
    found = repaired(symbols, words, order)
    assert found.tree.words == tuple(words)
    assert found.tree.depth == depth

"""The grammar against all sequences of symbols there are, told apart by a checker of its own."""

import itertools
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.parsing.naive_trees import Node, naively_read, words_of

from attendo.decoding.constraints.constraint import Constraint
from attendo.decoding.constraints.grammar import Grammar
from attendo.errors import DataError
from attendo.parsing.config import Order
from attendo.parsing.linearization import tree_of

EOS = 0
ORDERS: tuple[Order, ...] = get_args(Order)
SMALL: list[tuple[Order, str, int]] = [
    ("top-down", "(A )A (B )B x", 7),
    ("in-order", "(A (B ) x", 8),
    ("bottom-up", ")1:A )1:B )2:A )3:B x", 7),
    # What can be opened and not closed, or the other way; numbers of parts that do not add up to every number.
    ("top-down", "(A )A (B )C x", 6),
    ("in-order", "(A (B x y", 4),
    ("bottom-up", ")3:A )4:B x", 9),
    ("bottom-up", ")3:A )1:A )1:B x", 6),
]
"""Vocabularies, and how long a sequence may be so that there are not too many."""
TAGGED: dict[Order, str] = {"top-down": "(A )A x y", "in-order": "(A ) x y", "bottom-up": ")1:A )2:A x y"}
Symbols = tuple[str, ...]
Tags = tuple[frozenset[str] | None, ...]


class Limits(NamedTuple):
    num_words: int
    max_symbols: int
    max_unary: int = 4
    max_open: int = 100
    tags: Tags | None = None


def fits(symbols: Symbols, tree: Node | str, limits: Limits) -> bool:
    """Whether a tree keeps to the limits, decided on the finished tree."""
    words = words_of(tree)
    tags = limits.tags or (None,) * limits.num_words
    return (
        len(words) == limits.num_words
        and len(symbols) <= limits.max_symbols
        and max(open_counts(symbols)) <= limits.max_open
        and all(its is None or word in its for word, its in zip(words, tags, strict=True))
        and all(len(chain) == len(set(chain)) <= limits.max_unary for chain in chains_of(tree))
    )


def all_that_are_trees(text: str, order: Order, length: int) -> dict[Symbols, Node | str]:
    """Goes through all sequences of some symbols, up to a length."""
    every = itertools.chain(*(itertools.product(text.split(), repeat=count) for count in range(1, length + 1)))
    return {symbols: tree for symbols in every if (tree := naively_read(symbols, order)) is not None}


def open_counts(symbols: Sequence[str]) -> Iterator[int]:
    """How many constituents are open behind each symbol; bottom-up none."""
    num_open = 0
    for symbol in symbols:
        num_open += symbol.startswith("(") - (symbol.startswith(")") and ":" not in symbol)
        yield num_open


def chains_of(tree: Node | str) -> list[list[str]]:
    """The labels of the constituents over the same words, for each part of the sentence that is one."""
    labels = []
    while isinstance(tree, Node) and len(tree.children) == 1:
        labels.append(tree.label)
        tree = tree.children[0]
    if isinstance(tree, str):
        return [labels]
    return [[*labels, tree.label], *(chain for child in tree.children for chain in chains_of(child))]


def grammar_of(text: str, order: Order, **limits: int) -> tuple[Grammar, dict[int, str]]:
    """Ids from 2; 0 is `</s>` and 1 is no symbol."""
    symbols = dict(enumerate(text.split(), start=2))
    return Grammar(symbols, order, EOS, **limits), symbols


def continuations(complete: set[Symbols]) -> dict[Symbols, set[str]]:
    """What follows each beginning of a complete sequence; "" is `</s>`."""
    found: dict[Symbols, set[str]] = {}
    for symbols in complete:
        for length, symbol in enumerate((*symbols, "")):
            found.setdefault(symbols[:length], set()).add(symbol)
    return found


def said(constraint: Constraint, ids: Mapping[str, int], symbols: Symbols, spoken: Mapping[int, str]) -> set[str]:
    """What the grammar lets follow; "" is `</s>`."""
    allowed = constraint.following([ids[symbol] for symbol in symbols])
    assert allowed.only is not None
    assert not allowed.banned
    return {spoken[token] for token in allowed.only}


def check_against(complete: set[Symbols], text: str, order: Order, limits: Limits) -> None:
    """Holds the grammar against all complete sequences within the limits."""
    grammar, symbols = grammar_of(text, order, max_unary=limits.max_unary, max_open=limits.max_open)
    if not complete:
        with pytest.raises(DataError):
            grammar.sentence(limits.num_words, limits.max_symbols, limits.tags)
        return
    constraint = grammar.sentence(limits.num_words, limits.max_symbols, limits.tags)
    spoken = {EOS: "", **symbols}
    ids = {symbol: token for token, symbol in symbols.items()}
    expected = continuations(complete)
    for beginning in sorted(expected, key=lambda each: (len(each), each)):
        assert said(constraint, ids, beginning, spoken) == expected[beginning], beginning
        for symbol in symbols.values():
            if symbol not in expected[beginning]:
                assert not said(constraint, ids, (*beginning, symbol), spoken)


@pytest.mark.parametrize(("order", "text", "length"), SMALL)
def test_against_all_sequences_there_are(order: Order, text: str, length: int) -> None:
    trees = all_that_are_trees(text, order, length)
    for num_words, max_symbols, max_unary, max_open in itertools.product(
        range(1, 6), range(1, length + 1), (1, 2, 4), (100,) if order == "bottom-up" else (1, 2, 100)
    ):
        limits = Limits(num_words, max_symbols, max_unary, max_open)
        complete = {symbols for symbols, tree in trees.items() if fits(symbols, tree, limits)}
        check_against(complete, text, order, limits)


@pytest.mark.parametrize("order", ORDERS)
def test_words_that_may_only_have_some_tags(order: Order) -> None:
    trees = all_that_are_trees(TAGGED[order], order, 7)
    x, y = frozenset("x"), frozenset("y")
    choices: list[Tags] = [
        (None, y, x),
        (x | y, x, None),
        (x, x, y),
        (y,),
        (x | y,),
        (x, y | {"z"}),
        (x, frozenset("z")),
    ]
    for tags in choices:
        limits = Limits(len(tags), 7, tags=tags)
        complete = {symbols for symbols, tree in trees.items() if fits(symbols, tree, limits)}
        check_against(complete, TAGGED[order], order, limits)


def all_trees(num_words: int, labels: str, max_unary: int, room: int) -> Iterator[Node | str]:
    """All trees of words x, with at most so many constituents."""
    if num_words == 1:
        yield "x"
    for label, tops in itertools.product(labels, range(1, num_words + 1)):
        for children in all_children(num_words, tops, labels, max_unary, room - 1):
            tree = Node(label, children)
            if all(len(chain) == len(set(chain)) <= max_unary for chain in chains_of(tree)):
                yield tree


def all_children(
    num_words: int, num_children: int, labels: str, max_unary: int, room: int
) -> Iterator[tuple[Node | str, ...]]:
    if room < 0:
        return
    if num_children == 1:
        yield from ((tree,) for tree in all_trees(num_words, labels, max_unary, room))
        return
    for first_words in range(1, num_words - num_children + 2):
        for first in all_trees(first_words, labels, max_unary, room):
            left = room - num_constituents(first)
            for rest in all_children(num_words - first_words, num_children - 1, labels, max_unary, left):
                yield (first, *rest)


def num_constituents(tree: Node | str) -> int:
    return 0 if isinstance(tree, str) else 1 + sum(map(num_constituents, tree.children))


def written(tree: Node | str, order: Order) -> Symbols:
    if isinstance(tree, str):
        return (tree,)
    first, *rest = (written(child, order) for child in tree.children)
    behind = tuple(itertools.chain(*rest))
    if order == "top-down":
        return (f"({tree.label}", *first, *behind, f"){tree.label}")
    if order == "in-order":
        return (*first, f"({tree.label}", *behind, ")")
    return (*first, *behind, f"){len(tree.children)}:{tree.label}")


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("num_words", "labels", "max_unary", "room"), [(2, "AB", 2, 6), (2, "ABC", 3, 4), (3, "AB", 1, 5), (4, "A", 3, 6)]
)
def test_against_all_trees_there_are(order: Order, num_words: int, labels: str, max_unary: int, room: int) -> None:
    text = {
        "top-down": " ".join(f"({label} ){label}" for label in labels) + " x",
        "in-order": " ".join(f"({label}" for label in labels) + " ) x",
        "bottom-up": " ".join(f"){count}:{label}" for label in labels for count in range(1, num_words + 1)) + " x",
    }[order]
    most = num_words + room * (1 if order == "bottom-up" else 2)
    trees = {written(tree, order) for tree in all_trees(num_words, labels, max_unary, room)}
    check_against(trees, text, order, Limits(num_words, most, max_unary))


@st.composite
def sentences(draw: st.DrawFn) -> tuple[Order, str, Limits]:
    """Vocabularies of any shape, and limits that leave much room or little."""
    order = draw(st.sampled_from(ORDERS))
    labels = draw(st.sets(st.sampled_from(["S", "NP", "VP", "X=2", ""]), min_size=1))
    tags = draw(st.sets(st.sampled_from(["NN", "DT", ":", "2:X"]), min_size=1))
    counts = draw(st.sets(st.integers(1, 5), min_size=1)) | {2}
    text = {
        "top-down": [f"({label}" for label in labels] + [f"){label}" for label in labels],
        "in-order": [f"({label}" for label in labels] + [")"],
        "bottom-up": [f"){count}:{label}" for count in counts for label in labels],
    }[order]
    num_words = draw(st.integers(1, 12))
    of_each = st.none() | st.sets(st.sampled_from(sorted(tags)), min_size=1).map(frozenset)
    limits = Limits(
        num_words,
        # One word is a tree, and several under one bracket, or in pairs.
        max_symbols=(num_words if num_words == 1 else num_words * 2 + 1) + draw(st.integers(0, 30)),
        max_unary=draw(st.integers(1, 4)),
        max_open=draw(st.integers(1, 6)),
        tags=draw(st.none() | st.tuples(*(of_each,) * num_words)),
    )
    return order, " ".join([*text, *tags]), limits


@settings(max_examples=60, deadline=None)
@given(sentence=sentences(), seed=st.integers(0, 2**32))
def test_whatever_is_allowed_ends_in_a_tree(sentence: tuple[Order, str, Limits], seed: int) -> None:
    order, text, limits = sentence
    grammar, symbols = grammar_of(text, order, max_unary=limits.max_unary, max_open=limits.max_open)
    constraint = grammar.sentence(limits.num_words, limits.max_symbols, limits.tags)
    chance = random.Random(seed)
    for _ in range(3):
        ids: list[int] = []
        while (chosen := chance.choice(sorted(constraint.following(ids).only or ()))) != EOS:
            ids.append(chosen)
        spoken = tuple(symbols[token] for token in ids)
        tree = naively_read(spoken, order)
        assert tree is not None
        assert fits(spoken, tree, limits)
        assert tree_of(spoken, ["a"] * limits.num_words, order).tags == tuple(words_of(tree))


@pytest.mark.parametrize("order", ORDERS)
def test_what_was_asked_before_changes_nothing(order: Order) -> None:
    text = {"top-down": "(A )A (B )B x y", "in-order": "(A (B ) x y", "bottom-up": ")1:A )2:B )3:A x y"}[order]
    grammar, symbols = grammar_of(text, order)
    tags: Tags = (None, frozenset("x"), None, frozenset("y"))
    asked = grammar.sentence(4, 14, tags)
    chance = random.Random(3)
    beginnings: list[list[int]] = [[]]
    for _ in range(400):
        ids = chance.choice(beginnings)
        following = asked.following(ids)
        assert following == grammar.sentence(4, 14, tags).following(ids)
        beginnings.append([*ids, chance.choice([*symbols, 1, *(following.only or ())])])
    assert len({len(ids) for ids in beginnings}) > 5


def test_a_beam_may_grow_shrink_and_repeat_itself() -> None:
    """The rows of a batch are asked in any order, some of them twice."""
    grammar, _ = grammar_of("(A )A x", "top-down")
    constraint = grammar.sentence(2, 8)
    for ids in ([], [2], [4], [2, 2], [2, 4], [2, 2], [2], [2, 4, 4], [2, 4, 4, 3], [2, 4, 4, 3, EOS], [99]):
        assert constraint.following(ids) == grammar.sentence(2, 8).following(tuple(ids))


def test_every_id_of_a_symbol_is_as_good() -> None:
    grammar = Grammar({2: "(A", 3: "(A", 4: ")A", 5: ")A", 6: "x", 7: "x"}, "top-down", EOS)
    constraint = grammar.sentence(1, 3)
    assert constraint.following([]).only == frozenset((2, 3, 6, 7))
    assert constraint.following([3]).only == frozenset((6, 7))
    assert constraint.following([3, 7]).only == frozenset((4, 5))


def test_no_number_of_tag_sets_is_too_many() -> None:
    """More than are kept: all 16,383 choices of 14 tags."""
    tags = dict(enumerate("abcdefghijklmn", start=2))
    grammar = Grammar(tags, "in-order", EOS)
    for count in range(1, len(tags) + 1):
        for chosen in itertools.combinations(tags, count):
            its_tags = frozenset(tags[token] for token in chosen)
            assert grammar.sentence(1, 1, [its_tags]).following([]).only == frozenset(chosen)


@pytest.mark.parametrize("order", ORDERS)
def test_a_long_sentence_of_nothing_but_brackets(order: Order) -> None:
    """As deep as it may be: 20,000 words, each within a constituent more than the one before."""
    text = {"top-down": "(A )A x", "in-order": "(A ) x", "bottom-up": ")2:A x"}[order]
    grammar, symbols = grammar_of(text, order, max_open=20_000)
    ids = {symbol: token for token, symbol in symbols.items()}
    count = 20_000
    tree = {
        "top-down": ["(A", "x"] * (count - 1) + ["x"] + [")A"] * (count - 1),
        "in-order": ["x", "(A"] * (count - 1) + ["x"] + [")"] * (count - 1),
        "bottom-up": ["x"] * count + [")2:A"] * (count - 1),
    }[order]
    constraint = grammar.sentence(count, len(tree))
    assert constraint.following([ids[symbol] for symbol in tree]).only == frozenset((EOS,))
    assert ids[tree[-1]] in constraint.following([ids[symbol] for symbol in tree[:-1]])


@pytest.mark.parametrize(
    ("text", "order", "num_words", "max_symbols", "tags", "message"),
    [
        ("(A )A x", "top-down", 0, 9, None, "a tree has at least one word, but the sentence has none"),
        ("(A )A x", "top-down", 3, 4, None, "its trees have at least 5 symbols, but may have 4; allow more"),
        ("(A ) x", "in-order", 3, 4, None, "its trees have at least 5 symbols, but may have 4; allow more"),
        (")2:A x", "bottom-up", 3, 4, None, "its trees have at least 5 symbols, but may have 4; allow more"),
        (")3:A x", "bottom-up", 4, 99, None, "the vocabulary has no brackets that make one tree of 4 words"),
        ("(A x", "top-down", 2, 99, None, "the vocabulary has no brackets that make one tree of 2 words"),
        ("(A x", "in-order", 2, 99, None, "the vocabulary has no brackets that make one tree of 2 words"),
        ("(A )A x", "top-down", 1, 0, None, "its trees have at least 1 symbols, but may have 0; allow more"),
        (
            *("(A )A x", "top-down", 2, 9, (None,)),
            "a sentence of 2 words has tags for 1; give each word its tags, or None",
        ),
        ("(A )A x", "top-down", 2, 9, (None, frozenset("zy")), "word 2 may only be tagged y, z, not in the vocabulary"),
    ],
)  # fmt: skip
def test_where_there_is_no_tree(
    text: str, order: Order, num_words: int, max_symbols: int, tags: Tags | None, message: str
) -> None:
    grammar, _ = grammar_of(text, order)
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        grammar.sentence(num_words, max_symbols, tags)


@pytest.mark.parametrize(
    ("symbols", "order", "limits", "message"),
    [
        ({2: "(A", 3: "x"}, "bottom-up", {}, "the symbol '(A' is none of bottom-up trees; take its own order"),
        ({2: "(A", 3: ")A"}, "top-down", {}, "the vocabulary has no symbol of a word"),
        ({0: "x", 3: ")A"}, "top-down", {}, "the id 0 is 'x' as well as </s>; leave it out of the symbols"),
        ({2: "x"}, "top-down", {"max_unary": 0}, "max_unary is 0; take 1 or more"),
        ({2: "x"}, "top-down", {"max_open": 0}, "max_open is 0; take 1 or more"),
    ],
)  # fmt: skip
def test_what_is_no_grammar(symbols: dict[int, str], order: Order, limits: dict[str, int], message: str) -> None:
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        Grammar(symbols, order, EOS, **limits)

"""Constituents by their tokens, held against a walk over the tree itself."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsing.random_trees import few, plain_words, trees

from attendo.errors import DataError
from attendo.parsing.tree import Tree
from attendo.parsing.treebank import parse_tree
from attendo.spacy.constituents import Constituents, Range


def in_a_document(sentences: Sequence[Tree], gaps: Sequence[int]) -> tuple[Constituents, list[str], list[list[int]]]:
    """Constituents of sentences with so much white space before each word; all tokens; those of each sentence."""
    tokens: list[str] = []
    places: list[list[int]] = []
    remaining = iter(gaps)
    for tree in sentences:
        places.append([])
        for word in tree.words:
            tokens += ["\n"] * next(remaining)
            places[-1].append(len(tokens))
            tokens.append(word)
    tokens.append(" ")
    constituents = Constituents(spans=[], tags=[""] * len(tokens))
    for tree, its_places in zip(sentences, places, strict=True):
        constituents.add(tree, its_places)
    return constituents, tokens, places


def walked(
    tree: Tree, places: Sequence[int]
) -> Iterator[tuple[Range, tuple[str, ...], Range | None, list[Range], Tree]]:
    """Of each constituent, from above: its tokens, labels, parent and children, and the tree; from Tree alone."""

    def extent(node: Tree, first: int) -> Range:
        return places[first], places[first + len(node.words) - 1] + 1

    def visit(node: Tree, first: int, parent: Range | None) -> Iterator[tuple]:  # type: ignore[type-arg]
        own, labels, lowest = extent(node, first), [], node
        while not lowest.is_word:
            labels.append(lowest.label)
            if len(lowest.children) > 1:
                break
            lowest = lowest.children[0]
        below, position = [], first
        for child in lowest.children:
            below.append((child, position))
            position += len(child.words)
        yield own, tuple(labels), parent, [extent(child, place) for child, place in below], node
        for child, place in below:
            yield from visit(child, place, own)

    yield from visit(tree, 0, None)


@few
@given(st.lists(trees(plain_words), min_size=1, max_size=3), st.data())
def test_all_is_as_in_the_trees(sentences: list[Tree], data: st.DataObject) -> None:
    total = sum(len(tree.words) for tree in sentences)
    gaps = data.draw(st.lists(st.integers(0, 2), min_size=total, max_size=total))
    constituents, tokens, places = in_a_document(sentences, gaps)
    for tree, its_places in zip(sentences, places, strict=True):
        expected = list(walked(tree, its_places))
        assert list(constituents.within(expected[0][0])) == [own for own, *_ in expected]
        for own, labels, parent, children, node in expected:
            assert constituents.found(*own) == own
            assert constituents.labels(own) == labels
            assert constituents.parent(own) == parent
            assert list(constituents.children(own)) == children
            assert constituents.tree(own, tokens) == node
            assert constituents.tree(own, tokens[own[0] : own[1]], own[0]) == node
        known = {own for own, *_ in expected}
        for start in range(its_places[0], its_places[-1]):
            for end in range(start + 1, its_places[-1] + 2):
                words = [place for place in its_places if start <= place < end]
                exact = (words[0], words[-1] + 1) if words else None
                if exact in known:
                    assert constituents.found(start, end) == exact, "white space around it does not matter"
                else:
                    with pytest.raises(DataError, match=r"^(is no constituent|has no parse)$"):
                        constituents.found(start, end)


def test_labels_of_a_chain_are_from_above() -> None:
    tree = parse_tree("(TOP (S (NP (PRP it)) (VP (VBD left))))")
    constituents, tokens, _ = in_a_document([tree], [0, 0])
    assert constituents.labels((0, 2)) == ("TOP", "S")
    assert [constituents.labels(child) for child in constituents.children((0, 2))] == [("NP",), ("VP",)]
    assert str(constituents.tree((1, 2), tokens)) == "(VP (VBD left))"

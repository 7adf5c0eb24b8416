"""Drawings are read as XML, and measured: nothing lies over anything else, every part below its constituent."""

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from tests.parsing.random_trees import any_words, few, trees

from attendo.parsing.drawing import MAX_LETTERS, PILL_HEIGHT, to_svg
from attendo.parsing.tree import Tree
from attendo.parsing.treebank import parse_tree

SVG = "{http://www.w3.org/2000/svg}"
TREE = parse_tree("(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (PRP it))) (. .))")


def texts(svg: str) -> list[tuple[str, float, float]]:
    """All texts, with the middle of their foot."""
    root = ElementTree.fromstring(svg.encode())
    return [(text.text or "", float(text.attrib["x"]), float(text.attrib["y"])) for text in root.iter(f"{SVG}text")]


def test_words_stand_in_a_row_below_their_tags_and_constituents() -> None:
    found = texts(to_svg(TREE))
    rows = sorted({y for _, _, y in found})
    assert len(rows) == 5, "S, VP, the NPs, tags and words"
    words = sorted((x, text) for text, x, y in found if y == rows[-1])
    assert [text for _, text in words] == ["the", "cat", "sees", "it", "."]
    tags = sorted((x, text) for text, x, y in found if y == rows[-2])
    assert [text for _, text in tags] == ["DT", "NN", "VBZ", "PRP", "."]
    assert [x for x, _ in tags] == [x for x, _ in words]
    [(s, x, y)] = [entry for entry in found if entry[2] == rows[0]]
    assert (s, y) == ("S", rows[0])
    assert words[0][0] < x < words[-1][0]
    assert sorted(text for text, _, y in found if y == rows[2]) == ["NP", "NP"]


def test_a_drawing_stands_alone() -> None:
    svg = to_svg(TREE)
    assert svg.startswith('<?xml version="1.0" encoding="UTF-8"?>')
    assert 'aria-label="Tree of: the cat sees it ."' in svg
    for foreign in ("<script", "<style", "<image", "href", "url("):
        assert foreign not in svg
    assert svg.count("http") == 1, "the name space alone"


@few
@given(trees(any_words))
def test_any_tree_is_drawn_without_overlaps(tree: Tree) -> None:
    root = ElementTree.fromstring(to_svg(tree).encode())
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    pills: dict[float, list[tuple[float, float]]] = {}
    for rect in root.iter(f"{SVG}rect"):
        if "rx" in rect.attrib:
            x, y, wide = (float(rect.attrib[key]) for key in ("x", "y", "width"))
            pills.setdefault(y, []).append((x, x + wide))
            assert x >= 0
            assert x + wide <= width
            assert 0 <= y <= height - PILL_HEIGHT
    assert sum(len(row) for row in pills.values()) == len(tree.spans)
    for row in pills.values():
        for (_, end), (start, _) in zip(sorted(row), sorted(row)[1:], strict=False):
            assert end <= start
    assert len(list(root.iter(f"{SVG}path"))) == len(list(tree.nodes())) - 1


@pytest.mark.parametrize("word", ["<b>&\"'", "a\x00\x1b\x9fb", "\ufffe", "🙂", "日本語", "x" * 1000])
def test_strange_words_are_drawn(word: str) -> None:
    tree = Tree("NP", (Tree("NN", word=word),))
    shown = texts(to_svg(tree))[-1][0]
    assert len(shown) <= MAX_LETTERS
    if word.isprintable() and len(word) <= MAX_LETTERS:
        assert shown == word


def test_a_deep_and_a_long_tree() -> None:
    deep = Tree("NN", word="a")
    for _ in range(2_000):
        deep = Tree("X", (deep,))
    assert to_svg(deep).count("<path") == 2_000
    long = Tree("S", tuple(Tree("NN", word="word") for _ in range(500)))
    assert to_svg(long).count(">word<") == 500

"""Treebanks on disk: every shape of file, and what becomes of trees that cannot be read."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parsing.random_trees import few, plain_words, trees

from attendo.errors import DataError
from attendo.parsing.assembling import MAX_DEPTH, FoundTree, Unread
from attendo.parsing.conventions import Conventions
from attendo.parsing.tree import Tree
from attendo.parsing.treebank import parse_tree, parse_trees, read_treebank
from attendo.parsing.writing import pretty

KEEP = Conventions(keep_outer=True, keep_traces=True, keep_functions=True)


def read(text: str) -> list[str | tuple[int, str]]:
    """Trees as text, and of what is none the line and the problem."""
    found = parse_trees((line, None) for line in text.split("\n"))
    return [str(one.tree) if isinstance(one, FoundTree) else (one.line, one.problem) for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("( (S (NP (NN a))\n    (VP (VB b)) ))\n\n( (X (NN c)) )", ["( (S (NP (NN a)) (VP (VB b))))", "( (X (NN c)))"]),
        ("(A (B b)) (C c)(D d)\n(E e)", ["(A (B b))", "(C c)", "(D d)", "(E e)"]),
        ("(S\n(NP (NN a))\n(VP (VB b)))\n(S\n(X c))", ["(S (NP (NN a)) (VP (VB b)))", "(S (X c))"]),
        ("  (A\tb)\r\n  (C\n d)\n", ["(A b)", "(C d)"]),
        ("(\nS\n (NN\n a)\n)", ["(S (NN a))"]),
        ("# one (A b)\n(A b)\n%% two\n; three\n*x* four\n<s>\n(C d)\n</s>", ["(A b)", "(C d)"]),
        ("((S (NN a)))", ["( (S (NN a)))"]),
        ("(((S (NN a))))", ["( ( (S (NN a))))"]),
        ("(A no\u00a0break\u2028\x85)", ["(A no\u00a0break\u2028\x85)"]),
        ("", []),
        ("\n \n", []),
    ],
)
def test_shapes_of_files(text: str, expected: list[str]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A bracket misses: the next tree begins at the margin, by its outer bracket, or behind an empty line.
        ("(A a)\n(S (B b)\n(C c)", ["(A a)", (2, "not closed before another tree begins on line 3"), "(C c)"]),
        ("(S (A a)\n(S (B b))\n(C c)", [(1, "not closed before the end of the file"), "(S (B b))", "(C c)"]),
        ("(S (NN a\n\n(S (NN b))", [(1, "not closed before another tree begins on line 3"), "(S (NN b))"]),
        ("( (S (NN a) )\n( (S (NN b)) )", [(1, "not closed before another tree begins on line 2"), "( (S (NN b)))"]),
        ("( (S (X (NN a)) ( (S (NN b)) )", [(1, "not closed before another tree begins on line 1"), "( (S (NN b)))"]),
        ("( (S (X (NN a)) ( (NN b) )", [(1, "not closed before another tree begins on line 1"), "( (NN b))"]),
        # Trees that go on at the margin: a part of one is not taken for a tree.
        ("(S\n(A a))\n(S\n(A b)\n(S\n(A c))", ["(S (A a))", (3, "not closed before the end of the file"), "(S (A c))"]),
        # A bracket too many spoils what came before it, no further than another outer bracket or the line.
        ("(A a)\n(B b) (C c)) (D d)\n(E e)", ["(A a)", (2, "a closing bracket too many on line 2"), "(D d)", "(E e)"]),
        ("(TOP (A a)) (TOP (B b)) (C c))", ["(TOP (A a))", (1, "a closing bracket too many on line 1")]),
        ("(S\n (A a))\n (B b))\n(C c)", [(1, "a closing bracket too many on line 3"), "(C c)"]),
        ("(A a)\n (B b))\n(C c)", ["(A a)", (2, "a closing bracket too many on line 2"), "(C c)"]),
        # What is no tree within its brackets.
        ("(S (NN a) b)\n(C c)", [(1, "words beside brackets: 'b' in (S"), "(C c)"]),
        ("(S (NP ) (NN a))\n(C c)", [(1, "a bracket with nothing in it, (NP)"), "(C c)"]),
        ("()\n(C c)", [(1, "a bracket with nothing in it, ()"), "(C c)"]),
        ("(NN a b)\n(C c)", [(1, "several words under NN and nothing around them"), "(C c)"]),
        ("some prose\n(C c)", [(1, "text outside brackets, 'some'"), "(C c)"]),
        ("S (NP (NN a)) (VP (VB b)))\n(C c)", [(1, "text outside brackets, 'S'"), "(C c)"]),
    ],
)  # fmt: skip
def test_a_bad_tree_does_not_stop_the_others(text: str, expected: list[str | tuple[int, str]]) -> None:
    assert read(text) == expected


def test_words_that_share_a_bracket_and_brackets_without_a_word() -> None:
    found = list(parse_trees([("(NP (NN a b) (-LRB- ) (NN c) (-RRB-))", None)]))
    expected = parse_tree("(NP (NN a) (NN b) (-LRB- -LRB-) (NN c) (-RRB- -RRB-))")
    assert found == [FoundTree(tree=expected, line=1, num_mended=3)]


@few
@given(trees(plain_words))
def test_a_tree_comes_back_from_one_line_and_from_many(tree: Tree) -> None:
    assert parse_tree(str(tree)) == tree
    for width in (1, 30, 80):
        assert parse_tree(pretty(tree, width)) == tree


@few
@given(st.lists(trees(plain_words), min_size=2, max_size=5), st.booleans(), st.data())
def test_one_bracket_more_or_less_costs_one_tree(
    given_trees: list[Tree], over_lines: bool, data: st.DataObject
) -> None:
    texts = [
        f"( (S {tree}) )" if not over_lines else f"( (S\n {pretty(tree, 1)}) )".replace("\n", "\n  ")
        for tree in given_trees
    ]
    hit = data.draw(st.integers(0, len(texts) - 1))
    places = [index for index, letter in enumerate(texts[hit]) if letter in "()"]
    place = data.draw(st.sampled_from(places))
    insert = data.draw(st.booleans())
    texts[hit] = texts[hit][: place + insert] + texts[hit][place] * insert + texts[hit][place + 1 :]
    found = read("\n".join(texts))
    # Where trees have several lines, an opening bracket less may as well be a closing one too many of the tree before.
    in_doubt = {hit, hit - 1} if over_lines else {hit}
    others = [parse_tree(text) for number, text in enumerate(texts) if number not in in_doubt]
    assert [one for one in map(str, others) if one not in found] == []
    assert any(isinstance(one, tuple) for one in found) or insert


@few
@given(st.text(st.sampled_from("()((S a\n#")), st.text())
def test_no_text_is_too_strange(brackets: str, text: str) -> None:
    for strange in (brackets, text):
        for one in parse_trees((line, None) for line in strange.split("\n")):
            assert isinstance(one, Unread) or parse_tree(str(one.tree)) == one.tree


def test_depth_has_a_bound() -> None:
    deepest = "(X " * (MAX_DEPTH - 1) + "(NN a)" + ")" * (MAX_DEPTH - 1)
    assert parse_tree(deepest).depth == MAX_DEPTH - 1
    beside = "(TOP " * (MAX_DEPTH - 1) + "( (X (NN a)) b" + ")" * MAX_DEPTH
    assert read(f"{beside}\n(C c)") == [(1, f"nested more than {MAX_DEPTH} deep"), "(C c)"]
    too_deep = "(X " * 30_000 + "(NN a)" + ")" * 30_000
    assert read(f"{too_deep}\n(C c)") == [(1, f"nested more than {MAX_DEPTH} deep"), "(C c)"]


def test_a_tree_has_an_end() -> None:
    lines = ["(S", *[" (NN a" + "a" * 1000 + ")"] * 1_100, "(S (NN b))"]
    assert read("\n".join(lines)) == [(1, "more than 1,048,576 characters, so a bracket is missing"), "(S (NN b))"]


def test_many_open_brackets_do_not_take_for_ever() -> None:
    found = read("(A a)\n(S\n(B b))\n" + "(S\n" * 5_000)
    assert found[:2] == ["(A a)", (2, "not closed before another tree begins on line 3")]
    assert len(found) > 2_000


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "0 trees"), ("(A b) (C d)", "2 trees"), ("(A", "line 1: not closed"), ("(A b))", "too many on line 1")],
)
def test_where_one_tree_is_wanted(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse_tree(text)


def test_files_with_problems_named_by_line(tmp_path: Path) -> None:
    first, second = tmp_path / "first.mrg", tmp_path / "second.mrg.gz"
    first.write_bytes(
        b"\xef\xbb\xbf( (S (NP-SBJ (NN a)) (VP (-NONE- *))) )\n( (S (NN caf\xe9)) )\n( (S (-NONE- *)) )\n"
    )
    second.write_bytes(gzip.compress(b"(S (NN a b) (NN c))\n\n(S (NN d)"))
    found = read_treebank([first, second])
    assert [str(tree) for tree in found.trees] == ["(S (NP (NN a)))", "(S (NN a) (NN b) (NN c))"]
    assert (found.num_empty, found.num_mended) == (1, 1)
    assert [str(problem) for problem in found.problems] == [
        f"{first}: line 2: line 2 is not UTF-8 at its byte 13",
        f"{second}: line 3: not closed before the end of the file",
    ]
    assert str(read_treebank([first], KEEP).trees[0]) == "( (S (NP-SBJ (NN a)) (VP (-NONE- *))))"
    with pytest.raises(DataError, match="there is no such file"):
        read_treebank([tmp_path / "gone"])


def test_a_line_of_5_mb_spoils_one_tree(tmp_path: Path) -> None:
    path = tmp_path / "long"
    path.write_bytes(b"(A a)\n(S " + b"(NN a)" * 900_000 + b")\n(C c)\n")
    found = read_treebank([path])
    assert [str(tree) for tree in found.trees] == ["(A a)", "(C c)"]
    assert [(problem.line, problem.message) for problem in found.problems] == [(2, "line 2 is longer than 4 MB")]


@pytest.mark.parametrize(
    ("name", "num_trees", "num_problems"),
    [
        pytest.param("craft/dev.ptb", 2780, 0, marks=pytest.mark.slow),
        ("wsj_sample/dev.mrg", 185, 0),
        ("questionbank/train.ptb", 3495, 5),
    ],
)
def test_real_treebanks(shared: Callable[[str], Path], name: str, num_trees: int, num_problems: int) -> None:
    path = shared(name)
    lines = path.read_text(encoding="utf-8").splitlines()
    found = read_treebank([path], KEEP)
    assert (len(found.trees), len(found.problems)) == (num_trees, num_problems)
    bad = {problem.line for problem in found.problems}
    kept = [line for number, line in enumerate(lines, start=1) if number not in bad]
    differing = [
        line
        for line, tree in zip(kept, found.trees, strict=True)
        if "".join(str(tree).split()) != "".join(line.split())
    ]
    assert all("(-LRB- )" in line or "(-RRB- )" in line for line in differing), "but for mended ones, letter by letter"

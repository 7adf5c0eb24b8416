"""What is kept of a tree; the expected trees are worked by hand, those about traces after EVALB's README, section 7."""

import pytest
from hypothesis import given
from tests.parsing.random_trees import few, plain_words, trees

from attendo.parsing.conventions import TRACE, Conventions, normalised, without_function
from attendo.parsing.tree import Tree
from attendo.parsing.treebank import parse_tree

EVERYTHING = Conventions(keep_outer=True, keep_traces=True, keep_functions=True)
WITH_TRACES = (
    "( (S (NP-SBJ-1 (PRP He)) (VP (VBD reported) (SBAR (-NONE- 0) (S=2 (-NONE- *T*-1))) (PRN (-LRB- -LRB-) (NN a)"
    " (-RRB- -RRB-))) (. .)) )"
)


def changed(text: str, conventions: Conventions) -> str:
    return str(normalised(parse_tree(text), conventions))


@pytest.mark.parametrize(
    ("conventions", "expected"),
    [
        (
            Conventions(),
            "(S (NP (PRP He)) (VP (VBD reported) (PRN (-LRB- -LRB-) (NN a) (-RRB- -RRB-))) (. .))",
        ),
        (
            Conventions(keep_functions=True),
            "(S (NP-SBJ-1 (PRP He)) (VP (VBD reported) (PRN (-LRB- -LRB-) (NN a) (-RRB- -RRB-))) (. .))",
        ),
        (
            Conventions(keep_traces=True, unescape=True),
            "(S (NP (PRP He)) (VP (VBD reported) (SBAR (-NONE- 0) (S (-NONE- *T*-1))) (PRN (-LRB- -LRB-) (NN a)"
            " (-RRB- -RRB-))) (. .))",  # written with the names again
        ),
        (
            Conventions(keep_outer=True),
            "( (S (NP (PRP He)) (VP (VBD reported) (PRN (-LRB- -LRB-) (NN a) (-RRB- -RRB-))) (. .)))",
        ),
    ],
)
def test_what_is_kept(conventions: Conventions, expected: str) -> None:
    assert changed(WITH_TRACES, conventions) == expected


def test_words_as_text_has_them() -> None:
    tree = normalised(parse_tree(WITH_TRACES), Conventions(unescape=True))
    assert tree is not None
    assert tree.words == ("He", "reported", "(", "a", ")", ".")


@pytest.mark.parametrize(
    ("text", "conventions", "expected"),
    [
        ("(S (NP (NP (NN a))) (VP (VB b)))", Conventions(), "(S (NP (NP (NN a))) (VP (VB b)))"),
        ("(S (NP (NP (NN a))) (VP (VB b)))", Conventions(unary_chains="repeated"), "(S (NP (NN a)) (VP (VB b)))"),
        ("(S (VP (S (VP (VB b)))))", Conventions(unary_chains="repeated"), "(S (VP (S (VP (VB b)))))"),
        ("(S (VP (S (VP (VB b)))))", Conventions(unary_chains="top"), "(S (VB b))"),
        # The trace goes first, and leaves a chain behind.
        ("(NP (NP (NN a)) (SBAR (-NONE- 0)))", Conventions(unary_chains="repeated"), "(NP (NN a))"),
        ("(X (NP-SBJ (NP (NN a))))", Conventions(unary_chains="repeated"), "(X (NP (NN a)))"),
        ("(TOP (S1 ((S (NN a)))))", Conventions(), "(S (NN a))"),
        ("(ROOT (NP (NN a)) (. .))", Conventions(), "(ROOT (NP (NN a)) (. .))"),
        ("( (NP (NN a)) (. .))", Conventions(), "(TOP (NP (NN a)) (. .))"),
        ("( (NN a))", Conventions(), "(TOP (NN a))"),
        ("(TOP (-NONE- *) (S (NN a)))", Conventions(), "(S (NN a))"),
    ],
)
def test_chains_and_outer_brackets(text: str, conventions: Conventions, expected: str) -> None:
    assert changed(text, conventions) == expected


def test_nothing_but_traces() -> None:
    assert normalised(parse_tree("(S (NP-SBJ (-NONE- *)) (VP (-NONE- *?*)))"), Conventions()) is None


@pytest.mark.parametrize(
    ("label", "bare"),
    [
        ("NP-SBJ-1", "NP"),
        ("NP=2", "NP"),
        ("-NONE-", "-NONE-"),
        ("-LRB-", "-LRB-"),
        ("NP", "NP"),
        ("ADVP|PRT", "ADVP|PRT"),
    ],
)
def test_functions_are_cut_off(label: str, bare: str) -> None:
    assert without_function(label) == bare


@few
@given(trees(plain_words))
def test_normalising_keeps_words_and_comes_to_an_end(tree: Tree) -> None:
    assert normalised(tree, EVERYTHING) == tree
    once = normalised(tree, Conventions(unary_chains="repeated"))
    kept = [leaf.word for leaf in tree.leaves() if leaf.label != TRACE]
    assert ([] if once is None else list(once.words)) == kept
    if once is not None:
        assert normalised(once, Conventions(unary_chains="repeated")) == once
        assert not any("-" in label or "=" in label for label, _, _ in once.spans)

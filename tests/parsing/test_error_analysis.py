"""Errors counted by kind: worked examples, and sums that EVALB's own counts have to agree with."""

from hypothesis import given
from hypothesis import strategies as st
from tests.parsing.random_trees import few, labels, plain_words, trees

from attendo.parsing.error_analysis import ErrorAnalysis, counted_brackets
from attendo.parsing.evalb.files import evaluate
from attendo.parsing.evalb.parameters import COLLINS, EvalbParameters
from attendo.parsing.tree import Tree
from attendo.parsing.treebank import parse_tree


def analysed(gold: str, test: str, parameters: EvalbParameters = COLLINS) -> ErrorAnalysis:
    found = ErrorAnalysis(parameters)
    found.add(parse_tree(gold), parse_tree(test))
    return found


WITH_IN_VP = "(S (NP (PRP I)) (VP (VBP see) (NP (NN cats)) (PP (IN with) (NP (NN eyes)))) (. .))"
WITH_IN_NP = "(S (NP (PRP I)) (VP (VBP see) (NP (NP (NN cats)) (PP (IN with) (NP (NN eyes))))) (. .))"


def test_a_phrase_attached_elsewhere() -> None:
    found = analysed(WITH_IN_VP, WITH_IN_NP)
    # The NP over both is one too many; the PP stands in it in place of the VP; the NPs within are where they were.
    assert dict(found.attached) == {("PP", "VP", "NP"): 1}
    assert dict(found.spurious) == {"NP": 1}
    assert not found.missing
    assert not found.confused
    back = analysed(WITH_IN_NP, WITH_IN_VP)
    assert dict(back.attached) == {("PP", "NP", "VP"): 1}
    assert (dict(back.missing), dict(back.spurious)) == ({"NP": 1}, {})


def test_labels_that_are_confused_are_neither_missing_nor_spurious() -> None:
    gold = "(S (NP-SBJ (NN a)) (VP (VB b) (ADVP (RB c)) (PRT (RP d)) (NP (NN e))))"
    test = "(S (NP (NN a)) (VP (VB b) (PRT (RB c)) (ADJP (RP d)) (NN e)))"
    found = analysed(gold, test)
    assert dict(found.confused) == {("PRT", "ADJP"): 1}, "ADVP and PRT are the same to COLLINS.prm, and -SBJ is cut"
    assert (dict(found.missing), dict(found.spurious)) == ({"NP": 1}, {})
    assert [(each.gold, each.test, each.matched) for each in found.lengths] == [
        (4, 3, 2),
        (0, 0, 0),
        (2, 2, 2),
        (0, 0, 0),
        (0, 0, 0),
        (0, 0, 0),
    ]
    assert found.lengths[0].figures == (50.0, 100 * 2 / 3, 2 * 50 * (200 / 3) / (50 + 200 / 3))


def test_brackets_that_do_not_count() -> None:
    tree = parse_tree("(TOP (S (`` ``) (NP=2 (NN a)) (PRN (, ,)) (VP (VB b))))")
    assert [tuple(bracket) for bracket in counted_brackets(tree, COLLINS)] == [
        ("S", 0, 2, None),
        ("NP", 0, 1, 0),
        ("VP", 1, 2, 0),
    ]
    assert len(counted_brackets(tree, EvalbParameters())) == 5
    found = analysed("(S (NN a) (. .))", "(S (NN a) (NN .))")
    assert found.sentences == 0, "a full stop that counts in one tree alone"


def test_it_is_text_and_json() -> None:
    found = analysed(WITH_IN_VP, WITH_IN_NP)
    text = found.to_text()
    assert "-- Attached elsewhere: label, within gold > test: 1 --\n     1  PP, VP > NP\n" in text
    assert "-- Brackets missing: 0 --\n  none\n" in text
    assert "4 to 7          2      2      2  100.00  100.00  100.00" in text
    told = found.to_json()
    assert told["attached_elsewhere"] == [{"label": "PP", "gold": "VP", "test": "NP", "count": 1}]
    assert told["by_words"][0] == {
        "words": "1", "gold": 3, "test": 3, "matched": 3, "recall": 100.0, "precision": 100.0, "f1": 100.0
    }  # fmt: skip


@few
@given(trees(plain_words), st.lists(labels, min_size=30, max_size=30))
def test_sums_are_evalbs(gold: Tree, others: list[str]) -> None:
    # The same tree with other labels here and there.
    new = iter(others)

    def change(node: Tree, children: tuple[Tree, ...]) -> tuple[Tree]:
        return (node,) if node.is_word else (Tree(next(new, node.label), children),)

    [test] = gold.transformed(change)
    if gold.is_word:
        return
    scored = evaluate([(str(gold), str(test))], COLLINS)
    found = ErrorAnalysis(COLLINS)
    found.add(gold, test)
    every = scored.every_sentence
    if every.num_counted == 0 or every.num_failed:
        return
    assert sum(each.gold for each in found.lengths) == every.gold.total()
    assert sum(each.test for each in found.lengths) == every.test.total()
    assert sum(each.matched for each in found.lengths) == scored.summary.all.matched
    assert found.confused == every.confused
    assert every.gold.total() == scored.summary.all.matched + found.confused.total() + found.missing.total()
    assert every.test.total() == scored.summary.all.matched + found.confused.total() + found.spurious.total()

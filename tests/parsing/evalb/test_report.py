"""Figures in which every sentence counts, worked by hand."""

from attendo.parsing.evalb.files import evaluate
from attendo.parsing.evalb.parameters import COLLINS

PAIRS = [
    # 3 brackets each; NP and VP match, S is an SQ.
    ("(S (NP (NN a)) (VP (VB b)) (. .))", "(SQ (NP (NN a)) (VP (NN b)) (. .))"),
    # ADVP is PRT, and complete.
    ("(S (ADVP (RB c)) (VB d))", "(S (PRT (RB c)) (VB d))"),
    # No parse, one of other words, one that is broken: 2 gold brackets each.
    ("(S (NP (NN a)))", ""),
    ("(S (NP (NN a)))", "(S (NP (NN b)))"),
    ("(S (NP (NN a)))", "(S (NP (NN a))"),
    # The gold tree's fault; and nothing that counts.
    ("(S (NP (NN a))", "(S (NP (NN a)))"),
    ("(S (. .))", "(S (. .))"),
]


def test_every_sentence_counts() -> None:
    found = evaluate(PAIRS, COLLINS)
    every = found.every_sentence
    assert (every.num_sentences, every.num_failed, every.num_bad_gold, every.num_without_words) == (7, 3, 1, 1)
    # Gold 3 + 2 + 3 * 2, test 3 + 2, matched 2 + 2.
    assert dict(every.figures()) == {
        "Bracketing Recall": 100 * 4 / 11,
        "Bracketing Precision": 80,
        "Bracketing FMeasure": 2 * 80 * (400 / 11) / (80 + 400 / 11),
        "Complete match": 100 * 1 / 5,
        "Tagging accuracy": 100 * 3 / 7,
    }
    # EVALB has the first two alone.
    assert (found.summary.all.num_valid, found.summary.all.recall) == (2, 80)
    assert (found.summary.all.num_errors, found.summary.all.num_skipped) == (3, 2)


def test_labels_have_their_own_figures() -> None:
    every = evaluate(PAIRS, COLLINS).every_sentence
    assert [(label.label, label.gold, label.test, label.recalled, label.precise) for label in every.labels()] == [
        ("S", 5, 1, 1, 1),
        ("NP", 4, 1, 1, 1),
        ("ADVP", 1, 0, 1, 0),
        ("VP", 1, 1, 1, 1),
        ("PRT", 0, 1, 0, 1),
        ("SQ", 0, 1, 0, 0),
    ]
    by_name = {label.label: label for label in every.labels()}
    assert (by_name["S"].recall, by_name["S"].precision, by_name["S"].f1) == (20, 100, 2 * 20 * 100 / 120)
    assert (by_name["SQ"].recall, by_name["SQ"].precision, by_name["SQ"].f1) == (0, 0, 0)
    assert every.confusions() == [("S", "SQ", 1)]


def test_the_report_is_text_and_json() -> None:
    every = evaluate(PAIRS, COLLINS).every_sentence
    text = every.to_text()
    assert "Number of failed parse    =      3\n" in text
    assert "Bracketing Recall         =  36.36\n" in text
    assert "S               5      1      1   20.00  100.00   33.33\n" in text
    assert "     1  S > SQ\n" in text
    told = every.to_json()
    assert told["labels"]["ADVP"]["recall"] == 100
    assert told["confusions"] == [{"gold": "S", "test": "SQ", "count": 1}]


def test_nothing_at_all() -> None:
    every = evaluate([], COLLINS).every_sentence
    assert {value for _, value in every.figures()} == {0.0}
    assert "  none\n" in every.to_text()

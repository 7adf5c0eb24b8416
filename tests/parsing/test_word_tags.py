"""Which tags a word can have, by hand."""

from attendo.parsing.conventions import Conventions, normalised
from attendo.parsing.treebank import parse_tree
from attendo.parsing.word_tags import OTHERS, possible_tags, word_tags

TREES = [
    parse_tree("(S (NP (DT The) (NN cat)) (, ,) (`` ``) (VP (VBZ sees)) ('' '') (. .))"),
    parse_tree("(S (NP (CD 3.5) (NN %)) (, ,) (`` \") (VP (VBZ sees)) ('' \") (. .))"),
    parse_tree("(S (NP (CD 4) (NN %)) (NN ,) (-LRB- -LRB-) (. !) (. .) (: --))"),
]
TREES = [tree for tree in (normalised(each, Conventions(unescape=True)) for each in TREES) if tree is not None]


def test_words_without_letters_have_the_tags_that_they_had() -> None:
    known = word_tags(TREES)
    assert known == {
        OTHERS: ["CD", "DT", "NN", "VBZ"],
        "!": ["."],
        "%": ["NN"],
        '"': ["''", "``"],  # what treebanks tell apart and text does not
        ",": [","],  # the noun that occurs once is a slip
        "--": [":"],
        "(": ["-LRB-"],
        ".": ["."],
    }


def test_words_with_letters_are_no_punctuation() -> None:
    known = {OTHERS: ["NN", "VBZ"], ",": [","], "(": ["-LRB-"]}
    assert possible_tags("cat", known) == frozenset(("NN", "VBZ"))
    assert possible_tags("3.5", known) == frozenset(("NN", "VBZ"))
    assert possible_tags(",", known) == frozenset((",",))
    assert possible_tags("?", known) is None
    assert possible_tags("cat", {}) is None

import pytest
from hypothesis import given
from tests.parsing.random_trees import any_words, few

from attendo.parsing.words import escaped, unescaped


@pytest.mark.parametrize(
    ("word", "written"),
    [("(", "-LRB-"), (")", "-RRB-"), (":-)", ":--RRB-"), ("f(x)", "f-LRB-x-RRB-"), ("[", "["), ("a-b", "a-b")],
)
def test_round_brackets_get_names(word: str, written: str) -> None:
    assert escaped(word) == written
    assert unescaped(written) == word


@pytest.mark.parametrize(
    ("written", "word"),
    [("-LSB-", "["), ("-RSB-", "]"), ("-LCB-", "{"), ("-RCB-", "}"), (r"1\/2", "1/2"), (r"\*", "*"), ("``", "``")],
)
def test_other_names_of_treebanks_are_read(written: str, word: str) -> None:
    assert unescaped(written) == word


@few
@given(any_words)
def test_an_escaped_word_comes_back(word: str) -> None:
    assert not {"(", ")"} & set(escaped(word))
    if unescaped(word) == word:  # it has none of the names itself
        assert unescaped(escaped(word)) == word

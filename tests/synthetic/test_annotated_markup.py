"""Sentences with their structure written into them."""

import pytest

from attendo.synthetic.annotated.markup import links, parse, written_links

ENGLISH = (
    "[ the~d man~s# ] turned~v< [ the~e radio~g* [ in~i [ the~h hall~k ] ] ] off~p> ,~c because~b it~x! hummed~m .~z"
)


def test_a_sentence_is_read_with_all_that_is_known() -> None:
    side = parse(ENGLISH)
    assert side.text == "The man turned the radio in the hall off, because it hummed."
    assert side.words[8:11] == ("off", ",", "because")
    assert side.constituents == ((0, 1), (6, 7), (5, 7), (3, 7))
    assert side.dependency == (2, 8)
    assert (side.anaphor, side.antecedent, side.rival) == (11, 4, 1)
    assert side.labels[4] == {"g"}


def test_words_that_share_a_label_are_linked() -> None:
    source, target = parse("he~a went~b home~c .~z"), parse("er~a ging~b nach~c Hause~c .~z")
    assert links(source, target) == {(0, 0), (1, 1), (2, 2), (2, 3), (3, 4)}
    assert links(parse("in~a the~b hall~c"), parse("im~a,b Saal~c")) == {(0, 0), (1, 0), (2, 1)}
    assert links(parse("a"), parse("b")) == frozenset()


def test_brackets_around_one_word_are_no_constituent_and_equal_ones_are_one() -> None:
    assert parse("[ [ a b ] ] [ c ]").constituents == ((0, 1),)


@pytest.mark.parametrize(
    ("marked", "problem"),
    [("[ a b", "not closed"), ("a ]", "closes nothing"), ("a [ ]", "closes nothing"), ("a~ b", "no token")],
)
def test_slips_are_told(marked: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse(marked)


def test_punctuation_belongs_to_the_word_before_it() -> None:
    source, target = parse("he~a slept~b ,~c then~d went~e .~z"), parse("er~a schlief~b dann~d ,~c ging~e weg~e .~z")
    # Written: He slept, then went. / Er schlief dann, ging weg.
    assert written_links(source, target) == {(0, 0), (1, 1), (2, 2), (3, 3), (3, 4)}

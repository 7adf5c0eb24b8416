"""Whose words are whose: the numbers are counted by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attendo.decoding.guards.words import Segment, WordNumbers, word_numbers, words


@pytest.mark.parametrize(
    ("segments", "expected"),
    [
        ([("the dog", "THE DOG")], ((0,), (1,))),
        ([("", "\U0001f600 "), ("the dog", "the dog"), ("", " !")], ((1,), (2,))),
        ([("it is (", "it is ("), ("X", "a b c"), (").", ").")], ((0,), (1,), (2, 3, 4))),
        ([("X", "a b c"), (" d", " d")], ((0, 1, 2), (3,))),
        ([("one.", "one."), ("  ", "  "), ("Two", "two")], ((0,), (1,))),
        ([("", "gone")], ()),
        ([("gone", "")], ((),)),
        ([], ()),
    ],
)
def test_words_of_stretches(segments: list[Segment], expected: WordNumbers) -> None:
    assert word_numbers(segments) == expected


@given(st.lists(st.tuples(st.text(st.sampled_from("a \t"), max_size=5), st.text(st.sampled_from("b \t"), max_size=5))))
def test_every_word_has_its_numbers(segments: list[Segment]) -> None:
    found = word_numbers(segments)
    theirs, ours = ("".join(texts) for texts in zip(*segments, strict=True)) if segments else ("", "")
    assert len(found) == len(words(theirs))
    assert all(0 <= number < len(words(ours)) for numbers in found for number in numbers)
    same = [(text, text) for text, _ in segments]
    assert word_numbers(same) == tuple((number,) for number in range(len(words(theirs))))

"""Whose words are whose: the numbers are counted by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attendo.decoding.guards.words import Segment, WordNumbers, has_few_words, word_numbers, words


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


@pytest.mark.parametrize(
    "text",
    [
        "2024-10-28 WARN [pool-7] com.example.Handler - took 3439 ms",
        "+ index_name_price = index(137);",
        "price-58b791.error.internal:8271",
        "\tat org.order.ConfigImpl.getOrder(Config.java:782)",
        "137\tx\tx\tindex\t96\tx\t622\t\terror",
        "| * | --- | --- | 63 | 60 | --- | --- | 49 |",
    ],
)
def test_logs_programs_and_tables_have_few_words(text: str) -> None:
    assert has_few_words(text)


@pytest.mark.parametrize(
    "text",
    [
        "It costs 5 euros in version 2.11.0.",
        "Call me at +49 30 1234567 at 3:30 p.m., please.",
        "See config.toml",
        "Undo (%d)",
        "if (x == 3)",
        "T-Shirt",
        "你好（2024）。",
        "Die Größe von f(x) ist 3 oder 4 oder 5.",
        "",
    ],
)
def test_sentences_and_short_texts_have_enough(text: str) -> None:
    assert not has_few_words(text)

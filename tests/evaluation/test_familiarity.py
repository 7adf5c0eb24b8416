"""Familiar words; the expected figures are worked out by hand."""

import math

import pytest

from attendo.evaluation.familiarity import familiar_words, familiarity


def test_words_are_weighed_by_how_much_more_frequent_they_are() -> None:
    familiar = ["Server 12 stopped.", "the server"]
    others = (["the dog", "The dog"], ["the cat"] * 100)
    words = familiar_words(iter(familiar), [iter(lines) for lines in others])
    # Of four familiar words two are "server"; of the others' words a half is "the", and a quarter each "dog" and "cat".
    for word, (rate, other) in {
        "server": (500_000, 0),
        "stopped": (250_000, 0),
        "the": (250_000, 500_000),
        "dog": (0, 250_000),
        "cat": (0, 250_000),
    }.items():
        assert words.pop(word) == pytest.approx(math.log((rate + 20) / (other + 20)), abs=0.005)
    assert not words


def test_rare_words_do_not_count() -> None:
    common = ["the dog sleeps here now"] * 10_000
    words = familiar_words([*common, "once upon"], [[*common, "twice upon"]])
    assert set(words) == {"the", "dog", "sleeps", "here", "now"}
    assert set(words.values()) == {0.0}


def test_familiarity_is_the_mean_over_the_words_and_never_below_0() -> None:
    words = {"server": 2.0, "the": -0.5}
    assert familiarity("The server, the SERVER!", words) == pytest.approx(0.75)
    assert familiarity("Server 42 unknown", words) == pytest.approx(1.0)
    assert familiarity("the the server the the the", words) == 0.0
    assert familiarity("12 + 3", words) == familiarity("", words) == familiarity("server", {}) == 0.0


def test_text_without_words_is_no_familiar_text() -> None:
    assert familiar_words([], [[]]) == {}
    assert familiar_words(["12"], [["a"]]) == {"a": pytest.approx(math.log(20 / 1_000_020), abs=0.005)}

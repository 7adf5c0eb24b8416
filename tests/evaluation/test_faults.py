"""Faults counted by hand."""

import pytest

from attendo.evaluation.faults import Faults, OneWord, faults, is_copy, loops, one_word


@pytest.mark.parametrize(
    ("text", "looping"),
    [
        ("no no no", True),
        ("No, no, no!", True),
        ("no no", False),
        ("the cat and the cat and the cat and", True),
        ("the cat and the cat and the dog", False),
        ("a b c a b c a b x a b c", False),
        ("he went on and on and on", False),
        ("hahahahaha", True),
        ("haha", False),
        ("Schifffahrt", False),
        ("100000000", False),
        ("", False),
    ],
)
def test_loops(text: str, looping: bool) -> None:
    assert loops(text) is looping


@pytest.mark.parametrize("length", range(1, 6))
def test_a_loop_of_any_length_is_found_wherever_it_stands(length: int) -> None:
    words = [f"w{number}" for number in range(length)]
    around = ["begin", "of", "it"]
    assert loops(" ".join([*around, *words * 3, "end"]))
    assert not loops(" ".join([*around, *words * 2, *words[:-1], "end"]))


def test_a_copy_has_the_same_words_whatever_their_case() -> None:
    assert is_copy("Good morning, Ann!", "good morning ann")
    assert not is_copy("Good morning, Ann!", "Good morning")
    assert not is_copy("...", "...")


def test_faults_are_counted_by_hand() -> None:
    sources = [
        "I like the tea",
        "Tim Bo Ann",
        "go",
        "it was so very very very late",
        " ",
        "a b c",
        "x " * 30,
        "long " * 8,
    ]
    outputs = ["I like the tea.", "Tim Bo Ann", "", "es war sehr sehr sehr spät", "", "nein " * 12, "kurz", "lang " * 8]
    references = ["Ich mag den Tee", "Tim Bo Ann", "geh", "es war sehr spät", "", "a b d", "y " * 30, "lang " * 8]
    assert faults(sources, outputs, references) == Faults(
        lines=7,  # one is blank
        empty=1,  # "go"
        comparable=5,  # not "go", which is one word, and not the names, which stay
        copied=1,
        looping=1,  # nein; the sources of "sehr sehr sehr" and "lang lang ..." loop as well
        too_long=1,  # 59 characters for 20 at the least
        too_short=1,  # 4 characters, counted as 20, for 59; the empty one is not counted again
    )


def test_lengths_are_measured_by_what_is_to_be_expected() -> None:
    source = "x" * 100
    found = [faults([source], ["y" * length], expected_ratio=0.5) for length in (24, 26, 99, 101)]
    assert [(each.too_short, each.too_long) for each in found] == [(1, 0), (0, 0), (0, 0), (0, 1)]


def test_single_words() -> None:
    assert one_word(["Haus", "das alte Haus", "", "ein Haus mit zu vielen Worten"]) == OneWord(
        words=4, good=2, empty=1, too_long=1
    )

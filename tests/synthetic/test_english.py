"""English inflection, against forms known from any grammar."""

import pytest

from attendo.synthetic import english


@pytest.mark.parametrize(
    ("word", "expected"),
    [("apple", "apples"), ("dress", "dresses"), ("watch", "watches"), ("city", "cities"), ("key", "keys")],
)
def test_plural(word: str, expected: str) -> None:
    assert english.plural(word) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("apple", "an apple"),
        ("big apple", "a big apple"),
        ("umbrella", "an umbrella"),
        ("university", "a university"),
        ("old hat", "an old hat"),
        ("hour", "an hour"),
    ],
)
def test_article_by_sound(words: str, expected: str) -> None:
    assert english.with_article(words) == expected


@pytest.mark.parametrize(
    ("verb", "third", "ing", "ed"),
    [
        ("wash", "washes", "washing", "washed"),
        ("try", "tries", "trying", "tried"),
        ("play", "plays", "playing", "played"),
        ("stop", "stops", "stopping", "stopped"),
        ("travel", "travels", "travelling", "travelled"),
        ("tidy up", "tidies up", "tidying up", "tidied up"),
        ("live", "lives", "living", "lived"),
        ("answer", "answers", "answering", "answered"),
        ("lie", "lies", "lying", "lied"),
    ],
)
def test_verb_forms(verb: str, third: str, ing: str, ed: str) -> None:
    assert (english.third_person(verb), english.ing_form(verb), english.ed_form(verb)) == (third, ing, ed)


def test_irregular_third_persons() -> None:
    assert [english.third_person(verb) for verb in ("go", "do", "have breakfast", "be")] == [
        "goes",
        "does",
        "has breakfast",
        "is",
    ]

"""Numbers in words; the examples were written by hand."""

import pytest

from attendo.decoding.guards.number_words import has_number_word, small_numbers


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Drei Katzen und zwei von dreien", "de", {"3": 2, "2": 1}),
        ("the third of seven thousand", "en", {"3": 1, "7": 1, "1000": 1}),
        ("dix-huit et dix-neuf", "fr", {"18": 1, "19": 1}),
        ("drei", "xx", {}),
        ("", "en", {}),
    ],
)
def test_small_numbers(text: str, language: str, expected: dict[str, int]) -> None:
    assert +small_numbers(text, language) == expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("a dozen", "en", True),
        ("half past", "en", True),
        ("Often the phone rang.", "en", False),
        ("ein Haus und eine Katze", "de", False),
        ("fünfundzwanzig", "de", True),
        ("im achtzehnten Jahrhundert", "de", True),
        ("un chat", "fr", False),
        ("quatre-vingts", "fr", True),
        ("whatever", "xx", True),
    ],
)
def test_whether_there_is_a_number_in_words(text: str, language: str, expected: bool) -> None:
    assert has_number_word(text, language) is expected

"""Ends of translations, as their sources have them."""

import pytest

from attendo.markup.units.repairs import repaired


@pytest.mark.parametrize(
    ("source", "translation", "language", "expected"),
    [
        ("Loading …", "Laden…", "de", "Laden …"),
        ("Loading ...", "Laden…", "de", "Laden ..."),
        ("Loading…", "Laden...", "de", "Laden…"),
        ("Quit", "Quitter ", "fr", "Quitter"),
        ("Quit ", "Quitter", "fr", "Quitter "),
        ("Loading…", "Laden …", "de", "Laden…"),
        ("Loading...", "Laden ...", "de", "Laden..."),
        ("Loading …", "Laden.", "de", "Laden …"),
        ("x" * 50 + ".", "a.b." * 20 + "usw", "de", "a.b." * 20 + "usw."),
        ("no mark", "und so weiter usw.", "de", "und so weiter usw."),
        ("no mark", "das ist es.", "de", "das ist es"),
    ],
)
def test_the_end_is_that_of_the_source(source: str, translation: str, language: str, expected: str) -> None:
    assert repaired((source,), (translation,), language) == (expected,)

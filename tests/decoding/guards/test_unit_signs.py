"""Signs of currencies and degrees, and whether translations show them: examples by hand."""

import pytest

from attendo.decoding.guards.unit_signs import lost_signs


@pytest.mark.parametrize(
    ("source", "target", "lost"),
    [
        ("The average cost is $10 per person.", "Die Kosten sind 10 pro Person.", ["$"]),
        ("Es kostet 25 $ und wiegt 3 kg.", "It costs 25.", ["$"]),
        ("10 € chacun, -5 ° C, £ 3", "10 each, -5 No., 3", ["€", "°C", "£"]),
        ("entre -5 ° et -9 °C", "between -5 and -9 #C", ["°", "°C"]),
        ("It is $10, or 20€.", "Es kostet 10 Dollar oder 20 EUR.", []),
        ("-5 °C", "minus fünf Grad", []),
        # No sign of a unit: a variable, a program's text, the word itself.
        ("$filter and ${name} cost ten dollars, A$", "filter", []),
        ("", "", []),
    ],
)
def test_a_sign_that_a_translation_does_not_show_is_lost(source: str, target: str, lost: list[str]) -> None:
    assert [sign.text for sign in lost_signs(source, target)] == lost


def test_what_may_be_written_for_it_shows_it() -> None:
    for sign in lost_signs("$1 €2 £3 ¥4 5 °C", ""):
        for language in ("en", "de", "fr", "es"):
            for form in sign.forms(language):
                assert lost_signs(f"1 {sign.text}", form) == [], form

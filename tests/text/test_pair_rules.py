"""Which pairs are dropped for what their sides are; what is to come out was worked out by hand."""

import pytest

from attendo.text.cleaning import DROP_REASONS
from attendo.text.pair_rules import CleaningConfig, copied_share, numbers_agree, pair_fault

STRICT = CleaningConfig(numbers_agree=True, max_copied=0.7, check_languages=True)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Pay $1,249.50 now.", "Zahlen Sie jetzt 1.249,50 $."),
        ("1,500,000 people", "1 500 000 personnes"),
        ("1,500,000 people", "1\u202f500\u00a0000 personnes"),
        ("since 1998", "seit 1998"),
        ("three of 4 lines", "drei von vier Zeilen"),  # small numbers may be words
        ("on 05/04", "am 5. April"),  # nothing of two digits but for zeros in front
        ("on 12/31/2020", "am 31.12.2020"),
        ("ports 80 and 443", "die Ports 443 und 80"),
        ("nothing", "nichts"),
    ],
)
def test_numbers_that_agree(source: str, target: str) -> None:
    assert numbers_agree(source, target)
    assert numbers_agree(target, source)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("at least 8 characters", "mindestens 80 Zeichen"),
        ("since 1998", "seit 1989 oder 98"),
        ("page 345", "Seite"),
        ("1,249.50", "1.249,05 oder mehr als 12"),
    ],
)
def test_numbers_that_differ(source: str, target: str) -> None:
    assert not numbers_agree(source, target)
    assert not numbers_agree(target, source)


def test_what_is_copied_is_counted_by_words_of_letters() -> None:
    assert copied_share("Choose the file again please", "Choose the file again please!") == 1.0
    assert copied_share("Choose the file again", "Wählen Sie the file") == 2 / 4
    assert copied_share("the the the the", "the the la le") == 2 / 4, "each of the source's words counts once"
    assert copied_share("SQL Server 2019 CTP", "SQL Server 2019 CTP") == 0.0, "three words are too few to tell"
    assert copied_share("", "") == 0.0


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("You cannot open this file.", "Sie können diese Datei nicht öffnen.", None),
        ("Open 12 files.", "Öffnen Sie 21 Dateien mit 3 Fenstern.", "numbers"),
        ("Run setup then restart Windows", "Run setup then restart Windows", "copied"),
        ("Sie können die Datei nicht öffnen.", "Die Datei ist nicht zu öffnen, und das ist so.", "language"),
        ("You cannot open this file.", "It is not possible to open it with this.", "language"),
        ("OK", "OK", None),
        ("File", "File", None),
    ],
)
def test_what_is_checked_between_the_sides(source: str, target: str, reason: str | None) -> None:
    assert pair_fault(source, target, STRICT, ("en", "de")) == reason
    assert reason is None or reason in DROP_REASONS
    assert pair_fault(source, target, CleaningConfig(), ("en", "de")) is None, "by default nothing of this is looked at"


def test_languages_that_nobody_named_are_not_checked() -> None:
    pair = ("Sie können die Datei nicht öffnen.", "It is not possible to open it with this.")
    assert pair_fault(*pair, STRICT, ("", "")) is None
    assert pair_fault(*pair, STRICT, ("en", "")) == "language"
    assert pair_fault(*pair, STRICT, ("de", "en")) is None


def test_settings_that_cannot_be_meant() -> None:
    with pytest.raises(
        ValueError, match=r"max_copied = 0\.0 is not above 0 and at most 1; take 0\.8, or 1\.0 for no limit"
    ):
        CleaningConfig(max_copied=0.0)
    with pytest.raises(ValueError, match=r"max_ratio = 0\.5 is less than 1; .*; max_copied = 1.5 is not above 0"):
        CleaningConfig(max_ratio=0.5, max_copied=1.5)
    with pytest.raises(ValueError, match="near_duplicates = true needs drop_duplicates = true"):
        CleaningConfig(near_duplicates=True, drop_duplicates=False)

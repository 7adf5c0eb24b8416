"""Values of a source against those of its translation; what is lost and invented was worked out by hand."""

import pytest

from attendo.decoding.guards.comparison import compared, possible_numbers, target_form, with_usual_hours
from attendo.decoding.guards.values import values

DE, EN, FR, FR_EN = ("en", "de"), ("de", "en"), ("en", "fr"), ("fr", "en")


@pytest.mark.parametrize(
    ("source", "target", "languages"),
    [
        ("It costs $1,249.99.", "Es kostet 1.249,99 $.", DE),
        ("It costs 1,249.99.", "Il coûte 1\u202f249,99.", FR),
        ("in Python 3.11", "in Python 3.11", DE),
        ("3.5 times", "3,5 mal", DE),
        ("three dogs and 3 cats", "3 Hunde und drei Katzen", DE),
        ("I have 3 cats", "Ich habe drei Katzen", DE),
        ("vor 20 Jahren", "twenty years ago", EN),
        ("He came 3rd.", "Er wurde Dritter.", DE),
        ("on the 4th of July", "am 4. Juli", DE),
        ("at 3 p.m.", "um 15 Uhr", DE),
        ("at 3 p.m.", "um 3 Uhr nachmittags", DE),
        ("at 3:30 p.m.", "um 15.30 Uhr", DE),
        ("at 3:30", "um halb vier", DE),
        ("at 8:45 p.m.", "um 8:45 Uhr abends", DE),
        ("at 8:45", "um 20:45 Uhr", DE),
        ("um 20 Uhr", "at 8 in the evening", EN),
        ("um 3 Uhr", "at three o'clock", EN),
        ("um 15:30 Uhr", "at 3:30 pm", EN),
        ("on 03/15/2024", "am 15.03.2024", DE),
        ("on 03/15/2024", "am 15. 3. 2024", DE),
        ("call (916) 564-2114", "rufen Sie 916 564 2114 an", DE),
        ("in the 1980s", "in den 80er Jahren", DE),
        ("in the 1980s", "in den 1980er Jahren", DE),
        ("a dozen eggs", "12 Eier", DE),
        ("twenty-five years", "25 Jahre", DE),
        ("fünfundzwanzig Jahre", "25 years", EN),
        ("the nineties", "die 90er Jahre", DE),
        ("1,500 of 2.5 metres", "1 500 z 2,5 metra", ("en", "pl")),  # nobody has said how Polish writes numbers
        ("12,500.75 kg", "12\u00a0500,75 kg", ("", "pl")),
        ("Hallo", "Hello", EN),
        ("1000 words", "tausend Worte", DE),
        ("set my_var", "my_var setzen", DE),
    ],
)
def test_what_is_the_same(source: str, target: str, languages: tuple[str, str]) -> None:
    found = compared(source, target, languages)
    assert (found.lost, found.invented, found.problems) == ((), (), ())


def test_digits_may_be_asked_for() -> None:
    for source, target, lost in [
        ("I have 3 cats", "Ich habe drei Katzen", ["3"]),
        ("He came 3rd at 3 p.m.", "Er wurde Dritter um drei Uhr", []),
        ("It is 2:30", "Es ist halb drei", ["2:30"]),
        ("I have 3 cats", "Ich habe 3 Katzen", []),
    ]:
        assert [value.text for value in compared(source, target, DE, in_words=False).lost] == lost


@pytest.mark.parametrize(
    ("source", "target", "languages", "lost", "invented"),
    [
        ("since 1998", "seit 198", DE, ["1998"], ["198"]),
        ("at least 8 characters", "mindestens 800 Zeichen", DE, ["8"], ["800"]),
        ("costs 1,249.99", "kostet 1,249.99", DE, [], []),
        ("2 and 2", "2 und drei", DE, ["2"], []),
        ("on 03/15/2024", "am 15. März 2025", DE, ["03/15/2024"], ["2025"]),
        ("at 3:30 p.m.", "um 16:30 Uhr", DE, ["3:30 p.m."], ["16:30"]),
        ("config.toml has my_var", "Tom hat", DE, ["config.toml", "my_var"], []),
        ("a and a_b, a_b", "a und a_b", DE, ["a_b", "a_b"], []),
        ("It was late.", "Es war 1998.", DE, [], ["1998"]),
        ("at 8:45 p.m.", "um 8:45 Uhr", DE, ["8:45 p.m."], []),
        ("um 20 Uhr", "at 8", EN, ["20"], []),
        ("um 20 Uhr", "at 20", EN, ["20"], []),
        ("um 20 Uhr", "at 20 o'clock", EN, ["20"], []),
        ("um 9 Uhr", "at 9 o'clock", EN, [], []),
        ("um 9 Uhr", "at 9", EN, [], []),
        ("von 19 bis 20 Uhr", "from 19 to 20", EN, [], []),
        ("il part à 15 h", "he leaves at 15", FR_EN, ["15 h"], []),
        ("il part à 15 h", "he leaves at 3 pm", FR_EN, [], []),
        ("de 8 h à 15 h", "from 8 to 15", FR_EN, [], []),
        ("on ferme à 18 heures", "we close at 18 o'clock", FR_EN, ["18 heures"], []),
        ("on ferme à 18 heures", "we close at 6 pm", FR_EN, [], []),
        ("la réunion est à 9 heures", "the meeting is at 9 o'clock", FR_EN, [], []),
        ("de 9 heures à 17 heures", "from 9 to 5 pm", FR_EN, [], []),
        ("he slept for 9 hours", "il a dormi 9 heures", FR, [], []),
        ("at 6 pm", "à 18 heures", FR, [], []),
        ("il dort 15 h", "he sleeps for 15 hours", FR_EN, [], []),
        ("35 h par semaine", "35 hours a week", FR_EN, [], []),
        ("at 11:10 a.m.", "am 11.10.", DE, ["11:10 a.m."], []),
        ("It was late.", "Es war 7.", DE, [], []),  # such numbers may be words
        ("v2.1 of it", "v2,1 davon", DE, ["v2.1"], []),
        ("it has 2 out of 5 stars", "es hat um 2 Uhr von 5 Sternen", DE, ["2"], []),
        ("it has 2 out of 5 stars", "es hat 2 von 5 Sternen", DE, [], []),
        ("see you at 2", "bis um 2 Uhr", DE, [], []),
        ("it is an adventure", "es ist ein AdventureWorks", DE, [], ["AdventureWorks"]),
        ("open Power Shell", "öffne PowerShell", DE, [], []),
        ("multi-targeting", "MultiTargeting", DE, [], []),
        ("he said", "er sagte %s in config.toml", DE, [], ["%s", "config.toml"]),
    ],
)
def test_what_is_lost_and_invented(
    source: str, target: str, languages: tuple[str, str], lost: list[str], invented: list[str]
) -> None:
    found = compared(source, target, languages)
    assert [value.text for value in found.lost] == lost
    assert [value.text for value in found.invented] == invented
    assert found.num_faults == len(lost) + len(invented)


def test_problems_are_sentences_that_name_each_value_once() -> None:
    assert compared("a_b, a_b and 1998", "Ja, 1999", DE).problems == (
        "numbers that the translation has not: 1998",
        "names and codes that the translation has not: a_b",
        "numbers that the source has not: 1999",
    )
    assert compared("It is here", "Es ist myFile und a_b", DE).problems == (
        "names and codes that the source has not: myFile, a_b",
    )


def test_a_language_that_is_not_known_has_nothing_invented() -> None:
    assert compared("xyz", "1998", ("", "")).problems == ()


@pytest.mark.parametrize(
    ("source", "languages", "expected"),
    [
        ("1,249.99", DE, "1.249,99"),
        ("It is version 2.0", DE, "2.0"),
        ("Version 2.0", DE, "2.0"),
        ("with Python 3.11", DE, "3.11"),
        ("It is 2.5", DE, "2,5"),
        ("the 4th", DE, "4."),
        ("the 21st", FR, "21e"),
        ("am 22. Mai", EN, "22nd"),
        ("am 11. Mai", EN, "11th"),
        ("the 1990s", DE, "1990er"),
        ("in den 1990ern", EN, "1990s"),
        ("3:30 p.m.", DE, "15:30 Uhr"),
        ("3 pm", FR, "15 h"),
        ("um 15.30 Uhr", EN, "3:30 pm"),
        ("um 20 Uhr", EN, "8 pm"),
        ("um 9 Uhr", EN, "9:00"),
        ("um 24 Uhr", EN, "24:00"),
        ("avant 17 heures", FR_EN, "5 pm"),
        ("15:30", DE, "15:30"),
        ("2024-03-15", DE, "2024-03-15"),
        ("mit dem Wert 1.379", EN, "1,379"),
        ("from version A to 2.0", DE, "2.0"),
        ("exceeds USD 1.5 billion", DE, "1,5"),
        ("mit Python 3.11", EN, "3.11"),
        ("10.0.0.1", DE, "10.0.0.1"),
        ("1998", DE, "1998"),
    ],
)
def test_how_the_target_language_writes_it(source: str, languages: tuple[str, str], expected: str) -> None:
    [value] = values(source, languages[0])
    assert target_form(value, source, languages) == expected


def test_the_numbers_that_a_translation_may_write() -> None:
    assert possible_numbers("two of 1,249.50, 4th", DE) == {"2", "1.249,50", "4"}
    assert possible_numbers("on 03/05/2024 at 3:30 p.m.", DE) == {"03", "3", "05", "5", "2024", "30", "15"}
    assert possible_numbers("\u27e61\u27e7 of SHA256", DE) == {"256"}
    assert possible_numbers("nothing", DE) == frozenset()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We work from 9 to 17 o'clock.", "We work from 9 to 5 pm."),
        ("23 o’clock", "11 pm"),
        ("at 12 o'clock, at 9 o'clock", "at 12 o'clock, at 9 o'clock"),
        ("It takes 48 o'clock, or 100 o’clock.", "It takes 48 hours, or 100 hours."),
        ("24 o'clock, 3.14 o'clock, 1,315 o'clock", "24 o'clock, 3.14 o'clock, 1,315 o'clock"),
    ],
)
def test_english_has_twelve_hours(text: str, expected: str) -> None:
    assert with_usual_hours(text, "en") == expected


def test_german_hours_have_one_uhr() -> None:
    assert with_usual_hours("um 6 Uhr Uhr, um 7 Uhr", "de") == "um 6 Uhr, um 7 Uhr"
    assert with_usual_hours("17 o'clock", "fr") == "17 o'clock"

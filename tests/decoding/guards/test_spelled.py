"""Weekdays, months and numbers in words, and whether translations show them: examples by hand."""

import pytest

from attendo.decoding.guards.spelled import lost_spelled, spelled_values


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("en", "Could we meet on Tuesday, 3 March, with seven others?", ["Tuesday", "March", "seven"]),
        ("en", "see you next friday in january or on Sundays", ["friday", "january", "Sunday"]),
        ("en", "Two children and their two-year-old", ["Two", "two"]),
        ("en", "in May 2024, by May, on 5th May, May 5, last March", ["May", "May", "May", "May", "March"]),
        ("de", "Am Dienstagabend, montags oder am Sonnabend im März", ["Dienstag", "montag", "Sonnabend", "März"]),
        ("en", "Today or tomorrow, not yesterday's", ["Today", "tomorrow", "yesterday"]),
        (
            "de",
            "Heute, morgen und gestern; heute morgen, guten morgen, am Morgen",
            ["Heute", "morgen", "gestern", "heute"],
        ),
        ("fr", "Aujourd’hui, demain, hier", ["Aujourd’hui", "demain", "hier"]),
        ("de", "Drei Tage, zwölf Stunden", ["Drei", "zwölf"]),
        ("fr", "Mardi 3 mars, les jeudis d'août, dans deux jours", ["Mardi", "mars", "jeudi", "août", "deux"]),
        ("fr", "Trois hommes ont dix-sept ans.", ["Trois"]),
        # Other meanings, parts of other words, and names.
        ("en", "May I march? It may be an august sight. A freight train often listens to someone.", []),
        ("en", "At half past three, twenty-four, Ocean's Eleven, Windows Seven", []),
        ("de", "Um halb vier, in acht Tagen, die Elf, der Vierte, achtzig, zehntausend", []),
        ("de", "Nimm dich in acht, gib acht.", []),
        ("fr", "Un vélo neuf, mais de Mars, dix-sept, dix-neuf, quatre-vingt, dans huit jours", []),
        ("fr", "soixante et onze, vingt et deux, cent deux ans", []),
        ("en", "one hundred and two, a thousand three", []),
        ("es", "El martes tres de mayo", []),
        ("", "Tuesday", []),
        ("en", "", []),
    ],
)
def test_what_is_a_day_a_month_or_a_number(language: str, text: str, found: list[str]) -> None:
    assert [value.text for value in spelled_values(text, language)] == found


@pytest.mark.parametrize(
    ("languages", "source", "target", "lost"),
    [
        (
            ("en", "de"),
            "Could we move it to Tuesday at 3:30 pm?",
            "Könnten wir es auf 15:30 Uhr verschieben?",
            "Tuesday",
        ),
        (("en", "de"), "Could we move it to Tuesday?", "Könnten wir es auf Dienstagabend verschieben?", ""),
        (("en", "de"), "A table for four at 7", "Ein Tisch für 7", "four"),
        (("en", "de"), "A table for four at 7", "Ein Tisch für 4 um 7", ""),
        (("en", "de"), "Her two sons, both fourteen, on Saturday", "Ihre beiden Söhne am Sonnabend", ""),
        (("en", "de"), "Black Friday lasts three days", "Black Friday dauert dreitägig", ""),
        (("en", "de"), "At five, with two hundred others", "Um 17 Uhr mit 200 anderen", ""),
        (("en", "fr"), "We will have lived here for a year next March.", "Nous vivrons ici depuis un an.", "March"),
        (("en", "fr"), "On 3 March 2024, twelve people", "Le 03/03/2024, une douzaine de personnes", ""),
        (("de", "en"), "Der nächste Termin ist Montag, der 4. Februar.", "The next date is February 4.", "Montag"),
        (("fr", "en"), "Les deux hommes viennent jeudi.", "Both men come on Thursdays.", ""),
        (("fr", "en"), "le jeudi 20 décembre", "Tuesday 20 December", "jeudi"),
        (("en", "fr"), "open from six until ten", "ouvert de dix-huit heures à vingt-deux heures", ""),
        (("en", "de"), "open until nine", "bis einundzwanzig Uhr geöffnet", ""),
        (("en", "de"), "At night eight men helped eleven", "In der Nacht halfen Männer", "eight, eleven"),
        (("en", "de"), "Easter Monday, a hundred and four", "Ostermontag, hundertvier", ""),
        (("en", "fr"), "In May, two weeks", "Dans cette maison, bien", "May, two"),
        (("en", "de"), "See you tomorrow, not today.", "Bis dann.", "tomorrow, today"),
        (("fr", "en"), "Il part demain, pas aujourd'hui.", "He leaves the next day, not this day.", ""),
        (("en", "es"), "On Tuesday", "El lunes", ""),
    ],
)
def test_what_a_translation_does_not_show_is_lost(
    languages: tuple[str, str], source: str, target: str, lost: str
) -> None:
    assert ", ".join(value.text for value in lost_spelled(source, target, languages)) == lost


def test_a_word_that_is_lost_again_and_again_is_lost_once() -> None:
    assert [value.text for value in lost_spelled("two " * 30_000 + "Tuesday", "zz " * 30_000, ("en", "de"))] == [
        "two",
        "Tuesday",
    ]


def test_what_may_be_written_for_it() -> None:
    assert [value.forms("fr") for value in spelled_values("today", "en")] == [("aujourd'hui",)]
    [day, month, number] = spelled_values("On Tuesday, 3 March, two", "en")
    assert day.forms("de") == ("Dienstag", "Dienstags", "dienstags")
    assert (month.forms("fr"), number.forms("fr")) == (("mars",), ("deux",))

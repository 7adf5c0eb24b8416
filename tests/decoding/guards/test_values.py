"""What must not change, found in text; every example was worked out by hand from the grammar."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attendo.decoding.guards.values import GRAMMAR, values, with_durations_in_words


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("It costs $1,249.99.", "en", ["number 1249.99"]),
        ("Es kostet 1.249,99 $.", "de", ["number 1249.99"]),
        ("1\u202f249,99 € ou 1 249 €", "fr", ["number 1249.99", "number 1249"]),
        ("Version 10 1909", "en", ["number 10", "number 1909"]),
        ("with 10 200 times", "en", ["number 10", "number 200"]),
        ("Items 1, 2 and 3.", "en", ["number 1", "number 2", "number 3"]),
        ("the 4th and the 21st", "en", ["number 4", "number 21"]),
        ("am 4. Juni", "de", ["number 4"]),
        ("1.124.400,00 €", "de", ["number 1124400.00"]),
        ("in „C:\\Temp“", "de", ["path C:\\Temp"]),
        ("1.249.000 Zeilen", "de", ["number 1249000"]),
        ("since 1.249.000", "en", ["version 1.249.000"]),
        ("Python 3.11", "en", ["number 3.11"]),
        ("Python 3.11", "de", ["number 3.11"]),
        ("on 03/15/2024", "en", ["date 2024-03-15"]),
        ("am 15.03.2024 und 15. 3. 2024", "de", ["date 2024-03-15", "date 2024-03-15"]),
        ("2024-03-15", "fr", ["date 2024-03-15"]),
        ("at 3:30 p.m. or 12 am", "en", ["time 15:30", "time 00:00"]),
        ("die 2 am besten bewerteten", "de", ["number 2"]),
        ("10:30 am Bahnhof", "de", ["time 10:30"]),
        ("um 15.30 Uhr oder 15 Uhr", "de", ["time 15:30", "time 15:00"]),
        ("à 15 h 30, à 9h", "fr", ["time 15:30", "time 09:00"]),
        ("à 9 heures, vers 21 heures 30, avant 17 heures", "fr", ["time 09:00", "time 21:30", "time 17:00"]),
        ("À 8 heures du soir, dès 0 heure", "fr", ["time 20:00", "time 00:00"]),
        ("pendant 9 heures, à 2 heures de Paris, à 3 heures d’ici, en 24 heures", "fr", [
            "number 9", "number 2", "number 3", "number 24"]),
        ("de 8h à 20 h, lundi 9h", "fr", ["time 08:00", "time 20:00", "time 09:00"]),
        ("dure 2h, en 24 h, il y a 3h, sous 48h", "fr", ["number 2", "number 24", "number 3", "number 48"]),
        # The half of the day that the nearest word says.
        ("heute Abend um 9.00 Uhr", "de", ["time 21:00"]),
        ("Heute Nachmittag gegen 1:00 Uhr, 3 Leute", "de", ["time 13:00", "number 3"]),
        ("von 9 Uhr morgens bis 8 Uhr abends", "de", ["time 09:00", "time 20:00"]),
        ("morgen um 9 Uhr", "de", ["time 09:00"]),
        ("heute Abend um 21 Uhr", "de", ["time 21:00"]),
        ("heute Abend oder morgen früh um 9 Uhr", "de", ["time 09:00"]),
        ("Am Abend sehen wir weiter, und dann fährt der Zug um 9 Uhr", "de", ["time 09:00"]),
        ("at 3 o’clock in the afternoon", "en", ["time 15:00"]),
        ("a table for 8 at 9'oclock, or at 6 oclock", "en", ["number 8", "time 09:00", "time 06:00"]),
        ("tonight at 7:00 p.m. or 7:30", "en", ["time 19:00", "time 19:30"]),
        ("tonight at 11:15 a.m.", "en", ["time 11:15"]),
        ("à 9 h du soir, à 9 h du matin", "fr", ["time 21:00", "time 09:00"]),
        ("9:00 this evening", "", ["time 09:00"]),
        ("17:45:10", "en", ["time 17:45:10"]),
        ("at 6.30 a.m. on 01/02/14", "en", ["time 06:30", "date 14-01-02"]),
        ("am 01.02.14, d.h. in 1.2.14", "de", ["date 14-01-02", "version 1.2.14"]),
        ("UTF-8 in C++/CLI, C# and C++.", "en", [
            "identifier UTF-8", "identifier C++/CLI", "identifier C#", "identifier C++"]),
        ("at 2024-05-31T10:15:30Z.", "en", ["identifier 2024-05-31T10:15:30Z"]),
        ("in main.c and a.txt", "en", ["file main.c", "file a.txt"]),
        ("call (916) 564-2114 or +49 171 2345678", "en", ["phone 9165642114", "phone 491712345678"]),
        ("0171 2345678", "de", ["phone 01712345678"]),
        ("Gerald, 777 777 6666, right?", "en", ["phone 7777776666"]),
        ("since v2.1 and 4.6.1, not 5.0-beta2", "en", ["version v2.1", "version 4.6.1", "version 5.0-beta2"]),
        ("commit f2a8fa1 is bad", "en", ["hash f2a8fa1"]),
        ("a defaced facade", "en", []),
        ("set my_variable in config.toml", "en", ["identifier my_variable", "file config.toml"]),
        ("JavaScript, SHA256, Foo.Bar() and AB-1234", "en", [
            "identifier JavaScript", "identifier SHA256", "identifier Foo.Bar()", "identifier AB-1234"]),
        ("MAX_PATH, $HOME and %TEMP%", "en", ["environment MAX_PATH", "environment $HOME", "environment %TEMP%"]),
        ("use -v or --dry-run=yes, well-known", "en", ["option -v", "option --dry-run=yes"]),
        ("run `ls -l 5` now", "en", ["code `ls -l 5`"]),
        ("see https://example.org/a?b=1 by @maria", "en", ["address https://example.org/a?b=1", "handle @maria"]),
        ("in /etc/app/x.conf for %s and {0}", "en", ["path /etc/app/x.conf", "variable %s", "variable {0}"]),
        ("<b>bold</b>", "en", ["markup <b>", "markup </b>"]),
        ("the 1990s and the 4th", "en", ["number 1990", "number 4"]),
        ("in den 1990er Jahren, 90ern", "de", ["number 1990", "number 90"]),
        ("Es waren 4. Er ging.", "de", ["number 4"]),
        ("System.IO.File::open and std::cout", "en", ["identifier System.IO.File::open", "identifier std::cout"]),
        ("Microsoft.AspNetCore.Mvc e.g. u.a.m. The end.Then", "en", ["identifier Microsoft.AspNetCore.Mvc"]),
        ("__init__ and _private but _emphasis_ or ____", "en", ["identifier __init__", "identifier _private"]),
        ("LehrerInnen der Beispiel GmbH", "de", []),
        ("at 0x1F, 3F2504E0-4F89-41D3-9A0C-0305E82C3301", "en", [
            "hash 0x1F", "hash 3F2504E0-4F89-41D3-9A0C-0305E82C3301"]),
        ("Get-Item -FilePath x, Ein- und -ausgabe", "en", ["option -FilePath"]),
        ("typed \u27e63\u27e7 and 1\ufe0f\u20e3", "en", []),
        ("Nothing of this kind, e.g. a full stop.", "en", []),
        ("", "en", []),
    ],
)  # fmt: skip
def test_the_grammar(text: str, language: str, expected: list[str]) -> None:
    assert [f"{value.kind} {value.canonical}" for value in values(text, language)] == expected


def test_numbers_of_a_language_that_is_not_known_stay_as_they_are() -> None:
    for language in ("xx", ""):
        [value] = values("1.249,99", language)
        assert (value.kind, value.canonical) == ("number", "1.249,99")


@given(text=st.text(), language=st.sampled_from(["", "en", "de", "fr", "xx"]))
def test_any_text_has_values_of_known_kinds_only(text: str, language: str) -> None:
    found, behind = values(text, language), 0
    assert {value.kind for value in found} <= set(GRAMMAR)
    for value in found:
        assert behind <= value.start < value.end <= len(text)
        assert text[value.start : value.end] == value.text
        behind = value.end


def test_the_grammar_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "robustness.md").read_text(encoding="utf-8").replace("`", "")
    for kind, what in GRAMMAR.items():
        assert f"| {kind} | {what} |" in page


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("La réunion dure 2h.", "La réunion dure 2 heures."),
        ("Livraison sous 48 h ou en 1h", "Livraison sous 48 heures ou en 1 heure"),
        ("de 8h à 20h, en 2h30, en 2 h 30", "de 8h à 20h, en 2h30, en 2 h 30"),
        ("100 km/h, 60 hommes, ref-48h", "100 km/h, 60 hommes, ref-48h"),
    ],
)
def test_french_durations_in_words(text: str, expected: str) -> None:
    assert with_durations_in_words(text) == expected

"""Checks, with verdicts that Weblate 5.14's checks and msgfmt gave for the same texts (localisation reference)."""

import pytest

from attendo.formats.contents import Code, content
from attendo.formats.file import Form, Unit
from attendo.markup.checks.units import unit_findings


def found(source: str, target: str, *flags: str, language: str = "de", **more: object) -> list[str]:
    unit = Unit(id="u", forms=(Form(source=content(source)),), flags=frozenset(flags), **more)  # type: ignore[arg-type]
    return [finding.check for finding in unit_findings(unit, [content(target)], language)]


@pytest.mark.parametrize(
    ("source", "target", "flags", "expected"),
    [
        ("100%% of %s", "100% von %s", "c-format", ["placeholders"]),
        ("%s of %d", "%d von %s", "c-format", ["placeholders"]),
        ("%s and %d", "%d und %s", "c-format", ["placeholders"]),
        ("%1$s, %2$d", "%2$d, %1$s", "c-format", []),
        ("%s, %d", "%2$d, %1$s", "c-format", []),
        ("{a} {b}", "{b} {a}", "python-brace-format", []),
        ("{n, select, a {x} other {y}}", "{n, select, ä {x} other {y}}", "icu-message-format", ["icu_message_format"]),
        ("{n, plural, one {#} other {#}}", "{n, plural, few {#} other {#}}", "icu-message-format", []),
        ("{n, plural, other {a}}", "{n, plural, other {a}", "icu-message-format", ["icu_message_format"]),
        ("Use `a`", "Benutze a", "", ["placeholders"]),
        ("Save…", "Speichern...", "", []),
        ("Save it.", "Speichern", "", ["end_stop"]),
        ("Name:", "Name", "", ["end_colon"]),
        ("Who?", "Wer", "", ["end_question"]),
        ("a\n", "b", "", ["end_newline", "newline-count"]),
        ("a b", "c\u200bd", "", ["zero-width-space"]),
        ("a b", "c\x01d", "", ["control-characters"]),
        ("a b", "c  d", "", ["double_space"]),
        ("<b>a</b>", "<b>a", "", ["xml-invalid"]),
        ("&File", "Datei", "", ["accelerator"]),
        ("&File", "&&Datei", "", ["accelerator"]),
        ("at 250 metres", "bei 25 Metern", "", ["numbers"]),
        ("at 1,250.5 metres", "bei 1.250,5 Metern", "", []),
        ("the MP3 file", "die MP-Datei", "", ["numbers"]),
        ("text", "", "", ["empty"]),
        ("text", "länger", "max-length:5", ["max-length"]),
    ],
)
def test_verdicts(source: str, target: str, flags: str, expected: list[str]) -> None:
    assert found(source, target, *flags.split()) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (("%d of one", "%d of %d"), []),
        (("%d of one", "%d of one"), ["placeholders"]),  # msgfmt -c: 'msgid_plural' and 'msgstr[1]' do not match
        (("one of one", "%d of %d"), []),
    ],
)
def test_each_form_has_the_placeholders_of_its_own_source(texts: tuple[str, str], expected: list[str]) -> None:
    forms = (
        Form(source=content("%d of 1 file"), name="0", sample=1, is_of_one_number=True),
        Form(source=content("%d of %d files"), name="1", sample=2),
    )
    unit = Unit(id="u", forms=forms, flags=frozenset({"c-format"}))
    assert [finding.check for finding in unit_findings(unit, [content(text) for text in texts], "de")] == expected


def test_the_longest_length_is_counted_in_characters_or_bytes() -> None:
    assert found("x", "äöüß", max_length=4) == []
    assert found("x", "äöüß", max_length=4, length_unit="byte") == ["max-length"]


def test_spaces_around_a_code_are_not_those_of_the_text() -> None:
    code = Code(id="1", raw="`x`")
    unit = Unit(id="u", forms=(Form(source=("As ", code, ". For example:")),))
    assert unit_findings(unit, [("Wie ", code, " es zeigt, zum Beispiel:")], "de") == ()
    assert [one.check for one in unit_findings(unit, [("Wie ", code, "  zum Beispiel:")], "de")] == ["double_space"]
    unit = Unit(id="u", forms=(Form(source=(code, " is good")),))
    assert unit_findings(unit, [("Gut ist ", code)], "de") == ()


def test_codes_are_counted() -> None:
    code = Code(id="1", raw="<x/>")
    unit = Unit(id="u", forms=(Form(source=("a", code)),))
    assert [finding.message for finding in unit_findings(unit, [("b",)], "de")] == ["the translation lacks <x/>"]
    assert [finding.message for finding in unit_findings(unit, [("b", code, code)], "de")] == [
        "the translation has <x/> too often"
    ]


def test_a_form_of_one_number_may_leave_it_out() -> None:
    def checks(*, of_one: bool) -> list[str]:
        forms = (
            Form(source=content("%d file"), sample=1, is_of_one_number=of_one),
            Form(source=content("%d files"), sample=2),
        )
        unit = Unit(id="u", forms=forms, flags=frozenset({"c-format"}))
        return [finding.check for finding in unit_findings(unit, [content("Eine"), content("%d")], "de")]

    assert checks(of_one=True) == []
    assert checks(of_one=False) == ["placeholders"]

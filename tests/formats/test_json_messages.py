"""JSON messages. Expected bytes are written by hand after i18next's, Chrome's and Flutter's documentation."""

import pytest

from attendo.errors import DataError
from attendo.formats.contents import plain
from attendo.formats.file import File, Languages, result
from attendo.formats.table import read_file


def read(text: str, target: str | None = "de", name: str = "x.json") -> File:
    return read_file(text.encode(), name, Languages(target=target))


def test_strings_anywhere_are_units_and_all_else_stays() -> None:
    text = '{ "a": "A",\n\t"b" : {"c": ["x", 1, {"d": ""}], "e":null},\r\n "a": "a\\/b \\u00e9 \\"q\\"" }'  # case 30
    file = read(text)
    assert [(unit.id, plain(unit.source), unit.is_translatable) for unit in file.units] == [
        ("a", "A", True),
        ("b.c.0", "x", True),
        ("b.c.2.d", "", False),
        ("a#2", 'a/b é "q"', True),
    ]
    out = file.write({"a": result("Ä\n"), "a#2": result('/ü"')}).decode()
    assert out == text.replace('"A"', '"\\u00c4\\n"').replace('"a\\/b \\u00e9 \\"q\\""', '"\\/\\u00fc\\""')
    assert file.write({}) == text.encode()


def test_raw_characters_and_capital_escapes_stay_so() -> None:
    assert read('{"a": "é"}').write({"a": result("ü")}).decode() == '{"a": "ü"}'
    assert read('{"a": "\\u00E9 \\u003c"}').write({"a": result("<ü")}).decode() == '{"a": "\\u003c\\u00FC"}'


def test_plural_keys_of_i18next_are_those_of_the_target_language() -> None:
    # case 31
    text = '{\n  "k_one": "{{count}} file",\n  "k_other": "{{count}} files",\n  "l": "$t(common:x) <1>link</1>"\n}\n'
    file = read(text, "pl")
    unit = file.units[0]
    assert (unit.id, [form.name for form in unit.forms]) == ("k", ["one", "few", "many", "other"])
    assert unit.flags == {"i18next-interpolation"}
    out = file.write({"k": result("1 {{count}}", "2 {{count}}", "5 {{count}}", "1.5 {{count}}")}).decode()
    assert out == (
        '{\n  "k_one": "1 {{count}}",\n  "k_other": "1.5 {{count}}",\n  "k_few": "2 {{count}}",\n'
        '  "k_many": "5 {{count}}",\n  "l": "$t(common:x) <1>link</1>"\n}\n'
    )
    assert read(text, "ja").write({"k": result("件")}).decode() == (
        '{\n  "k_other": "件",\n  "l": "$t(common:x) <1>link</1>"\n}\n'
    )


def test_the_text_for_none_stays_in_every_language() -> None:
    # i18next takes `_zero` for the count 0, whatever plurals a language has.
    text = '{"k_zero": "No files", "k_one": "{{count}} file", "k_other": "{{count}} files"}'
    file = read(text, "de")
    assert [(form.name, form.sample) for form in file.units[0].forms] == [("zero", 0), ("one", 1), ("other", 2)]
    out = file.write({"k": result("Keine", "{{count}} Datei", "{{count}} Dateien")}).decode()
    assert out == '{"k_zero": "Keine", "k_one": "{{count}} Datei", "k_other": "{{count}} Dateien"}'
    assert read(text, "ja").write({"k": result("なし", "{{count}} 件")}).decode() == (
        '{"k_zero": "なし", "k_other": "{{count}} 件"}'
    )


def test_ordinals_and_lone_suffixes_are_strings() -> None:
    units = read('{"p_ordinal_one": "{{count}}st", "p_ordinal_other": "{{count}}th", "the_other": "x"}').units
    assert [unit.id for unit in units] == ["p_ordinal_one", "p_ordinal_other", "the_other"]


def test_chromes_messages_alone_are_translated() -> None:
    text = (
        '{\n // x\n "hi": {"message": "Hi $NAME$", "description": "greets", '
        '"placeholders": {"name": {"content": "$1"}}}\n}'
    )
    (unit,) = read(text).units
    assert (unit.id, plain(unit.source), unit.notes) == ("hi", "Hi $NAME$", ("greets",))
    assert read(text).write({"hi": result("He $NAME$")}).decode() == text.replace("Hi $", "He $")


def test_arb_sets_its_locale_and_keeps_metadata() -> None:
    # case 32
    text = '{\n  "@@locale": "en",\n  "hi": "Hi {x}",\n  "@hi": {"description": "greets", "placeholders": {"x": {}}}\n}'
    file = read(text, "de-AT", "app_en.arb")
    (unit,) = file.units
    assert (unit.flags, unit.notes, file.declared.source) == (frozenset({"icu-message-format"}), ("greets",), "en")
    out = file.write({"hi": result("He {x}")}).decode()
    assert out == text.replace('"en"', '"de_AT"').replace("Hi {x}", "He {x}")
    assert file.write({}).decode() == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": }', "x.json: line 1 is no JSON at '}'"),
        ('{\n"a" "b"}', "line 2 is no JSON"),
        ('{"a": "b"} x', "is no JSON at 'x'"),
        ('{"a": "b",}', "is no JSON at '}'"),
        ("", "line 1 is no JSON at ''"),
        ('"a"', "an object or a list"),
        ("[" * 100 + "]" * 100, "nested more than 64 deep"),
        ('{"a": "\\x"}', "is no JSON"),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(text)

"""Qt Linguist's files. Expected bytes are written by hand after Qt's description of the format."""

import pytest

from attendo.errors import DataError
from attendo.formats.contents import plain
from attendo.formats.file import File, Languages, Mark, WriteOptions, result
from attendo.formats.table import read_file

HEAD = (
    '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n'
    '<TS version="2.1" language="{}">\n<context>\n    <name>Main</name>\n'
)
TAIL = "</context>\n</TS>\n"


def message(translation: str, more: str = "", numerus: str = "") -> str:
    inner = f"        {translation}\n" if translation else ""
    return (
        f'    <message{numerus}>\n        <location line="1"/>\n        <source>Don&apos;t open &amp;File</source>\n'
        f"{more}{inner}    </message>\n"
    )


def read(body: str, language: str = "de_AT", target: str | None = None) -> File:
    return read_file((HEAD.format(language) + body + TAIL).encode(), "x.ts", Languages(target=target))


def write(file: File, *texts: str, mark: Mark = "review") -> str:
    (unit,) = file.units
    out = file.write({unit.id: result(*texts)}, WriteOptions(mark=mark)).decode()
    return out.partition("</name>\n")[2].removesuffix(TAIL)


def test_an_unfinished_translation_is_filled_and_stays_unfinished() -> None:
    file = read(message('<translation type="unfinished"></translation>'))  # case 34
    (unit,) = file.units
    assert (unit.id, plain(unit.source), unit.state) == ("Main\x04\x04Don't open &File", "Don't open &File", "new")
    assert write(file, "&D'") == message('<translation type="unfinished">&amp;D&apos;</translation>')
    assert write(file, "&D'", mark="none") == message("<translation>&amp;D&apos;</translation>")


@pytest.mark.parametrize("empty", ['<translation type="unfinished"/>', '<translation type="unfinished" />'])
def test_an_empty_tag_becomes_two(empty: str) -> None:
    assert write(read(message(empty)), "D", mark="none") == message("<translation>D</translation>")


def test_a_missing_translation_is_added_behind_the_comments() -> None:
    comment = "        <comment>c</comment>\n"
    file = read(message("", comment))
    assert file.units[0].context == "c"
    assert write(file, "D") == message('<translation type="unfinished">D</translation>', comment)


def test_states() -> None:
    kinds = ['type="vanished"', 'type="obsolete"', 'type="unfinished"', ""]
    body = "".join(message(f"<translation {kind}>D</translation>") for kind in kinds)
    assert [(unit.state, unit.is_translatable) for unit in read(body).units] == [
        ("final", False),
        ("final", False),
        ("fuzzy", True),
        ("translated", True),
    ]


def numerus(*forms: str) -> str:
    inner = "".join(f"\n            <numerusform>{form}</numerusform>" for form in forms)
    return message(f'<translation type="unfinished">{inner}\n        </translation>', numerus=' numerus="yes"')


def test_numerus_forms_are_filled() -> None:
    file = read(numerus("", ""))
    assert [form.sample for form in file.units[0].forms] == [1, 2]
    assert write(file, "%n Datei", "%n Dateien") == numerus("%n Datei", "%n Dateien")
    # What a person wrote in a form stays.
    assert write(read(numerus("Eine", "")), "x", "y") == numerus("Eine", "y")


def test_numerus_forms_are_as_many_as_the_language_has() -> None:
    file = read(numerus("", ""), "", "pl")
    out = write(file, "a", "b", "c")
    assert out == numerus("a", "b", "c")
    assert '<TS version="2.1" language="pl">' in file.write({file.units[0].id: result("a", "b", "c")}).decode()


def test_other_xml_is_refused() -> None:
    with pytest.raises(DataError, match="not a file of Qt Linguist: its outermost element is <a>, not <TS>"):
        read_file(b"<a/>", "x.ts")

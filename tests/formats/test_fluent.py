"""Fluent. Expected bytes are written by hand after Project Fluent's syntax guide."""

import pytest

from attendo.errors import DataError
from attendo.formats.contents import Code, Content, joined, plain
from attendo.formats.file import File, Languages, Result, result
from attendo.formats.table import read_file

TEXT = (  # case 35
    "### File\n\n## Group\n\n# Greets\nhello = Hello, { $name }!\n    .label = Save { -brand }\n    .accesskey = S\n"
    '-brand = Firefox\nlong =\n    One\n      two\n\n    three { "{" }\nempty =\n    .title = T\n'
)


def read(text: str, target: str | None = "pl") -> File:
    return read_file(text.encode(), "x.ftl", Languages(target=target))


def shouted(parts: Content) -> Content:
    return joined([part if isinstance(part, Code) else part.upper() for part in parts])


def test_messages_terms_and_attributes_are_units() -> None:
    file = read(TEXT)
    assert [(unit.id, plain(unit.source)) for unit in file.units] == [
        ("hello", "Hello, !"),
        ("hello.label", "Save "),
        ("hello.accesskey", "S"),
        ("-brand", "Firefox"),
        ("long", "One\n  two\n\nthree {"),
        ("empty.title", "T"),
    ]
    assert file.units[0].notes == ("Greets",)
    results = {unit.id: Result(texts=(shouted(unit.source),)) for unit in file.units}
    out = file.write(results).decode()
    expected = TEXT.replace("Hello,", "HELLO,").replace("Save", "SAVE").replace("Firefox", "FIREFOX")
    # Indentation of a text's own is made visible.
    lines = '    ONE\n    { " " } TWO\n\n    THREE { "{" }'
    assert out == expected.replace('    One\n      two\n\n    three { "{" }', lines)
    assert [plain(unit.source) for unit in read(out).units][:4] == ["HELLO, !", "SAVE ", "S", "FIREFOX"]
    assert file.write({}).decode() == TEXT


def test_text_that_would_be_syntax_is_put_into_placeables() -> None:
    out = read("a = x\n").write({"a": result("[a] {b}\n.c = d\n* ")}).decode()
    assert out == 'a = { "[" }a] { "{" }b{ "}" }\n    { "." }c = d\n    { "*" }{ " " }\n'


PLURAL = "files =\n    { $n ->\n        [one] { $n } file\n       *[other] { $n } files\n    }\nnext = x\n"


def test_variants_of_the_target_language_are_added_before_the_default() -> None:
    file = read(PLURAL)
    unit = file.units[0]
    assert [(form.name, plain(form.source)) for form in unit.forms] == [
        ("one", " file"),
        ("few", " files"),
        ("many", " files"),
        ("other", " files"),
    ]
    texts = [
        joined([part if isinstance(part, Code) else f" {name}" for part in form.source])
        for form, name in zip(unit.forms, ["plik", "pliki", "plików", "pliku"], strict=True)
    ]
    out = file.write({"files": Result(texts=tuple(texts))}).decode()
    assert out == (
        "files =\n    { $n ->\n        [one] { $n } plik\n        [few] { $n } pliki\n        [many] { $n } plików\n"
        "       *[other] { $n } pliku\n    }\nnext = x\n"
    )
    assert "[one]" not in read(PLURAL, "ja").write({"files": result("件")}).decode()


def test_a_variant_may_have_the_number_of_another() -> None:
    text = "files =\n    { $n ->\n        [one] One file\n       *[other] { $n } files\n    }\n"
    file = read(text, "fr")
    (unit,) = file.units
    other = unit.forms[-1].source
    texts = tuple((*other[:1], word) for word in (" fichier", " fichiers", " fichiers"))
    out = file.write({unit.id: Result(texts=texts)}).decode()
    assert out == text.replace("One file", "{ $n } fichier").replace("{ $n } files", "{ $n } fichiers").replace(
        "       *[other]", "        [many] { $n } fichiers\n       *[other]"
    )


def test_variants_of_other_selectors_are_units_and_their_keys_stay() -> None:
    text = "os = { PLATFORM() ->\n    [macos] Mac\n   *[other] PC\n }\n"
    file = read(text)
    assert [(unit.id, plain(unit.source)) for unit in file.units] == [("os[macos]", "Mac"), ("os[other]", "PC")]
    assert file.write({"os[other]": result("R")}).decode() == text.replace("PC", "R")


def test_a_placeable_continues_a_text_without_indentation() -> None:
    text = "a = One\n{ $b }\nc = x\n"
    file = read(text)
    assert [(unit.id, len(unit.source)) for unit in file.units] == [("a", 2), ("c", 1)]
    assert file.write({"c": result("y")}).decode() == text.replace("x", "y")


def test_a_selector_within_a_text_is_not_translated() -> None:
    text = "a = He has { $n ->\n    [one] a file\n   *[other] files\n } here\n    .b = x\n"
    assert [(unit.id, unit.is_translatable) for unit in read(text).units] == [("a", False), ("a.b", True)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = b\n???\n", "x.ftl: line 2 is not a line of Fluent: '???'"),
        ("# c\na = { $b\n", "line 2: a placeable does not end"),
    ],
)
def test_what_is_no_fluent_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message.replace("?", "[?]")):
        read(text)


@pytest.mark.parametrize("variants", ["[one] O\n [other] P", "*[one] O\n *[other] P"])
def test_a_selector_without_one_default_is_left_alone(variants: str) -> None:
    text = f"f = {{ $n ->\n {variants}\n }}\n"  # junk by Fluent's grammar, whose variant_list has one DefaultVariant
    file = read(text)
    assert not any(unit.is_translatable for unit in file.units)
    assert file.write({}) == text.encode()

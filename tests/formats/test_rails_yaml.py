"""YAML messages. PyYAML, which reads YAML 1.1 as Ruby does, judges what a file means; bytes are written by hand."""

import pytest
import yaml  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.formats.documents import read, translated, write

from attendo.errors import DataError
from attendo.formats.contents import plain
from attendo.formats.encoded import decoded
from attendo.formats.file import Languages, Span, result
from attendo.formats.yaml_values import yaml_scalars

MESSAGES = """\
# Comment
---
en: # the language
  hello: &greeting Hello, %{name} # friendly
  again: *greeting
  single: 'It''s'
  "double": "a \\"b\\"\\n\\u00e9"
  wrapped: one
    two

    three
  long: "folded
    \\  text"
  literal: |  # kept
    First
      indented

    last
  folded: >-
    one
    two

    three
  bare_key:
    "a value on a line of its own"
  days: [Sunday, 'Monday', "Tue, sday", {x: w, "q":z}]
  order: [ :year, :month ]
  list:
  - one
  - key: two
    other: >
      three
  - - nested
  number: 5
  truth: yes
  nothing: ~
  tagged: !str x
  empty: ""
"""


def paths(value: object, *path: str) -> dict[tuple[str, ...], object]:
    if isinstance(value, dict):
        return {k: v for key, inner in value.items() for k, v in paths(inner, *path, str(key)).items()}
    if isinstance(value, list):
        return {k: v for key, inner in enumerate(value) for k, v in paths(inner, *path, str(key)).items()}
    return {path: value}


def test_values_are_those_that_another_reader_finds() -> None:
    quoted = MESSAGES.replace("!str x", "x").replace("[ :year, :month ]", "[ ':year', ':month' ]")  # not read by PyYAML
    loaded = paths(yaml.load(quoted, yaml.BaseLoader))
    text = decoded(MESSAGES.encode())
    scalars = {scalar.path: scalar.text for scalar in yaml_scalars(text, Span(0, len(text.text)))}
    assert scalars == {path: value for path, value in loaded.items() if path != ("en", "again")}


def test_strings_are_translated_in_their_styles_and_other_values_stay() -> None:
    file = read(MESSAGES, "en.yml")
    fixed = {unit.id for unit in file.units if not unit.is_translatable}
    assert fixed == {"order.0", "order.1", "number", "truth", "nothing", "tagged", "empty"}
    out = translated(file, lambda text: text.replace("e", "E")).decode()
    expected = MESSAGES.replace("en: #", "de: #")
    for old, new in [
        ("Hello, %{name}", "HEllo, %{namE}"),
        ("one\n    two\n\n    three\n  long", '"onE two\\nthrEE"\n  long'),
        ('"folded\n    \\  text"', '"foldEd   tExt"'),
        ("indented", "indEntEd"),
        ("    one\n    two\n\n    three", "    onE two\n\n    thrEE"),
        ("a value on a line of its own", "a valuE on a linE of its own"),
        ("Tue,", "TuE,"),
        ("- one", "- onE"),
        ("      three", "      thrEE"),
        ("nested", "nEstEd"),
    ]:
        assert expected.count(old) == 1, old
        expected = expected.replace(old, new)
    assert out == expected


@pytest.mark.parametrize(
    "text",
    ["Nein", "no", "yes: x", "%{a} b", "1,000", ":sym", "2020-01-01", "- a", "#x", "a #b", "*a", '"q"', "it's", "a:",
     "", " a", "a ", "12:30", "~", "null", "=", "a\nb", "\ta", "[a]", "{a}", "a, b", "!x", "&x", "|", ">", "@a", "`a`",
     "0x1F", "1e3", ".5", "é\x85\u2028\U0001f600", "\x07", "---", "a\\nb", "<<", "?", "? a", "-", "on", "\ufeffa",
     "5\u00a0MB", "wer\u202f?", "\u3000"],
)  # fmt: skip
@pytest.mark.parametrize(
    "old", ["plain", "'single'", '"double"', "|\n    lit\n  z: z", ">-\n    f\n  z: z", "[plain, b]"]
)
def test_any_text_is_read_as_that_string(old: str, text: str) -> None:
    file = read(f"en:\n  a: {old}\n", "en.yml")
    out = write(file, {file.units[0].id: text}).decode()
    loaded = yaml.safe_load(out)["de"]["a"]
    assert (loaded[0] if isinstance(loaded, list) else loaded) == text, out


@settings(max_examples=60, deadline=None)
@given(text=st.text(st.sampled_from("ab \n\t:#-'\"\\,[]{}é%!&*?|>@`0~"), max_size=12))
@pytest.mark.parametrize("old", ["plain", "|\n    lit\n  z: z", ">\n    f\n  z: z", "{k: plain}", '["double"]'])
def test_no_text_changes_what_a_file_is(old: str, text: str) -> None:
    file = read(f"en:\n  a: {old}\n", "en.yml")
    out = write(file, {file.units[0].id: text}).decode()
    loaded = paths(yaml.load(out, yaml.BaseLoader))
    assert next(iter(loaded.values())) == text, out


PLURAL = """\
en:
  files:
    zero: none
    one: "%{count} file"  # one
    other: "%{count} files"
"""


def test_plural_forms_are_those_of_the_target_language() -> None:
    file = read(PLURAL, "en.yml", Languages(source="en", target="pl"))
    assert [unit.id for unit in file.units] == ["files.zero", "files"]
    unit = file.units[1]
    assert [(form.name, plain(form.source)) for form in unit.forms] == [
        ("one", "%{count} file"),
        ("few", "%{count} files"),
        ("many", "%{count} files"),
        ("other", "%{count} files"),
    ]
    out = file.write({"files": result("%{count} plik", "%{count} pliki", "%{count} plików", "x: y")}).decode()
    assert out == (
        'pl:\n  files:\n    zero: none\n    one: "%{count} plik"  # one\n    other: "x: y"\n'
        '    few: "%{count} pliki"\n    many: "%{count} plików"\n'
    )
    japanese = read(PLURAL, "en.yml", Languages(source="en", target="ja"))
    out = japanese.write({"files": result("%{count} 件")}).decode()
    assert out == 'ja:\n  files:\n    zero: none\n    other: "%{count} 件"\n'


@pytest.mark.parametrize(("target", "key"), [("de-AT", "de-AT"), ("no", '"no"'), ("pt_BR", "pt-BR")])
def test_the_key_at_the_top_becomes_the_target_language(target: str, key: str) -> None:
    file = read("en:\n  a: b\n", "en.yml", Languages(source="en", target=target))
    assert file.declared.source == "en"
    assert write(file, {"a": "c"}).decode() == f"{key}:\n  a: c\n"
    quoted = read("'en':\n  a: b\n", "en.yml", Languages(target=target))
    assert write(quoted, {"a": "c"}).decode() == f"'{target.replace('_', '-')}':\n  a: c\n"


def test_other_keys_at_the_top_stay() -> None:
    assert write(read("title: b\nx: y\n", "en.yaml"), {"title": "c"}) == b"title: c\nx: y\n"
    assert write(read("fr:\n  a: b\n", "fr.yaml"), {"fr.a": "c"}) == b"fr:\n  a: c\n"


@pytest.mark.parametrize("directive", ["%", "%Y", "%YAML 1.1"])
def test_a_directive_of_any_length_is_passed_over(directive: str) -> None:
    text = f"{directive}\n---\nen:\n  a: b\n"
    file = read(text, "en.yml")
    assert [plain(unit.source) for unit in file.units] == ["b"]
    assert file.write({}) == text.encode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: b: c\n", "line 1: cannot read ': c' here; a value that holds ': ' or begins with a sign needs quotes"),
        ("a:\n  b: @c\n", "line 2: cannot read '@c' here; a value that begins with a sign needs quotes"),
        ("a: 'b\nc: d\n", "line 1: a quotation mark is not closed"),
        ("? a\n: b\n", "line 1: keys written with '\\?' are not read"),
        ("a: [b, c\n", "line 1: '\\[' is not closed"),
        ("a: [b }\n", "line 1: '\\[' is closed by '}'"),
        ("a: {b: [}\n", "line 1: '\\[' is closed by '}'"),
        ("a: b\nc\n", "line 2: neither a key nor an item"),
        ("a: |x\n  b\n", "line 1: the header of a block"),
        ("a: b\n  c: d\n", "line 2: a value goes on and has a key in it"),
        ("just text\n", "line 1: a YAML file of messages is a mapping"),
        ("".join(f"{' ' * n}- \n" for n in range(99)), "nested more than 64 deep"),
        ("a: " + "[" * 99, "nested more than 64 deep"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(text: str, message: str) -> None:
    with pytest.raises(DataError, match=rf"en\.yml: .*{message}"):
        read(text, "en.yml")


@pytest.mark.parametrize(
    "text",
    ["a: " + " " * 50_000 + "b", 'a: "' + " \n" * 20_000 + '"', "a: |\n" + "  b\n" * 20_000],
    ids=["space", "lines", "block"],
)
def test_long_values_are_read_at_once(text: str) -> None:
    assert read(text, "en.yml").write({}).decode() == text


def test_spaces_that_do_not_break_are_characters() -> None:
    text = "fr:\n  a: Où\u202f? 5\u00a0MB\n"
    file = read(text, "fr.yml", Languages(source="fr", target="de"))
    assert plain(file.units[0].source) == "Où\u202f? 5\u00a0MB"
    assert write(file, {"a": "6\u00a0MB"}).decode() == "de:\n  a: 6\u00a0MB\n"

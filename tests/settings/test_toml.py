"""TOML within bounds: what is refused before it is read, and values that Python's own reader reads back."""

import tomllib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from attendo.errors import RecipeError
from attendo.settings.toml import (
    MAX_BYTES,
    MAX_DEPTH,
    dotted,
    excerpt,
    one_line,
    read_toml,
    toml_key,
    toml_value,
)

characters = st.characters(exclude_categories=["Cs"])
texts = st.text(characters, max_size=20)


def problem(text: str) -> str:
    with pytest.raises(RecipeError) as caught:
        read_toml(text, "a.toml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = " + "[" * 9 + "]" * 9, "a.toml: line 1: tables or lists more than 8 deep, which no key takes"),
        ("a = 1\nx = " + "{y = " * 9 + "1" + "}" * 9, "a.toml: line 2: tables or lists more than 8 deep"),
        ("a.b.c.d.e.f.g.h.i = 1", "a.toml: line 1: tables or lists more than 8 deep"),
        ("[a.b.c.d.e.f.g.h.i]", "a.toml: line 1: tables or lists more than 8 deep"),
        ("x = [\n'''[[['''\n," + "[" * 8, "a.toml: line 3: tables or lists more than 8 deep"),
        # A quote may stand before the three that end a text: what follows is nested and is seen to be.
        ('x = ["""a"""", ' + "[" * 8, "a.toml: line 1: tables or lists more than 8 deep"),
        ("x = ['''a''''', " + "[" * 8, "a.toml: line 1: tables or lists more than 8 deep"),
        ('x = ["a\\"", ' + "[" * 8, "a.toml: line 1: tables or lists more than 8 deep"),
        ("x = " + "9" * 201, "a.toml: line 1: "),
        ("\n\nx = 0x" + "f" * 5000, "a.toml: line 3: "),
        ("#" * (MAX_BYTES + 1), "a.toml: has 1,048,577 characters, and settings at most 1,048,576"),
        ("x = 1\nx = 2", "a.toml: not TOML: Cannot overwrite a value (at "),
        ("x = 2012-02-30", "a.toml: not TOML: "),
        (
            'x = "C:\\data"',
            "a.toml: not TOML: Unescaped '\\' in a string (at line 1, ",
        ),
        ("x = \x01", "a.toml: not TOML: "),
        ("[" + "a" * 199 + "]\n[" + "a" * 199 + "]", "a.toml: not TOML: Cannot declare "),
    ],
)
def test_what_is_refused(text: str, told: str) -> None:
    found = problem(text)
    assert found.startswith(told)
    assert found.isprintable()
    assert len(found) < 400


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 8 + "]" * 8,
        "a.b.c.d.e.f.g.h = 1",
        "x = '" + "[" * 99 + "'",
        'x = "' + "[" * 99 + '\\""',
        'x = """\n' + "[\n" * 99 + '"""',
        "x = '''" + "a.b" * 99 + "'''",
        "x = 1 # " + "[" * 99 + "a.b.c.d.e.f.g.h.i.j" + "9" * 999,
        "x = [[1], [2], [3], [4], [5], [6], [7], [8], [9], [10]]",
        "x = [1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5]",
        '"' + "k" * 999 + '" = "' + "v" * 999 + '"',
        "x = \"\"\"a\"\"\"\"\"\ny = '''b'''''",
    ],
)
def test_what_settings_may_have_is_read(text: str) -> None:
    assert read_toml(text, "a.toml") == tomllib.loads(text)


@given(st.text("[]{}=.,'\"\\\n#a1 ", max_size=60))
def test_the_scan_refuses_nothing_that_is_flat(text: str) -> None:
    """What Python's reader takes is taken, and what it refuses is refused."""
    assume(max(text.count("[") + text.count("{"), text.count(".")) < MAX_DEPTH)
    try:
        expected = tomllib.loads(text)
    except ValueError:
        assert problem(text).startswith("a.toml: not TOML: ")
    else:
        assert read_toml(text, "a.toml") == expected


@given(st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
))  # fmt: skip
def test_a_value_is_read_back(value: object) -> None:
    written = toml_value(value)
    assert tomllib.loads(f"x = {written}")["x"] == value
    assert written.isprintable()


@given(st.lists(st.text(characters, max_size=5), min_size=1, max_size=4))
def test_a_key_is_read_back(parts: list[str]) -> None:
    expected: object = 1
    for part in reversed(parts):
        expected = {part: expected}
    assert tomllib.loads(f"{'.'.join(map(toml_key, parts))} = 1") == expected


def test_messages_are_short_and_printable() -> None:
    assert excerpt("x" * 500) == '"' + "x" * 59 + "…" + "x" * 59 + '" (502 characters)'
    assert excerpt("\u202e\x1b\U000e0001") == '"\\u202e\\u001b\\U000e0001"'
    assert dotted("a", "b c", "k" * 100) == f'a."b c".{"k" * 30}…{"k" * 30} (100 characters)'
    assert one_line("a\nb\x85c") == "a\\u000ab\\u0085c"

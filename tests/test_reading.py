"""What is read of a stranger's files: plain ones of a bounded size, and JSON that has one meaning."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attendo.reading import parse_json, printable, read_bounded, require_inside, require_regular


def test_a_file_is_read_whole_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"12345")
    assert read_bounded(path, 5) == b"12345"
    with pytest.raises(OSError, match="has 5 bytes, more than such a file may have"):
        read_bounded(path, 4)


def test_what_would_never_end_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    for name in ("pipe", "zeros"):
        with pytest.raises(OSError, match="not a regular file but a pipe, a device or a socket"):
            read_bounded(tmp_path / name, 10)
    with pytest.raises(IsADirectoryError):
        require_regular(tmp_path)
    with pytest.raises(FileNotFoundError):
        require_regular(tmp_path / "nothing")


def test_a_link_stays_in_its_folder(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "file").touch()
    (tmp_path / "outside").touch()
    (inside / "same").symlink_to("file")
    (inside / "out").symlink_to("../outside")
    (tmp_path / "way").symlink_to("inside")  # the folder may be reached by a link
    require_inside(tmp_path / "way" / "file")
    require_inside(tmp_path / "way" / "same")
    with pytest.raises(OSError, match=r"is a link to .*/outside, outside its folder"):
        require_inside(inside / "out")


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(value=JSON)
def test_plain_json_is_what_python_reads(value: Any) -> None:
    text = json.dumps(value)
    assert parse_json(text.encode()) == json.loads(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 33 + "]" * 33, "nested more than 32 deep"),
        ("[" * 200_000, "nested more than 32 deep"),
        ('{"a":' * 200_000, "nested more than 32 deep"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' is there twice"),
        ('{"a": 1e400}', "1e400 is not a finite number"),
        ("[NaN]", "NaN is not a finite number"),
        ("[-Infinity]", "-Infinity is not a finite number"),
        ('["\\ud800"]', "surrogates not allowed"),
        ('{"\\udfff": 1}', "surrogates not allowed"),
        ("[9223372036854775808]", "more than 64 bits"),
        (f"[{'9' * 5000}]", "more than 64 bits"),
        ("", "Expecting value"),
        ("{} {}", "Extra data"),
    ],
)
def test_json_that_means_nothing_or_two_things(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_json(text.encode())


def test_json_that_is_no_utf8() -> None:
    with pytest.raises(ValueError, match="utf-8"):
        parse_json(b'["\xff"]')


def test_the_limits_themselves_pass() -> None:
    assert parse_json(b"[9223372036854775807, -9223372036854775808]") == [2**63 - 1, -(2**63)]
    value = parse_json(b"[" * 32 + b"]" * 32)
    for _ in range(31):
        (value,) = value
    assert value == []


def test_control_characters_do_not_reach_a_terminal() -> None:
    assert printable("a\tb\n\x1b[2J\x07\x9b\r\x7fé\u2028") == "a\tb\n\ufffd[2J\ufffd\ufffd\ufffd\ufffdé\u2028"

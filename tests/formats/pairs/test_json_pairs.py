"""JSON lines as pairs, as data sets of Hugging Face and exports of databases have them."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.formats.pairs.json_pairs import read_json_pairs
from attendo.formats.pairs.selection import Selection

EN_DE = Selection(source_language="en", target_language="de")

Found = tuple[int, str, str, str | None]


def read(path: Path, lines: Sequence[object], fields: tuple[str, ...] = ()) -> list[Found]:
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    return [
        (pair.line, pair.source.decode("utf-8", "replace"), (pair.target or b"").decode(), pair.fault)
        for pair in read_json_pairs(path, EN_DE, fields=fields)
    ]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


@pytest.mark.parametrize(
    ("one", "fields"),
    [
        ({"id": "1", "en": "Yes.", "de": "Ja."}, ()),
        ({"source": "Yes.", "target": "Ja."}, ()),
        ({"translation": {"de": "Ja.", "en": "Yes."}}, ()),
        ({"a": {"b": {"c": "Yes."}}, "x.y": "Ja."}, ("a.b.c", "x.y")),
        ({"en": "No.", "de": "Nein.", "text": "Yes.", "other": "Ja."}, ("text", "other")),
    ],
)
def test_fields_go_by_name(file: Path, one: object, fields: tuple[str, ...]) -> None:
    assert read(file, ["", one], fields) == [(2, "Yes.", "Ja.", None)]


def test_what_is_no_object_with_both_is_accounted_for(file: Path) -> None:
    lines = ["{", '["Yes.", "Ja."]', {"en": "One\nline", "de": "Eine\r\n\tZeile"}, {"en": "a"}, {"en": "a", "de": None}]
    lines += [{"en": "a", "de": ""}, "[" * 100_000, '{"en": "\\ud800", "de": "a"}']
    assert [(line, fault) for line, _, _, fault in read(file, lines)] == [
        *((1, "no_json"), (2, "no_json"), (3, None), (4, "no_json"), (5, "no_json")),
        *((6, "untranslated"), (7, "no_json"), (8, None)),  # cleaning drops the last, whose bytes are no UTF-8
    ]
    assert read(file, lines)[2] == (3, "One line", "Eine Zeile", None)
    *_, half = read_json_pairs(file, EN_DE)
    with pytest.raises(UnicodeDecodeError):
        half.source.decode()


def test_an_object_that_does_not_say_which_is_which_is_an_error(file: Path) -> None:
    with pytest.raises(DataError, match=r'line 2 has the fields q, a; name the two to use: fields = \["SOURCE"'):
        read(file, ["", {"q": "Yes.", "a": "Ja."}])

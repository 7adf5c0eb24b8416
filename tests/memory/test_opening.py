"""Indexes that are made once, and files that are none: the messages name file and way out."""

import os
import re
import sqlite3
from pathlib import Path

import pytest
from tests.memory.conftest import LANGUAGES, po, write_pairs

from attendo.errors import DataError
from attendo.memory.building import BuiltIndex, build_index
from attendo.memory.opening import open_memory

TMX = """<?xml version="1.0"?>
<tmx version="1.4"><header srclang="en" creationtool="x" creationtoolversion="1" segtype="sentence" o-tmf="x"
adminlang="en" datatype="plaintext"/><body>
<tu tuid="a"><tuv xml:lang="en"><seg>Press <bpt i="1" x="1">&lt;b&gt;</bpt>save<ept i="1">&lt;/b&gt;</ept></seg></tuv>
<tuv xml:lang="de"><seg><bpt i="1" x="1">&lt;b&gt;</bpt>Sichern<ept i="1">&lt;/b&gt;</ept> drücken</seg></tuv></tu>
</body></tmx>
"""
XLIFF = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en"
target-language="de" datatype="plaintext"><body><trans-unit id="1"><source>Press <g id="7">save</g></source>
<target><g id="7">Sichern</g> drücken</target></trans-unit></body></file></xliff>
"""
JSON = '{"en": "Press save", "de": "Sichern drücken"}\n'


@pytest.mark.parametrize(
    ("name", "text", "query", "expected"),
    [
        ("m.tmx", TMX, "Press ⟦1⟧save⟦/1⟧", "⟦1⟧Sichern⟦/1⟧ drücken"),
        ("m.xlf", XLIFF, "Press ⟦1⟧save⟦/1⟧", "⟦1⟧Sichern⟦/1⟧ drücken"),
        ("m.po", po(("", "Press save", "Sichern drücken")), "Press save", "Sichern drücken"),
        ("m.tsv", "Press save\tSichern drücken\n", "Press save", "Sichern drücken"),
        ("n.tsv", "en\tde\nPress save\tSichern drücken\n", "Press save", "Sichern drücken"),
        ("m.csv", "de,en\nSichern drücken,Press save\n", "Press save", "Sichern drücken"),
        ("m.jsonl", JSON, "Press save", "Sichern drücken"),
    ],
)
def test_every_format_is_read(tmp_path: Path, name: str, text: str, query: str, expected: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    match = open_memory([tmp_path / name], LANGUAGES).match(query)
    assert match is not None
    assert (match.kind, match.text) == ("exact", expected)


def test_what_people_have_not_finished_is_left_out_and_counted(tmp_path: Path) -> None:
    text = po(("", "Old", "Alt"), ("", "New", ""), ("", "Odd", "Seltsam")).replace(
        'msgid "Odd"', '#, fuzzy\nmsgid "Odd"'
    )
    (tmp_path / "m.po").write_text(text, encoding="utf-8")
    built = build_index(tmp_path / "out", [tmp_path / "m.po"], LANGUAGES)
    assert (built.num_pairs, built.left_out) == (1, {"untranslated": 1, "state": 1})


def test_an_index_is_made_once_and_again_when_a_file_changes(tmp_path: Path) -> None:
    made = list[BuiltIndex]()
    path = write_pairs(tmp_path / "m.tsv", [("one dog", "ein Hund")])
    for _ in range(2):
        open_memory([path], LANGUAGES, built=lambda built, _: made.append(built))
    assert [built.num_pairs for built in made] == [1]
    write_pairs(path, [("one dog", "ein Hund"), ("two dogs", "zwei Hunde")])
    os.utime(path, ns=(1, 1))
    memory = open_memory([path], LANGUAGES, built=lambda built, _: made.append(built))
    assert [built.num_pairs for built in made] == [1, 2]
    assert memory.match("two dogs") is not None


def test_a_built_index_is_a_memory_and_goes_with_others(tmp_path: Path) -> None:
    first = write_pairs(tmp_path / "a.tsv", [("one dog", "ein Hund")])
    second = write_pairs(tmp_path / "b.tsv", [("two dogs", "zwei Hunde")])
    build_index(tmp_path / "a.memory", [first], LANGUAGES)
    memory = open_memory([tmp_path / "a.memory", second], ("en", "de-AT"))
    assert memory.match("one dog") is not None
    assert memory.match("two dogs") is not None
    assert len(memory.digests) == 2


def refusal(tmp_path: Path, name: str, text: str, languages: tuple[str, str] = LANGUAGES) -> str:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as refused:
        open_memory([path], languages)
    return str(refused.value).replace(str(tmp_path), "")


def test_what_cannot_be_a_memory_is_refused(tmp_path: Path, cache: Path) -> None:
    with pytest.raises(
        DataError, match=re.escape(f"{tmp_path / 'none.tmx'}: the translation memory cannot be read (No")
    ):
        open_memory([tmp_path / "none.tmx"], LANGUAGES)
    with pytest.raises(DataError, match="no translation memory was named"):
        open_memory([], LANGUAGES)
    with pytest.raises(DataError, match="does not say its languages"):
        open_memory([tmp_path / "none.tmx"], ("", ""))
    assert refusal(tmp_path, "a.tmx", TMX, ("en", "fr")) == "/a.tmx: nothing to translate en to fr with (language 1)"
    assert "is no TMX, XLIFF, PO" in refusal(tmp_path, "a.txt", "The dog.\nThe cat.\n")
    assert "line 3" in refusal(tmp_path, "b.tmx", TMX.replace("<body>", "<body><"))
    assert not list(cache.rglob("*.sqlite"))


def test_other_databases_versions_and_languages_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    sqlite3.connect(other).execute("CREATE TABLE a (b)").connection.close()
    with pytest.raises(DataError, match="is no translation memory of this version of attendo; build it again"):
        open_memory([other], LANGUAGES)
    index = tmp_path / "a.memory"
    build_index(index, [write_pairs(tmp_path / "a.tsv", [("one dog", "ein Hund")])], LANGUAGES)
    with pytest.raises(DataError, match="is a translation memory from en to de, and en to fr is wanted"):
        open_memory([index], ("en", "fr"))

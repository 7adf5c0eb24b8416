"""Which format a corpus's file is read in, and keys that do not go with it."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attendo.errors import DataError
from attendo.formats.pairs.table import has_both_sides, read_units
from attendo.text.corpora import CorpusConfig

LANGUAGES = "en", "de"
TMX = (
    '<tmx version="1.4"><body><tu><tuv xml:lang="en"><seg>Yes.</seg></tuv>'
    '<tuv xml:lang="de"><seg>Ja.</seg></tuv></tu></body></tmx>'
)
XLIFF = (
    '<xliff version="1.2"><file source-language="en"><body><trans-unit id="1"><source>Yes.</source>'
    "<target>Ja.</target></trans-unit></body></file></xliff>"
)
PO = 'msgid ""\nmsgstr "Language: de\\n"\n\nmsgid "Yes."\nmsgstr "Ja."\n'
FILES = {
    "a.tmx": TMX,
    "memory.xml": f'<?xml version="1.0"?>{TMX}',
    "a.sdlxliff": XLIFF,
    "b.xml": f'<?xml version="1.0"?>{XLIFF}',
    "a.po": PO,
    "catalogue": PO,
    "a.csv": "en,de\nYes.,Ja.\n",
    "a.tsv": "en\tde\nYes.\tJa.\n",
    "exported.txt": '"en";"de"\n' + '"Yes.";"Ja."\n' * 3,
    "a.jsonl": '{"en": "Yes.", "de": "Ja."}\n',
    "b.json": '{"en": "Yes.", "de": "Ja."}\n' * 2,
}


def read(folder: Path, corpus: CorpusConfig) -> list[tuple[bytes, bytes | None]]:
    return [(pair.source, pair.target) for pair in read_units(corpus, folder, LANGUAGES)]


@pytest.mark.parametrize("name", FILES)
def test_name_or_content_say_what_a_file_is(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FILES[name])
    assert set(read(tmp_path, CorpusConfig(file=name))) == {(b"Yes.", b"Ja.")}


@pytest.mark.parametrize("name", ["a.tmx", "memory.xml", "b.xml"])
def test_xml_may_be_in_utf_16(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(FILES[name].replace("?>", ' encoding="utf-16"?>').encode("utf-16"))
    assert read(tmp_path, CorpusConfig(file=name)) == [(b"Yes.", b"Ja.")]


def test_keys_say_what_another_name_leaves_open(tmp_path: Path) -> None:
    (tmp_path / "a.dat").write_text("Yes.|Ja.\n")
    assert read(tmp_path, CorpusConfig(file="a.dat", columns=("1", "2"))) == [(b"Yes.", b"Ja.")]
    (tmp_path / "b.dat").write_text('{"q": "Yes.", "a": "Ja."}\n')
    assert read(tmp_path, CorpusConfig(file="b.dat", fields=("q", "a"))) == [(b"Yes.", b"Ja.")]


@pytest.mark.parametrize(
    ("name", "keys", "message"),
    [
        ("a.tmx", {"columns": ("a", "b")}, "columns are those of CSV and TSV, and this is TMX; leave them out"),
        ("a.csv", {"fields": ("a", "b")}, "fields are those of JSON, and this is CSV; leave them out"),
        ("a.po", {"encoding": "cp1252"}, "encoding = 'cp1252' goes with CSV and TSV; PO says itself"),
        ("lines", {}, "is no TMX, XLIFF, PO, CSV, TSV or JSON with an object a line, which the key file reads; "),
        ("a.html", {}, "looks like an HTML page, and is no TMX"),
        ("none.tmx", {}, "there is no such file"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, name: str, keys: dict[str, object], message: str) -> None:
    for known, content in {**FILES, "lines": "Yes.\nNo.\n", "a.html": "<!DOCTYPE html><html><body></html>"}.items():
        (tmp_path / known).write_text(content)
    with pytest.raises(DataError) as error:
        read(tmp_path, CorpusConfig(file=name, **keys))  # type: ignore[arg-type]
    assert str(error.value).startswith(f"{tmp_path / name}: ")
    assert message in str(error.value)


def test_names_that_hold_both_sides(tmp_path: Path) -> None:
    yes = "a.tmx", "A.XLF.gz", "de.po", "a.csv.xz", "a.tsv", "a.jsonl"
    no = "a.srt", "a.txt", "a", "tmx"
    assert [has_both_sides(tmp_path / name) for name in (*yes, *no)] == [True] * 6 + [False] * 4


@settings(max_examples=100, deadline=None)
@given(
    name=st.sampled_from(sorted(FILES)), cut=st.integers(0, 300), length=st.integers(0, 9), put=st.binary(max_size=9)
)
def test_a_damaged_file_is_pairs_or_one_error(
    tmp_path_factory: pytest.TempPathFactory, name: str, cut: int, length: int, put: bytes
) -> None:
    content = FILES[name].encode()
    path = tmp_path_factory.getbasetemp() / f"damaged-{name}"
    path.write_bytes(content[:cut] + put + content[cut + length :])
    try:
        faults = {pair.fault for pair in read_units(CorpusConfig(file=path.name), path.parent, LANGUAGES)}
    except DataError as error:
        faults = {str(error).partition(": ")[0]}
    assert faults <= {None, "language", "untranslated", "state", "no_json", "too_long", str(path)}

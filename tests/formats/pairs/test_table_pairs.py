"""CSV and TSV as pairs: rows as Python's csv module writes them, and as people type them."""

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attendo.errors import DataError
from attendo.formats.pairs.selection import Selection
from attendo.formats.pairs.table_pairs import read_table_pairs

EN_DE = Selection(source_language="en", target_language="de")

Found = tuple[int, str, str, str | None]


def read(path: Path, content: str | bytes, **options: object) -> list[Found]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [
        (pair.line, pair.source.decode(), (pair.target or b"").decode(), pair.fault)
        for pair in read_table_pairs(path, EN_DE, **options)  # type: ignore[arg-type]
    ]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.csv"


@pytest.mark.parametrize("separator", [",", ";", "|", "\t"])
def test_columns_go_by_their_languages(file: Path, separator: str) -> None:
    rows = ["id", "de-AT", "en"], ["1", "Ja.", "Yes."], ["2", '"Nein', "No"], ["3"], ["", "", ""]
    content = io.StringIO()
    csv.writer(content, delimiter=separator).writerows([*rows[:2], [], *rows[2:]])
    assert read(file, "\ufeff" + content.getvalue()) == [
        (2, "Yes.", "Ja.", None),
        (4, "No", '"Nein', None),
        (5, "", "", None),
        (6, "", "", None),
    ]


def test_a_row_may_have_line_ends_and_separators_in_quotes(file: Path) -> None:
    content = 'source,target\r\n"Yes, sir.\r\n  Really.","Ja, ""Herr""."\r\nNo,\r\n'
    assert read(file, content) == [(2, "Yes, sir. Really.", 'Ja, "Herr".', None), (4, "No", "", "untranslated")]


def test_quotation_marks_within_a_field_are_text(file: Path) -> None:
    content = 'en\tde\nHe said "no".\tEr sagte „nein".\n"No" is no.\tNein\n'
    assert read(file, content, separator="\t") == [
        (2, 'He said "no".', 'Er sagte „nein".', None),
        (3, '"No" is no.', "Nein", None),
    ]


def test_columns_are_named_or_numbered(file: Path) -> None:
    assert read(file, "a,b,c\n1,2,3\n", columns=("c", "a")) == [(2, "3", "1", None)]
    assert read(file, "1,2,3\n4,5,6\n", columns=("3", "1")) == [(1, "3", "1", None), (2, "6", "4", None)]


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_the_encoding_is_what_the_key_says(file: Path, encoding: str) -> None:
    assert read(file, "en,de\ndoors,Türen\n".encode(encoding), encoding=encoding) == [(2, "doors", "Türen", None)]


def test_bytes_in_another_encoding_stay_what_they_are(file: Path) -> None:
    file.write_bytes("en,de\ndoors,Türen\n".encode("cp1252"))
    (pair,) = read_table_pairs(file, EN_DE)
    assert pair.target == b"T\xfcren"


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("a,b\n1,2\n", (), "line 1 names the columns a, b; name the two to use: columns ="),
        ("a,b\n1,2\n", ("a", "c"), "line 1 names the columns a, b, and not c; correct columns"),
        ("a,b\n1,2\n", ("0", "1"), "counts from 1"),
        ('en,de\nx,y\n"a,b\nc,"d\n', (), "line 3: a quoted field does not end; close its quotation mark"),
        ('en,de\n"' + "word " * 300_000, (), "line 2: a quoted field does not end"),
    ],
)
def test_what_cannot_be_read_is_named(file: Path, content: str, columns: tuple[str, ...], message: str) -> None:
    with pytest.raises(DataError) as error:
        read(file, content, columns=columns)
    assert str(error.value).startswith(f"{file}: ")
    assert message in str(error.value)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=9)] * 2),
        max_size=5,
    )
)
def test_what_pythons_csv_writes_is_read(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]) -> None:
    content = io.StringIO(newline="")
    csv.writer(content, quoting=csv.QUOTE_ALL).writerows([("en", "de"), *rows])
    path = tmp_path_factory.getbasetemp() / "written.csv"
    path.write_text(content.getvalue(), encoding="utf-8", newline="")
    found = [(pair.source.decode(), (pair.target or b"").decode()) for pair in read_table_pairs(path, EN_DE)]
    assert ["".join("".join(row).split()) for row in found] == ["".join("".join(row).split()) for row in rows]

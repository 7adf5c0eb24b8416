"""CSV and TSV. Expected bytes are written by hand after RFC 4180; Python's csv module reads them again."""

import csv
import io

import pytest

from attendo.errors import DataError
from attendo.formats.contents import plain
from attendo.formats.file import File, Languages, result
from attendo.formats.table import read_file


def read(text: str, name: str = "x.csv", target: str | None = None) -> File:
    return read_file(text.encode(), name, Languages(source="en", target=target))


def test_the_target_column_is_filled_and_all_else_stays() -> None:
    text = 'key;source;target;comment\r\na;"x; ""y""";;n\r\nb;two\r\n\r\nc;three;drei;\r\n'
    file = read(text)
    assert [(unit.id, plain(unit.source), unit.state, unit.notes) for unit in file.units] == [
        ("a", 'x; "y"', "new", ("n",)),
        ("b", "two", "new", ()),
        ("c", "three", "translated", ()),
    ]
    out = file.write({"a": result('"z"\n;'), "b": result("zwei")}).decode()
    assert out == 'key;source;target;comment\r\na;"x; ""y""";"""z""\r\n;";n\r\nb;two;zwei\r\n\r\nc;three;drei;\r\n'
    assert list(csv.reader(io.StringIO(out, newline=""), delimiter=";"))[1][2] == '"z"\r\n;'


def test_columns_are_found_by_language() -> None:
    text = "en\tde\nOne\t\nTwo\tZwei"
    assert read(text, "x.tsv", "de-AT").write({"One": result("Eins")}).decode() == "en\tde\nOne\tEins\nTwo\tZwei"
    with pytest.raises(DataError, match="line 1 names the columns en, de; one should be called source"):
        read(text, "x.tsv", "fr")


def test_fully_quoted_files_stay_quoted() -> None:
    assert read('"source","target"\n"a",""\n').write({"a": result("b")}).decode() == '"source","target"\n"a","b"\n'


def test_a_quote_that_does_not_end_is_refused() -> None:
    with pytest.raises(DataError, match=r"x\.csv: line 2: a quoted field does not end"):
        read('source,target\n"a,b\n')

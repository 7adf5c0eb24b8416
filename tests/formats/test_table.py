import re

import pytest

from attendo.errors import DataError
from attendo.formats.known import FORMATS, format_of
from attendo.formats.table import read_file, reader_of


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("de.po", "po"),
        ("A.POT", "po"),
        ("a.sdlxliff", "xliff"),
        ("res/values-de/strings.xml", "android"),
        ("a.tmx", "tmx"),
        ("app_de.arb", "arb"),
        ("messages.json", "json"),
        ("index.html", "html"),
        ("README.md", "markdown"),
        ("letter.docx", "docx"),
        ("slides.pptx", "pptx"),
        ("Numbers.XLSX", "xlsx"),
        ("letter.odt", "odf"),
        ("config/locales/en.yml", "yaml"),
        ("book.epub", "epub"),
        ("a.txt", "text"),
        ("corpus.en", "text"),
        ("-", "text"),
    ],
)
def test_the_end_of_a_name_says_the_format(name: str, expected: str) -> None:
    assert format_of(name, b"Some plain lines.\n").name == expected


@pytest.mark.parametrize(
    ("data", "looks_like"),
    [
        (b'<?xml version="1.0"?>\n<tmx version="1.4"><header/></tmx>', "a TMX translation memory"),
        (b'msgid "a"\nmsgstr ""\n', "a PO catalogue"),
        (b'{"a": "b",\n"c": "d"}', "a JSON document"),
        (b"PK\x03\x04word/", "a Word document (.docx)"),
        (b"\1\2\3\4" * 64, "binary data"),
    ],
)
def test_content_of_a_format_under_another_name_is_refused(data: bytes, looks_like: str) -> None:
    message = re.escape(f"corpus.en: this looks like {looks_like}; say which format it is (--format NAME: po, xliff")
    with pytest.raises(DataError, match=message) as raised:
        read_file(data, "corpus.en")
    assert str(raised.value).endswith("or --format text to translate its lines as they are")


def test_a_format_that_is_named_goes_before_name_and_content() -> None:
    assert read_file(b'msgid "a"\nmsgstr ""\n', "x.xml", wanted="po").units[0].id == "a"
    assert [unit.id for unit in read_file(b"<a/>\n", "x.po", wanted="text").units] == ["1"]
    with pytest.raises(DataError, match="'doc' is not a known file format; known are po, xliff"):
        read_file(b"", "x", wanted="doc")


def test_lines_keep_their_edges_and_ends() -> None:
    data = "\ufeff One \r\n\r\n\tTwo".encode()
    file = read_file(data, "a.txt")
    assert [unit.id for unit in file.units] == ["1", "2"]
    assert file.write({}) == data


def test_no_two_formats_claim_an_ending() -> None:
    endings = [ending for known in FORMATS for ending in known.endings]
    assert len(set(endings)) == len(endings)


def test_every_format_has_a_reader_of_its_own() -> None:
    assert len({reader_of(known.name) for known in FORMATS}) == len(FORMATS)
    with pytest.raises(AssertionError, match="the format 'doc' has no reader"):
        reader_of("doc")

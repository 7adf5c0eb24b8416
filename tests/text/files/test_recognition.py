"""What is no text is known, from files as other programs write them; and text stays text, however it begins."""

import csv
import io
import json
import re
import sqlite3
import tarfile
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attendo.text.files.recognition import HEAD_BYTES, recognized

SENTENCES = [
    "Good morning.",
    "Where is the station, please?",
    "He said: wait; I will come.",
    "Two, three or four days.",
]


def xml(root: ElementTree.Element, *, declared: bool = True) -> bytes:
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=declared)
    return content


def tmx() -> ElementTree.Element:
    root = ElementTree.Element("tmx", version="1.4")
    body = ElementTree.SubElement(root, "body")
    for sentence in SENTENCES:
        unit = ElementTree.SubElement(body, "tu")
        for language in ("en", "de"):
            variant = ElementTree.SubElement(unit, "tuv", {"xml:lang": language})
            ElementTree.SubElement(variant, "seg").text = sentence
    return root


def element(name: str) -> ElementTree.Element:
    root = ElementTree.Element(name)
    for sentence in SENTENCES:
        ElementTree.SubElement(root, "item").text = sentence
    return root


def zipped(*names: str) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in names:
            archive.writestr(name, "some content")
    return content.getvalue()


def tarred() -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a.txt"))
    return content.getvalue()


def as_csv(delimiter: str, *, quoting: int, header: list[str] | None = None) -> bytes:
    content = io.StringIO()
    writer = csv.writer(content, delimiter=delimiter, quoting=quoting)  # type: ignore[arg-type]
    writer.writerows([*([header] if header else []), *([sentence, sentence.upper()] for sentence in SENTENCES)])
    return content.getvalue().encode()


def array() -> bytes:
    content = io.BytesIO()
    np.save(content, np.arange(1000, dtype=np.float32))
    return content.getvalue()


def lines(sentences: list[str]) -> bytes:
    return "".join(f"{sentence}\n" for sentence in sentences).encode()


OBJECTS = [{"en": sentence, "de": sentence.upper()} for sentence in SENTENCES]
PO = '# a comment\nmsgid ""\nmsgstr "Content-Type: text/plain\\n"\n\n#: a.c:1\nmsgid "Yes"\nmsgstr "Ja"\n'

FOREIGN = {
    "a.tmx": (xml(tmx()), "a TMX translation memory"),
    "no-name-says-it": (xml(tmx(), declared=False), "a TMX translation memory"),
    "a.xlf": (xml(element("xliff")), "an XLIFF file"),
    "a.ts": (xml(element("TS")), "a Qt Linguist file"),
    "a.en": (xml(element("corpus")), "XML (its root is <corpus>)"),
    "a.xml": (xml(element("corpus"), declared=False), "XML (its root is <corpus>)"),
    "test.sgm": (
        b'<srcset setid="t">\n<doc>\n<seg id="1"> One. </seg>\n</doc>\n</srcset>\n',
        "a WMT test",
    ),
    "a.html": (b"<!DOCTYPE html>\n<html><body><p>One.</p></body></html>\n", "an HTML page"),
    "a.po": (PO.encode(), "a PO catalogue"),
    "a": (PO.encode(), "a PO catalogue"),
    "a.jsonl": (lines([json.dumps(one) for one in OBJECTS]), "JSON, an object a line"),
    "b.en": (lines([json.dumps(list(one.values())) for one in OBJECTS]), "JSON, an object a line"),
    "a.json": (json.dumps({"pairs": OBJECTS}, indent=2).encode(), "a JSON document"),
    "b.json": (json.dumps(OBJECTS, indent=1).encode(), "a JSON document"),
    "a.csv": (as_csv(",", quoting=csv.QUOTE_MINIMAL), "CSV (columns with ','"),
    "b.csv": (as_csv(";", quoting=csv.QUOTE_MINIMAL), "CSV (columns with ';'"),
    "a.txt": (as_csv(",", quoting=csv.QUOTE_ALL), "CSV (columns with ','"),
    "b.txt": (as_csv(";", quoting=csv.QUOTE_MINIMAL, header=["source", "target"]), "CSV (columns with ';'"),
    "a.pdf": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF document"),
    "a.docx": (zipped("[Content_Types].xml", "word/document.xml"), "a Word document"),
    "without-its-name": (zipped("[Content_Types].xml", "word/document.xml"), "a Word document"),
    "a.xlsx": (zipped("[Content_Types].xml", "xl/workbook.xml"), "an Excel workbook"),
    "a.zip": (zipped("a.en", "a.de"), "a zip archive"),
    "a.tar": (tarred(), "a tar archive"),
    "a.npy": (array(), "binary data"),
    "a.bin": (np.random.default_rng(1).bytes(4096), "binary data"),
    "utf16.en": (lines(SENTENCES).decode().encode("utf-16"), "UTF-16 text"),
    "without-mark": (lines(SENTENCES).decode().encode("utf-16-be"), "UTF-16 text"),
    "utf32.en": (lines(SENTENCES).decode().encode("utf-32"), "UTF-32 text"),
    "utf16.tmx": (xml(tmx()).decode().encode("utf-16"), "a TMX translation memory"),
    "mac.en": (lines(SENTENCES).replace(b"\n", b"\r"), "text whose lines end in carriage returns alone"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_other_formats_are_known(name: str) -> None:
    content, expected = FOREIGN[name]
    found = recognized(name, content[:HEAD_BYTES], len(content) <= HEAD_BYTES)
    assert found is not None
    assert found.name.startswith(expected)
    assert found.way_out
    assert str(found) == f"this looks like {found.name}, not lines of text; {found.way_out}"


@pytest.mark.parametrize(("kind", "suffix"), [("a.tmx", ".gz"), ("a.csv", ".bz2"), ("a.docx", ".xz")])
def test_a_compressed_file_goes_by_the_name_within(kind: str, suffix: str) -> None:
    found = recognized(f"{kind}{suffix}".upper(), FOREIGN[kind][0], True)
    assert found is not None
    assert found.name.startswith(FOREIGN[kind][1])


def test_a_database_is_binary(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.db") as database:
        database.execute("create table pairs (source, target)")
    database.close()
    found = recognized("a", (tmp_path / "a.db").read_bytes())
    assert found is not None
    assert found.name == "an SQLite database"


@pytest.mark.parametrize("name", ["a.en", "a.txt", "a"])
@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "One.\n",
        "<b>Bold</b> words begin this sentence.\nThe next one does not.\n",
        "<p>One paragraph.</p>\n<p>Another paragraph.</p>\n",
        "< 5 euros\nfree\n",
        "<html> is where a page begins.\nThe element <body> comes next.\n",
        "<tmx> stands for a translation memory.\nYes.\n",
        '<?xml version="1.0"?> is the declaration.\nAn element follows.\n',
        "{name}, welcome!\nGood bye, {name}.\n",
        '{"a": 1}\nwas an object, this is a sentence.\n',
        "[Music]\n[Applause]\n[1]\n",
        "[1]\n[2]\n[3]\n",
        "{\n}\n",
        "Yes, sir.\nNo, madam.\nWell, perhaps.\nOh, dear.\n",
        '"Yes", he said.\n"No", she said.\n"Why?", I asked.\n',
        'msgid "x" is how an entry begins.\nmsgstr ends it.\n',
        "PK is short for something.\nBZh9 too.\n",
        "%PDF is a format.\nLZ too.\n",
        "id, please\nyes, sir\n",
        "a\0b in a line\nwith a zero byte, which cleaning drops. " + "More of it. " * 20 + "\n",
        "one\rtwo\nthree\n",
        "x" * 254 + "Neustart eines Programms\n",  # where tar has its magic
        "only one line with a return at its end\r",
        "source\ttarget\nYes, sir.\tJa, mein Herr.\n",
    ],
)
def test_text_is_text_however_it_begins(name: str, text: str) -> None:
    assert recognized(name, text.encode(), True) is None
    assert recognized(name, (text + "A line of text.\n").encode() * 40) is None


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Größe äußert sich später\n" * 30, "latin-1"),
        ("Привет, как дела\n" * 30, "koi8-r"),
        ("我们在学校里学习中文\n" * 30, "gb18030"),
        ("私は毎日学校に行きます\n" * 30, "iso2022_jp"),
        ("Größe\n" * 30, "utf-8-sig"),
    ],
)
def test_text_in_another_encoding_is_text(text: str, encoding: str) -> None:
    assert recognized("a.en", text.encode(encoding)) is None


def test_an_encoding_that_is_named_is_believed() -> None:
    content = lines(SENTENCES).decode().encode("utf-16")
    assert recognized("a.en", content, encoding="utf-16") is None
    assert recognized("a.en", lines(SENTENCES).decode().encode("cp037"), encoding="cp037") is None
    found = recognized("a", xml(tmx()).decode().encode("utf-16"), encoding="utf-16")
    assert found is not None
    assert found.kind == "markup"


def test_the_way_out_of_utf16_is_the_encoding_to_set() -> None:
    found = recognized("a", "eins\nzwei\n".encode("utf-16-le") * 9)
    assert found is not None
    assert 'encoding = "utf-16-le"' in found.way_out


def test_a_table_of_tabs_is_left_to_its_reader() -> None:
    assert recognized("a.csv", b"Yes, sir.\tJa\nNo, sir.\tNein\n" * 3) is None


@given(content=st.binary(max_size=300), name=st.sampled_from(["a.en", "a.csv", "a.xml", "a.json", "a"]))
def test_any_bytes_have_an_answer(content: bytes, name: str) -> None:
    found = recognized(name, content)
    assert found is None or re.search(r"\w", found.name)


@given(st.lists(st.text(st.characters(whitelist_categories=["L", "Nd", "Po", "Zs"]), min_size=1), min_size=1))
def test_sentences_of_any_script_are_text(sentences: list[str]) -> None:
    # Letters, digits, punctuation, spaces: but what is all quoted fields or JSON would be what it looks like.
    content = lines([f"x {sentence}" for sentence in sentences])
    assert recognized("a.en", content) is None

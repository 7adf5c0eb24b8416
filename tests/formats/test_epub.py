"""EPUB. Books are written by hand after EPUB 2 and 3."""

import pytest
from tests.formats.documents import read, translated
from tests.formats.samples import EPUB, zipped

from attendo.errors import DataError
from attendo.formats.contents import plain
from attendo.formats.zip_parts import ZipParts


def test_pages_come_in_the_order_of_reading_and_the_type_stays_first_and_stored() -> None:
    data = zipped(dict(EPUB))
    file = read(data, "x.epub")
    assert file.declared.source == "en"
    assert [(unit.id, plain(unit.source)) for unit in file.units] == [
        ("b/c.opf/1", "A"),
        ("b/p.xhtml/1", "Bc"),
        ("b/toc.ncx/1", "A"),
        ("b/toc.ncx/2", "C"),
    ]
    out = translated(file, lambda text: f"{text}!")
    assert out[:58] == data[:58]
    assert out[30:58] == b"mimetypeapplication/epub+zip"
    parts, members = ZipParts(out), dict(EPUB)
    page, catalogue = members["b/p.xhtml"], members["b/c.opf"]
    assert parts.read("b/p.xhtml").decode() == page.replace("B<br/>c", "B!<br/>c!").replace('lang="en"', 'lang="de"')
    assert parts.read("b/c.opf").decode() == catalogue.replace(">A<", ">A!<").replace(">en<", ">de<")
    assert parts.read("b/toc.ncx").decode() == members["b/toc.ncx"].replace(">A<", ">A!<").replace(">C<", ">C!<")


def test_a_locked_page_is_refused() -> None:
    lock = '<encryption><CipherReference URI="b/p.xhtml"/></encryption>'
    with pytest.raises(DataError, match=r"x\.epub: b/p\.xhtml is locked \(digital rights management\)"):
        read(zipped({**dict(EPUB), "META-INF/encryption.xml": lock}), "x.epub")
    font = lock.replace("b/p.xhtml", "b/font.otf")
    assert read(zipped({**dict(EPUB), "META-INF/encryption.xml": font}), "x.epub").units


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("b/p.xhtml", '<!DOCTYPE html [<!ENTITY a "b">]><p>&a;</p>', "b/p.xhtml: line 1 declares an entity"),
        ("b/c.opf", "<package>", "b/c.opf: line 1 is not well-formed XML"),
        ("META-INF/container.xml", "<container/>", "names no catalogue that is there"),
    ],
)
def test_broken_books_are_refused(name: str, content: str, message: str) -> None:
    with pytest.raises(DataError, match=rf"x\.epub: .*{message}"):
        read(zipped({**dict(EPUB), name: content}), "x.epub")

"""TMX. Expected bytes are written by hand after TMX 1.4b."""

import pytest

from attendo.errors import DataError
from attendo.formats.contents import Content, codes, plain
from attendo.formats.file import File, Languages, Result, WriteOptions, result
from attendo.formats.table import read_file

MEMORY = (
    '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4"><header srclang="EN-US"/>\n<body>\n'
    '<tu tuid="a">\n  <tuv xml:lang="en-us">\n'
    '    <seg>One <bpt i="1">&lt;b&gt;</bpt>two<ept i="1"/></seg>\n  </tuv>{}\n</tu>\n'
    '<tu tuid="b">\n  <tuv xml:lang="en-US"><seg>Three</seg></tuv>\n'
    '  <tuv xml:lang="DE-AT"><seg>Drei</seg></tuv>\n</tu>\n'
    "</body></tmx>\n"
)


def read(text: str, target: str | None = "de") -> File:
    return read_file(text.encode(), "x.tmx", Languages(source="en", target=target))


def translated(file: File) -> dict[str, Result]:
    opened, closed = codes(file.units[0].source)
    parts: Content = ("Eins ", opened, "zwei", closed)
    return {"a": Result(texts=(parts,))}


def test_a_variant_is_added_in_the_language_of_the_others() -> None:
    text = MEMORY.format("")
    file = read(text)
    assert [(unit.id, unit.state) for unit in file.units] == [("a", "new"), ("b", "translated")]
    assert plain(file.units[0].source) == "One two"
    seg = '<seg>Eins <bpt i="1">&lt;b&gt;</bpt>zwei<ept i="1"/></seg>'
    variant = '\n  <tuv xml:lang="DE-AT" creationid="attendo">{}\n    ' + seg + "\n  </tuv>"
    origin = '\n    <prop type="x-origin">MT</prop>'
    assert file.write(translated(file)).decode() == MEMORY.format(variant.format(origin))
    assert file.write(translated(file), WriteOptions(mark="none")).decode() == MEMORY.format(variant.format(""))
    assert file.write({}) == text.encode()


def test_an_empty_variant_is_filled() -> None:
    file = read(MEMORY.format('\n  <tuv xml:lang="de-DE"><seg/></tuv>'))
    filled = '\n  <tuv xml:lang="de-DE" creationid="attendo"><prop type="x-origin">MT</prop><seg>{}</seg></tuv>'
    seg = 'Eins <bpt i="1">&lt;b&gt;</bpt>zwei<ept i="1"/>'
    assert file.write(translated(file)).decode() == MEMORY.format(filled.format(seg))


def test_a_region_that_is_asked_for_is_written() -> None:
    file = read(MEMORY.format(""), "de_CH")
    assert '<tuv xml:lang="de-CH" creationid="attendo">' in file.write(translated(file)).decode()


def test_without_a_target_language_the_memory_says_which() -> None:
    assert read(MEMORY.format(""), None).declared.target == "DE-AT"


def test_old_language_attributes_and_any_source_language() -> None:
    text = '<tmx version="1.1"><header srclang="*all*"/><body><tu><tuv lang="EN"><seg>A</seg></tuv></tu></body></tmx>'
    out = read_file(text.encode(), "x.tmx", Languages(target="de")).write({"1": result("B")}, WriteOptions(mark="none"))
    assert out.decode() == text.replace("</tu>", '<tuv lang="de" creationid="attendo"><seg>B</seg></tuv></tu>')


def test_other_xml_is_refused() -> None:
    with pytest.raises(DataError, match=r"x\.tmx: this is not TMX: its outermost element is <a>"):
        read("<a/>")

"""Translation memories as pairs: languages, variants, codes and hostile files, by the description of TMX 1.4b."""

import gzip
import tracemalloc
from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.formats.pairs.selection import Selection
from attendo.formats.pairs.tmx_pairs import read_tmx_pairs

EN_DE = Selection(source_language="en", target_language="de")
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4"><header srclang="*all*"/><body>\n'
TAIL = "</body></tmx>\n"

Found = tuple[int, str, str, str | None]


def unit(*variants: tuple[str, str], attribute: str = "xml:lang") -> str:
    return "<tu>" + "".join(f'<tuv {attribute}="{code}"><seg>{text}</seg></tuv>' for code, text in variants) + "</tu>\n"


def read(path: Path, content: str | bytes, selection: Selection = EN_DE) -> list[Found]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [
        (pair.line, pair.source.decode(), (pair.target or b"").decode(), pair.fault)
        for pair in read_tmx_pairs(path, selection)
    ]


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "memory.tmx"


def test_the_variants_of_the_two_languages_are_pairs_with_their_lines(memory: Path) -> None:
    content = (
        HEAD
        + unit(("en", "One &amp; two."), ("fr", "Un."), ("de", "Eins &#38; zwei."))
        + "\n"
        + unit(("DE", "Drei."), ("EN", "Three."), attribute="lang")
    )
    assert read(memory, content + TAIL) == [(3, "One & two.", "Eins & zwei.", None), (5, "Three.", "Drei.", None)]


def test_a_language_stands_for_its_regions_and_scripts(memory: Path) -> None:
    content = HEAD + unit(("en-US", "Lift"), ("de_AT", "Aufzug")) + unit(("en-GB", "lift"), ("deu", "Aufzug")) + TAIL
    found = read(memory, content)
    assert found == [(3, "Lift", "Aufzug", None), (4, "lift", "Aufzug", "language")]
    austrian = read(memory, content, Selection(source_language="en-us", target_language="de-AT"))
    assert austrian == [(3, "Lift", "Aufzug", None), (4, "", "lift", "language")]
    (general, *_) = read(memory, content, Selection(source_language="en", target_language="de-CH"))
    assert general[3] == "language"


def test_each_translation_of_a_unit_makes_a_pair_with_the_very_source(memory: Path) -> None:
    variants = ("en-GB", "Tyre"), ("en", "Tire"), ("de-DE", "Reifen"), ("de-CH", "Pneu"), ("fr", "Pneu")
    assert read(memory, HEAD + unit(*variants) + TAIL) == [(3, "Tire", "Reifen", None), (3, "Tire", "Pneu", None)]


def test_one_variant_is_not_both_sides(memory: Path) -> None:
    content = HEAD + unit(("en-GB", "Colour")) + unit(("en-GB", "Colour"), ("en-US", "Color")) + TAIL
    british = Selection(source_language="en", target_language="en-US")
    assert read(memory, content, british) == [(3, "Colour", "", "untranslated"), (4, "Colour", "Color", None)]


def test_units_without_a_translation_or_a_language_are_accounted_for(memory: Path) -> None:
    content = HEAD + unit(("en", "Alone.")) + unit(("en", "Empty."), ("de", " ")) + unit(("fr", "Un."), ("de", "Eins."))
    assert read(memory, content + "<tu></tu>\n" + TAIL) == [
        (3, "Alone.", "", "untranslated"),
        (4, "Empty.", "", "untranslated"),
        (5, "", "Eins.", "language"),
        (6, "", "", None),  # which cleaning drops as empty
    ]


def test_native_codes_are_left_out_and_marked_text_stays(memory: Path) -> None:
    source = (
        'Click <bpt i="1">&lt;b x="<sub>no</sub>"&gt;</bpt>here<ept i="1">&lt;/b&gt;</ept>, <hi type="term">John</hi> '
        '<ph x="1">{0}</ph> now<it pos="end">&lt;/i&gt;</it><ut>x</ut>.'
    )
    found = read(memory, HEAD + unit(("en", source), ("de", "Hier\n      klicken,\tJohn.")) + TAIL)
    assert found == [(3, "Click here, John now.", "Hier klicken,\tJohn.", None)]


def test_text_in_cdata_and_entities_of_html_is_text(memory: Path) -> None:
    head = HEAD.replace("<tmx", '<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx')
    found = read(memory, head + unit(("en", "<![CDATA[a < b]]>"), ("de", "5&nbsp;&uuml;&unknown;&#x41;")) + TAIL)
    assert found == [(4, "a < b", "5\u00a0\u00fcA", None)]


def test_what_a_machine_wrote_is_to_be_reviewed(memory: Path) -> None:
    machine = unit(("en", "a"), ("de", "b")).replace('"de">', '"de"><prop type="x-origin">MT</prop>')
    assert read(memory, HEAD + machine + TAIL) == [(3, "a", "b", "state")]
    every = Selection(source_language="en", target_language="de", states=frozenset(["fuzzy"]))
    assert read(memory, HEAD + machine + TAIL, every) == [(3, "a", "b", None)]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "iso8859-1"])
def test_the_encoding_is_what_the_file_says(memory: Path, encoding: str) -> None:
    declared = HEAD.replace("UTF-8", "ISO-8859-1" if encoding == "iso8859-1" else encoding.removesuffix("-sig"))
    content = (declared + unit(("en", "doors"), ("de", "T\u00fcren")) + TAIL).encode(encoding)
    assert read(memory, content) == [(3, "doors", "T\u00fcren", None)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEAD + unit(("en", "a"), ("de", "b")) + "<tu><tuv>", "line 4 is not well-formed XML"),
        ("<xliff/>", "this is not TMX: its outermost element is <xliff>"),
        (HEAD.replace("<tmx", '<!DOCTYPE tmx [<!ENTITY a "b">]><tmx') + TAIL, "line 2 declares an entity"),
        (HEAD + "<tu>" * 300, "line 3: elements are nested more than 256 deep"),
        (HEAD.replace("UTF-8", "EUC-JP") + TAIL, "is in an encoding that is not read"),
        ("", "is not well-formed XML: no element found"),
    ],
)
def test_a_broken_file_is_named_with_its_line(memory: Path, content: str, message: str) -> None:
    with pytest.raises(DataError) as error:
        read(memory, content)
    assert str(error.value).startswith(f"{memory}: ")
    assert message in str(error.value)


def test_a_compressed_file_that_is_cut_off_is_an_error(memory: Path) -> None:
    whole = gzip.compress((HEAD + unit(("en", "a"), ("de", "b")) + TAIL).encode())
    assert read(memory, whole) == [(3, "a", "b", None)]
    with pytest.raises(DataError, match=r"cannot be read after line \d+ .*is it complete"):
        read(memory, whole[:-12])


def test_both_languages_have_to_be_named(memory: Path) -> None:
    memory.write_text(HEAD + TAIL)
    with pytest.raises(DataError, match="any number of languages; name the two to use: source_language and"):
        list(read_tmx_pairs(memory, Selection(target_language="de")))


def test_a_segment_without_an_end_does_not_fill_the_memory(memory: Path) -> None:
    endless = HEAD + '<tu><tuv xml:lang="en"><seg>' + "word " * (7 << 19)
    memory.write_bytes(gzip.compress(endless.encode(), 1))
    with pytest.raises(DataError, match="line 3: a unit of more than 16 MB; is its end missing"):
        list(read_tmx_pairs(memory, EN_DE))
    memory.write_bytes(gzip.compress((HEAD + "<!-- " + "word " * (1 << 20)).encode(), 1))
    with pytest.raises(DataError, match="line 3: a tag or comment of more than 4 MB"):
        list(read_tmx_pairs(memory, EN_DE))


def test_memory_does_not_grow_with_the_file(memory: Path) -> None:
    repeated = unit(("en", "The house is old. " * 10), ("de", "Das Haus ist alt. " * 10))

    def peak(number: int) -> int:
        memory.write_bytes(gzip.compress((HEAD + repeated * number + TAIL).encode(), 1))
        tracemalloc.start()
        try:
            assert sum(pair.fault is None for pair in read_tmx_pairs(memory, EN_DE)) == number
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few = peak(1000)
    assert peak(10_000) < few + (1 << 17), "of a file that is 4 MB larger"

"""XLIFF as pairs: its versions, states, segments and codes, by the specifications and what Trados and memoQ write."""

import tracemalloc
from pathlib import Path

import pytest

from attendo.errors import DataError
from attendo.formats.pairs.selection import Selection
from attendo.formats.pairs.xliff_pairs import read_xliff_pairs

EN_DE = Selection(source_language="en", target_language="de")
OF_1 = (
    '<?xml version="1.0"?>\n<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2" {more}>\n'
    '<file source-language="en-US" target-language="{target}" datatype="x" original="x"><body>\n{units}</body></file>\n'
    "</xliff>\n"
)
OF_2 = (
    '<xliff version="2.0" srcLang="en" trgLang="de-AT" xmlns="urn:oasis:names:tc:xliff:document:2.0">\n'
    '<file id="f"><group id="g">\n{units}</group></file></xliff>\n'
)

Found = tuple[int, str, str, str | None]


def of_1(units: str, target: str = "de", more: str = "") -> str:
    return OF_1.format(units=units, target=target, more=more)


def read(path: Path, content: str, selection: Selection = EN_DE) -> list[Found]:
    path.write_text(content, encoding="utf-8")
    return [
        (pair.line, pair.source.decode(), (pair.target or b"").decode(), pair.fault)
        for pair in read_xliff_pairs(path, selection)
    ]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "a.xlf"


def test_units_are_pairs_by_their_states(file: Path) -> None:
    states = {
        "": None, "translated": None, "final": None, "signed-off": None, "new": "untranslated",
        "needs-review-translation": "state", "needs-translation": "untranslated",
    }  # fmt: skip
    written = "".join(
        f'<trans-unit id="{number}"><source>House</source><target state="{state}">Haus</target></trans-unit>\n'
        for number, state in enumerate(states)
    ).replace(' state=""', "")
    found = read(file, of_1(written))
    assert [fault for *_, fault in found] == list(states.values())
    assert [line for line, *_ in found] == list(range(4, 11))
    reviewed = read(file, of_1(written), Selection(states=frozenset(["final"])))
    assert [fault for *_, fault in reviewed if fault != "untranslated"] == ["state", "state", None, None, "state"]


def test_what_has_no_translation_or_is_none_to_translate_is_accounted_for(file: Path) -> None:
    units = (
        '<trans-unit id="1"><source>House</source></trans-unit>\n'
        '<group translate="no"><trans-unit id="2"><source>x86</source><target>x86</target></trans-unit></group>\n'
        '<trans-unit id="3" approved="yes"><source>Door &amp; key</source><target><![CDATA[Tür & Schlüssel]]></target>'
        '<alt-trans><target>Tor</target></alt-trans></trans-unit>\n<trans-unit id="4"/>\n'
    )
    assert read(file, of_1(units)) == [
        (4, "House", "", "untranslated"),
        (5, "x86", "x86", "untranslated"),
        (6, "Door & key", "Tür & Schlüssel", None),
    ]


def test_codes_are_left_out_and_what_they_enclose_stays(file: Path) -> None:
    source = (
        '<source>Press <g id="1">the <mrk mtype="protected">OK</mrk></g> <x id="2"/> <bpt id="3">&lt;b></bpt>key'
        '<ept id="3">&lt;/b></ept><ph id="4">{0}</ph>.</source>'
    )
    target = '<target><g id="1">OK</g>-Taste <x id="2"/>dr&#252;cken.</target>'
    found = read(file, of_1(f'<trans-unit id="1">{source}{target}</trans-unit>'))
    assert found == [(4, "Press the OK key.", "OK-Taste drücken.", None)]


def test_segments_are_pairs(file: Path) -> None:
    seg = '<mrk mtype="seg" mid="{0}">{1}</mrk>'
    source = "".join(seg.format(number, text) for number, text in enumerate(("One.", "Two.")))
    target = "".join(seg.format(number, text) for number, text in enumerate(("Eins.", "")))
    segments = f"<seg-source>{source}</seg-source><target>{target}</target>"
    unit = f'<trans-unit id="1"><source>One.Two.</source>{segments}</trans-unit>'
    assert read(file, of_1(unit)) == [(4, "One.", "Eins.", None), (4, "Two.", "", "untranslated")]


def test_states_of_trados_count(file: Path) -> None:
    sdl = 'xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/1.0"'
    units = "".join(
        f'<trans-unit id="{conf}"><source>House</source><seg-source><mrk mtype="seg" mid="1">House</mrk></seg-source>'
        '<target><mrk mtype="seg" mid="1">Haus</mrk></target>'
        f'<sdl:seg-defs><sdl:seg id="1" conf="{conf}"/></sdl:seg-defs></trans-unit>\n'
        for conf in ("Draft", "Translated", "ApprovedSignOff")
    )
    assert [fault for *_, fault in read(file, of_1(units, more=sdl))] == ["state", None, None]


def test_version_2_has_states_a_segment(file: Path) -> None:
    segment = (
        "<segment{0}><source>A <pc id='1'>big</pc> house</source>"
        "<target>Ein <pc id='1'>gro&#xDF;es</pc> Haus</target></segment>"
    )
    unit = '<unit id="u">\n' + "".join(
        segment.format(state)
        for state in ("", ' state="translated"', ' state="final"', ' state="translated" subState="attendo:mt"')
    )
    found = read(file, OF_2.format(units=f"{unit}<ignorable><source> </source></ignorable></unit>\n"))
    assert found[1] == (3, "A big house", "Ein großes Haus", None)
    assert [fault for *_, fault in found] == ["untranslated", None, None, "state"]


def test_another_language_is_told_by_its_file_element(file: Path) -> None:
    unit = '<trans-unit id="1"><source>House</source><target>Maison</target></trans-unit>'
    content = of_1(unit, "fr").replace(
        "</file>", f'</file><file source-language="en" target-language="de">{unit}</file>'
    )
    content = content.replace(f'"de">{unit}', f'"de"><body>{unit}</body>')
    assert [fault for *_, fault in read(file, content)] == ["language", None]
    assert [fault for *_, fault in read(file, content, Selection())] == [None, None]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<tmx/>", "this is not XLIFF: its outermost element is <tmx>"),
        (of_1("<trans-unit>"), "line 4 is not well-formed XML: mismatched tag"),
        (
            of_1("<trans-unit id='1'><source>a</source></trans-unit>").replace("1.2", "3.7"),
            "line 4: XLIFF of the version",
        ),
        ('<!DOCTYPE xliff [<!ENTITY a "b">]>' + of_1("")[21:], "line 1 declares an entity"),
    ],
)
def test_a_broken_file_is_named_with_its_line(file: Path, content: str, message: str) -> None:
    with pytest.raises(DataError) as error:
        read(file, content)
    assert str(error.value).startswith(f"{file}: ")
    assert message in str(error.value)


def test_memory_does_not_grow_with_the_file(file: Path) -> None:
    source = f"<source>{'The house is old. ' * 30}</source>"
    unit = f"<trans-unit id='1'>{source}<target>Das Haus ist alt.</target></trans-unit>\n"

    def peak(number: int) -> int:
        file.write_text(of_1(unit * number))
        tracemalloc.start()
        try:
            assert sum(1 for _ in read_xliff_pairs(file, EN_DE)) == number
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    few = peak(300)
    # Cycles that the collector has not come to yet are up to 150 kB of it.
    assert peak(2000) < few + (1 << 18), "of a file that is 1 MB larger"

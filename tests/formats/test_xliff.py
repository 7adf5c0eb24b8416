"""XLIFF 1.2 and 2.x. Expected bytes are written by hand after the specifications of OASIS."""

import pytest

from attendo.errors import DataError
from attendo.formats.contents import Code, Content, codes, joined, plain
from attendo.formats.file import File, Languages, Result, WriteOptions, result
from attendo.formats.table import read_file

STATE = 'state="needs-review-translation" state-qualifier="leveraged-mt"'


def xliff1(body: str, target: str = "de-AT", more: str = "") -> str:
    said = f' target-language="{target}"' if target else ""
    return (
        '<?xml version=\'1.0\' encoding="UTF-8" ?>\n<!-- first -->\n<?xml-stylesheet href="x.css"?>\n'
        f'<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"{more}>\n'
        f'<file original="a>b" source-language="en"{said} datatype="x">\n<body>\n{body}\n</body>\n</file>\n</xliff>'
    )


def read(text: str | bytes, target: str = "de", name: str = "x.xlf") -> File:
    return read_file(text.encode() if isinstance(text, str) else text, name, Languages(target=target))


def write(text: str, texts: dict[str, str | Content], **options: str) -> str:
    results = {name: Result(texts=((one,) if isinstance(one, str) else one,)) for name, one in texts.items()}
    return read(text).write(results, WriteOptions(**options)).decode()  # type: ignore[arg-type]


def test_a_new_target_stands_behind_its_source_and_is_marked() -> None:
    body = '  <trans-unit id="1" x:y="z">\n    <source>A > B</source>\n    <note>n</note>\n  </trans-unit>'
    text = xliff1(body, more=' xmlns:x="urn:x"')  # case 10
    out = write(text, {"1": "B > A & <C>"})
    assert out == text.replace("</source>\n", f"</source>\n    <target {STATE}>B > A &amp; &lt;C></target>\n")
    (unit,) = read(text).units
    assert (plain(unit.source), unit.state, unit.notes) == ("A > B", "new", ("n",))
    assert read(text).write({}) == text.encode()


@pytest.mark.parametrize(("mark", "state"), [("none", "translated"), ("problems", "translated")])
def test_the_state_follows_the_mark(mark: str, state: str) -> None:
    out = write(xliff1('<trans-unit id="1"><source>A</source><target/></trans-unit>'), {"1": "B"}, mark=mark)
    assert f'<target state="{state}" state-qualifier="leveraged-mt">B</target>' in out


def test_a_match_of_a_memory_says_so() -> None:
    file = read(xliff1('<trans-unit id="1"><source>A</source></trans-unit>'))
    out = file.write({"1": Result(texts=(("B",),), origin="tm")}, WriteOptions(mark="none")).decode()
    assert '<target state="translated" state-qualifier="exact-match">B</target>' in out


def test_cdata_stays_cdata() -> None:
    text = xliff1('<trans-unit id="1"><source><![CDATA[<b>Save</b> & go]]></source></trans-unit>')  # case 1
    (unit,) = read(text).units
    assert plain(unit.source) == "<b>Save</b> & go"
    out = write(text, {"1": "<b>Sichern</b> & los ]]>"})
    assert f"<target {STATE}><![CDATA[<b>Sichern</b> & los ]]]]><![CDATA[>]]></target>" in out
    assert plain(read(out).units[0].target or ()) == "<b>Sichern</b> & los ]]>"


SEGMENTED = (
    '<trans-unit id="7">\n<source>A. B.</source>\n<seg-source><mrk mtype="seg" mid="0">A.</mrk> <mrk mtype="seg" '
    'mid="1">B.</mrk></seg-source>\n{}</trans-unit>'
)


def test_segments_of_an_empty_target_are_filled() -> None:
    target = '<target><mrk mtype="seg" mid="0"/> <mrk mtype="seg" mid="1"/></target>\n'  # case 2
    text = xliff1(SEGMENTED.format(target))
    out = write(text, {"7/0": "Eins.", "7/1": "Zwei."})
    filled = f'<target {STATE}><mrk mtype="seg" mid="0">Eins.</mrk> <mrk mtype="seg" mid="1">Zwei.</mrk></target>\n'
    assert out == text.replace(target, filled)


@pytest.mark.parametrize("target", ["", "<target/>\n", "<target></target>\n"])
def test_a_missing_target_is_built_like_the_segmented_source(target: str) -> None:
    text = xliff1(SEGMENTED.format(target))
    built = f'<target {STATE}><mrk mtype="seg" mid="0">Eins.</mrk> <mrk mtype="seg" mid="1">Zwei.</mrk></target>'
    out = write(text, {"7/0": "Eins.", "7/1": "Zwei."})
    assert out == (
        text.replace(target, built + "\n") if target else text.replace("</seg-source>", f"</seg-source>\n{built}")
    )


def test_a_segment_that_a_person_translated_stays() -> None:
    target = '<target><mrk mtype="seg" mid="0"></mrk> <mrk mtype="seg" mid="1">Zwei.</mrk></target>\n'  # case 3
    file = read(xliff1(SEGMENTED.format(target)))
    assert [unit.state for unit in file.units] == ["new", "translated"]
    out = file.write({"7/0": result("Eins.")}).decode()
    assert out == xliff1(SEGMENTED.format(target.replace('"0">', '"0">Eins.').replace("<target>", f"<target {STATE}>")))


def test_a_target_without_segments_is_one_unit() -> None:
    file = read(xliff1(SEGMENTED.format("<target>Alles.</target>\n")))
    assert [(unit.id, unit.state) for unit in file.units] == [("7", "translated")]


def test_the_target_language_is_kept_with_its_region_or_set() -> None:
    body = '<trans-unit id="1"><source>A</source></trans-unit>'  # case 4
    assert 'target-language="de-AT"' in write(xliff1(body), {"1": "B"})
    out = write(xliff1(body, target=""), {"1": "B"})
    assert '<file original="a>b" source-language="en" datatype="x" target-language="de">' in out
    with pytest.raises(DataError, match="target language is fr-CA, not de"):
        read(xliff1(body, target="fr-CA"))


PAIR = '<g id="1">big <x id="2"/>world</g>'


def test_a_lost_code_is_put_back_and_the_unit_marked() -> None:
    text = xliff1(f'<trans-unit id="1"><source>{PAIR}</source></trans-unit>')  # case 5
    opened, single, closed = codes(read(text).units[0].source)
    out = write(text, {"1": (opened, "große Welt", closed)}, mark="none")
    assert f'<target {STATE}><g id="1">große Welt</g><x id="2"/></target>' in out
    swapped = write(text, {"1": (single, opened, "große Welt", closed)}, mark="none")
    assert (
        '<target state="translated" state-qualifier="leveraged-mt"><x id="2"/><g id="1">große Welt</g></target>'
        in swapped
    )
    crossed = write(text, {"1": (closed, "große", single, opened)}, mark="none")
    assert f'<target {STATE}>große<g id="1"><x id="2"/></g></target>' in crossed
    doubled = write(text, {"1": (opened, single, "Welt", single, closed)}, mark="none")
    assert f'<target {STATE}><g id="1"><x id="2"/>Welt</g></target>' in doubled


def test_native_codes_are_no_text() -> None:
    source = '<bpt id="1">&lt;b&gt;</bpt>Click<ept id="1">&lt;/b&gt;</ept> <ph id="2">{0}</ph>'  # case 6
    text = xliff1(f'<trans-unit id="1"><source>{source}</source></trans-unit>')
    (unit,) = read(text).units
    assert plain(unit.source) == "Click "
    bpt, ept, ph = codes(unit.source)
    out = write(text, {"1": (ph, " ", bpt, "Klick", ept)})
    assert '<ph id="2">{0}</ph> <bpt id="1">&lt;b&gt;</bpt>Klick<ept id="1">&lt;/b&gt;</ept></target>' in out
    crossed = write(text, {"1": (ept, "Klick", bpt, ph)}, mark="none")
    assert (
        f'<target {STATE}>Klick<bpt id="1">&lt;b&gt;</bpt><ept id="1">&lt;/b&gt;</ept><ph id="2">{{0}}</ph>' in crossed
    )


def test_overlapping_pairs_may_overlap() -> None:
    source = '<bx id="1" rid="1"/>a <bx id="2" rid="2"/>b<ex id="3" rid="1"/> c<ex id="4" rid="2"/>'  # case 7
    text = xliff1(f'<trans-unit id="1"><source>{source}</source></trans-unit>')
    (unit,) = read(text).units
    out = write(text, {"1": unit.source}, mark="none")
    assert f'<target state="translated" state-qualifier="leveraged-mt">{source}</target>' in out


def test_units_that_must_not_change_have_no_spans() -> None:
    text = xliff1(  # case 8
        '<trans-unit id="1" approved="yes"><source>A</source><target>B</target></trans-unit>\n'
        '<group translate="no"><trans-unit id="2"><source>A</source></trans-unit></group>\n'
        '<trans-unit id="3"><source>A</source><target state="final">B</target></trans-unit>\n'
        '<trans-unit id="4"><source>A</source><target state="translated">B</target></trans-unit>\n'
        '<trans-unit id="5"><source>A</source><target state="needs-adaptation">B</target></trans-unit>\n'
        '<trans-unit id="6"><source>A</source><target state="new">A</target></trans-unit>\n'
        '<trans-unit id="k:/NSStringPluralRuleType"><source>A</source></trans-unit>\n'
        '<trans-unit id="8"><source> <x id="1"/> </source></trans-unit>'
    )
    file = read(text)
    assert [(unit.id, unit.state, unit.is_translatable) for unit in file.units] == [
        ("1", "final", False),
        ("2", "new", False),
        ("3", "final", False),
        ("4", "translated", True),
        ("5", "fuzzy", True),
        ("6", "new", True),
        ("k:/NSStringPluralRuleType", "new", False),
        ("8", "new", False),
    ]
    assert [unit.id for unit in file.units if not unit.spans] == ["1", "2", "3", "k:/NSStringPluralRuleType", "8"]
    assert [unit.id for unit in file.to_translate()] == ["6"]
    assert [unit.id for unit in file.to_translate(("fuzzy", "translated", "final"))] == ["4", "5"]
    with pytest.raises(ValueError, match="not a unit of the file that may be translated"):
        file.write({"3": result("x")})


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('maxwidth="10" size-unit="char"', (10, "char")),
        ('maxwidth="10" size-unit="byte"', (10, "byte")),
        ('maxwidth="10"', (None, "char")),
        ('maxwidth="x" size-unit="char"', (None, "char")),
    ],
)
def test_widths_that_can_be_counted_are_read(attributes: str, expected: tuple[int | None, str]) -> None:
    (unit,) = read(xliff1(f'<trans-unit id="1" {attributes}><source>A</source></trans-unit>')).units  # case 9
    assert (unit.max_length, unit.length_unit) == expected


SIZED = (
    '<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.1" srcLang="en" '
    'xmlns:slr="urn:oasis:names:tc:xliff:sizerestriction:2.0"><file id="f"><slr:profiles {}/>'
    '<unit id="u" {}><segment><source>A</source></segment>{}</unit></file></xliff>'
)


@pytest.mark.parametrize(
    ("profiles", "attributes", "more", "expected"),
    [
        ('generalProfile="xliff:codepoints"', 'slr:sizeRestriction="12"', "", (12, "char")),
        ('generalProfile="xliff:codepoints"', 'slr:sizeRestriction="2,12"', "", (12, "char")),
        ('storageProfile="xliff:utf8"', 'slr:storageRestriction="9"', "", (9, "byte")),
        ('generalProfile="my:pixels"', 'slr:sizeRestriction="12"', "", (None, "char")),
        (
            'generalProfile="xliff:codepoints"',
            'slr:sizeRestriction="12"',
            "<segment><source>B</source></segment>",
            (None, "char"),
        ),
    ],
)
def test_size_restrictions_of_version_2(
    profiles: str, attributes: str, more: str, expected: tuple[int | None, str]
) -> None:
    unit = read(SIZED.format(profiles, attributes, more)).units[0]
    assert (unit.max_length, unit.length_unit) == expected


def test_proposals_are_no_targets() -> None:
    body = (
        '<trans-unit id="1"><source>A</source><alt-trans match-quality="80"><target>Z</target></alt-trans></trans-unit>'
    )
    text = xliff1(body)  # case 10
    assert write(text, {"1": "B"}) == text.replace("</source>", f"</source><target {STATE}>B</target>")


SDL = ' xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/1.0"'


def test_trados_states_are_edited_on_the_segments() -> None:
    definition = (
        '<sdl:seg-defs><sdl:seg id="0" conf="Draft"/><sdl:seg id="1" locked="true" origin="x"/></sdl:seg-defs>\n'
    )
    text = xliff1(SEGMENTED.format(definition), more=SDL)
    file = read(text, name="x.sdlxliff")
    assert [unit.is_translatable for unit in file.units] == [True, False]
    out = file.write({"7/0": result("Eins.")}).decode()
    target = '<target><mrk mtype="seg" mid="0">Eins.</mrk> <mrk mtype="seg" mid="1"></mrk></target>'
    expected = text.replace("</seg-source>", f"</seg-source>\n{target}")
    assert out == expected.replace('conf="Draft"/>', 'conf="Draft" origin="mt" origin-system="attendo"/>')
    out = file.write({"7/0": Result(texts=(("Eins.",),), origin="tm")}).decode()
    states = 'conf="Translated" origin="tm" origin-system="attendo" percent="100"/>'
    assert out == expected.replace('conf="Draft"/>', states)


def test_memoq_and_phrase_states_are_edited_on_the_units() -> None:
    memoq = xliff1(
        '<trans-unit id="1" mq:status="NotStarted"><source>A</source></trans-unit>\n'
        '<trans-unit id="2" mq:locked="locked" mq:status="x"><source>A</source></trans-unit>',
        more=' xmlns:mq="MQXliff"',
    )
    file = read(memoq, name="x.mqxliff")
    assert [unit.is_translatable for unit in file.units] == [True, False]
    out = file.write({"1": result("B")}, WriteOptions(time="2026-01-02T03:04:05Z")).decode()
    assert (
        '<trans-unit id="1" mq:status="MachineTranslated" mq:lastchangedtimestamp="2026-01-02T03:04:05Z"><source>'
        in out
    )
    assert "<source>A</source><target>B</target>" in out
    # What memoQ writes of a memory's match: its schema's status, and a rate from 1 to 101.
    for found, percent in (
        (Result(texts=(("B",),), origin="tm"), "100"),
        (Result(texts=(("B",),), origin="changed"), "99"),
    ):
        out = file.write({"1": found}).decode()
        assert f'<trans-unit id="1" mq:status="PreTranslated" mq:percent="{percent}"><source>' in out
        out = file.write({"1": found}, WriteOptions(mark="none")).decode()
        assert f'<trans-unit id="1" mq:status="ManuallyConfirmed" mq:percent="{percent}"><source>' in out
    fuzzy = memoq.replace('"NotStarted"', '"PartiallyEdited" mq:percent="70"')
    out = read(fuzzy, name="x.mqxliff").write({"1": result("B")}).decode()
    assert '<trans-unit id="1" mq:status="MachineTranslated"><source>' in out
    phrase = xliff1(
        '<trans-unit id="1" m:confirmed="0"><source>A</source><target/></trans-unit>',
        more=' xmlns:m="http://www.memsource.com/mxlf/2.0"',
    )
    out = read(phrase, name="x.mxliff").write({"1": result("B")}).decode()
    assert '<trans-unit id="1" m:confirmed="0" m:trans-origin="mt"><source>A</source><target>B</target>' in out
    out = read(phrase, name="x.mxliff").write({"1": Result(texts=(("B",),), origin="tm")}).decode()
    assert '<trans-unit id="1" m:confirmed="1" m:trans-origin="tm"><source>A</source><target>B</target>' in out


def xliff2(units: str, target: str = ' trgLang="zh-Hant-TW"') -> str:
    return (
        f'<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en"{target}>\n<file id="f">\n'
        f"{units}\n</file>\n</xliff>\n"
    )


UNIT2 = (
    '<unit id="u"><originalData><data id="d">&lt;b></data></originalData>\n'
    '<segment id="s1"{}>\n <source>A <pc id="1" dataRefStart="d">b</pc></source>{}\n</segment>\n'
    "<ignorable><source> </source></ignorable>\n"
    '<segment id="s2" state="reviewed"><source>C</source><target>D</target></segment></unit>'
)


def test_segments_of_version_2_are_filled_with_state_and_substate() -> None:
    text = xliff2(UNIT2.format("", ""))  # case 11
    file = read(text, "zh")
    assert [(unit.id, unit.state) for unit in file.units] == [("u/s1", "new"), ("u/s2", "translated")]
    opened, closed = codes(file.units[0].source)
    found = {"u/s1": Result(texts=((opened, "乙", closed, "甲 >"),))}
    target = '\n <target><pc id="1" dataRefStart="d">乙</pc>甲 ></target>'
    assert file.write(found).decode() == xliff2(UNIT2.format(' state="translated" subState="attendo:mt"', target))
    assert file.write(found, WriteOptions(mark="none")).decode() == xliff2(UNIT2.format(' state="translated"', target))


def test_a_sub_state_goes_with_its_state() -> None:
    text = xliff2(UNIT2.format(' state="initial" subState="x:y"', ""))
    out = read(text, "zh").write({"u/s1": result("甲")}, WriteOptions(mark="none")).decode()
    assert '<segment id="s1" state="translated"' not in text
    # The codes that the translation lost stand at its end, so it is for review whatever the mark is.
    assert '<segment id="s1" state="initial" subState="attendo:mt">' in out


def test_codes_without_their_other_half_are_kept() -> None:
    source = '<source><sc id="1" isolated="yes"/>A<ph id="2"/></source>'
    unit = f'<unit id="u" canResegment="no"><segment>{source}</segment></unit>'
    text = xliff2(unit, "")  # case 12
    file = read(text, "de-AT")
    (segment,) = file.units
    parts = joined([part if isinstance(part, Code) else "B" for part in segment.source])
    out = file.write({segment.id: Result(texts=(parts,))}, WriteOptions(mark="none")).decode()
    assert out == xliff2(
        unit.replace("<segment>", '<segment state="translated">').replace(
            "</source>", '</source><target><sc id="1" isolated="yes"/>B<ph id="2"/></target>'
        ),
        ' trgLang="de-AT"',
    )


def test_other_encodings_are_kept() -> None:
    body = '<trans-unit id="1">\r\n<source>Ä</source>\r\n</trans-unit>'
    text = xliff1(body).replace("UTF-8", "UTF-16").replace("\r\n", "\n").replace("\n", "\r\n")
    out = read(text.encode("utf-16")).write({"1": result("Ö\nü")})
    assert out == text.replace("</source>", f"</source>\r\n<target {STATE}>Ö\r\nü</target>").encode("utf-16")
    latin = xliff1('<trans-unit id="1"><source>Ä</source></trans-unit>').replace("UTF-8", "iso-8859-1")
    out = read(latin.encode("latin-1")).write({"1": result("ł")})
    assert out == latin.replace("</source>", f"</source><target {STATE}>&#322;</target>").encode("latin-1")


def test_what_xml_cannot_say_is_replaced() -> None:
    out = write(xliff1('<trans-unit id="1"><source>&#169; &lt;A></source></trans-unit>'), {"1": "\x01]]>\r"})  # case 39
    assert f"<target {STATE}>\ufffd]]&gt;&#13;</target>" in out


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'<!DOCTYPE x [<!ENTITY a "b">]><xliff version="1.2">&a;</xliff>', "x.xlf: line 1 declares an entity"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><xliff version="1.2"/>'.encode("utf-16"), "line 1 declares an entity"),
        (b'<!DOCTYPE x [<!ENTITY % a SYSTEM "file:///etc/passwd">%a;]><xliff version="1.2"/>', "declares an entity"),
        (b'<xliff version="1.2">\n<a></xliff>', "line 2 is not well-formed XML: mismatched tag"),
        (b'<xliff version="1.2">&nbsp;</xliff>', "undefined entity"),
        (b"", "no element found"),
        (b'<xliff version="3.0"/>', "version '3.0' is not read"),
        (b"<tmx/>", "its outermost element is <tmx>"),
        (b"<a>" * 300 + b"</a>" * 300, "is nested more than 256 deep"),
        (b'<?xml version="1.0" encoding="utf-7"?><xliff/>', "files in utf-7 are not supported"),
    ],
)
def test_hostile_and_broken_files_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(data)  # case 40


def test_version_1_that_does_not_say_so_is_read() -> None:
    unit = '<trans-unit id="1"><source>A</source></trans-unit>'
    text = f'<xliff><file source-language="en"><body>{unit}</body></file></xliff>'
    assert [unit.id for unit in read(text).units] == ["1"]

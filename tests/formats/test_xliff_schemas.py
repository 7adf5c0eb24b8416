"""XLIFF that was translated, checked against the schemas of OASIS, which have a licence of their own and are not here.

    ATTENDO_XLIFF_SCHEMAS=FOLDER pytest tests/formats/test_xliff_schemas.py

The folder has `xliff-core-1.2-strict.xsd`, `xliff-core-1.2-transitional.xsd`, `xliff_core_2.0.xsd` and `xml.xsd`, as
https://docs.oasis-open.org/xliff/ has them; `lxml` is needed too.
"""

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attendo.formats.file import Languages, Mark, Result, WriteOptions
from attendo.formats.table import read_file

FOLDER = os.environ.get("ATTENDO_XLIFF_SCHEMAS", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="ATTENDO_XLIFF_SCHEMAS names no folder with the schemas of OASIS")

XLIFF_1 = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2" xmlns:a="urn:a">
<file original="a.txt" source-language="en" datatype="plaintext"{languages}>
<header><note>n</note></header>
<body>
<group id="g"><trans-unit id="1" resname="r">
<source>Some <g id="1">words</g> <x id="2"/>here</source></trans-unit></group>
<trans-unit id="2" maxwidth="9" size-unit="char"><source>Open</source><target state="new"/><note>n</note></trans-unit>
<trans-unit id="3"><source>One. Two.</source><seg-source><mrk mtype="seg" mid="0">One.</mrk> <mrk mtype="seg"
 mid="1">Two.</mrk></seg-source><context-group purpose="location"><context context-type="sourcefile">a</context>
</context-group></trans-unit>
<trans-unit id="4"><source>One. Two.</source><seg-source><mrk mtype="seg" mid="0">One.</mrk> <mrk mtype="seg"
 mid="1">Two.</mrk></seg-source><target><mrk mtype="seg" mid="0"/> <mrk mtype="seg" mid="1"/></target></trans-unit>
<trans-unit id="5" xml:space="preserve">
<source><bpt id="1">&lt;b></bpt>Click<ept id="1">&lt;/b></ept> <ph id="2">{0}</ph>
</source><target state="needs-translation" state-qualifier="mt-suggestion">x</target>
<alt-trans><target>y</target></alt-trans>
</trans-unit>
<trans-unit id="6"><source><bx id="1" rid="1"/>a<ex id="2" rid="1"/> and <it id="3" pos="open">z</it></source><target/>
</trans-unit>
<trans-unit id="7" translate="no"><source>No</source></trans-unit>
<trans-unit id="8" approved="yes"><source>Yes</source><target state="final">Ja</target></trans-unit>
<trans-unit id="9"><source><![CDATA[<i>a</i> & b]]></source></trans-unit>
</body></file></xliff>"""
XLIFF_2 = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="{version}" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en"{languages}>
<file id="f"><notes><note>n</note></notes><group id="g">
<unit id="1" name="r"><segment><source>Some <pc id="1">words</pc> <ph id="2"/>here</source></segment></unit></group>
<unit id="2"><notes><note>n</note></notes>
<originalData><data id="d1">&lt;b></data><data id="d2">&lt;/b></data></originalData>
<segment id="s1" state="initial">
<source>One <sc id="1" dataRef="d1"/>and<ec startRef="1" dataRef="d2"/>.</source></segment>
<ignorable><source> </source></ignorable>
<segment id="s2" state="initial" subState="x:y"><source>Two.</source><target></target></segment>
<segment id="s3" state="reviewed"><source>Three.</source><target>Drei.</target></segment></unit>
<unit id="3" canResegment="no">
<segment state="initial"><source><sc id="1" isolated="yes"/>a <mrk id="m" translate="no">b</mrk>
</source></segment></unit>
<unit id="4" translate="no"><segment><source>No</source></segment></unit>
</file></xliff>"""
SDLXLIFF = """<?xml version="1.0" encoding="utf-8"?>
<xliff xmlns:sdl="http://sdl.com/FileTypes/SdlXliff/1.0" xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2"
 sdl:version="1.0">
<file original="a.docx" datatype="x-sdlfilterframework2" source-language="en"{languages}>
<header><file-info xmlns="http://sdl.com/FileTypes/SdlXliff/1.0"><value key="SDL:FileId">1</value></file-info>
<tag-defs xmlns="http://sdl.com/FileTypes/SdlXliff/1.0"><tag id="2"><bpt name="cf">&lt;b&gt;</bpt></tag></tag-defs>
</header><body><group><sdl:cxts><sdl:cxt id="1"/></sdl:cxts>
<trans-unit id="a-1"><source><g id="2">One.</g> Two.<x id="3"/></source>
<seg-source><g id="2"><mrk mtype="seg" mid="1">One.</mrk></g> <mrk mtype="seg" mid="2">Two.<x id="3"/></mrk>
</seg-source>
<sdl:seg-defs><sdl:seg id="1"/><sdl:seg id="2"><sdl:value key="created_by">p</sdl:value></sdl:seg></sdl:seg-defs>
</trans-unit>
<trans-unit id="a-2"><source>One. Two. Three. Four.</source>
<seg-source><mrk mtype="seg" mid="3">One.</mrk> <mrk mtype="seg" mid="4">Two.</mrk>
<mrk mtype="seg" mid="5">Three.</mrk> <mrk mtype="seg" mid="6">Four.</mrk></seg-source>
<target><mrk mtype="seg" mid="3"/> <mrk mtype="seg" mid="4">Zwei.</mrk> <mrk mtype="seg" mid="5">Drei.</mrk>
<mrk mtype="seg" mid="6">Vier.</mrk></target>
<sdl:seg-defs><sdl:seg id="3"/><sdl:seg id="4" conf="Draft" origin="tm" origin-system="t" percent="80">
<sdl:prev-origin origin="source"/></sdl:seg><sdl:seg id="5" conf="Translated"/><sdl:seg id="6" locked="true"/>
</sdl:seg-defs></trans-unit>
<trans-unit id="a-3" translate="no"><source><x id="4"/></source></trans-unit>
</group></body></file></xliff>"""
MQXLIFF = """<?xml version="1.0" encoding="utf-8"?>
<xliff xmlns:mq="MQXliff" xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2" mq:version="5">
<file original="a.docx" datatype="x-word" source-language="en" mq:documentguid="d"{languages}>
<header><tool tool-id="MQ" tool-name="MemoQ" tool-version="9"/></header><body>
<trans-unit id="1" mq:status="NotStarted" mq:segmentguid="s1" mq:lastchanginguser=""
 mq:lastchangedtimestamp="0001-01-01T00:00:00Z"><source xml:space="preserve">A <bpt id="1" ctype="bold">{}</bpt>red<ept
 id="1">{}</ept> dog</source><target xml:space="preserve"/></trans-unit>
<trans-unit id="2" mq:status="PartiallyEdited" mq:percent="70"><source>Two<ph id="1">&lt;br/&gt;</ph></source>
<target>Zwei<ph id="1">&lt;br/&gt;</ph></target><note>n</note><mq:comments><mq:comment>c</mq:comment></mq:comments>
</trans-unit>
<trans-unit id="3" mq:status="MachineTranslated"><source>Three</source><target>Drei</target></trans-unit>
<trans-unit id="4" mq:status="NotStarted"><source>Four</source></trans-unit>
<trans-unit id="5" mq:status="ManuallyConfirmed"><source>Five</source><target>F</target></trans-unit>
<trans-unit id="6" mq:status="Proofread" mq:locked="locked"><source>Six</source><target>S</target></trans-unit>
</body></file></xliff>"""
MXLIFF = """<?xml version="1.0" encoding="utf-8"?>
<xliff xmlns:m="http://www.memsource.com/mxlf/2.0" xmlns="urn:oasis:names:tc:xliff:document:1.2" version="1.2"
 m:version="2.4" m:level="1">
<file original="a.docx" datatype="x-docx" source-language="en" m:jobPartUid="j"{languages}><header/><body>
<group id="0"><context-group purpose="information"><context context-type="x-key">k</context></context-group>
<trans-unit id="j:0" m:confirmed="0" m:locked="false" m:score="0.0" m:para-id="0" m:trans-origin="null">
<source>Some {b>bold&lt;b} text</source><target/>
<alt-trans origin="memsource-tm" m:trans-origin="null"><target>Text</target></alt-trans>
<m:tunit-metadata><m:mark id="1"><m:type>formatting</m:type></m:mark></m:tunit-metadata></trans-unit></group>
<group id="1"><trans-unit id="j:1" m:confirmed="0"><source>Two</source><target>Zwei</target></trans-unit>
<trans-unit id="j:2" m:confirmed="1" m:trans-origin="tm"><source>Three</source><target>Drei</target></trans-unit>
<trans-unit id="j:3" m:confirmed="0"><source>Four</source></trans-unit>
<trans-unit id="j:4" m:confirmed="0"><source>Five</source><target/></trans-unit>
<trans-unit id="j:5" m:confirmed="1" m:locked="true"><source>Six</source><target>S</target></trans-unit></group>
</body></file></xliff>"""
CASES = (
    ("xliff-core-1.2-strict.xsd", XLIFF_1),
    ("xliff-core-1.2-transitional.xsd", XLIFF_1),
    # The strict schema refuses attributes and elements that no schema declares, the tools' own among them.
    *(("xliff-core-1.2-transitional.xsd", text) for text in (SDLXLIFF, MQXLIFF, MXLIFF)),
    ("xliff_core_2.0.xsd", XLIFF_2.replace("{version}", "2.0")),
    ("xliff_core_2.0.xsd", XLIFF_2.replace("{version}", "2.1")),
)
MADE = (
    Result(texts=()),
    Result(texts=(), problems=("a",)),
    Result(texts=(), origin="tm"),
    Result(texts=(), origin="changed"),
)


def schema(name: str) -> Any:
    etree = pytest.importorskip("lxml.etree")
    folder = Path(FOLDER)

    class Local(etree.Resolver):  # type: ignore[misc,name-defined]
        def resolve(self, url: str, _: str, context: Any) -> Any:
            """The schema of `xml:` attributes, which the others name by its address."""
            return self.resolve_filename(str(folder / "xml.xsd"), context) if url.endswith("xml.xsd") else None

    parser = etree.XMLParser()
    parser.resolvers.add(Local())
    path = folder / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return etree.XMLSchema(etree.parse(path, parser))


def errors(checker: Any, data: bytes) -> list[str]:
    etree = pytest.importorskip("lxml.etree")
    checker.validate(etree.fromstring(data))
    return [f"{error.line}: {error.message}" for error in checker.error_log]


@pytest.mark.parametrize(("name", "text"), CASES)
@pytest.mark.parametrize("has_target", [False, True])
def test_what_was_valid_is_valid_with_translations(name: str, text: str, has_target: bool) -> None:
    language = "trgLang" if "2.0.xsd" in name else "target-language"
    # A target needs the language in version 2.
    text = text.replace("{languages}", f' {language}="de"' if has_target or language == "trgLang" else "")
    checker = schema(name)
    assert errors(checker, text.encode()) == []
    file = read_file(text.encode(), "x.xlf", Languages(source="en", target="de"))
    units = file.to_translate(("new", "fuzzy", "translated"))
    assert len(units) >= 5
    marks: tuple[Mark, ...] = ("review", "problems", "none")
    for mark in marks:
        for made in MADE:
            results = {unit.id: replace(made, texts=tuple(form.source for form in unit.forms)) for unit in units}
            out = file.write(results, WriteOptions(mark=mark, time="2026-11-22T10:00:00Z"))
            assert out != text.encode()
            assert errors(checker, out) == []
    dropped = {unit.id: Result(texts=(tuple(part for part in unit.source if isinstance(part, str)),)) for unit in units}
    assert errors(checker, file.write(dropped)) == []

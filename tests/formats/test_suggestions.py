"""Translations that XLIFF offers beside its units, as its specifications have them."""

import pytest

from attendo.formats.contents import Code, plain
from attendo.formats.file import Languages
from attendo.formats.table import read_file

HEAD_1 = (
    '<xliff version="1.2"><file source-language="en" target-language="de" original="a"><body>{}</body></file></xliff>'
)
HEAD_2 = (
    '<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" xmlns:mtc="urn:oasis:names:tc:xliff:matches:2.0" '
    'version="2.0" srcLang="en" trgLang="de"><file id="f">{}</file></xliff>'
)
SEGMENTED = """<trans-unit id="7"><source>A dog. A cat.</source>
<seg-source><mrk mtype="seg" mid="0">A dog.</mrk> <mrk mtype="seg" mid="1">A cat.</mrk></seg-source>
<alt-trans mid="1" match-quality="100%"><target>Eine Katze.</target></alt-trans></trans-unit>"""


def suggested(text: str) -> list[tuple[str, str, str]]:
    file = read_file(text.encode(), "a.xlf", Languages(source="en", target="de"))
    return [(plain(each.source), plain(each.target), each.context) for each in file.suggestions()]


@pytest.mark.parametrize(
    ("alternative", "found"),
    [
        ("<source>Old file</source><target>Alte Datei</target>", [("Old file", "Alte Datei", "7")]),
        ('match-quality="100">|<target>Datei</target>', [("File", "Datei", "7")]),
        ('match-quality="90%">|<target>Datei</target>', []),
        ("<target>Datei</target>", []),
        ('alttranstype="previous-version">|<source>F</source><target>D</target>', [("F", "D", "7")]),
        ('alttranstype="rejected">|<source>F</source><target>D</target>', []),
        ('origin="MT">|<source>F</source><target>D</target>', []),
        ('<source>F</source><target state-qualifier="mt-suggestion">D</target>', []),
        ('<source>F</source><target xml:lang="fr">D</target>', []),
        ('<source>F</source><target xml:lang="de-AT">D</target>', [("F", "D", "7")]),
        ("<source>F</source>", []),
    ],
)
def test_alternatives_of_version_1(alternative: str, found: list[tuple[str, str, str]]) -> None:
    attributes, _, content = alternative.rpartition(">|") if ">|" in alternative else ("", "", alternative)
    unit = f'<trans-unit id="7"><source>File</source><alt-trans {attributes}>{content}</alt-trans></trans-unit>'
    assert suggested(HEAD_1.format(unit)) == found


def test_an_alternative_of_a_segment_translates_that() -> None:
    assert suggested(HEAD_1.format(SEGMENTED)) == [("A cat.", "Eine Katze.", "7/1")]


def test_codes_stay() -> None:
    unit = """<trans-unit id="1"><source>Press <g id="1">OK</g></source><alt-trans><source>Hit <g id="1">OK</g></source>
    <target><g id="1">OK</g> drücken</target></alt-trans></trans-unit>"""
    file = read_file(HEAD_1.format(unit).encode(), "a.xlf", Languages(source="en", target="de"))
    [found] = file.suggestions()
    assert [type(part) for part in found.target] == [Code, str, Code, str]


@pytest.mark.parametrize(
    ("attributes", "found"),
    [
        ('ref="#s2"', [("Old file", "Alte Datei", "u/s2")]),
        ('ref="#x" type="tm" matchQuality="80"', [("Old file", "Alte Datei", "")]),
        ('ref="#s2" type="icm"', [("Old file", "Alte Datei", "u/s2")]),
        ('ref="#s2" type="mt"', []),
        ('ref="#s2" type="am"', []),
        ('ref="#s2" reference="yes"', []),
    ],
)
def test_matches_of_version_2(attributes: str, found: list[tuple[str, str, str]]) -> None:
    unit = f"""<unit id="u"><mtc:matches><mtc:match {attributes}><source>Old file</source><target>Alte Datei</target>
    </mtc:match></mtc:matches><segment id="s1"><source>A</source></segment>
    <segment id="s2"><source>File</source></segment></unit>"""
    assert suggested(HEAD_2.format(unit)) == found


def test_other_formats_have_none() -> None:
    file = read_file(b'msgid "a"\nmsgstr ""\n', "a.po", Languages(source="en", target="de"))
    assert list(file.suggestions()) == []

"""Files translated from end to end by a translator that puts words in capitals."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.markup.made_up import MadeUp, translator

from attendo.errors import DataError
from attendo.workflow.documents.checking import check_document
from attendo.workflow.documents.opening import open_document
from attendo.workflow.documents.recognizing import document_format
from attendo.workflow.documents.settings import DocumentSettings
from attendo.workflow.documents.translation import document_translations
from attendo.workflow.documents.writing import TranslatedDocument, written_document


class Reporter:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.counts: list[int] = []

    def message(self, text: str) -> None: ...

    def started(self, done: int, total: int) -> None:
        self.counts.append(total)

    def translated(self, done: int) -> None:
        self.counts.append(done)


def done(
    path: Path,
    settings: DocumentSettings | None = None,
    *,
    target: str = "de",
    existing: Path | None = None,
    made_up: MadeUp | None = None,
) -> TranslatedDocument:
    settings = settings or DocumentSettings()
    document = open_document(path, settings, source="en", target=target, existing=existing)
    found = document_translations(document, translator(made_up, document.target), Reporter())
    return written_document(document, settings, found, source_language="en", output=None)


def written(path: Path, text: str, settings: DocumentSettings | None = None, **more: str) -> str:
    path.write_text(text, encoding="utf-8", newline="")
    return done(path, settings, **more).content.decode()  # type: ignore[arg-type]


HEADER = (
    'msgid ""\nmsgstr ""\n"Language: de_AT\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    '"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n\n'
)
PO = (
    HEADER
    + '#, c-format\nmsgid "%d file"\nmsgid_plural "%d files"\nmsgstr[0] ""\nmsgstr[1] ""\n\n'
    + '#, fuzzy, c-format\n#| msgid "Old %s"\nmsgid "New %s"\nmsgstr "Neues %s"\n\n'
    + 'msgctxt "verb"\nmsgid "Open"\nmsgstr ""\n\nmsgctxt "noun"\nmsgid "Open"\nmsgstr "Offen"\n\n'
    + '#~ msgid "gone"\n#~ msgstr "weg"'
)


def test_po_messages_without_a_translation_get_one_that_is_marked(tmp_path: Path) -> None:
    expected = (
        PO.replace('#, c-format\nmsgid "%d file"', '#, fuzzy, c-format\nmsgid "%d file"')
        .replace('msgstr[0] ""\nmsgstr[1] ""', 'msgstr[0] "%d FILE"\nmsgstr[1] "%d FILES"')
        .replace('msgctxt "verb"\nmsgid "Open"\nmsgstr ""', '#, fuzzy\nmsgctxt "verb"\nmsgid "Open"\nmsgstr "OPEN"')
    )
    assert written(tmp_path / "x.po", PO) == expected


def test_fuzzy_messages_are_translated_when_that_is_asked_for(tmp_path: Path) -> None:
    found = written(tmp_path / "x.po", PO, DocumentSettings(only="fuzzy"))
    assert found == PO.replace('msgstr "Neues %s"', 'msgstr "NEW %s"')
    found = written(tmp_path / "x.po", PO, DocumentSettings(only="fuzzy", mark="none"))
    assert found == PO.replace(
        '#, fuzzy, c-format\n#| msgid "Old %s"\nmsgid "New %s"\nmsgstr "Neues %s"',
        '#, c-format\nmsgid "New %s"\nmsgstr "NEW %s"',
    )


def test_po_keeps_its_mark_and_line_ends(tmp_path: Path) -> None:
    text = "\ufeff" + (HEADER + 'msgid "one\\n"\n"two\\n"\nmsgstr ""').replace("\n", "\r\n")
    found = written(tmp_path / "x.po", text)
    assert found.startswith("\ufeff")
    assert "\n" not in found.replace("\r\n", "")
    assert "ONE\\n" in found
    assert not found.endswith("\n")


XLIFF = """<?xml version="1.0"?>
<!-- before --><?xml-stylesheet href="x.xsl"?>
<xliff version="1.2"><file source-language="en" target-language="de-AT" original="a"><body>
 <trans-unit id="1"><source><![CDATA[<b>Save</b> & go]]></source></trans-unit>
 <trans-unit id="2"><source>A dog. A cat.</source>
  <seg-source><mrk mtype="seg" mid="0">A dog.</mrk> <mrk mtype="seg" mid="1">A cat.</mrk></seg-source>
  <target><mrk mtype="seg" mid="0"/> <mrk mtype="seg" mid="1">Zwei.</mrk></target></trans-unit>
 <trans-unit id="3" approved="yes"><source>Done</source><target>Fertig</target></trans-unit>
 <trans-unit id="4" translate="no"><source>No</source></trans-unit>
 <trans-unit id="5" maxwidth="4" size-unit="char"><source>big <g id="1">world</g> <x id="2"/></source></trans-unit>
</body></file></xliff>
"""


def test_xliff_gets_what_is_missing(tmp_path: Path) -> None:
    found = written(tmp_path / "x.xlf", XLIFF)
    assert "<b>SAVE</b> & GO" in found
    assert '<mrk mtype="seg" mid="0">A DOG.</mrk> <mrk mtype="seg" mid="1">Zwei.</mrk></target>' in found
    assert 'BIG <g id="1">WORLD</g> <x id="2"/></target>' in found
    for kept in XLIFF.splitlines()[1:3] + [line for line in XLIFF.splitlines() if 'id="3"' in line or 'id="4"' in line]:
        assert kept in found
    assert found.count("needs-review-translation") == 3


def test_a_translation_that_is_too_long_is_written_and_reported(tmp_path: Path) -> None:
    (tmp_path / "x.xlf").write_text(XLIFF)
    report = done(tmp_path / "x.xlf").report
    assert (report.num_translated, report.num_failed, dict(report.checks)) == (3, 1, {"max-length": 1})
    [long] = [one for one in report.units if one.id == "5"]
    assert long.problems == ("max-length: 10 chars are more than the 4 that are allowed",)
    assert (long.line, long.state, long.origin) == (10, "fuzzy", "mt")


ANDROID = r"""<resources>
    <string name="app" translatable="false">App</string>
    <string name="a">Don\'t say <b>%1$s</b></string>
    <string name="r">@string/app</string>
    <plurals name="n"><item quantity="one">%d dog</item><item quantity="other">%d dogs</item></plurals>
</resources>
"""


def test_android(tmp_path: Path) -> None:
    expected = ANDROID.replace(r"Don\'t say", r"DON\'T SAY").replace("%d dogs", "%d DOGS").replace("%d dog<", "%d DOG<")
    assert written(tmp_path / "strings.xml", ANDROID) == expected


def test_what_people_translated_in_the_other_file_stays(tmp_path: Path) -> None:
    source, there = tmp_path / "values" / "strings.xml", tmp_path / "values-de" / "strings.xml"
    for path in (source, there):
        path.parent.mkdir()
    source.write_text('<resources><string name="a">Red</string><string name="b">Old</string></resources>')
    there.write_text(
        '<resources>\n<!-- mine --><string name="b">Alt</string>\n<string name="a">Red</string></resources>'
    )
    # Every text is there: the file that is written is theirs, and only the text that equals its source is translated.
    assert done(source, existing=there).content.decode() == there.read_text().replace(">Red<", ">RED<")
    there.write_text('<resources><string name="b">Alt</string></resources>')
    expected = '<resources><string name="a">RED</string><string name="b">Alt</string></resources>'
    assert done(source, existing=there).content.decode() == expected
    template = DocumentSettings(template=source)
    assert done(there, template).content.decode() == expected


def test_json_with_plurals_of_another_language(tmp_path: Path) -> None:
    polish = {"1": "plik", "2": "pliki", "5": "plików"}
    made_up = MadeUp(
        lambda line: [line.split()[0], polish[line.split()[0]]] if "file" in line else line.upper().split()
    )
    text = '{\n  "a": {"b": "Hi {{name}}"},\n  "k_one": "{{count}} file",\n  "k_other": "{{count}} files"\n}'
    (tmp_path / "en.json").write_text(text)
    found = json.loads(done(tmp_path / "en.json", target="pl", made_up=made_up).content)
    assert found["a"]["b"] == "HI {{name}}"
    assert {key: found[key] for key in found if key != "a"} == {
        "k_one": "{{count}} plik",
        "k_few": "{{count}} pliki",
        "k_many": "{{count}} plików",
        "k_other": "{{count}} plików",
    }


def test_csv_and_srt(tmp_path: Path) -> None:
    assert written(tmp_path / "x.csv", 'source,target\n"a, b",\nred,rot\n') == 'source,target\n"a, b","A, B"\nred,rot\n'
    cue = "1\n00:00:01,000 --> 00:00:02,000\n<i>the dog</i> is\nhere\n\n"
    assert written(tmp_path / "x.srt", cue) == cue.replace("the dog", "THE DOG").replace("is\nhere", "IS\nHERE")


def test_the_report_lists_every_unit_and_span(tmp_path: Path) -> None:
    (tmp_path / "x.po").write_text(PO)
    found = done(tmp_path / "x.po")
    report = found.report.as_json()
    assert [one["state"] for one in report["units"]] == ["fuzzy", "fuzzy", "fuzzy", "translated"]
    assert [one["origin"] for one in report["units"]] == ["mt", "file", "mt", "file"]
    assert (report["target_language"], report["format"], report["translated"]) == ("de_AT", "po", 2)
    # What is outside of the spans is in the output too, in its order.
    data, position = PO.encode(), 0
    for start, stop in report["spans"]:
        assert data[position:start] in found.content
        position = stop
    assert found.content.endswith(data[position:])


def test_without_anything_to_do_the_bytes_stay(tmp_path: Path) -> None:
    text = HEADER + 'msgid "a"\nmsgstr "b"\n'
    assert written(tmp_path / "x.po", text) == text


def test_many_units_are_told_in_parts(tmp_path: Path) -> None:
    text = HEADER + "".join(f'msgid "word {number}"\nmsgstr ""\n\n' for number in range(1_200))
    (tmp_path / "x.po").write_text(text)
    document = open_document(tmp_path / "x.po", DocumentSettings(), source="en", target="de")
    reporter, made_up = Reporter(), MadeUp()
    document_translations(document, translator(made_up), reporter)
    assert reporter.counts == [1_200, 500, 1_000, 1_200]
    assert list(map(len, made_up.batches)) == [500, 500, 200]


@pytest.mark.parametrize(
    ("text", "target", "settings", "said"),
    [
        (HEADER + 'msgid "a"\nmsgstr ""', "fr", {}, "the file's target language is de_AT, not fr"),
        (HEADER + 'msgid "a"\nmsgstr ""', "de", {"target": "fr"}, "--to fr: the model translates into de"),
        (HEADER + 'msgid "a"\nmsgstr ""', "de", {"template": Path("x.po")}, "leave out the template"),
    ],
)
def test_what_does_not_fit(tmp_path: Path, text: str, target: str, settings: dict[str, str], said: str) -> None:
    (tmp_path / "x.po").write_text(text)
    with pytest.raises(DataError, match=said):
        open_document(tmp_path / "x.po", replace(DocumentSettings(), **settings), source="en", target=target)  # type: ignore[arg-type]


def test_a_source_language_that_the_model_does_not_read(tmp_path: Path) -> None:
    (tmp_path / "x.xlf").write_text(XLIFF)
    with pytest.raises(DataError, match="the file's source language is en, the model reads fr"):
        open_document(tmp_path / "x.xlf", DocumentSettings(), source="fr", target="de")


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("x.po", b"", "po"),
        ("a.txt", PO.encode(), None),
        ("a.en", b"one line\nanother\n", None),
        ("a.txt.gz", b"\x1f\x8b", None),
        ("a", b"", None),
    ],
)
def test_the_end_of_the_name_says_the_format(tmp_path: Path, name: str, content: bytes, expected: str | None) -> None:
    (tmp_path / name).write_bytes(content)
    found = document_format(tmp_path / name, None)
    assert (found.name if found else None) == expected


@pytest.mark.parametrize("content", [PO.encode(), XLIFF.encode(), b'{"a": "b"}', b"PK\x03\x04" + bytes(100)])
def test_a_format_under_another_name_is_refused_with_the_way_out(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "messages.en"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"messages.en: this looks like .*--format NAME.*--format text"):
        document_format(path, None)
    assert document_format(path, "text") is None
    found = document_format(path, "po")
    assert found is not None
    assert found.name == "po"
    with pytest.raises(DataError, match="'doc' is not a known file format"):
        document_format(path, "doc")


def test_checking_what_people_translated(tmp_path: Path) -> None:
    path = tmp_path / "x.po"
    path.write_text(
        HEADER + '#, c-format\nmsgid "%d of %s"\nmsgstr "%d"\n\nmsgid "a"\nmsgstr "b"\n\nmsgid "c"\nmsgstr ""\n'
    )
    found = check_document(path, DocumentSettings())
    assert (found.num_checked, found.num_untranslated, found.has_errors) == (2, 1, True)
    [failed] = found.failed
    assert failed.as_json()["findings"] == [
        {"check": "placeholders", "message": "the translation lacks %s", "error": True}
    ]
    assert failed.line == 9


def test_checking_a_file_of_one_language_needs_its_sources(tmp_path: Path) -> None:
    source, path = tmp_path / "en.json", tmp_path / "de.json"
    source.write_text('{"a": "Hi {{name}}", "b": "c"}')
    path.write_text('{"a": "Hallo", "b": "d"}')
    with pytest.raises(
        DataError, match=r"de.json: a json file has one language; name the file with the sources: --templ"
    ):
        check_document(path, DocumentSettings())
    found = check_document(path, DocumentSettings(template=source, target="de"))
    assert [unit.unit.id for unit in found.failed] == ["a"]
    path.write_text("[]")
    with pytest.raises(DataError, match=r"de.json: has no translations to check"):
        check_document(path, DocumentSettings(template=source))

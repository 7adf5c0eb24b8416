"""Documents: formats read and written, looked at by other libraries than those that wrote them; their way through."""

import asyncio
import io
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from lxml import etree
from tests.serving.made_up import Asked, MadeUp, MadeUpModels, made_up_service
from translate.storage.pypo import pofile
from translate.storage.tmx import tmxfile
from translate.storage.xliff import xlifffile

from attendo.serving.config import DocumentsConfig, ServingConfig
from attendo.serving.detection import Detector
from attendo.serving.document import safe_name
from attendo.serving.document_workers import DocumentWorkers
from attendo.serving.documents import Documents
from attendo.serving.errors import ServingError, busy, too_large
from attendo.serving.translating import Caller


@cache
def workers() -> DocumentWorkers:
    """Shared by all tests, as by all documents of a server."""
    return DocumentWorkers(DocumentsConfig())


@pytest.fixture(scope="module", autouse=True)
def _workers_end() -> Iterator[None]:
    yield
    workers().close()


def translated(content: bytes, name: str, translate: MadeUp | None = None, *, source: str | None = "en") -> bytes:
    """A document on its way through."""

    async def work() -> bytes:
        models, detector = MadeUpModels(translate=translate), Detector(["en", "de"])
        documents = Documents(models, detector, DocumentsConfig(), ThreadPoolExecutor(1), workers=workers())
        try:
            document = await documents.accept(
                io.BytesIO(content), name, Caller(name="me"), lambda text: None, source=source, target="de"
            )
            await documents.finished(document)
            assert document.status == "done", document.message
            assert document.progress == 1
            return document.path.read_bytes()
        finally:
            await documents.close()

    return asyncio.run(work())


def refused(content: bytes, name: str) -> str:
    with pytest.raises(ServingError) as found:
        translated(content, name)
    assert found.value.status == 400
    return found.value.message


# --- text and HTML ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_keeps_its_white_space_and_encoding(encoding: str) -> None:
    source = "  The dog.\r\n\r\n\t- old\u00e9 Car \r\n"
    found = translated(source.encode(encoding), "a.txt")
    assert found.decode(encoding) == "  das Hund.\r\n\r\n\t- OLD\u00c9 Auto \r\n"


def test_a_long_text_is_translated_part_by_part() -> None:
    text = "The dog sleeps well. " * 500
    assert translated(text.encode(), "a.TXT").decode() == "das Hund schläft WELL. " * 500


def test_what_is_no_text_is_refused() -> None:
    assert "no text" in refused(b"\x00\x01\x02", "a.txt")


def test_html_keeps_everything_but_words() -> None:
    source = """<!DOCTYPE html>
<html lang="en"><head><meta charset="iso-8859-1"><title>The dog</title>
<meta name="description" content="The old dog"><style>p > b { color: red }</style></head>
<body><!-- The dog --><p class='a>b'>The <b>old</b> dog &amp; caf\u00e9</p><img alt="the dog" src="the dog.png">
<input placeholder='old &quot;dog&quot;'><pre>the
  dog</pre><script>let the = "dog";</script></body></html>"""
    found = translated(source.encode("latin-1"), "page.html").decode("latin-1")
    expected = source.replace('lang="en"', 'lang="de"').replace("<title>The dog", "<title>das Hund")
    expected = expected.replace('content="The old dog"', 'content="das alte Hund"').replace(
        'alt="the dog"', 'alt="das Hund"'
    )
    expected = expected.replace("The <b>old</b> dog &amp; caf\u00e9", "das <b>alte</b> Hund &amp; CAF\u00c9")
    expected = expected.replace("old &quot;dog&quot;", "alte &quot;Hund&quot;").replace(
        "<pre>the\n  dog", "<pre>das\n  Hund"
    )
    assert found == expected


def test_html_in_an_encoding_too_small_for_its_translation_becomes_utf_8() -> None:
    class Greek(MadeUp):
        def _word(self, word: str) -> str:
            return "\u03ba\u03cd\u03c9\u03bd" if word == "dog" else super()._word(word)

    found = translated(b'<meta charset="latin-1"><p>dog', "a.htm", Greek())
    assert found.decode("utf-8-sig") == '<meta charset="utf-8"><p>\u03ba\u03cd\u03c9\u03bd'


# --- PO ---------------------------------------------------------------------------------------------------------------

PO = """# a comment
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"

#: a.c:1
#, c-format
msgid "The %s dog"
msgstr ""

msgid "Old"
msgstr "Uralt"

#, fuzzy
msgid "red"
msgstr "blau"

msgctxt "animal"
msgid "%d dog"
msgid_plural "%d old dogs"
msgstr[0] ""
msgstr[1] ""

msgid "The dog\\n"
"sleeps\\n"
msgstr ""

#~ msgid "car"
#~ msgstr "Wagen"
"""


def test_po_files_get_what_is_missing_and_nothing_else() -> None:
    found = translated(PO.encode(), "de.po").decode()
    messages = {str(unit.source): unit for unit in pofile.parsestring(found.encode()).units}
    assert str(messages["The %s dog"].target) == "das %s Hund"
    assert str(messages["Old"].target) == "Uralt"
    assert (str(messages["red"].target), messages["red"].isfuzzy()) == ("rote", False)
    assert [str(each) for each in messages["%d dog"].target.strings] == ["%d Hund", "%d alte DOGS"]
    assert str(messages["The dog\nsleeps\n"].target) == "das Hund\nschläft\n"
    assert "# a comment" in found
    assert '#~ msgstr "Wagen"' in found
    assert "Language: de" in found
    assert "nplurals=2" in found


def test_po_messages_that_lost_something_are_fuzzy_and_say_why() -> None:
    found = translated(PO.encode(), "de.po", MadeUp(loses=["%s", "\u27e61\u27e7"])).decode()
    assert "#, fuzzy, c-format" in found or "#, c-format, fuzzy" in found
    assert "attendo: translated in pieces" in found


def test_what_is_no_po_file_is_refused() -> None:
    for content in (b"", b"<html>", b"msgid", bytes(range(256))):
        assert "PO" in refused(content, "a.po")


# --- XLIFF and TMX ----------------------------------------------------------------------------------------------------

XLIFF_1 = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file original="a" source-language="en" datatype="x">
<body><trans-unit id="1"><source>The <g id="1">old</g> dog<x id="2"/> &amp; <ph id="3">{the}</ph></source></trans-unit>
<trans-unit id="2"><source>Old</source><target>Uralt</target></trans-unit>
<trans-unit id="3" translate="no"><source>The dog</source></trans-unit>
<trans-unit id="4"><source>The car</source><target state="new">The car</target><note>old</note></trans-unit>
<trans-unit id="5" approved="yes"><source>red</source><target/></trans-unit></body></file></xliff>
"""
XLIFF_2 = """<xliff version="2.0" srcLang="en" xmlns="urn:oasis:names:tc:xliff:document:2.0"><file id="f"><unit id="1">
<originalData><data id="d">x</data></originalData>
<segment><source>The <pc id="1">old</pc> dog <ph id="2" dataRef="d"/></source>
</segment><segment state="final"><source>Old</source><target>Uralt</target></segment></unit></file></xliff>"""


def test_xliff_1() -> None:
    found = translated(XLIFF_1.encode(), "a.xlf")
    targets = {unit.getid().split("\x04")[-1]: unit for unit in xlifffile.parsestring(found).units}
    root = etree.fromstring(found)
    names = {"x": root.nsmap[None]}
    inner = [etree.tostring(each, encoding="unicode") for each in root.findall(".//x:target", names)]
    assert targets["2"].target == "Uralt"
    assert '<g id="1">alte</g>' in inner[0]
    assert '<x id="2"/>' in inner[0]
    assert '<ph id="3">{the}</ph>' in inner[0]
    assert "&amp;" in inner[0]
    assert 'state="translated" state-qualifier="leveraged-mt"' in inner[0]
    assert targets["4"].target == "das Auto"
    assert "<note>old</note>" in found.decode()
    assert root.find("x:file", names).get("target-language") == "de"
    assert len(root.findall(".//x:trans-unit[@id='3']/x:target", names)) == 0
    assert targets["5"].target in (None, "")


def test_xliff_2() -> None:
    found = translated(XLIFF_2.encode(), "a.xliff").decode()
    assert '<target>das <pc id="1">alte</pc> Hund <ph id="2" dataRef="d"/></target>' in found
    assert 'trgLang="de"' in found
    assert found.count("<target>") == 2


TMX = """<?xml version="1.0"?><!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header creationtool="t" creationtoolversion="1" segtype="sentence" o-tmf="t" adminlang="en"
 srclang="en-US" datatype="plaintext"/><body>
<tu><tuv xml:lang="en-US"><seg>The <bpt i="1">&lt;b&gt;</bpt>old<ept i="1">&lt;/b&gt;</ept> dog</seg></tuv></tu>
<tu><tuv xml:lang="EN"><seg>Old</seg></tuv><tuv xml:lang="de-DE"><seg>Uralt</seg></tuv></tu>
<tu><tuv xml:lang="fr"><seg>Chien</seg></tuv></tu></body></tmx>"""


def test_tmx() -> None:
    found = translated(TMX.encode(), "memory.tmx", source=None)
    assert [unit.gettarget("de") for unit in tmxfile.parsestring(found).units][1] == "Uralt"
    assert found.count(b'xml:lang="de"') == 1
    assert found.count(b'<bpt i="1">&lt;b&gt;</bpt>') == found.count(b'<ept i="1">&lt;/b&gt;</ept>') == 2
    assert b"alte" in found
    assert b"Chien" in found


LAUGHS = """<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>"""
OUTSIDE = """<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>"""


@pytest.mark.parametrize("name", ["a.xlf", "a.tmx"])
@pytest.mark.parametrize("prologue", [LAUGHS, OUTSIDE])
def test_entities_of_their_own_are_refused(name: str, prologue: str) -> None:
    root = "xliff" if name == "a.xlf" else "tmx"
    assert "entities" in refused(f"{prologue}<{root}>&a;</{root}>".encode(), name)


@pytest.mark.parametrize(
    "encoding", ["utf-7", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "cp037", "cp500"]
)
@pytest.mark.parametrize("prologue", [LAUGHS, OUTSIDE, '<!DOCTYPE x [<!ENTITY % a "b">]>'])
def test_entities_are_refused_whatever_they_are_written_in(encoding: str, prologue: str) -> None:
    text = f"<?xml version='1.0' encoding='{encoding}'?>{prologue}<xliff>The dog</xliff>"
    content = text.encode(encoding)
    if encoding == "utf-7":  # the declaration itself is to be read by the parser, what is behind it hides
        content = text.replace("<!ENTITY", "+ADw-!ENTITY").encode("ascii")
    message = refused(content, "a.xlf")
    assert "entities" in message or "not well-formed" in message  # what the parser cannot read at all


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.xlf", b"<html/>"),
        ("a.xlf", b"<xliff>"),
        ("a.xlf", b""),
        ("a.tmx", b"<xliff/>"),
        ("a.tmx", b"no xml"),
        ("a.xlf", b"<xliff>" * 1000),
        ("a.pdf", b"%PDF"),
        ("noname", b"a"),
    ],
)
def test_what_is_something_else_is_refused(name: str, content: bytes) -> None:
    assert refused(content, name)


# --- Word -------------------------------------------------------------------------------------------------------------


def word(fill: Callable[[Any], None]) -> bytes:
    document = docx.Document()
    fill(document)
    content = io.BytesIO()
    document.save(content)
    return content.getvalue()


def opened(content: bytes) -> Any:
    return docx.Document(io.BytesIO(content))


def test_docx_keeps_formatting_tables_headers_and_footers() -> None:
    def fill(document: Any) -> None:
        document.add_heading("The dog", 1)
        paragraph = document.add_paragraph("The ", style="List Bullet")
        paragraph.add_run("old red").bold = True
        paragraph.add_run(" dog sle")
        paragraph.add_run("eps.").italic = False
        table = document.add_table(1, 2)
        table.cell(0, 0).text, table.cell(0, 1).text = "The car", "12"
        section = document.sections[0]
        section.header.paragraphs[0].text = "The old house"
        section.footer.paragraphs[0].text = "Red"

    found = opened(translated(word(fill), "a.docx", MadeUp(reverse=True)))
    assert [paragraph.text for paragraph in found.paragraphs] == ["Hund das", "schläft Hund rote alte das."]
    assert [paragraph.style.name for paragraph in found.paragraphs] == ["Heading 1", "List Bullet"]
    assert [(run.text, run.bold) for run in found.paragraphs[1].runs if run.bold] == [("rote alte", True)]
    assert [cell.text for cell in found.tables[0].rows[0].cells] == ["Auto das", "12"]
    section = found.sections[0]
    assert (section.header.paragraphs[0].text, section.footer.paragraphs[0].text) == ("Haus alte das", "rote")


def test_docx_keeps_what_is_no_text() -> None:
    def fill(document: Any) -> None:
        paragraph = document.add_paragraph("The old")
        paragraph.add_run().add_tab()
        paragraph.add_run("dog")
        paragraph.add_run().add_break()
        link = OxmlElement("w:hyperlink")
        link.set(qn("w:anchor"), "there")
        run = OxmlElement("w:r")
        text = OxmlElement("w:t")
        text.text = "the car"
        run.append(text)
        link.append(run)
        paragraph._p.append(link)
        field = document.add_paragraph("The dog ")
        for kind in ("begin", "end"):
            run = field.add_run()
            mark = OxmlElement("w:fldChar")
            mark.set(qn("w:fldCharType"), kind)
            run._r.append(mark)

    source = word(fill)
    found = opened(translated(source, "a.docx"))
    first, second = found.paragraphs
    assert first.text == "das alte\tHund\ndas Auto"
    assert [(link.text, link.fragment) for link in first.hyperlinks] == [("das Auto", "there")]
    assert len(second._p.findall(f".//{qn('w:fldChar')}")) == 2
    with (
        zipfile.ZipFile(io.BytesIO(source)) as before,
        zipfile.ZipFile(io.BytesIO(translated(source, "a.docx"))) as after,
    ):
        assert before.namelist() == after.namelist()
        assert before.read("word/styles.xml") == after.read("word/styles.xml")


def test_docx_text_cannot_pass_for_tags() -> None:
    text = '<img i="0"> & </span> the dog'
    found = opened(translated(word(lambda document: document.add_paragraph(text)), "a.docx"))
    assert found.paragraphs[0].text.endswith("das Hund")
    assert '<img i="0">' in found.paragraphs[0].text


def archive(parts: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in parts.items():
            file.writestr(name, part)
    return content.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK", "no ZIP archive"),
        (archive({"a": b"b"}), "word/document.xml"),
        (archive({"word/document.xml": b"<a>" + b" " * (20 << 20) + b"</a>"}), "packed more tightly"),
        (archive({f"{number}": b"" for number in range(5001)}), "parts"),
        (archive({"word/document.xml": LAUGHS.encode() + b"<x>&b;</x>"}), "entities"),
        (archive({"word/document.xml": b"<a"}), "well-formed"),
    ],
)
def test_archives_that_are_no_documents_are_refused(content: bytes, message: str) -> None:
    assert message in refused(content, "a.docx")


def test_a_damaged_archive_is_refused() -> None:
    content = bytearray(word(lambda document: document.add_paragraph("The dog")))
    for place in range(40, len(content), 97):
        content[place] ^= 0x55
    assert refused(bytes(content), "a.docx")


# --- the way through --------------------------------------------------------------------------------------------------


@pytest.fixture
def models() -> MadeUpModels:
    return MadeUpModels()


@pytest.fixture
def ask(models: MadeUpModels, tmp_path: Path) -> Iterator[Asked]:
    limits = DocumentsConfig(max_bytes=2000, max_tokens=1000, max_waiting=3, max_waiting_a_caller=2, keep_seconds=0.5)
    asked = Asked(
        made_up_service(models, ServingConfig(documents=limits), documents_folder=tmp_path / "kept", workers=workers())
    )
    (tmp_path / "kept").mkdir()
    yield asked
    asked.close()
    assert not (tmp_path / "kept").exists()


def sent(content: bytes = b"The dog.", name: str = "a.txt", **fields: str) -> dict[str, Any]:
    return {"files": {"file": (name, content)}, "data": {"target": "de"} | fields}


def test_a_document_is_sent_asked_about_fetched_and_removed(ask: Asked, tmp_path: Path) -> None:
    first = ask("POST", "/api/documents", **sent(name="../../etc/p\u00e4sswd.txt", source="en"))
    told = first.json()
    assert (first.status_code, told["name"], told["source"], told["target"]) == (202, "p\u00e4sswd.txt", "en", "de")
    path = f"/api/documents/{told['id']}"
    while (state := ask("GET", path).json())["status"] != "done":
        ask.wait(0.02)
    assert (state["progress"], state["characters"], state["problems"]) == (1.0, 8, [])
    result = ask("GET", f"{path}/result")
    assert (result.content, result.headers["content-type"]) == (b"das Hund.", "text/plain; charset=utf-8")
    assert "filename*=UTF-8''p%C3%A4sswd.txt" in result.headers["content-disposition"]
    assert [each.name for each in (tmp_path / "kept").iterdir()] == [told["id"]]
    assert ask("DELETE", path).status_code == 204
    assert ask("GET", path).status_code == 404
    assert list((tmp_path / "kept").iterdir()) == []


def test_the_source_is_detected(ask: Asked) -> None:
    told = ask("POST", "/api/documents", **sent(b"Wo ist denn mein altes Haus?", target="en")).json()
    assert (told["source"], told["target"]) == ("de", "en")


def test_limits(ask: Asked, models: MadeUpModels) -> None:
    assert ask("POST", "/api/documents", **sent(b"a" * 2001)).status_code == 413
    models.delay_s = 0.5
    statuses = [ask("POST", "/api/documents", **sent(source="en")).status_code for _ in range(3)]
    assert statuses == [202, 202, 429]
    for wrong in (sent(name="a.exe"), sent(target="fr"), sent(source="fr"), {"data": {"target": "de"}}):
        assert ask("POST", "/api/documents", **wrong).status_code == 400
    assert ask("GET", "/api/documents/nothing/result").status_code == 404


@pytest.mark.parametrize(
    ("path", "fields", "refused"),
    [
        ("/api/documents", {"target": "de", "source": "en"}, 413),
        ("/translate_file", {"target": "de", "source": "en"}, 400),  # as LibreTranslate tells its limits
        ("/v2/document", {"target_lang": "DE", "source_lang": "EN"}, 413),
    ],
)
def test_what_would_cost_too_much_is_told_so_when_it_is_sent(
    ask: Asked, path: str, fields: dict[str, str], refused: int
) -> None:
    def send(content: bytes) -> tuple[int, str]:
        answer = ask("POST", path, files={"file": ("a.txt", content)}, data=fields)
        return answer.status_code, answer.text

    # 64 characters of a word are 16 tokens and one for the line, each character behind is one.
    status, told = send(b"a" * 1200)
    assert status == refused
    assert "about 1,153 tokens" in told
    assert "at most 1,000" in told
    assert send(b"The dog sleeps. " * 75)[0] < 300  # as many characters of words


def test_a_busy_server_makes_a_document_wait_and_not_fail(ask: Asked, models: MadeUpModels) -> None:
    models.failures += [busy("too much", 0.01)]
    id_ = ask("POST", "/api/documents", **sent(source="en")).json()["id"]
    ask.wait(1.2)
    assert ask("GET", f"/api/documents/{id_}").json()["status"] == "done"
    assert {caller.name for caller in models.callers} == {"127.0.0.1 documents"}


def test_what_fails_says_so(ask: Asked, models: MadeUpModels) -> None:
    models.failures += [too_large("the line is too long")]
    id_ = ask("POST", "/api/documents", **sent(source="en")).json()["id"]
    ask.wait(0.2)
    state = ask("GET", f"/api/documents/{id_}").json()
    assert (state["status"], state["message"]) == ("error", "the line is too long")


def test_documents_are_forgotten_after_a_while(ask: Asked, tmp_path: Path) -> None:
    id_ = ask("POST", "/api/documents", **sent(source="en")).json()["id"]
    ask.wait(0.9)
    assert ask("GET", f"/api/documents/{id_}").status_code == 404
    assert list((tmp_path / "kept").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../a.txt", "a.txt"),
        ("C:\\x\\a.docx", "a.docx"),
        ('a"\r\nSet-Cookie: b.po', "aSet-Cookie b.po"),
        ("", "document"),
        ("...", "document"),
        ("\ud800.txt", "document.txt"),
        ("a" * 500 + ".html", "a" * 145 + ".html"),
    ],
)
def test_names_of_files_are_no_paths(name: str, safe: str) -> None:
    assert safe_name(name) == safe


def test_without_the_extra_text_and_html_are_still_taken() -> None:
    code = """
import sys
sys.modules["lxml"] = sys.modules["translate"] = None
from attendo.serving.formats.readers import READERS
print(sorted(READERS))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.stdout.strip() == "['.htm', '.html', '.txt']", found.stderr

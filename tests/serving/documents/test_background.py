"""Documents of a server: what is refused, options and reports, limits, and their way through it."""

import asyncio
import io
import re
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import docx
import pytest
from tests.serving.live import PATIENCE_S
from tests.serving.made_up import Asked, MadeUp, MadeUpModels, made_up_service

from attendo.decoding.lines.translation import Candidate, Translation
from attendo.markup.text_types import Confidence
from attendo.serving.config import DocumentsConfig, ServingConfig
from attendo.serving.core.text_loop import TextLoop
from attendo.serving.documents.background import Documents
from attendo.serving.documents.document import safe_name
from attendo.serving.documents.workers import DocumentWorkers
from attendo.serving.errors import ServingError, busy, too_large
from attendo.serving.languages.detection import Detector
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
        documents = Documents(models, detector, DocumentsConfig(), ThreadPoolExecutor(1), TextLoop(), workers=workers())
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


# --- what is no document ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_keeps_its_white_space_and_encoding(encoding: str) -> None:
    source = "  The dog.\r\n\r\n\t- old\u00e9 Car \r\n"
    found = translated(source.encode(encoding), "a.txt")
    assert found.decode(encoding) == "  das Hund.\r\n\r\n\t- OLD\u00c9 Auto \r\n"


def test_a_long_text_is_translated_part_by_part() -> None:
    text = "The dog sleeps well. " * 500
    assert translated(text.encode(), "a.TXT").decode() == "das Hund schl\u00e4ft WELL. " * 500


def test_what_is_no_text_is_refused() -> None:
    assert "a.txt: " in refused(b"\x00\x01\x02", "a.txt")
    assert "a.txt: line 2 is not utf-8" in refused("The dog.\nCaf\u00e9".encode("cp1252"), "a.txt")


@pytest.mark.parametrize("content", [b"<html>", b"msgid", bytes(range(256))])
def test_what_is_no_po_file_is_refused(content: bytes) -> None:
    assert refused(content, "a.po").startswith("a.po: ")


LAUGHS = """<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>"""
OUTSIDE = """<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>"""


@pytest.mark.parametrize("name", ["a.xlf", "a.tmx"])
@pytest.mark.parametrize("prologue", [LAUGHS, OUTSIDE])
def test_entities_of_their_own_are_refused(name: str, prologue: str) -> None:
    root = "xliff" if name == "a.xlf" else "tmx"
    assert "declares an entity" in refused(f"{prologue}<{root}>&a;</{root}>".encode(), name)


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
    assert re.search("declares an entity|not well-formed|are not supported|is not utf-8", message), message


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


def word() -> bytes:
    document, content = docx.Document(), io.BytesIO()
    document.add_paragraph("The dog")
    document.save(content)
    return content.getvalue()


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
        (archive({"word/document.xml": LAUGHS.encode() + b"<x>&b;</x>"}), "declares an entity"),
        (archive({"word/document.xml": b"<a"}), "well-formed"),
    ],
)
def test_archives_that_are_no_documents_are_refused(content: bytes, message: str) -> None:
    assert message in refused(content, "a.docx")


def test_a_damaged_archive_is_refused() -> None:
    content = bytearray(word())
    for place in range(40, len(content), 97):
        content[place] ^= 0x55
    assert refused(bytes(content), "a.docx")


# --- the way through --------------------------------------------------------------------------------------------------


@pytest.fixture
def models() -> MadeUpModels:
    return MadeUpModels()


@pytest.fixture
def keep_seconds() -> float:
    return 60


@pytest.fixture
def ask(models: MadeUpModels, keep_seconds: float, tmp_path: Path) -> Iterator[Asked]:
    limits = DocumentsConfig(
        max_bytes=2000, max_tokens=1000, max_waiting=3, max_waiting_a_caller=2, keep_seconds=keep_seconds
    )
    asked = Asked(
        made_up_service(models, ServingConfig(documents=limits), documents_folder=tmp_path / "kept", workers=workers())
    )
    (tmp_path / "kept").mkdir()
    yield asked
    asked.close()
    assert not (tmp_path / "kept").exists()


def sent(
    content: bytes = b"The dog.", name: str = "a.txt", template: bytes | None = None, **fields: str
) -> dict[str, Any]:
    files = {"file": (name, content)} | ({} if template is None else {"template": ("b.json", template)})
    return {"files": files, "data": {"target": "de"} | fields}


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
    names = sorted(each.name for each in (tmp_path / "kept").iterdir())
    assert names == [told["id"], f"{told['id']}.report"]
    assert ask("DELETE", path).status_code == 204
    assert ask("GET", path).status_code == 404
    assert list((tmp_path / "kept").iterdir()) == []


def test_the_source_is_detected(ask: Asked) -> None:
    told = ask("POST", "/api/documents", **sent(b"Wo ist denn mein altes Haus?", target="en")).json()
    assert (told["source"], told["target"]) == ("de", "en")


PO = """msgid ""
msgstr "Language: de_CH\\n"

#, c-format
msgid "The %s dog"
msgstr ""

#, fuzzy
msgid "red"
msgstr "blau"

#, c-format
msgid "Old %d and %s?"
msgstr ""

msgid "car"
msgstr "Wagen"
"""


def finished(ask: Asked, **fields: Any) -> dict[str, Any]:
    """The state of a document that is sent, once it is done."""
    answer = ask("POST", "/api/documents", **sent(**fields))
    assert answer.status_code == 202, answer.text
    told = answer.json()
    while told["status"] in ("queued", "translating"):
        ask.wait(0.02)
        told = ask("GET", f"/api/documents/{told['id']}").json()
    return dict(told)


class Sure(MadeUpModels):
    """Models that are calibrated: the less sure, the more words there are."""

    def confidence(self, model: str) -> Confidence:
        def confidence(translation: Translation, candidate: Candidate) -> float | None:
            return 1 / len(translation.source.split())

        return confidence


@pytest.mark.parametrize("models", [Sure()])
def test_a_state_and_a_report_say_what_became_of_each_message(ask: Asked) -> None:
    told = finished(ask, content=PO.encode(), name="a.po", source="en")
    summary = told["summary"]
    assert told["target"] == "de_CH"
    assert (summary["format"], summary["units"]) == ("po", 4)
    assert [summary[name] for name in ("translated", "kept", "left", "failed", "marked")] == [2, 2, 0, 0, 2]
    assert summary["confidence"] == {"mean": round((1 / 3 + 1 / 4) / 2, 4), "least": 0.25}
    path = f"/api/documents/{told['id']}"
    report = ask("GET", f"{path}/report")
    assert report.headers["content-type"] == "application/json"
    assert "a.po.report.json" in report.headers["content-disposition"]
    units = {unit["source"][0]: unit for unit in report.json()["units"]}
    assert [unit["confidence"] for unit in units.values()] == [0.3333, None, 0.25, None]
    assert units["The %s dog"]["target"] == ["das %s Hund"]
    assert units["car"]["origin"] == "file"


class Inventive(MadeUp):
    """Writes a placeholder where there is none."""

    def _word(self, word: str) -> str:
        return "%d" if word == "Old" else super()._word(word)


@pytest.mark.parametrize("check", ["warn", "error"])
def test_what_no_translation_fits_is_left_and_told(ask: Asked, models: MadeUpModels, check: str) -> None:
    models.translate_lines = Inventive()
    told = finished(ask, content=PO.encode(), name="a.po", source="en", check=check)
    assert [told["summary"][name] for name in ("translated", "left", "failed")] == [1, 1, 1]
    [finding] = [each for each in told["summary"]["findings"] if each["failed"]]
    assert (finding["source"], finding["target"], finding["line"]) == ("Old %d and %s?", "", 14)
    assert finding["problems"]
    assert set(finding["problems"]) <= set(told["problems"])
    assert told["message"] == ("" if check == "warn" else "checks fail: 1 of its messages, see its report")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, '#, fuzzy, c-format\nmsgid "The %s dog"\nmsgstr "das %s Hund"'),
        ({"mark": "none"}, '#, c-format\nmsgid "The %s dog"\nmsgstr "das %s Hund"'),
        ({"mark": "problems"}, '#, c-format\nmsgid "The %s dog"\nmsgstr "das %s Hund"'),
        ({"only": "fuzzy", "mark": "none"}, 'msgid "red"\nmsgstr "rote"'),
        ({"only": "all"}, '#, fuzzy\nmsgid "car"\nmsgstr "Auto"'),
        ({"name": "a", "format": "po"}, 'msgstr "das %s Hund"'),
        (
            {"target": "de-AT", "content": b'msgid ""\nmsgstr "Language: \\n"\n\nmsgid "car"\nmsgstr ""\n'},
            "Language: de_AT",
        ),
    ],
)
def test_options(ask: Asked, options: dict[str, Any], expected: str) -> None:
    told = finished(ask, **{"content": PO.encode(), "name": "a.po", "source": "en", **options})
    assert expected in ask("GET", f"/api/documents/{told['id']}/result").text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"only": "some"}, "only = 'some' is none of new, fuzzy, all"),
        ({"mark": "x"}, "mark = 'x' is none of review, problems, none"),
        ({"check": "x"}, "check = 'x' is none of off, warn, error"),
        ({"format": "x"}, "'x' is not a known file format; known are po, xliff"),
        ({"target": "de-<b>"}, "target = 'de-<b>' is not a language code such as de or de-AT"),
        ({"target": "de", "name": "a.exe"}, "documents of this type are not supported; send one of .po, .pot, .xlf"),
        ({"name": "a.xml"}, "or name its format (format: po, xliff"),
        (
            {"name": "a.po", "content": b'msgid "a"\nmsgstr ""\n', "template": b"{}"},
            "a.po: a po file has its source in itself, or no keys; leave out the template",
        ),
        (
            {"name": "a.xlf", "content": b'<xliff version="1.2"><file source-language="fr"/></xliff>'},
            "a.xlf: the file's source language is fr, the model reads en",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(ask: Asked, options: dict[str, Any], message: str) -> None:
    answer = ask("POST", "/api/documents", **sent(**{"source": "en", **options}))
    assert answer.status_code == 400
    assert message in answer.json()["error"]["message"]


def test_columns_named_by_their_languages_say_the_source(ask: Asked) -> None:
    told = finished(ask, content=b"en,de\nThe old dog,\n", name="a.csv")
    assert told["source"] == "en"
    assert ask("GET", f"/api/documents/{told['id']}/result").content == b"en,de\nThe old dog,das alte Hund\n"


def test_half_a_character_is_left_as_it_is(ask: Asked) -> None:
    content = b'{"a": "The dog \\ud83d", "b": "The dog"}'
    told = finished(ask, content=content, name="a.json", source="en")
    assert told["summary"]["left"] == 1
    found = ask("GET", f"/api/documents/{told['id']}/result").content
    assert found == b'{"a": "The dog \\ud83d", "b": "das Hund"}'


def test_a_character_that_the_files_encoding_lacks_is_told(ask: Asked, models: MadeUpModels) -> None:
    class Greek(MadeUp):
        def _word(self, word: str) -> str:
            return "\u03ba\u03cd\u03c9\u03bd"

    models.translate_lines = Greek()
    header = b'msgid ""\nmsgstr "Content-Type: text/plain; charset=ISO-8859-1\\n"\n\n'
    told = finished(ask, content=header + b'msgid "dog"\nmsgstr ""\n', name="a.po", source="en")
    assert told["status"] == "error"
    assert "convert the file to UTF-8" in told["message"]
    assert ask("GET", f"/api/documents/{told['id']}/report").status_code == 404


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
    assert finished(ask, source="en")["status"] == "done"
    assert models.failures == []
    assert {caller.name for caller in models.callers} == {"127.0.0.1 documents"}


def test_what_fails_says_so(ask: Asked, models: MadeUpModels) -> None:
    models.failures += [too_large("the line is too long")]
    state = finished(ask, source="en")
    assert (state["status"], state["message"]) == ("error", "the line is too long")


@pytest.mark.parametrize("keep_seconds", [0.5])
def test_documents_are_forgotten_after_a_while(ask: Asked, tmp_path: Path) -> None:
    id_ = ask("POST", "/api/documents", **sent(source="en")).json()["id"]
    end = time.monotonic() + PATIENCE_S
    while ask("GET", f"/api/documents/{id_}").status_code == 200:
        assert time.monotonic() < end
        ask.wait(0.05)
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

"""Corrections on a real server: sent, answered with, exported, deleted, each caller's own; versions exchanged."""

import html
import io
import json
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from tests.browser import chromium_browser
from tests.serving.live import Answer, Live, live

from attendo.checkpoint.versions import add_version
from attendo.cli.corrections_download import download_corrections
from attendo.cli.main import run
from attendo.errors import AttendoError
from attendo.learning.corrections import Correction, read_corrections

SENTENCE = "Two red dogs see us."
WANTED = "Zwei rote Hunde & eine Katze sehen uns."


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    secrets = []
    for name in ("anna", "bert"):
        with redirect_stdout(io.StringIO()) as printed:
            assert run(["keys", "add", str(path), name]) == 0
        secrets.append(printed.getvalue().strip())
    return path, secrets


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory, model_folders: tuple[Path, Path, Path]) -> Path:
    name = tmp_path_factory.mktemp("versions") / "en-de"
    for model in model_folders[:2]:
        add_version(name, model)
    return name


@pytest.fixture(scope="module")
def server(versions: Path, keys: tuple[Path, list[str]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    state = tmp_path_factory.mktemp("state")
    settings = (
        f"keys.file='{keys[0]}'", "keys.required=false", "corrections.enabled=true", f"server.state_dir='{state}'",
        "corrections.max_a_caller=5", "models.watch_seconds=0.05",
    )  # fmt: skip
    with live([f"en-de={versions}"], *settings) as running:
        yield running


def sent(server: Live, text: str, translation: str, headers: dict[str, str] | None = None) -> Answer:
    body = {"source": "en", "target": "de", "corrections": [{"text": text, "translation": translation}]}
    return server.ask("POST", "/api/corrections", body, headers=headers)


def translated(server: Live, text: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    body = {"text": text, "source": "en", "target": "de"}
    answer = server.ask("POST", "/api/translate", body, headers=headers)
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.json["translations"][0]
    return found


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture(autouse=True)
def _none_left(server: Live, keys: tuple[Path, list[str]]) -> Iterator[None]:
    yield
    for headers in ({}, *map(bearer, keys[1])):
        assert server.ask("DELETE", "/api/corrections", headers=headers).status == 204


def test_a_correction_answers_its_senders_next_request(server: Live, keys: tuple[Path, list[str]]) -> None:
    anna, bert = map(bearer, keys[1])
    before = translated(server, SENTENCE, anna)
    assert before["text"] != WANTED
    answer = sent(server, f" {SENTENCE} ", WANTED, anna)
    assert (answer.status, answer.json) == (200, {"kept": 1, "dropped": {}, "total": 1})
    after = translated(server, f"  {SENTENCE}\n", anna)
    assert after["text"] == f"  {WANTED}\n"
    [segment] = after["segments"]
    assert segment["corrected"] is True
    assert translated(server, SENTENCE, bert)["text"] == before["text"]  # each caller's own
    assert translated(server, SENTENCE)["text"] == before["text"]


def test_a_corrected_sentence_stands_among_others(server: Live) -> None:
    text = f"Some old birds hear them. {SENTENCE} One man sees us."
    before = translated(server, text)["segments"]
    sent(server, SENTENCE, WANTED)
    found = translated(server, text)
    first, _, last = (segment["target"]["text"] for segment in before)
    assert found["text"] == f"{first} {WANTED} {last}"
    segments = found["segments"]
    assert [segment["corrected"] for segment in segments] == [False, True, False]
    for segment in segments:
        span = segment["target"]
        assert str(found["text"])[span["start"] : span["end"]] == span["text"]


def test_the_last_correction_counts_and_all_can_be_removed(server: Live) -> None:
    sent(server, SENTENCE, "Eins.")
    assert sent(server, SENTENCE, "Zwei.").json["total"] == 1
    [kept] = server.ask("GET", "/api/corrections").json["corrections"]
    assert (kept["text"], kept["translation"], kept["source"], kept["target"]) == (SENTENCE, "Zwei.", "en", "de")
    assert server.ask("DELETE", f"/api/corrections/{kept['id']}").status == 204
    assert server.ask("DELETE", f"/api/corrections/{kept['id']}").status == 404
    assert translated(server, SENTENCE)["text"] not in ("Eins.", "Zwei.")


def test_exported_corrections_are_what_learning_reads(
    server: Live, keys: tuple[Path, list[str]], tmp_path: Path
) -> None:
    sent(server, SENTENCE, WANTED, bearer(keys[1][0]))
    sent(server, "one man", "nobody else's", bearer(keys[1][1]))
    path = download_corrections(server.url, keys[1][0], tmp_path / "corrections.tmx")
    root = ElementTree.parse(path).getroot()
    assert [seg.text for seg in root.iter("seg")] == [SENTENCE, WANTED]
    assert read_corrections([path], languages=("en", "de")).pairs == (Correction(source=SENTENCE, target=WANTED),)


def test_a_corrected_document(server: Live) -> None:
    rows = "source\ttarget\none door\teine Tür\nthe same\tthe same\ntwo doors\tzwei Türen\n"
    answer = corrected(server, "words.tsv", rows)
    assert (answer.status, answer.json) == (200, {"kept": 2, "dropped": {"identical": 1}, "total": 2})
    assert translated(server, "two doors")["text"] == "zwei Türen"
    assert corrected(server, "words.docx", rows).status == 400
    assert corrected(server, "words.xlf", rows).status == 400


def corrected(server: Live, name: str, content: str) -> Answer:
    return upload(server, "/api/corrections/document", name, content, {"source": "en", "target": "de"}, {})


def upload(server: Live, path: str, name: str, content: str, fields: dict[str, str], headers: dict[str, str]) -> Answer:
    """Sends a file with some fields, as a form does."""
    parts = [*((field, "", value) for field, value in fields.items()), ("file", f'; filename="{name}"', content)]
    body = "".join(
        f'--b\r\nContent-Disposition: form-data; name="{field}"{more}\r\n\r\n{value}\r\n'
        for field, more, value in parts
    )
    sent_headers = {"Content-Type": "multipart/form-data; boundary=b", **headers}
    return server.ask("POST", path, f"{body}--b--\r\n".encode(), headers=sent_headers)


def test_a_suggestion_by_libretranslates_api_is_a_correction(server: Live, keys: tuple[Path, list[str]]) -> None:
    assert server.ask("GET", "/frontend/settings").json["suggestions"] is True
    body = {"q": SENTENCE, "s": WANTED, "source": "auto", "target": "de", "api_key": keys[1][0]}
    assert server.ask("POST", "/suggest", body).json == {"success": True}
    assert translated(server, SENTENCE, bearer(keys[1][0]))["text"] == WANTED
    assert server.ask("POST", "/suggest", {**body, "target": "xx"}).json == {"error": "xx is not supported"}
    refused = server.ask("POST", "/suggest", {**body, "s": " "})
    assert (refused.status, list(refused.json)) == (400, ["error"])
    assert len(server.ask("GET", "/api/corrections", headers=bearer(keys[1][0])).json["corrections"]) == 1


# --- every API --------------------------------------------------------------------------------------------------------
# Each asks for a sentence with a key, and gives the answer and whether that is marked as a correction; None where the
# API has no room for a mark.

Said = tuple[str, bool | None]
PAIR = {"source": "en", "target": "de"}


def by_native(server: Live, text: str, key: str) -> Said:
    found = translated(server, text, bearer(key))
    return found["text"], found["segments"][0]["corrected"]


def by_native_in_html(server: Live, text: str, key: str) -> Said:
    body = {"text": f"<p>{html.escape(text)}</p>", "format": "html", **PAIR}
    [found] = server.ask("POST", "/api/translate", body, headers=bearer(key)).json["translations"]
    return html.unescape(found["text"].removeprefix("<p>").removesuffix("</p>")), found["segments"][0]["corrected"]


def by_native_as_events(server: Live, text: str, key: str) -> Said:
    answer = server.ask("POST", "/api/translate", {"text": text, "stream": True, **PAIR}, headers=bearer(key))
    first = next(line for line in answer.body.decode().splitlines() if line.startswith("data:"))
    segment = json.loads(first.removeprefix("data:"))["segment"]
    return segment["target"]["text"], segment["corrected"]


def by_deepl(server: Live, text: str, key: str) -> Said:
    body = {"text": [text], "source_lang": "EN", "target_lang": "DE"}
    answers = [server.ask("POST", f"/{v}/translate", body, headers=deepl_key(key)) for v in ("v2", "v1")]
    assert answers[0].json == answers[1].json
    [found] = answers[0].json["translations"]
    return found["text"], found.get("corrected", False)


def by_libretranslate(server: Live, text: str, key: str) -> Said:
    found = server.ask("POST", "/translate", {"q": text, "api_key": key, **PAIR}).json
    return found["translatedText"], found.get("corrected") == [True]


def by_omegat(server: Live, text: str, key: str) -> Said:
    query = urlencode({"source": "en-US", "target": "de-DE", "text": text, "api_key": key})
    found = server.ask("GET", f"/omegat?{query}").json
    return found["translation"], found.get("corrected") == [True]


def by_documents(server: Live, text: str, key: str) -> Said:
    headers = bearer(key)
    id_ = upload(server, "/api/documents", "a.txt", text, PAIR, headers).json["id"]
    wait_until(lambda: server.ask("GET", f"/api/documents/{id_}", headers=headers).json["status"] == "done")
    [unit] = server.ask("GET", f"/api/documents/{id_}/report", headers=headers).json["units"]
    result = server.ask("GET", f"/api/documents/{id_}/result", headers=headers)
    return result.body.decode(), unit["origin"] == "tm"


def by_deepl_documents(server: Live, text: str, key: str) -> Said:
    headers, fields = deepl_key(key), {"source_lang": "EN", "target_lang": "DE"}
    told = upload(server, "/v2/document", "a.txt", text, fields, headers).json
    path, body = f"/v2/document/{told['document_id']}", {"document_key": told["document_key"]}
    wait_until(lambda: server.ask("POST", path, body, headers=headers).json["status"] == "done")
    return server.ask("POST", f"{path}/result", body, headers=headers).body.decode(), None


def by_libretranslate_file(server: Live, text: str, key: str) -> Said:
    url = upload(server, "/translate_file", "a.txt", text, {**PAIR, "api_key": key}, {}).json["translatedFileUrl"]
    return server.ask("GET", urlsplit(url).path).body.decode(), None


def deepl_key(key: str) -> dict[str, str]:
    return {"Authorization": f"DeepL-Auth-Key {key}"}


def wait_until(is_over: Callable[[], bool]) -> None:
    until = time.monotonic() + 120
    while not is_over():
        assert time.monotonic() < until
        time.sleep(0.02)


APIS: dict[str, tuple[Callable[[Live, str, str], Said], ...]] = {
    "/api/translate": (by_native, by_native_in_html, by_native_as_events),
    "/api/documents": (by_documents,),
    "/v2/translate": (by_deepl,),
    "/v1/translate": (by_deepl,),
    "/v2/document": (by_deepl_documents,),
    "/v1/document": (by_deepl_documents,),
    "/translate": (by_libretranslate,),
    "/translate_file": (by_libretranslate_file,),
    "/omegat": (by_omegat,),
}
"""Everything that translates, by its path."""


def test_every_api_answers_with_the_callers_corrections(server: Live, keys: tuple[Path, list[str]]) -> None:
    anna, bert = keys[1]
    paths = server.ask("GET", "/openapi.json").json["paths"]
    assert {path for path in paths if path.endswith(("translate", "document", "documents", "omegat", "file"))} - {
        "/api/corrections/document"
    } == set(APIS)
    ways = list(dict.fromkeys(way for its in APIS.values() for way in its))
    before = {way: way(server, SENTENCE, bert) for way in ways}
    assert all(text != WANTED and not mark for text, mark in before.values())
    sent(server, SENTENCE, WANTED, bearer(anna))
    for way in ways:
        text, mark = way(server, SENTENCE, anna)
        assert text == WANTED, way.__name__
        assert mark in (True, None), way.__name__
        assert way(server, SENTENCE, bert) == before[way], way.__name__


def test_what_cannot_be_kept_is_named(server: Live) -> None:
    assert sent(server, " ", "x").error == "bad-request"
    body = {"source": "en", "target": "fr", "corrections": [{"text": "a", "translation": "b"}]}
    assert server.ask("POST", "/api/corrections", body).error == "unknown-pair"
    assert server.ask("GET", "/api/corrections?format=doc").error == "bad-request"
    for number in range(5):
        assert sent(server, f"word {number}", "Wort").status == 200
    assert sent(server, "one too many", "Wort").status == 456
    assert len(server.ask("GET", "/api/corrections").json["corrections"]) == 5  # nothing of what was refused


def test_versions_are_exchanged_without_a_dropped_request(server: Live, versions: Path) -> None:
    first = translated(server, SENTENCE)["text"]
    statuses, texts, done = [], set(), threading.Event()

    def ask() -> None:
        while not done.is_set():
            answer = server.translate(SENTENCE)
            statuses.append(answer.status)
            texts.add(answer.json["translations"][0]["text"])

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for number, other in ((2, True), (1, False)):
            assert run(["models", "use", f"{versions}@{number}"]) == 0
            until = time.monotonic() + 120
            while (translated(server, SENTENCE)["text"] != first) != other:
                assert time.monotonic() < until
                time.sleep(0.02)
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert set(statuses) == {200}
    assert len(texts) == 2  # one of each version, and nothing between


def test_without_consent_nothing_is_kept(model_folder: Path) -> None:
    with live([f"en-de={model_folder}"]) as server:
        assert server.ask("GET", "/api/settings").json["corrections"] is False
        answer = sent(server, SENTENCE, WANTED)
        assert (answer.status, answer.error) == (403, "forbidden")
        assert server.ask("GET", "/api/corrections").json == {"corrections": []}


def test_a_server_that_does_not_answer_is_named(server: Live, tmp_path: Path) -> None:
    with pytest.raises(AttendoError, match="write the server's address"):
        download_corrections("localhost", None, tmp_path / "x.tmx")
    with pytest.raises(AttendoError, match="does not answer"):
        download_corrections("http://127.0.0.1:1", None, tmp_path / "x.tmx")
    with pytest.raises(AttendoError, match=r"answered 403 .*name a key with --key"):
        download_corrections(server.url, "wrong", tmp_path / "x.tmx")


def test_a_sentence_is_edited_on_the_page(server: Live) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    sync_api.expect.set_options(timeout=60_000)
    with chromium_browser() as browser:
        page = browser.new_page()
        page.set_default_timeout(60_000)
        page.goto(f"{server.url}/#text")
        page.fill("#source", SENTENCE)
        page.locator("#output .said").first.click()
        page.fill("#correction-text", WANTED)
        page.click("#correction-keep")
        sync_api.expect(page.locator("#output")).to_contain_text(WANTED)
        [kept] = server.ask("GET", "/api/corrections").json["corrections"]
        assert (kept["text"], kept["translation"], kept["model"]) == (SENTENCE, WANTED, "en-de")
        page.reload()
        page.fill("#source", SENTENCE)
        sync_api.expect(page.locator("#output")).to_contain_text(WANTED)

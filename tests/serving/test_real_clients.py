"""The clients that people use, as they are published, against a real server with the models that ship."""

import io
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.error import HTTPError

import deepl
import docx
import pytest
from deep_translator import LibreTranslator
from deep_translator.exceptions import AuthorizationException
from libretranslatepy import LibreTranslateAPI
from tests.serving.live import Live, live

from attendo.serving.access.keys import new_key, write_keys

SECRET, KEY = new_key("a client")


@pytest.fixture(scope="module")
def server() -> Iterator[Live]:
    with live(["en-de", "de-en"]) as found:
        yield found


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    write_keys(path, [KEY])
    with live(["en-de"], f'keys.file="{path}"') as found:
        yield found


# --- libretranslatepy -------------------------------------------------------------------------------------------------


def test_libretranslatepy(server: Live) -> None:
    client = LibreTranslateAPI(server.url)
    assert client.translate("The dog is sleeping.", "en", "de") == "Der Hund schläft."
    assert client.translate("Tom & Maria: 5 €, 100 %?\nJa!", "de", "en").count("\n") == 1
    assert client.detect("Ich habe keine Zeit.")[0]["language"] == "de"
    assert {each["code"] for each in client.languages()} == {"en", "de"}
    with pytest.raises(HTTPError, match="400") as found:
        client.translate("Hello", "en", "xx")
    found.value.close()


def test_libretranslatepy_with_a_key(locked: Live) -> None:
    client = LibreTranslateAPI(locked.url, SECRET)
    assert client.translate("The dog is sleeping.", "en", "de") == "Der Hund schläft."
    assert client.languages()
    with pytest.raises(HTTPError, match="403") as found:
        LibreTranslateAPI(locked.url, "wrong").translate("Hello", "en", "de")
    found.value.close()


# --- deep-translator --------------------------------------------------------------------------------------------------


def test_deep_translator(server: Live) -> None:
    client = LibreTranslator(source="en", target="de", custom_url=f"{server.url}/", api_key="any")
    assert client.translate("The dog is sleeping.") == "Der Hund schläft."
    assert client.translate_batch(["A boat.", "Hello!"]) == ["Ein Boot.", "Hallo!"]


def test_deep_translator_with_a_wrong_key(locked: Live) -> None:
    with pytest.raises(AuthorizationException):
        LibreTranslator(source="en", target="de", custom_url=f"{locked.url}/", api_key="wrong").translate("Hello")


# --- deepl ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def client(server: Live) -> Iterator[deepl.Translator]:
    found = deepl.Translator("any key", server_url=server.url)
    yield found
    found.close()  # type: ignore[no-untyped-call]


def test_deepl_texts(client: deepl.Translator) -> None:
    found = client.translate_text(["The dog is sleeping.", "I have no time."], target_lang="DE")
    assert isinstance(found, list)
    assert [each.text for each in found] == ["Der Hund schläft.", "Ich habe keine Zeit."]
    assert [each.detected_source_lang for each in found] == ["EN", "EN"]
    assert [each.billed_characters for each in found] == [20, 15]
    english = client.translate_text("Ich habe keine Zeit.", target_lang="EN-US")
    assert isinstance(english, deepl.TextResult)
    assert english.text.startswith("I ")
    assert "time" in english.text


def test_deepl_tags(client: deepl.Translator) -> None:
    found = client.translate_text(
        'He paid <x id="12"></x> for the <b>old</b> book &amp; left.',
        source_lang="EN",
        target_lang="DE",
        tag_handling="xml",
        ignore_tags=["x"],
        split_sentences="nonewlines",
        preserve_formatting=True,
    )
    assert isinstance(found, deepl.TextResult)
    assert '<x id="12"></x>' in found.text
    assert "<b>alte" in found.text
    assert "&" not in found.text.replace("&amp;", "")


def test_deepl_languages_and_usage(client: deepl.Translator) -> None:
    assert {each.code for each in client.get_source_languages()} == {"EN", "DE"}
    assert {each.code for each in client.get_target_languages()} == {"EN-GB", "EN-US", "DE"}
    pairs = client.get_glossary_languages()
    assert {(pair.source_lang, pair.target_lang) for pair in pairs} == {("en", "de"), ("de", "en")}
    usage = client.get_usage()
    assert usage.character.valid
    assert not usage.any_limit_reached


def test_deepl_glossaries(client: deepl.Translator) -> None:
    glossary = client.create_glossary("mine", "EN", "DE", {"dog": "Köter"})
    assert (glossary.entry_count, glossary.ready) == (1, True)
    assert client.get_glossary_entries(glossary) == {"dog": "Köter"}
    assert [each.glossary_id for each in client.list_glossaries()] == [glossary.glossary_id]
    found = client.translate_text("The dog is sleeping.", source_lang="EN", target_lang="DE", glossary=glossary)
    assert isinstance(found, deepl.TextResult)
    assert "Köter" in found.text
    client.delete_glossary(glossary)
    with pytest.raises(deepl.GlossaryNotFoundException):
        client.get_glossary(glossary.glossary_id)


def test_deepl_documents(client: deepl.Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    sleep = time.sleep
    monkeypatch.setattr("time.sleep", lambda seconds: sleep(min(seconds, 0.05)))  # it asks every five seconds
    text = io.BytesIO()
    status = client.translate_document(
        b"The dog is sleeping.\n\nA boat.\n", text, target_lang="DE", filename="letter.txt"
    )
    assert (status.done, status.billed_characters) == (True, 28)  # of two lines, and the end between them
    assert text.getvalue().decode() == "Der Hund schläft.\n\nEin Boot.\n"
    source, target = io.BytesIO(), io.BytesIO()
    document = docx.Document()
    paragraph = document.add_paragraph("The ")
    paragraph.add_run("old").bold = True
    paragraph.add_run(" house.")
    document.save(source)
    client.translate_document(source.getvalue(), target, source_lang="EN", target_lang="DE", filename="letter.docx")
    [found] = docx.Document(target).paragraphs
    assert found.text == "Das alte Haus."
    assert [run.text for run in found.runs if run.bold] == ["alte"]


def test_deepl_errors(client: deepl.Translator, locked: Live) -> None:
    with pytest.raises(deepl.DeepLException, match="target_lang"):
        client.translate_text("Hello", target_lang="JA")
    with pytest.raises(deepl.DeepLException, match="Invalid file data"):
        client.translate_document_upload(io.BytesIO(b"a"), filename="a.exe", target_lang="DE")
    other = deepl.Translator("wrong", server_url=locked.url)
    with closing(other), pytest.raises(deepl.AuthorizationException):
        other.translate_text("Hello", target_lang="DE")
    with closing(deepl.Translator(SECRET, server_url=locked.url)) as known:
        before = known.get_usage().character.count or 0
        known.translate_text("Hello", target_lang="DE")
        assert known.get_usage().character.count == before + 5


# --- requests of programs that are no Python packages -----------------------------------------------------------------


def test_weblates_requests(server: Live) -> None:
    """machinery/libretranslate.py and machinery/deepl.py: placeholders come back to the letter."""
    sent = {"api_key": "", "q": ["Open [X12X] and close [X3X].", "test"], "source": "en", "target": "de"}
    first, second = server.ask("POST", "/translate", sent).json["translatedText"]
    assert (first.count("[X12X]"), first.count("[X3X]")) == (1, 1)
    assert second
    sent = {
        "text": ['Press <x id="4"></x> to open &lt;b&gt;.'],
        "source_lang": "EN",
        "target_lang": "DE",
        "formality": "default",
        "tag_handling": "xml",
        "ignore_tags": ["x"],
    }
    headers = {"Authorization": "DeepL-Auth-Key any"}
    [found] = server.ask("POST", "/v2/translate", sent, headers=headers).json["translations"]
    assert found["text"].count('<x id="4"></x>') == 1
    assert "&lt;b&gt;" in found["text"]


def test_omegats_requests(server: Live, tmp_path: Path) -> None:
    """Its LibreTranslate plugin posts a form; that of DeepL gets /v1/translate; FakeMT gets what one types in."""
    form = b"q=The+%3Cb0%3Eold%3C%2Fb0%3E+house%3Ci1%2F%3E.&source=en&target=de"
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    found = server.ask("POST", "/translate", form, headers=headers).json["translatedText"]
    assert found == "Das <b0>alte</b0> Haus<i1/>."
    query = "text=The+%3Cg0%3Eold%3C%2Fg0%3E+house.&source_lang=EN&target_lang=DE&tag_handling=xml&split_sentences=0"
    [answer] = server.ask("GET", f"/v1/translate?auth_key=any&{query}&preserve_formatting=1").json["translations"]
    assert answer["text"] == "Das <g0>alte</g0> Haus."
    simple = server.ask("GET", "/omegat?source=en-US&target=de-DE&text=The+old+house.")
    assert simple.json == {"translation": "Das alte Haus."}

"""DeepL's API: requests and answers as its openapi.yaml, its mock server and its clients' sources have them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.serving.made_up import Asked, MadeUpModels, made_up_service

from attendo.serving.access.keys import KeyRing, new_key
from attendo.serving.config import KeysConfig, ServingConfig
from attendo.serving.errors import quota_exceeded, too_large


@pytest.fixture
def models() -> MadeUpModels:
    return MadeUpModels()


@pytest.fixture
def ask(models: MadeUpModels, tmp_path: Path) -> Iterator[Asked]:
    asked = Asked(made_up_service(models, documents_folder=tmp_path))
    yield asked
    asked.close()


HELLO = {"text": ["The dog."], "target_lang": "DE", "source_lang": "EN"}
ANSWER = {"translations": [{"detected_source_language": "EN", "text": "das Hund.", "billed_characters": 8}]}


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize(
    ("method", "sent"),
    [
        ("POST", {"json": HELLO}),
        ("POST", {"json": HELLO | {"text": "The dog."}}),
        ("POST", {"data": HELLO}),
        ("GET", {"params": {"auth_key": "k", "text": "The dog.", "source_lang": "en", "target_lang": "de"}}),
    ],
)
def test_texts_come_in_every_way_that_clients_send_them(
    ask: Asked, version: str, method: str, sent: dict[str, object]
) -> None:
    answer = ask(method, f"/{version}/translate", **sent)
    assert (answer.status_code, answer.json()) == (200, ANSWER)
    assert answer.headers["x-trace-id"]


def test_several_texts_in_a_form_and_the_detected_language(ask: Asked) -> None:
    sent = {"text": ["Where is the old house?", "Wo ist denn mein altes Haus?"], "target_lang": "de"}
    found = ask("POST", "/v2/translate", data=sent).json()["translations"]
    assert [each["detected_source_language"] for each in found] == ["EN", "DE"]
    assert found[1]["text"] == sent["text"][1]
    assert [each["billed_characters"] for each in found] == [23, 28]


def test_variants_of_english_are_listed_and_taken(ask: Asked) -> None:
    targets = ask("GET", "/v2/languages", params={"type": "target"}).json()
    assert [each["language"] for each in targets] == ["DE", "EN-GB", "EN-US"]
    assert {each["supports_formality"] for each in targets} == {False}
    # The official client sends a form in the body of the GET.
    assert ask("GET", "/v2/languages", data={"type": "target"}).json() == targets
    sources = [{"language": "EN", "name": "English"}, {"language": "DE", "name": "German"}]
    assert ask("GET", "/v2/languages").json() == sources
    for code in ("EN", "EN-US", "en-gb"):
        sent = {"text": ["Haus"], "target_lang": code, "source_lang": "DE"}
        assert ask("POST", "/v2/translate", json=sent).status_code == 200


def test_tags_as_weblate_sends_them(ask: Asked) -> None:
    """machinery/deepl.py: placeholders are `<x id="12"></x>`, text is escaped, `x` is ignored."""
    sent = HELLO | {"text": ['The <x id="12"></x> dog &amp; &lt;'], "tag_handling": "xml", "ignore_tags": ["x"]}
    assert ask("POST", "/v2/translate", json=sent).json()["translations"][0]["text"] == (
        'das <x id="12"></x> Hund &amp; &lt;'
    )


def test_tags_as_omegat_sends_them(ask: Asked) -> None:
    """DeepLTranslate.java: GET /v1/translate."""
    sent = {
        "auth_key": "k",
        "text": "The <g0>old</g0> dog <x1/> sleeps",
        "source_lang": "EN",
        "target_lang": "DE",
        "tag_handling": "xml",
        "split_sentences": "1",
        "preserve_formatting": "1",
    }
    found = ask("GET", "/v1/translate", params=sent).json()["translations"][0]
    assert found["text"] == "das <g0>alte</g0> Hund <x1/> schläft"


@pytest.mark.parametrize(
    ("split", "lines"),
    [
        ("0", ["The dog. The red Car"]),
        ("1", ["The dog.", "The red", "Car"]),
        ("nonewlines", ["The dog.", "The red Car"]),
    ],
)
def test_sentences_are_split_as_asked_for(ask: Asked, models: MadeUpModels, split: str, lines: list[str]) -> None:
    ask("POST", "/v2/translate", json=HELLO | {"text": ["The dog. The red\nCar"], "split_sentences": split})
    assert models.translate_lines.lines == lines


def test_comma_strings_of_forms_are_lists(ask: Asked) -> None:
    sent = {
        "text": "<a>The</a> <y>the</y> <z>dog</z>",
        "target_lang": "DE",
        "tag_handling": "xml",
        "ignore_tags": "y,z",
    }
    assert ask("POST", "/v2/translate", data=sent).json()["translations"][0]["text"] == (
        "<a>das</a> <y>the</y> <z>dog</z>"
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"text": None}, "Parameter 'text' not specified."),
        ({"text": []}, "Parameter 'text' not specified."),
        ({"target_lang": None}, "Missing or invalid argument: target_lang"),
        ({"target_lang": "JA"}, "Value for 'target_lang' not supported."),
        ({"source_lang": "JA"}, "Value for 'source_lang' not supported."),
        ({"tag_handling": "rtf"}, "Value for 'tag_handling' not supported."),
        ({"split_sentences": "2"}, "Value for 'split_sentences' not supported."),
        ({"formality": "more"}, "'formality' is not supported for given 'target_lang'."),
        ({"style_id": "s"}, "Value for 'style_id' not supported."),
    ],
)
def test_what_is_not_served_is_refused(ask: Asked, changes: dict[str, object], message: str) -> None:
    sent = {name: value for name, value in (HELLO | changes).items() if value is not None}
    answer = ask("POST", "/v2/translate", json=sent)
    assert (answer.status_code, answer.json()) == (400, {"message": message})


def test_what_might_only_improve_a_translation_is_passed_over(ask: Asked) -> None:
    sent = HELLO | {"context": "dogs", "formality": "prefer_less", "model_type": "latency_optimized"}
    found = ask("POST", "/v2/translate", json=sent | {"show_billed_characters": True}).json()["translations"][0]
    assert found["model_type_used"] == "quality_optimized"


def test_errors_have_the_statuses_that_clients_know(ask: Asked, models: MadeUpModels) -> None:
    models.failures += [quota_exceeded("used up"), too_large("too much")]
    assert [ask("POST", "/v2/translate", json=HELLO).status_code for _ in range(2)] == [456, 413]
    assert ask("GET", "/v2/nothing").json().keys() == {"message"}
    assert ask("POST", "/v2/translate", json=HELLO | {"text": ["a"] * 129}).status_code == 413


def test_keys_and_usage(tmp_path: Path) -> None:
    secret, key = new_key("somebody", characters_per_month=20)
    config = ServingConfig(keys=KeysConfig(file=tmp_path / "keys.json"))
    asked = Asked(made_up_service(config=config, keys=KeyRing([key])))
    assert asked("POST", "/v2/translate", json=HELLO).status_code == 403
    shown = {"Authorization": f"DeepL-Auth-Key {secret}"}
    assert asked("POST", "/v2/translate", json=HELLO, headers=shown).status_code == 200
    assert asked("POST", "/v2/translate", json=HELLO | {"auth_key": f"{secret}:fx"}).status_code == 200
    assert asked("GET", "/v2/usage", headers=shown).json() == {"character_count": 16, "character_limit": 20}
    assert asked("POST", "/v2/translate", json=HELLO, headers=shown).status_code == 456
    asked.close()


def test_usage_without_a_key(ask: Asked) -> None:
    assert ask("GET", "/v2/usage").json() == {"character_count": 0, "character_limit": 1_000_000_000_000}


# --- glossaries -------------------------------------------------------------------------------------------------------

GLOSSARY = {"name": "mine", "source_lang": "en", "target_lang": "de", "entries": "dog\tKöter\nold\talte"}


def test_glossaries_are_made_listed_used_and_removed(ask: Asked) -> None:
    made = ask("POST", "/v2/glossaries", json=GLOSSARY | {"entries_format": "tsv"})
    assert made.status_code == 201
    found = made.json()
    assert (found["name"], found["ready"], found["entry_count"]) == ("mine", True, 2)
    assert (found["source_lang"], found["target_lang"]) == ("en", "de")
    id_ = found["glossary_id"]
    assert ask("GET", f"/v2/glossaries/{id_}").json() == found
    assert ask("GET", "/v2/glossaries").json() == {"glossaries": [found]}
    entries = ask("GET", f"/v2/glossaries/{id_}/entries", headers={"Accept": "text/tab-separated-values"})
    assert (entries.text, entries.headers["content-type"].split(";")[0]) == (
        GLOSSARY["entries"],
        "text/tab-separated-values",
    )
    used = ask("POST", "/v2/translate", json=HELLO | {"glossary_id": id_}).json()["translations"][0]["text"]
    assert used == "das Köter."
    needs_source = ask("POST", "/v2/translate", json={"text": ["a"], "target_lang": "DE", "glossary_id": id_})
    assert needs_source.status_code == 400
    other = {"text": ["a"], "source_lang": "DE", "target_lang": "EN-US", "glossary_id": id_}
    assert ask("POST", "/v2/translate", json=other).status_code == 400
    assert ask("DELETE", f"/v2/glossaries/{id_}").status_code == 204
    assert ask("GET", f"/v2/glossaries/{id_}").status_code == 404
    assert ask("POST", "/v2/translate", json=HELLO | {"glossary_id": id_}).status_code == 404


def test_glossaries_of_csv_and_bad_ones(ask: Asked) -> None:
    csv = GLOSSARY | {"entries": 'dog,"Köter"\n"a, b",c', "entries_format": "csv"}
    assert ask("POST", "/v2/glossaries", json=csv).json()["entry_count"] == 2
    for changes in (
        {"entries": "dog"},
        {"entries": "dog\tKöter\ndog\tHund"},
        {"entries": ""},
        {"entries": "a\t" + "b" * 201},
        {"entries_format": "xls"},
        {"name": " "},
        {"target_lang": "fr"},
    ):
        assert ask("POST", "/v2/glossaries", json=GLOSSARY | changes).status_code == 400


def test_languages_of_glossaries(ask: Asked) -> None:
    pairs = [{"source_lang": "en", "target_lang": "de"}, {"source_lang": "de", "target_lang": "en"}]
    assert ask("GET", "/v2/glossary-language-pairs").json() == {"supported_languages": pairs}


# --- documents --------------------------------------------------------------------------------------------------------


def test_documents(ask: Asked, models: MadeUpModels) -> None:
    models.delay_s = 0.3
    sent = {"files": {"file": ("a.txt", b"The dog.")}, "data": {"target_lang": "DE", "source_lang": "EN"}}
    handle = ask("POST", "/v2/document", **sent).json()
    assert handle.keys() == {"document_id", "document_key"}
    path, key = f"/v2/document/{handle['document_id']}", {"document_key": handle["document_key"]}
    early = ask("POST", f"{path}/result", json=key)
    assert early.status_code == 503
    states = []
    for _ in range(100):
        states.append(ask("POST", path, data=key).json())
        if states[-1]["status"] not in ("queued", "translating"):
            break
        assert states[-1]["seconds_remaining"] > 0
        ask.wait(0.05)
    assert states[-1] == {"document_id": handle["document_id"], "status": "done", "billed_characters": 8}
    assert ask("POST", f"{path}/result", json={"document_key": "wrong"}).status_code == 404
    result = ask("POST", f"{path}/result", json=key)
    assert (result.content, result.headers["content-type"]) == (b"das Hund.", "text/plain; charset=utf-8")
    assert ask("POST", f"{path}/result", json=key).status_code == 404  # once


def test_a_document_with_a_region_options_and_a_glossary(ask: Asked) -> None:
    entries = {
        "name": "n",
        "source_lang": "en",
        "target_lang": "de",
        "entries": "dog\tK\u00f6ter",
        "entries_format": "tsv",
    }
    glossary = ask("POST", "/v2/glossaries", json=entries).json()["glossary_id"]
    content = b'msgid ""\nmsgstr "Language: \\n"\n\nmsgid "The dog"\nmsgstr ""\n'
    data = {"target_lang": "DE-AT", "source_lang": "EN", "mark": "none", "glossary_id": glossary}
    handle = ask("POST", "/v2/document", files={"file": ("a.po", content)}, data=data).json()
    path, key = f"/v2/document/{handle['document_id']}", {"document_key": handle["document_key"]}
    while (state := ask("POST", path, data=key).json())["status"] in ("queued", "translating"):
        ask.wait(0.02)
    assert state["status"] == "done"
    expected = (
        content.decode().replace("Language: ", "Language: de_AT").replace('msgstr ""\n', 'msgstr "das K\u00f6ter"\n')
    )
    assert ask("POST", f"{path}/result", json=key).text == expected


def test_bad_documents(ask: Asked) -> None:
    data = {"target_lang": "DE"}
    for files in ({"file": ("a.exe", b"a")}, {"file": ("a.docx", b"no archive")}, {"other": ("a.txt", b"a")}):
        answer = ask("POST", "/v2/document", files=files, data=data)
        assert (answer.status_code, answer.json().keys()) == (400, {"message"})
    assert ask("POST", "/v2/document/0/result", json={}).status_code == 400
    assert ask("POST", "/v2/document/0", json={"document_key": "k"}).status_code == 404

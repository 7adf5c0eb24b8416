"""A text in a language that is not served, as each API's clients are told of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.serving.made_up import Asked, MadeUpModels, made_up_service

FRENCH = "Je voudrais savoir pourquoi le train est encore en retard."
RUSSIAN = "Я не знаю, почему магазин сегодня закрыт."
ENGLISH = "I do not know why the old house is red."
PROBLEM = "the text seems to be in French (fr), which is not served here"


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    asked = Asked(made_up_service(MadeUpModels(), documents_folder=tmp_path_factory.mktemp("documents")))
    yield asked
    asked.close()


# --- our own API ------------------------------------------------------------------------------------------------------


def test_our_own_api_refuses_what_it_was_to_detect(ask: Asked) -> None:
    answer = ask("POST", "/api/translate", json={"text": FRENCH, "target": "de"})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["code"] == "unserved-language"
    assert error["message"] == f"{PROBLEM}; name the source language if it is another one"


def test_a_language_that_was_given_is_never_refused(ask: Asked) -> None:
    answer = ask("POST", "/api/translate", json={"text": [FRENCH, ENGLISH], "source": "en", "target": "de"}).json()
    french, english = answer["translations"]
    assert french["text"] != FRENCH
    assert PROBLEM in french["problems"]
    assert english["problems"] == []


def test_a_stream_tells_it_at_the_end(ask: Asked) -> None:
    body = {"text": FRENCH, "source": "en", "target": "de", "stream": True}
    answer = ask("POST", "/api/translate", json=body)
    assert PROBLEM in answer.text.split("event: done")[1]


def test_detection_names_it_first(ask: Asked) -> None:
    found = ask("POST", "/api/detect", json={"text": FRENCH}).json()["detected"]
    assert found[0]["language"] == "fr"
    assert {each["language"] for each in found[1:]} == {"en", "de"}
    assert found[0]["confidence"] > 0.8


# --- LibreTranslate ---------------------------------------------------------------------------------------------------


def libre(ask: Asked, q: Any, source: str = "auto") -> Any:
    return ask("POST", "/translate", json={"q": q, "source": source, "target": "de"})


def test_libretranslate_refuses_one_text_in_its_own_words(ask: Asked) -> None:
    answer = libre(ask, FRENCH)
    assert answer.status_code == 400
    assert answer.json() == {"error": "German (de) is not available as a target language from French (fr)"}


def test_libretranslate_leaves_one_of_several_as_it_is(ask: Asked) -> None:
    answer = libre(ask, [FRENCH, ENGLISH, RUSSIAN]).json()
    french, english, russian = answer["translatedText"]
    assert (french, russian) == (FRENCH, RUSSIAN)
    assert "Haus" in english
    assert [each["language"] for each in answer["detectedLanguage"]] == ["fr", "en", "ru"]
    assert answer["problems"] == [[PROBLEM], [], [PROBLEM.replace("French (fr)", "Russian (ru)")]]


def test_libretranslate_translates_what_it_is_told_to(ask: Asked) -> None:
    answer = libre(ask, FRENCH, "en").json()
    assert answer["translatedText"] != FRENCH
    assert PROBLEM in answer["problems"][0]


def test_libretranslate_detects_it(ask: Asked) -> None:
    assert ask("POST", "/detect", data={"q": FRENCH}).json()[0]["language"] == "fr"


# --- DeepL ------------------------------------------------------------------------------------------------------------


def test_deepl_leaves_it_as_it_is_and_names_it(ask: Asked) -> None:
    answer = ask("POST", "/v2/translate", json={"text": [FRENCH, ENGLISH], "target_lang": "DE"})
    assert answer.status_code == 200
    french, english = answer.json()["translations"]
    assert (french["detected_source_language"], french["text"], french["problems"]) == ("FR", FRENCH, [PROBLEM])
    assert english["detected_source_language"] == "EN"
    assert "Haus" in english["text"]


def test_deepl_translates_what_it_is_told_to(ask: Asked) -> None:
    body = {"text": [FRENCH], "source_lang": "EN", "target_lang": "DE"}
    (french,) = ask("POST", "/v2/translate", json=body).json()["translations"]
    assert french["text"] != FRENCH
    assert PROBLEM in french["problems"]


# --- OmegaT, documents ------------------------------------------------------------------------------------------------


def test_omegat_says_the_language_and_is_only_told(ask: Asked) -> None:
    answer = ask("GET", "/omegat", params={"source": "en-US", "target": "de-DE", "text": FRENCH}).json()
    assert answer["translation"] != FRENCH
    assert PROBLEM in answer["problems"][0]


def document(ask: Asked, text: str, **fields: str) -> Any:
    return ask("POST", "/api/documents", files={"file": ("a.txt", text.encode())}, data={"target": "de"} | fields)


def test_a_document_is_refused_when_it_is_sent(ask: Asked) -> None:
    answer = document(ask, f"{FRENCH}\n" * 3)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "unserved-language")


def test_a_document_whose_language_was_given_is_translated_with_a_problem(ask: Asked) -> None:
    id_ = document(ask, f"{FRENCH}\n" * 3, source="en").json()["id"]
    while (told := ask("GET", f"/api/documents/{id_}").json())["status"] != "done":
        assert told["status"] != "error"
        ask.wait(0.02)
    assert PROBLEM in told["problems"]


# --- a server of one direction ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def one_way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    asked = Asked(made_up_service(MadeUpModels(["en-de"]), documents_folder=Path(tmp_path_factory.mktemp("one"))))
    yield asked
    asked.close()


def test_what_is_in_the_target_language_already_is_no_problem(one_way: Asked) -> None:
    german = "Ich weiß nicht, warum der Laden heute geschlossen ist."
    answer = one_way("POST", "/v2/translate", json={"text": [german], "target_lang": "DE"}).json()["translations"][0]
    assert (answer["detected_source_language"], answer["text"]) == ("DE", german)
    assert "problems" not in answer
    assert libre(one_way, german).json()["translatedText"] == german


def test_a_server_of_one_language_knows_others_too(one_way: Asked) -> None:
    answer = one_way("POST", "/api/translate", json={"text": FRENCH, "target": "de"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "unserved-language")

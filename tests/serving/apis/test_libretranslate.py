"""LibreTranslate's endpoints: requests and answers as its server (1.9.6, app.py) and its clients' sources have them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.serving.made_up import Asked, MadeUpModels, made_up_service

from attendo.serving.access.keys import KeyRing, new_key
from attendo.serving.config import KeysConfig, LimitsConfig, ServingConfig
from attendo.serving.errors import busy


@pytest.fixture
def models() -> MadeUpModels:
    return MadeUpModels()


@pytest.fixture
def ask(models: MadeUpModels, tmp_path: Path) -> Iterator[Asked]:
    asked = Asked(made_up_service(models, documents_folder=tmp_path))
    yield asked
    asked.close()


HELLO = {"q": "The dog.", "source": "en", "target": "de"}
SENT = [
    pytest.param({"json": HELLO}, id="json"),
    pytest.param({"data": HELLO}, id="form"),
    pytest.param({"params": HELLO}, id="query of a POST with an empty body, as deep-translator"),
    pytest.param({"params": {"q": "The dog."}, "data": {"source": "en", "target": "de"}}, id="query and form"),
    pytest.param({"files": {name: (None, value) for name, value in HELLO.items()}}, id="multipart"),
    pytest.param({"json": HELLO | {"api_key": ""}}, id="an empty key, as Weblate"),
]


@pytest.mark.parametrize("sent", SENT)
def test_parameters_come_in_every_way_that_clients_send_them(ask: Asked, sent: dict[str, object]) -> None:
    answer = ask("POST", "/translate", **sent)
    assert (answer.status_code, answer.json()) == (200, {"translatedText": "das Hund."})


def test_a_list_gives_a_list(ask: Asked) -> None:
    answer = ask("POST", "/translate", json=HELLO | {"q": ["The dog.", "🙂 ", "The car"]})
    assert answer.json() == {"translatedText": ["das Hund.", "🙂 ", "das Auto"]}


def test_alternatives_are_there_if_and_only_if_asked_for(ask: Asked) -> None:
    one = ask("POST", "/translate", json=HELLO | {"alternatives": 2}).json()
    assert one == {"translatedText": "das Hund.", "alternatives": ["das hund."]}
    several = ask("POST", "/translate", json=HELLO | {"q": ["The dog.", "Old"], "alternatives": "1"}).json()
    assert several["alternatives"] == [["das hund."], ["alte !"]]


def test_auto_tells_what_it_has_detected(ask: Asked) -> None:
    one = ask("POST", "/translate", json={"q": "Where is the old house?", "source": "auto", "target": "de"}).json()
    assert one["detectedLanguage"]["language"] == "en"
    assert 50 < one["detectedLanguage"]["confidence"] <= 100
    texts = ["Where is the old house?", "Wo ist denn mein altes Haus?", "🙂"]
    several = ask("POST", "/translate", json={"q": texts, "source": "auto", "target": "de"}).json()
    assert [each["language"] for each in several["detectedLanguage"]] == ["en", "de", "en"]
    assert several["detectedLanguage"][2]["confidence"] == 0
    assert several["translatedText"][1:] == texts[1:]  # German is German already


def test_html_keeps_its_tags_and_what_is_escaped(ask: Asked) -> None:
    answer = ask("POST", "/translate", json=HELLO | {"q": "<p>The <b>old</b> &amp; red dog</p>", "format": "html"})
    assert answer.json() == {"translatedText": "<p>das <b>alte</b> &amp; rote Hund</p>"}


def test_line_ends_of_forms_are_made_plain(ask: Asked) -> None:
    answer = ask("POST", "/translate", data=HELLO | {"q": "The dog.\r\nOld."})
    assert answer.json() == {"translatedText": "das Hund.\nalte."}


@pytest.mark.parametrize(
    ("changes", "status", "message"),
    [
        ({"q": None}, 400, "Invalid request: missing q parameter"),
        ({"q": "", "source": None}, 400, "Invalid request: missing q parameter"),
        ({"source": None, "target": None}, 400, "Invalid request: missing source parameter"),
        ({"target": None}, 400, "Invalid request: missing target parameter"),
        ({"source": "xx"}, 400, "xx is not supported"),
        ({"target": "zz"}, 400, "zz is not supported"),
        ({"format": "rtf"}, 400, "rtf format is not supported"),
        ({"alternatives": "many"}, 400, "Invalid request: alternatives parameter is not a number"),
        ({"alternatives": 10}, 400, "Invalid request: alternatives parameter must be <= 9"),
        ({"q": ["a"] * 129}, 400, "Invalid request: request (129) exceeds text limit (128)"),
        ({"q": "a" * 20001}, 400, "Invalid request: request (20001) exceeds text limit (20000)"),
        ({"q": {"a": 1}}, 400, "Invalid request: q parameter is neither a string nor a list of strings"),
        ({"q": ["a", 1]}, 400, "Invalid request: q parameter is neither a string nor a list of strings"),
        ({"source": "fr", "target": "de"}, 400, "fr is not supported"),
    ],
)
def test_errors_are_told_in_the_words_that_clients_know(
    ask: Asked, changes: dict[str, object], status: int, message: str
) -> None:
    sent = {name: value for name, value in (HELLO | changes).items() if value is not None}
    answer = ask("POST", "/translate", json=sent)
    assert (answer.status_code, answer.json()) == (status, {"error": message})


def test_a_pair_that_no_model_has(tmp_path: Path) -> None:
    asked = Asked(made_up_service(MadeUpModels(["en-de", "fr-en"])))
    answer = asked("POST", "/translate", json=HELLO | {"source": "fr"})
    assert answer.json() == {"error": "German (de) is not available as a target language from French (fr)"}
    asked.close()


@pytest.mark.parametrize("body", [b"[1]", b"no", b'{"q": "\\ud800", "source": "en", "target": "de"}', b"\xff"])
def test_what_is_no_json_object_of_text_is_refused(ask: Asked, body: bytes) -> None:
    answer = ask("POST", "/translate", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert set(answer.json()) == {"error"}


def test_a_busy_server_says_when_to_come_again(ask: Asked, models: MadeUpModels) -> None:
    models.failures.append(busy("too much is waiting", 2.0))
    answer = ask("POST", "/translate", json=HELLO)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert answer.json() == {"error": "too much is waiting"}


def test_keys(tmp_path: Path) -> None:
    secret, key = new_key("somebody", requests_per_minute=2)
    config = ServingConfig(keys=KeysConfig(file=tmp_path / "keys.json"), limits=LimitsConfig())
    asked = Asked(made_up_service(config=config, keys=KeyRing([key])))
    without = asked("POST", "/translate", json=HELLO)
    assert (without.status_code, without.json()) == (
        400,
        {"error": "Please contact the server operator to get an API key"},
    )
    unknown = asked("POST", "/translate", json=HELLO | {"api_key": "wrong"})
    assert (unknown.status_code, unknown.json()) == (403, {"error": "Invalid API key"})
    assert asked("POST", "/translate", json=HELLO | {"api_key": secret}).status_code == 200
    assert asked("POST", "/translate", json=HELLO, headers={"Authorization": f"Bearer {secret}"}).status_code == 200
    slow = asked("POST", "/translate", json=HELLO | {"api_key": secret})
    assert slow.status_code == 429
    assert slow.json()["error"].startswith("Slowdown: ")
    assert "retry-after" in slow.headers
    assert asked("GET", "/languages").status_code == 200  # without a key
    asked.close()


def test_detect(ask: Asked) -> None:
    found = ask("POST", "/detect", data={"q": "Wo ist denn mein Haus?"}).json()
    assert [each["language"] for each in found] == ["de", "en"]
    assert found[0]["confidence"] > found[1]["confidence"]
    assert ask("POST", "/detect", json={"q": ["Wo ist", "mein Haus?"]}).json()[0]["language"] == "de"
    assert ask("POST", "/detect", json={"q": "123 🙂"}).json() == [{"confidence": 0.0, "language": "en"}]
    assert ask("POST", "/detect", json={}).json() == {"error": "Invalid request: missing q parameter"}


def test_languages_also_with_a_form_in_the_body_of_the_get(ask: Asked) -> None:
    """As libretranslatepy sends it."""
    answer = ask("GET", "/languages", data={"api_key": "k"})
    assert answer.json() == [
        {"code": "en", "name": "English", "targets": ["en", "de"]},
        {"code": "de", "name": "German", "targets": ["de", "en"]},
    ]


def test_codes_that_libretranslate_calls_otherwise() -> None:
    asked = Asked(made_up_service(MadeUpModels(["en-zh", "en-pb", "pb-en"])))
    codes = [each["code"] for each in asked("GET", "/languages").json()]
    assert codes == ["en", "pt-BR", "zh-Hans"]
    for code in ("pt-BR", "pb", "pt"):
        assert asked("POST", "/translate", json=HELLO | {"target": code}).status_code == 200
    asked.close()


def test_settings_suggestions_and_specification(ask: Asked) -> None:
    settings = ask("GET", "/frontend/settings").json()
    assert settings["charLimit"] == 20000
    assert settings["language"]["source"] == {"code": "en", "name": "English"}
    assert ".docx" in settings["supportedFilesFormat"]
    assert (settings["apiKeys"], settings["keyRequired"], settings["suggestions"]) == (False, False, False)
    refused = ask("POST", "/suggest", data={"q": "a", "s": "b", "source": "en", "target": "de"})
    assert (refused.status_code, refused.json()) == (403, {"error": "Suggestions are disabled on this server."})
    specification = ask("GET", "/spec").json()
    assert specification["swagger"] == "2.0"
    assert set(specification["paths"]) >= {"/translate", "/detect", "/languages", "/translate_file"}


def test_documents(ask: Asked) -> None:
    sent = {"files": {"file": ("my file.txt", b"The dog.\n\nOld. ")}, "data": {"source": "en", "target": "de"}}
    url = ask("POST", "/translate_file", **sent).json()["translatedFileUrl"]
    assert url.startswith("http://localhost/download_file/")
    result = ask("GET", urlsplit(url).path)
    assert result.content == b"das Hund.\n\nalte. "
    assert "my%20file.txt" in result.headers["content-disposition"]
    for path in ("/download_file/x.my file.txt", "/download_file/..%2f..%2fetc%2fpasswd", "/download_file/"):
        assert ask("GET", path).status_code == 404
    refused = ask("POST", "/translate_file", files={"file": ("a.exe", b"MZ")}, data={"source": "en", "target": "de"})
    assert (refused.status_code, refused.json()) == (400, {"error": "Invalid request: file format not supported"})
    assert ask("POST", "/translate_file", data={"source": "en"}).json()["error"].startswith("Invalid request")


def test_a_document_with_a_region_and_options(ask: Asked) -> None:
    content = b'{"a": "The dog"}'
    files, data = {"file": ("messages", content)}, {"source": "en", "target": "de-AT", "format": "json"}
    answer = ask("POST", "/translate_file", files=files, data=data).json()
    assert (answer["summary"]["format"], answer["summary"]["translated"]) == ("json", 1)
    assert ask("GET", urlsplit(answer["translatedFileUrl"]).path).content == b'{"a": "das Hund"}'
    wrong = ask("POST", "/translate_file", files=files, data=data | {"only": "some"})
    assert (wrong.status_code, wrong.json()) == (400, {"error": "only = 'some' is none of new, fuzzy, all"})
    taken = ask("GET", "/frontend/settings").json()["supportedFilesFormat"]
    assert {".po", ".docx", ".txt", ".xml", ".json"} <= set(taken)


WEBLATE = {"api_key": "", "q": ["Open [X12X] and [X3X].", "The dog."], "source": "en", "target": "de"}


def test_weblate(ask: Asked) -> None:
    """machinery/libretranslate.py: languages, then texts in lists; placeholders have to come back to the letter."""
    assert {each["code"] for each in ask("GET", "/languages").json()} == {"en", "de"}
    assert ask("POST", "/translate", json=WEBLATE).json() == {"translatedText": ["OPEN [X12X] AND [X3X].", "das Hund."]}


def test_weblates_check_of_its_settings_is_answered_whatever_is_served() -> None:
    asked = Asked(made_up_service(MadeUpModels(["en-fr"])))
    check = {"api_key": "", "q": ["test"], "source": "en", "target": "de"}
    assert asked("POST", "/translate", json=check).json() == {"translatedText": ["test"]}
    assert asked("POST", "/translate", json=check | {"q": ["tests"]}).status_code == 400
    asked.close()


def test_omegats_plugin(ask: Asked) -> None:
    """org.omegat.machinetranslators.libretranslate: a form, no key, no format, tags in the text."""
    sent = {"q": "The <b0>old</b0> dog<i1/> sleeps", "source": "en", "target": "de"}
    assert ask("POST", "/translate", data=sent).json() == {"translatedText": "das <b0>alte</b0> Hund<i1/> schläft"}


def test_what_could_not_be_kept_is_told_beside(ask: Asked, models: MadeUpModels) -> None:
    models.translate_lines = type(models.translate_lines)(loses=["{name}", "\u27e61\u27e7"])
    answer = ask("POST", "/translate", json=HELLO | {"q": "The {name} dog"}).json()
    assert answer["translatedText"] == "das {name} Hund"
    assert answer["problems"] == [["translated in pieces, so that they are kept: {name}"]]


def test_without_documents_there_are_none(models: MadeUpModels) -> None:
    service = replace(made_up_service(models), documents=None)
    asked = Asked(service)
    assert asked("GET", "/frontend/settings").json()["filesTranslation"] is False
    assert asked("POST", "/translate_file", files={"file": ("a.txt", b"a")}).status_code == 403
    asked.close()

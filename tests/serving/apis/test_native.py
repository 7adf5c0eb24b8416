"""Our own API over HTTP, asked as a client asks, with a real server and a model of random weights."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.serving.live import Answer, Live, live
from tests.tiny_parser import random_parser

from attendo.serving.apis.native_types import (
    DetectAnswer,
    ErrorAnswer,
    ModelsAnswer,
    ParseAnswer,
    TranslateAnswer,
)
from attendo.workflow.engines.translate import load

LINE = "one red dogs see us."


@pytest.fixture(scope="module")
def server(model_folders: tuple[Path, Path, Path]) -> Iterator[Live]:
    limits = ["limits.max_characters=2000", "limits.max_items=5", "limits.n_best=4", "limits.beam_size=6"]
    with live([f"first={model_folders[0]}", f"second={model_folders[1]}"], *limits) as found:
        yield found


def events(answer: Answer) -> list[tuple[str, Any]]:
    """Server-sent events, read as section 9.2.6 of the HTML standard has it."""
    found = []
    for block in answer.body.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def test_a_translation_is_the_engines(server: Live, model_folder: Path) -> None:
    answer = server.translate(LINE)
    assert answer.status == 200
    TranslateAnswer.model_validate(answer.json, strict=False)
    [expected] = load(model_folder).translate([LINE])
    [found] = answer.json["translations"]
    [segment] = found["segments"]
    assert found["text"] == segment["target"]["text"] == expected.text
    assert segment["source"] == {"start": 0, "end": len(LINE), "text": LINE}
    assert segment["score"] == pytest.approx(expected.score, abs=1e-6)
    assert segment["log_prob"] == pytest.approx(expected.log_prob, abs=1e-6)
    assert segment["confidence"] is None  # the model is not calibrated
    assert answer.json["model"] == "first"
    assert answer.json["characters"] == len(LINE)


def test_several_texts_in_their_order_and_white_space_as_it_was(server: Live) -> None:
    texts = [LINE, "", "  two old men  \n\n hear us.  ", "\t"]
    answer = server.translate(texts)
    assert answer.status == 200
    found = answer.json["translations"]
    assert len(found) == 4
    assert found[0]["text"] == server.translate(LINE).json["translations"][0]["text"]
    assert (found[1]["text"], found[3]["text"]) == ("", "\t")
    assert found[2]["text"].startswith("  ")
    assert found[2]["text"].endswith("  ")


def test_n_best_with_scores_and_alignment(server: Live, model_folder: Path) -> None:
    answer = server.translate(LINE, n_best=3, alignment=True, beam_size=6, length_penalty=1)
    TranslateAnswer.model_validate(answer.json)
    [segment] = answer.json["translations"][0]["segments"]
    [expected] = load(model_folder, search={"n_best": 3, "beam_size": 6, "length_penalty": 1.0}).translate([LINE])
    told = [each["text"] for each in segment["alternatives"]]
    assert told == [each.text for each in expected.n_best[1:]]
    scores = [segment["score"], *(each["score"] for each in segment["alternatives"])]
    assert scores == sorted(scores, reverse=True)
    for link in segment["alignment"]:
        start, end = link["source"]
        assert LINE[start:end].strip() == LINE[start:end] != ""
        start, end = link["target"]
        assert answer.json["translations"][0]["text"][start:end].strip()


def test_the_first_model_that_fits_or_the_one_that_is_named(server: Live) -> None:
    assert server.translate(LINE).json["model"] == "first"
    assert server.translate(LINE, model="second").json["model"] == "second"
    assert server.translate(LINE, source="EN-gb", target="de_AT").json["model"] == "first"
    for wrong in ({"model": "third"}, {"source": "fr"}, {"target": "en"}, {"model": "second", "target": "fr"}):
        answer = server.translate(LINE, **wrong)
        assert (answer.status, answer.error) == (400, "unknown-pair")


def test_the_source_language_is_found_out(server: Live) -> None:
    answer = server.ask("POST", "/api/translate", {"text": LINE})
    assert answer.status == 200
    assert answer.json["detected"]["language"] == "en"
    assert server.translate(LINE).json["detected"] is None
    detected = server.ask("POST", "/api/detect", {"text": LINE})
    DetectAnswer.model_validate(detected.json)
    assert detected.json["detected"][0]["language"] == "en"


@pytest.mark.parametrize("how", ["field", "header"])
def test_segments_come_as_events(server: Live, how: str) -> None:
    text = "\n".join([LINE] * 5)
    body = {"text": [text, LINE], "source": "en", "target": "de"} | ({"stream": True} if how == "field" else {})
    headers = {"Accept": "text/event-stream"} if how == "header" else {}
    answer = server.ask("POST", "/api/translate", body, headers=headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    *segments, (name, whole) = events(answer)
    assert name == "done"
    assert [name for name, _ in segments] == ["segment"] * 6
    assert [told["text"] for _, told in segments] == [0] * 5 + [1]
    at_once = server.translate([text, LINE]).json
    assert whole["translations"] == at_once["translations"]
    assert [told["segment"] for _, told in segments] == [
        segment for each in at_once["translations"] for segment in each["segments"]
    ]


@pytest.mark.parametrize(
    ("body", "part"),
    [
        (b"{", "not valid JSON"),
        (b'{"text": "\xff"}', "not valid JSON"),
        (b'{"text": "a", "text": "b"}', "twice"),
        (b'{"text": "\\ud800"}', "surrogate"),
        (b'{"text": "a", "length_penalty": NaN}', "NaN"),
        (b'{"text": "a", "n_best": 1e400}', "not a finite number"),
        (b'{"text": "a", "n_best": 99999999999999999999999}', "64 bits"),
        (b"[" * 5000, "deep"),
        (b"null", "dictionary"),
        (b'"text"', "dictionary"),
        (b"", "required"),
        (b"{}", "text"),
        (b'{"text": 1}', "string"),
        (b'{"text": ["a", null]}', "string"),
        (b'{"text": "a", "path": "/etc/passwd"}', "path"),
        (b'{"text": "a", "n_best": "2"}', "n_best"),
        (b'{"text": "a", "n_best": 0}', "n_best"),
        (b'{"text": "a", "n_best": 5, "source": "en"}', "more than the 4"),
        (b'{"text": "a", "beam_size": 7, "source": "en"}', "more than the 6"),
        (b'{"text": "a", "length_penalty": 11}', "length_penalty"),
        (b'{"text": "a", "format": "pdf"}', "format"),
        (b'{"text": "a", "stream": 1}', "stream"),
    ],
)
def test_what_cannot_be_meant_is_told(server: Live, body: bytes, part: str) -> None:
    answer = server.ask("POST", "/api/translate", body, headers={"Content-Type": "application/json"})
    assert answer.status == 400, answer.body
    ErrorAnswer.model_validate(answer.json)
    assert part in answer.json["error"]["message"]


def test_what_is_no_json_by_its_own_account_is_not_read(server: Live) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = server.ask("POST", "/api/translate", b'{"text": "a"}', headers={"Content-Type": kind})
        assert (answer.status, answer.error) == (415, "unsupported-media-type")


def test_limits_of_a_request(server: Live) -> None:
    assert server.translate("x" * 2001).error == "too-large"
    assert server.translate(["x"] * 6).error == "too-large"
    assert server.translate(["x" * 1000, "x" * 1001]).status == 413


def test_attention_as_data_and_as_a_page(server: Live) -> None:
    body = {"text": "one red dogs", "target": "two", "target_lang": "de"}
    data = server.ask("POST", "/api/attention", body)
    assert data.json["source"][-1] == "</s>"
    assert len(data.json["cross"]["weights"]) == 2  # layers
    page = server.ask("POST", "/api/attention", body, headers={"Accept": "text/html"})
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert server.ask("POST", "/api/attention", {"text": ""}).status == 400
    assert server.ask("POST", "/api/attention", {"text": "x" * 400}).status == 400  # 256 tokens are the most
    assert server.ask("POST", "/api/attention", {"text": "dogs " * 101}).error == "too-large"


def test_models_and_settings(server: Live) -> None:
    models = server.ask("GET", "/api/models").json
    ModelsAnswer.model_validate(models)
    assert [(each["name"], each["source"], each["target"]) for each in models["models"]] == [
        ("first", "en", "de"),
        ("second", "en", "de"),
    ]
    settings = server.ask("GET", "/api/settings").json
    assert settings["limits"]["max_characters"] == 2000
    assert settings["pairs"][1] == {"source": "en", "target": "de", "model": "second"}
    assert ".docx" in settings["documents"]["formats"]


def test_nothing_is_parsed_where_no_parser_is_served(server: Live) -> None:
    assert server.ask("POST", "/api/parse", {"text": LINE}).error == "unknown-pair"


def test_trees(tmp_path: Path) -> None:
    parser = random_parser(tmp_path, 'order = "in-order"')
    with live([f"parser={parser}"]) as server:
        assert server.ask("GET", "/api/settings").json["parsers"] == ["parser"]
        answer = server.ask("POST", "/api/parse", {"text": ["The dog sees it .", ""], "n_best": 2})
        ParseAnswer.model_validate(answer.json)
        tree, empty = answer.json["trees"]
        assert tree["words"] == ["The", "dog", "sees", "it", "."]
        assert tree["tree"].startswith("(")
        assert "<svg" in tree["svg"]
        assert empty["problem"] == "no words"
        whole = server.ask("POST", "/api/parse", {"text": "The dog sees it. It sleeps."})
        assert [each["words"][-1] for each in whole.json["trees"]] == [".", "."]
        assert server.translate(LINE).error == "unknown-pair"

"""Glossaries in our own API, with made-up models, asked without a network."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.serving.made_up import Asked, made_up_service

from attendo.serving.glossaries import parsed_entries
from attendo.terms.term import Term

TERMS: list[dict[str, Any]] = [
    {"source": "dog", "target": "K\u00f6ter", "forms": ["K\u00f6tern"], "forbidden": ["Hund"], "comment": "rude"},
    {"source": "cat", "target": "Mieze"},
]
BODY: dict[str, Any] = {"name": " pets ", "source": "en", "target": "de", "terms": TERMS}


@pytest.fixture(scope="module")
def ask() -> Iterator[Asked]:
    asked = Asked(made_up_service())
    yield asked
    asked.close()


@pytest.fixture
def glossary(ask: Asked) -> Iterator[dict[str, Any]]:
    made = ask("POST", "/api/glossaries", json=BODY)
    assert made.status_code == 201
    yield made.json()
    ask("DELETE", f"/api/glossaries/{made.json()['id']}")


def test_a_glossary_is_made_listed_changed_and_removed(ask: Asked, glossary: dict[str, Any]) -> None:
    path = f"/api/glossaries/{glossary['id']}"
    assert (glossary["name"], glossary["entries"]) == ("pets", 2)
    assert glossary["terms"][0] == {**TERMS[0], "alternatives": []}
    listed = ask("GET", "/api/glossaries").json()["glossaries"]
    assert listed == [{key: value for key, value in glossary.items() if key != "terms"}]
    assert ask("GET", path).json() == glossary
    changed = ask("PUT", path, json=BODY | {"name": "others", "terms": TERMS[1:]}).json()
    assert (changed["name"], changed["entries"], changed["id"]) == ("others", 1, glossary["id"])
    assert ask("GET", path).json() == changed
    assert ask("GET", f"/v2/glossaries/{glossary['id']}/entries").text == "cat\tMieze"
    assert ask("DELETE", path).status_code == 204
    assert ask("GET", path).status_code == ask("PUT", path, json=BODY).status_code == 404


def test_a_text_is_translated_with_one(ask: Asked, glossary: dict[str, Any]) -> None:
    body = {"text": "The dog.", "source": "en", "target": "de", "glossary": glossary["id"]}
    [found] = ask("POST", "/api/translate", json=body).json()["translations"]
    assert found["text"] == "das K\u00f6ter."
    [use] = found["segments"][0]["terms"]
    assert use == {"source": "dog", "target": "K\u00f6ter", "outcome": "forced", "form": "K\u00f6ter"}
    missing = ask("POST", "/api/translate", json=body | {"glossary": "none"})
    assert missing.status_code == 404
    other = ask("POST", "/api/translate", json=body | {"source": "de", "target": "en"})
    assert other.status_code == 400
    assert "is from en to de, the text from de to en" in other.json()["error"]["message"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"terms": []}, "Missing or invalid argument: entries"),
        ({"terms": [{"source": "a"}]}, "line 1: has no translation of 'a'"),
        ({"terms": [{"source": "ab", "target": "b"}, {"source": "Ab", "target": "c"}]}, "a term is there twice"),
        ({"terms": [{"source": "a", "target": "b", "forms": ["c" * 201]}]}, "a term of more than 200 characters"),
        ({"terms": [{"source": "a", "target": "b\x01"}]}, "has a control character"),
        (
            {"terms": [{"source": f"a{n}", "target": "b", "forms": [f"{n}" * 40] * 100} for n in range(10, 80)]},
            "more than 500,000 characters",
        ),
        ({"target": "fr"}, "no model here translates from 'en' to 'fr'; see /api/models"),
        ({"name": " "}, "name is missing; give the glossary a name"),
    ],
)
def test_what_cannot_be_a_glossary(ask: Asked, changes: dict[str, Any], said: str) -> None:
    answer = ask("POST", "/api/glossaries", json=BODY | changes)
    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]


def test_languages_stay(ask: Asked, glossary: dict[str, Any]) -> None:
    answer = ask("PUT", f"/api/glossaries/{glossary['id']}", json=BODY | {"source": "de", "target": "en"})
    assert answer.json()["error"]["message"] == "the languages of a glossary cannot be changed; make another one"


def test_a_file_is_read_and_not_kept(ask: Asked) -> None:
    body = {"content": "dog,K\u00f6ter\ncat,\n", "ending": ".csv", "source": "en", "target": "de"}
    found = ask("POST", "/api/glossaries/read", json=body).json()
    assert [(term["source"], term["target"]) for term in found["terms"]] == [("dog", "K\u00f6ter")]
    assert found["notes"] == ["line 2: has no translation of 'cat'; the entry is left out"]
    bad = ask("POST", "/api/glossaries/read", json=body | {"ending": ".xls"})
    assert bad.status_code == 400
    assert ask("GET", "/api/glossaries").json() == {"glossaries": []}


def test_entries_of_deepl_have_no_comments_and_no_header() -> None:
    assert parsed_entries("#1\terster\nsource\tQuelle", "tsv") == (
        Term(source="#1", target="erster"),
        Term(source="source", target="Quelle"),
    )

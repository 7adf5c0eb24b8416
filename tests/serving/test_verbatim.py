"""Text that is no language comes back to the letter, and every API with room for it says so."""

import asyncio
import base64
import hashlib

import pytest
from tests.serving.made_up import Asked, MadeUp, MadeUpModels, made_up_service

from attendo.markup.text_types import TextRequest
from attendo.markup.texts import translate_text

KEY = base64.b64encode(hashlib.sha512(b"a key").digest()).decode()
TEXT = f"The dog {KEY} sleeps.\n\n{'x' * 3000}\n"
WRITTEN = f"das Hund {KEY} schläft.\n\n{'x' * 3000}\n"
PROBLEMS = [
    f"copied, not translated, because it is not natural language: '{KEY[:40]}'… (88 characters)",
    f"copied, not translated, because it is not natural language: '{'x' * 40}'… (3,000 characters)",
]


def test_it_is_read_as_a_symbol_or_not_at_all() -> None:
    translate = MadeUp()
    found = asyncio.run(translate_text(TextRequest(text=TEXT), translate))
    assert (found.text, list(found.problems)) == (WRITTEN, PROBLEMS)
    assert translate.lines == ["The dog \u27e61\u27e7 sleeps."]


def test_of_many_stretches_some_are_named_and_the_others_counted() -> None:
    names = [hashlib.md5(str(number).encode()).hexdigest() for number in range(30)]
    found = asyncio.run(translate_text(TextRequest(text=" and ".join(names)), MadeUp()))
    assert [name for name in names if name not in found.text] == []
    assert found.problems[:1] == (f"copied, not translated, because it is not natural language: '{names[0]}'",)
    assert len(found.problems) == 11
    assert found.problems[-1] == "copied, not translated, because it is not natural language: 20 more"


def test_markup_within_a_line_stays_where_it_was() -> None:
    source = f"<p>The <b>dog</b> {KEY}</p><p>{KEY}</p>"
    found = asyncio.run(translate_text(TextRequest(text=source, format="html"), MadeUp()))
    assert found.text == f"<p>das <b>Hund</b> {KEY}</p><p>{KEY}</p>"
    assert list(found.problems) == PROBLEMS[:1]


@pytest.fixture
def ask() -> Asked:
    return Asked(made_up_service(MadeUpModels(["en-de"])))


def test_every_api_says_so(ask: Asked) -> None:
    answer = ask("POST", "/api/translate", json={"text": TEXT, "source": "en", "target": "de"}).json()
    assert [(each["text"], each["problems"]) for each in answer["translations"]] == [(WRITTEN, PROBLEMS)]
    answer = ask("POST", "/translate", json={"q": [TEXT], "source": "en", "target": "de"}).json()
    assert (answer["translatedText"], answer["problems"]) == ([WRITTEN], [PROBLEMS])
    sent = {"text": [TEXT], "source_lang": "EN", "target_lang": "DE"}
    answer = ask("POST", "/v2/translate", json=sent).json()["translations"][0]
    assert (answer["text"], answer["problems"]) == (WRITTEN, PROBLEMS)
    answer = ask("GET", "/omegat", params={"source": "en", "target": "de", "text": KEY}).json()
    assert answer == {"translation": KEY, "problems": [PROBLEMS[:1]]}
    ask.close()
